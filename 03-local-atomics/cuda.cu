// Chapter 03 in CUDA: each block counts in its own shared memory.
//
//   local          a table for each block, merged with global atomics
//   local-buckets  each block writes a row of its own, and the host adds the rows
//   local-subhist  the same rows, added by a second kernel
//
// Run it:  build/03-local-atomics/cuda --tile 100M
//
// histogram.cl and opencl.cpp do the same in OpenCL, in the same steps.

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "common/cuda/cuda.hpp"
#include "common/cuda/handles.hpp"
#include "common/cuda/read_ceiling.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/report/report.hpp"
#include "common/run/run.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"
#include "common/timing/timing.hpp"
#include "common/tutor/diagnosis/explain.hpp"
#include "common/verify/verify.hpp"

using common::Histogram;
using common::kBins;

// ---- local: the five steps ----
//
// Every loop over the bins strides by the size of the *block*, because the block's own threads
// share the work. Striding by the size of the whole launch here is a mistake that was published:
// then each block merges only the first bins of its table.
__global__ void histogram_local(const std::uint8_t* pixels, std::size_t count,
                                std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins];

    // Step 1: zero the block's table. Shared memory holds anything at first.
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    // Step 2: nobody counts before all bins are zero.
    __syncthreads();

    // Step 3: count, striding by all threads of the launch.
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&table[pixels[i]], 1U);
    }
    // Step 4: nobody reads the table before all have counted.
    __syncthreads();

    // Step 5: add the table to the histogram, with atomics, for other blocks do the same.
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        atomicAdd(&histogram[bin], table[bin]);
    }
}

// ---- local with --walk blocked ----
//
// In step 3 each thread has a stretch of its own, and reads it byte after byte. What neighbouring
// threads read at one step lies far apart. (No unrolling: it would load several pixels at once, and
// then two things differ from above.)
__global__ void histogram_local_blocked(const std::uint8_t* pixels, std::size_t count,
                                        std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    __syncthreads();
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stretch = (count + threads - 1) / threads;
    const std::size_t end = min((thread + 1) * stretch, count);
#pragma unroll 1
    for (std::size_t i = thread * stretch; i < end; ++i) {
        atomicAdd(&table[pixels[i]], 1U);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        atomicAdd(&histogram[bin], table[bin]);
    }
}

// ---- local-buckets: each block writes its own row, and the host adds the rows ----
//
// Steps 1 to 4 are the same. A row belongs to one block, so step 5 needs no atomic.
__global__ void histogram_buckets(const std::uint8_t* pixels, std::size_t count,
                                  std::uint32_t* buckets) {
    __shared__ std::uint32_t table[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&table[pixels[i]], 1U);
    }
    __syncthreads();
    std::uint32_t* row = buckets + blockIdx.x * kBins;
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        row[bin] = table[bin];
    }
}

// ---- local-subhist: the same rows, and a second kernel that adds them ----
//
// `table` is shared memory whose size the host chooses: the third argument of the launch.
__global__ void subhist(const std::uint8_t* pixels, std::size_t count, std::uint32_t* tables) {
    extern __shared__ std::uint32_t table[];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&table[pixels[i]], 1U);
    }
    __syncthreads();
    std::uint32_t* row = tables + blockIdx.x * kBins;
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        row[bin] = table[bin];
    }
}

// A thread for each bin adds up that bin of all tables.
__global__ void sum_tables(const std::uint32_t* tables, std::uint32_t table_count,
                           std::uint32_t* histogram) {
    for (unsigned bin = blockIdx.x * blockDim.x + threadIdx.x; bin < kBins;
         bin += gridDim.x * blockDim.x) {
        std::uint32_t sum = 0;
        for (std::uint32_t table = 0; table < table_count; ++table) {
            sum += tables[table * kBins + bin];
        }
        histogram[bin] = sum;
    }
}

const common::Program kProgram{
    "03-local-atomics",
    "cuda",
    "CUDA",
    "the histogram counted in the shared memory of each block",
    {{"local", "a table for each block, merged with global atomics"},
     {"local-buckets", "each block writes a row of its own, and the host adds the rows"},
     {"local-subhist", "the same rows, added by a second kernel"}},
    {{"walk",
      {"interleaved", "blocked"},
      "in local a thread takes every n-th pixel, or a stretch of its own",
      {"local"}}}};

