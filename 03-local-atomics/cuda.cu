// Chapter 03 in CUDA: each block counts in its own shared memory.
//
//   local          a table for each block, merged with global atomics
//   local-buckets  each block writes a row of its own, and the host adds the rows
//   local-subhist  pitched rows, a row for each block, and a second kernel that sums them
//
// Run it:  build/03-local-atomics/cuda --tile 100M
//
// histogram.cl and opencl.cpp do the same in OpenCL, in the same steps.

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "common/cuda/cuda.hpp"
#include "common/cuda/read_ceiling.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/report/report.hpp"
#include "common/run/run.hpp"
#include "common/status/status.hpp"
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

// ---- local-subhist: pitched rows, a table in shared memory, and a second kernel that sums ----
//
// As in chapter 02 a block covers columns and its threads walk down the rows. `table` is shared
// memory whose size the host chooses: the third argument of the launch.
__global__ void subhist(const std::uint8_t* image, std::size_t image_pitch_bytes, std::size_t width,
                        std::size_t count, std::uint32_t* tables, std::size_t table_pitch_bins) {
    extern __shared__ std::uint32_t table[];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t y = blockIdx.y; y * width < count; y += gridDim.y) {
        for (std::size_t x = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; x < width;
             x += stride) {
            // The last row may be short. No `return` here: the barrier below is for everyone.
            if (y * width + x < count) {
                atomicAdd(&table[image[y * image_pitch_bytes + x]], 1U);
            }
        }
    }
    __syncthreads();
    const std::size_t block = std::size_t{blockIdx.y} * gridDim.x + blockIdx.x;
    std::uint32_t* row = tables + block * table_pitch_bins;
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        row[bin] = table[bin];
    }
}

// A thread for each bin adds up that bin of all tables.
__global__ void sum_tables(const std::uint32_t* tables, std::size_t table_pitch_bins,
                           std::uint32_t table_count, std::uint32_t* histogram) {
    for (unsigned bin = blockIdx.x * blockDim.x + threadIdx.x; bin < kBins;
         bin += gridDim.x * blockDim.x) {
        std::uint32_t sum = 0;
        for (std::uint32_t table = 0; table < table_count; ++table) {
            sum += tables[table * table_pitch_bins + bin];
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
     {"local-subhist", "pitched rows, a row for each block, and a second kernel sums them"}},
    {{"walk",
      {"interleaved", "blocked"},
      "in local a thread takes every n-th pixel, or a stretch of its own"}}};

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
    const std::size_t count = input.pixels.size();

    // 3. The device.
    const common::cuda::Device device = common::cuda::choose_device(options.device);

    // 4. The launch: two blocks for each multiprocessor, 256 threads in each by default.
    const auto group_size = static_cast<unsigned>(options.group_size.value_or(256));
    common::cuda::require_group_size(device.id, group_size);
    const auto groups = static_cast<unsigned>(
        options.groups.value_or(2 * common::cuda::multiprocessors(device.id)));
    common::Report report(output, kProgram, options, input, expected, device.name, device.driver);

    // 5. Where its commands go: the context comes by itself, the default stream keeps their
    //    order, and two events note when the work began and ended.
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    CHECK_CUDA(cudaEventCreate(&begin));
    CHECK_CUDA(cudaEventCreate(&end));

    // 6. The read ceiling: how fast this device's memory gives pixels to a kernel that only reads.
    if (options.read_ceiling) report.set_read_ceiling(common::cuda::read_ceiling_gb_s(count));

    // 7. The kernels. They were compiled with this file, above.

    // 8. What the strategies share: the pixels and the histogram on the device.
    std::uint8_t* pixels = nullptr;
    CHECK_CUDA(cudaMalloc(&pixels, count));
    std::uint32_t* histogram = nullptr;
    CHECK_CUDA(cudaMalloc(&histogram, sizeof(Histogram)));
    const auto write_pixels = [&] {
        CHECK_CUDA(cudaMemcpy(pixels, input.pixels.data(), count, cudaMemcpyHostToDevice));
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
            local<<<groups, group_size>>>(pixels, count, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return common::cuda::elapsed_ms(begin, end);
        };
        report.add(common::verify_and_time(
            "local", expected, options.repeat,
            {poison_result, write_pixels, count_local, {groups, group_size}}));
    }

    // 10. local-buckets: nothing to zero, for each block writes its whole row. The host adds the
    //     rows, in memory of its own that is pinned, so that the copy needs no detour; that belongs
    //     to the end-to-end time, not to the kernel's.
    if (options.wants("local-buckets") && blocked) {
        report.add(common::skipped("local-buckets", "--walk is for local"));
    } else if (options.wants("local-buckets")) {
        const std::size_t buckets_bytes = groups * sizeof(Histogram);
        std::uint32_t* buckets = nullptr;
        std::uint32_t* pinned_buckets = nullptr;
        CHECK_CUDA(cudaMalloc(&buckets, buckets_bytes));
        CHECK_CUDA(cudaMallocHost(&pinned_buckets, buckets_bytes));
        const auto poison_buckets = [&] { common::cuda::poison(buckets, buckets_bytes); };
        const auto count_in_buckets = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            histogram_buckets<<<groups, group_size>>>(pixels, count, buckets);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(pinned_buckets, buckets, buckets_bytes, cudaMemcpyDeviceToHost));
            common::add_rows(pinned_buckets, groups, result);
            return common::cuda::elapsed_ms(begin, end);
        };
        report.add(common::verify_and_time(
            "local-buckets", expected, options.repeat,
            {poison_buckets, write_pixels, count_in_buckets, {groups, group_size}}));
        CHECK_CUDA(cudaFreeHost(pinned_buckets));
        CHECK_CUDA(cudaFree(buckets));
    }

    // 11. local-subhist: pitched rows, a row for each block, and a second kernel. cudaMallocPitch
    //     chooses the pitch, in bytes, so that each row of `image` begins where the device reads
    //     best; the tables' pitch is then turned into bins.
    if (options.wants("local-subhist") && blocked) {
        report.add(common::skipped("local-subhist", "--walk is for local"));
    } else if (options.wants("local-subhist")) {
        const std::size_t width = input.width;
        // The last row may be short, and a picture of no pixels gets memory for one row.
        const std::size_t rows = std::max<std::size_t>((count + width - 1) / width, 1);
        // Across, as many blocks as the columns need; the others share the rows.
        const auto groups_x = static_cast<unsigned>(
            std::clamp<std::size_t>((width + group_size - 1) / group_size, 1, groups));
        const unsigned groups_y = std::min(groups / groups_x, common::cuda::kMaxBlocksInY);
        const std::uint32_t tables = groups_x * groups_y;
        std::uint8_t* image = nullptr;
        std::uint32_t* sub_histograms = nullptr;
        std::size_t image_pitch_bytes = 0;
        std::size_t table_pitch_bytes = 0;
        CHECK_CUDA(cudaMallocPitch(&image, &image_pitch_bytes, width, rows));
        CHECK_CUDA(cudaMallocPitch(&sub_histograms, &table_pitch_bytes, sizeof(Histogram), tables));
        // So that gaps behind the rows show where they are counted.
        common::cuda::poison(image, rows * image_pitch_bytes);
        const std::size_t table_pitch_bins = table_pitch_bytes / sizeof(std::uint32_t);
        const auto poison_all = [&] {
            common::cuda::poison(sub_histograms, tables * table_pitch_bytes);
            poison_result();
        };
        const auto write_rows = [&] {
            CHECK_CUDA(cudaMemcpy2D(image, image_pitch_bytes, input.pixels.data(), width, width,
                                    count / width, cudaMemcpyHostToDevice));
            if (const std::size_t rest = count % width; rest > 0) {
                CHECK_CUDA(cudaMemcpy(image + count / width * image_pitch_bytes,
                                      &input.pixels[count - rest], rest, cudaMemcpyHostToDevice));
            }
        };
        const auto count_in_sub_histograms = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            subhist<<<dim3(groups_x, groups_y), group_size, sizeof(Histogram)>>>(
                image, image_pitch_bytes, width, count, sub_histograms, table_pitch_bins);
            CHECK_CUDA(cudaGetLastError());
            sum_tables<<<(kBins + group_size - 1) / group_size, group_size>>>(
                sub_histograms, table_pitch_bins, tables, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return common::cuda::elapsed_ms(begin, end);
        };
        report.add(common::verify_and_time(
            "local-subhist", expected, options.repeat,
            {poison_all, write_rows, count_in_sub_histograms, {tables, group_size, groups_x}}));
        CHECK_CUDA(cudaFree(sub_histograms));
        CHECK_CUDA(cudaFree(image));
    }

    // 12. What is left is released, in the opposite order.
    CHECK_CUDA(cudaFree(histogram));
    CHECK_CUDA(cudaFree(pixels));
    CHECK_CUDA(cudaEventDestroy(end));
    CHECK_CUDA(cudaEventDestroy(begin));

    // 13. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run, common::diagnosis::explain);
}