// One command line, from what is asked for to the table.
static int run(int argc, const char* const* argv, const common::Output& output) {
    // 1. What is asked for.
    const common::Options options = common::parse_options(argc, argv, kProgram);
    if (options.list_devices) {
        common::print(common::cuda::list(common::cuda::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, and the right answer.
    const common::Input input = common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const std::size_t pixel_count = input.pixels.size();

    // 3. The device.
    const common::cuda::Device device = common::cuda::choose_device(options.device);

    // 4. The launch: two blocks for each multiprocessor, 256 threads in each by default.
    const auto group_size = static_cast<unsigned>(options.group_size.value_or(256));
    common::cuda::require_group_size(device.id, group_size);
    const auto groups = static_cast<unsigned>(
        options.groups.value_or(2 * common::cuda::multiprocessors(device.id)));
    common::Report report(output, kProgram, options, input, expected, device.name, device.driver);

    // 5. Where its commands go: the context comes by itself, the default stream keeps their
    //    order, and two events note when the work began and ended. Each is given back at the end of
    //    its scope.
    common::cuda::Event begin;
    common::cuda::Event end;
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));

    // 6. The read ceiling: how fast this device's memory gives pixels to a kernel that only reads.
    if (options.read_ceiling) report.set_read_ceiling(common::cuda::read_ceiling_gb_s(pixel_count));

    // 7. The kernels. They were compiled with this file, above.

    // 8. What the strategies share: the pixels and the histogram on the device.
    common::cuda::Memory<std::uint8_t> pixels;
    CHECK_CUDA(cudaMalloc(pixels.out(), pixel_count));
    common::cuda::Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));
    const auto write_pixels = [&] {
        CHECK_CUDA(cudaMemcpy(pixels, input.pixels.data(), pixel_count, cudaMemcpyHostToDevice));
    };
    const auto poison_result = [&] { common::cuda::poison(histogram, sizeof(Histogram)); };

    // 9. local, which has a kernel for each walk: the pixels are copied in; then zero the
    //    histogram, count, copy it out. It is poisoned, checked, timed, and checked again.
    const bool blocked = options.choice("walk") == "blocked";
    if (options.wants("local")) {
        auto* const local = blocked ? histogram_local_blocked : histogram_local;
        const auto count_local = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            local<<<groups, group_size>>>(pixels, pixel_count, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return common::cuda::elapsed_ms(begin, end);
        };
        report.add(common::verify_and_time("local", expected, options.repeat,
                                           {.poison = poison_result,
                                            .copy_in = write_pixels,
                                            .run = count_local,
                                            .launch = {groups, group_size}}));
    }

    // 10. local-buckets: nothing to zero, for each block writes its whole row. The host adds the
    //     rows, in memory of its own that is pinned, so that the copy needs no detour; that belongs
    //     to the end-to-end time, not to the kernel's.
    if (options.wants("local-buckets") && blocked) {
        report.add(common::skipped("local-buckets", "--walk is for local"));
    } else if (options.wants("local-buckets")) {
        const std::size_t buckets_bytes = groups * sizeof(Histogram);
        common::cuda::Memory<std::uint32_t> buckets;
        common::cuda::HostMemory<std::uint32_t> pinned_buckets;
        CHECK_CUDA(cudaMalloc(buckets.out(), buckets_bytes));
        CHECK_CUDA(cudaMallocHost(pinned_buckets.out(), buckets_bytes));
        const auto poison_buckets = [&] { common::cuda::poison(buckets, buckets_bytes); };
        const auto count_in_buckets = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            histogram_buckets<<<groups, group_size>>>(pixels, pixel_count, buckets);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(pinned_buckets, buckets, buckets_bytes, cudaMemcpyDeviceToHost));
            common::add_rows(pinned_buckets, groups, result);
            return common::cuda::elapsed_ms(begin, end);
        };
        report.add(common::verify_and_time("local-buckets", expected, options.repeat,
                                           {.poison = poison_buckets,
                                            .copy_in = write_pixels,
                                            .run = count_in_buckets,
                                            .launch = {groups, group_size}}));
    }

    // 11. local-subhist: the same rows, and a second kernel adds them where they are. The host says
    //     how much shared memory a block of the first one gets.
    if (options.wants("local-subhist") && blocked) {
        report.add(common::skipped("local-subhist", "--walk is for local"));
    } else if (options.wants("local-subhist")) {
        const std::uint32_t table_count = groups;
        const std::size_t tables_bytes = groups * sizeof(Histogram);
        common::cuda::Memory<std::uint32_t> tables;
        CHECK_CUDA(cudaMalloc(tables.out(), tables_bytes));
        const auto poison_all = [&] {
            common::cuda::poison(tables, tables_bytes);
            poison_result();
        };
        const auto count_in_tables = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            subhist<<<groups, group_size, sizeof(Histogram)>>>(pixels, pixel_count, tables);
            CHECK_CUDA(cudaGetLastError());
            sum_tables<<<(kBins + group_size - 1) / group_size, group_size>>>(tables, table_count,
                                                                              histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return common::cuda::elapsed_ms(begin, end);
        };
        report.add(common::verify_and_time("local-subhist", expected, options.repeat,
                                           {.poison = poison_all,
                                            .copy_in = write_pixels,
                                            .run = count_in_tables,
                                            .launch = {groups, group_size}}));
    }

    // 12. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run, common::diagnosis::explain);
}
