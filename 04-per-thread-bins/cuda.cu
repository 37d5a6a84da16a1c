// Chapter 04 in CUDA: counters of one's own.
//
//   private            256 counters in each thread's local memory: see them spill
//   uchar-bins         256 counters of 8 bits for each thread, in shared memory
//   uchar-bins-banked  the same, laid out so that neighbouring threads never share a bank
//   uchar-overflow     256 pixels for an 8-bit counter, broken on purpose
//   lane-bins          a table for each lane, wholly in that lane's bank
//
// Run it:  build/04-per-thread-bins/cuda --tile 100M
//          build/04-per-thread-bins/cuda --constant 127 --random 10M --variant uchar-overflow
//
// histogram.cl and opencl.cpp do the same in OpenCL, in the same steps.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

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

// ---- private: 256 counters for each thread ----
//
// A thread's own variables are registers, and registers cannot be indexed: `counters[pixel]` forces
// the array out into memory that CUDA calls local and that is as far away as global memory. The
// host program prints how much of it there is; nvcc -Xptxas -v tells it, too.
__global__ void histogram_private(const std::uint8_t* pixels, std::size_t count,
                                  std::uint32_t* histogram) {
    std::uint32_t counters[kBins];
    for (unsigned bin = 0; bin < kBins; ++bin) {
        counters[bin] = 0;
    }
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        ++counters[pixels[i]];
    }
    for (unsigned bin = 0; bin < kBins; ++bin) {
        if (counters[bin] > 0) {
            atomicAdd(&histogram[bin], counters[bin]);
        }
    }
}

// ---- uchar-bins: 256 counters of 8 bits for each thread, in shared memory ----
//
// An 8-bit counter holds at most 255. So the threads count at most `pixels_per_item` pixels each,
// add their counters up, and begin again: that number must not be more than 255. `bins` has 256
// bytes for each thread of the block, and the block's sums go to its own row of `rows`.
__global__ void histogram_uchar(const std::uint8_t* pixels, std::size_t count,
                                unsigned pixels_per_item, std::uint32_t* rows) {
    extern __shared__ std::uint32_t words[];
    auto* const bins = reinterpret_cast<std::uint8_t*>(words);
    std::uint8_t* own = bins + threadIdx.x * kBins;
    std::uint32_t* row = rows + blockIdx.x * kBins;
    // Each bin of the row is one thread's, here and below: no atomic.
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        row[bin] = 0;
    }
    const std::size_t at_once = std::size_t{blockDim.x} * pixels_per_item;
    // All threads of the block take the same turns, so all of them reach every barrier.
    for (std::size_t first = blockIdx.x * at_once; first < count; first += gridDim.x * at_once) {
        // Zeroed by all together: neighbouring threads take neighbouring words, four bins each.
        for (unsigned word = threadIdx.x; word < blockDim.x * (kBins / 4); word += blockDim.x) {
            words[word] = 0;
        }
        __syncthreads();
        const std::size_t end = min(first + at_once, count);
        for (std::size_t i = first + threadIdx.x; i < end; i += blockDim.x) {
            ++own[pixels[i]];
        }
        __syncthreads();
        for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
            std::uint32_t sum = 0;
            for (unsigned other = 0; other < blockDim.x; ++other) {
                sum += bins[other * kBins + bin];
            }
            row[bin] += sum;
        }
        // Nobody begins again before all have been added up.
        __syncthreads();
    }
}

// ---- uchar-bins-banked: the same counters, laid out by banks ----
//
// Shared memory is divided into 32 banks, word by word. Above, the counters of neighbouring threads
// are 256 bytes apart, which is the same bank: with equal pixels they wait for each other. Here the
// words of the threads take turns, so thread t has only words of bank t % 32, whatever it counts:
// bin b is byte b % 4 of word (b / 4) * blockDim.x + t.
__global__ void histogram_uchar_banked(const std::uint8_t* pixels, std::size_t count,
                                       unsigned pixels_per_item, std::uint32_t* rows) {
    extern __shared__ std::uint32_t words[];
    auto* const bins = reinterpret_cast<std::uint8_t*>(words);
    std::uint32_t* row = rows + blockIdx.x * kBins;
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        row[bin] = 0;
    }
    const std::size_t at_once = std::size_t{blockDim.x} * pixels_per_item;
    for (std::size_t first = blockIdx.x * at_once; first < count; first += gridDim.x * at_once) {
        for (unsigned word = 0; word < kBins / 4; ++word) {
            words[word * blockDim.x + threadIdx.x] = 0;
        }
        const std::size_t end = min(first + at_once, count);
        for (std::size_t i = first + threadIdx.x; i < end; i += blockDim.x) {
            const unsigned bin = pixels[i];
            ++bins[((bin / 4) * blockDim.x + threadIdx.x) * 4 + bin % 4];
        }
        __syncthreads();
        for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
            std::uint32_t sum = 0;
            for (unsigned n = 0; n < blockDim.x; ++n) {
                // Each begins with its own counters, so that here, too, the banks take turns.
                const unsigned other = (threadIdx.x + n) % blockDim.x;
                sum += bins[((bin / 4) * blockDim.x + other) * 4 + bin % 4];
            }
            row[bin] += sum;
        }
        __syncthreads();
    }
}

// ---- lane-bins: a copy of the table for each lane, wholly in that lane's bank ----
//
// `copies` tables of 32-bit counters: 32, or fewer where --copies says so. Bin b of copy k is word
// b * copies + k. With 32 copies that word is in bank k, whatever the pixel: the 32 threads of a
// warp use 32 banks, and none waits for another. Threads with the same lane share a copy, so the
// additions are atomic. (A template, because a constant factor is a shift.)
//
// Pixels come 16 to a load, and four loads are on their way at once. To see what each is worth,
// `loads` can be 1 in place of 4, or 0: then a pixel to a load, as in the chapters before.
template <unsigned copies>
__device__ void count_four(std::uint32_t* own, std::uint32_t four) {
    atomicAdd(&own[(four & 0xff) * copies], 1U);
    atomicAdd(&own[(four >> 8 & 0xff) * copies], 1U);
    atomicAdd(&own[(four >> 16 & 0xff) * copies], 1U);
    atomicAdd(&own[(four >> 24) * copies], 1U);
}

template <unsigned copies>
__device__ void count_sixteen(std::uint32_t* own, uint4 sixteen) {
    count_four<copies>(own, sixteen.x);
    count_four<copies>(own, sixteen.y);
    count_four<copies>(own, sixteen.z);
    count_four<copies>(own, sixteen.w);
}

template <unsigned copies>
__global__ void histogram_lanes(const std::uint8_t* pixels, std::size_t count,
                                std::uint32_t* histogram, unsigned loads) {
    __shared__ std::uint32_t table[kBins * copies];
    for (unsigned word = threadIdx.x; word < kBins * copies; word += blockDim.x) {
        table[word] = 0;
    }
    __syncthreads();

    std::uint32_t* own = table + threadIdx.x % copies;
    const auto* vectors = reinterpret_cast<const uint4*>(pixels);
    const std::size_t vector_count = loads > 0 ? count / 16 : 0;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t item = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    std::size_t i = item;
    // Four loads before the first count: while one is on its way, so are the others.
    for (; loads == 4 && i + 3 * stride < vector_count; i += 4 * stride) {
        const uint4 first = vectors[i];
        const uint4 second = vectors[i + stride];
        const uint4 third = vectors[i + 2 * stride];
        const uint4 fourth = vectors[i + 3 * stride];
        count_sixteen<copies>(own, first);
        count_sixteen<copies>(own, second);
        count_sixteen<copies>(own, third);
        count_sixteen<copies>(own, fourth);
    }
    for (; i < vector_count; i += stride) {
        count_sixteen<copies>(own, vectors[i]);
    }
    // The last few pixels, fewer than 16; with no loads of 16 all of them.
    for (i = vector_count * 16 + item; i < count; i += stride) {
        atomicAdd(&own[pixels[i] * copies], 1U);
    }
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        std::uint32_t sum = 0;
        for (unsigned n = 0; n < copies; ++n) {
            // Each thread begins with another copy: the banks take turns here, too.
            sum += table[bin * copies + (threadIdx.x + n) % copies];
        }
        atomicAdd(&histogram[bin], sum);
    }
}

// The kernel with so many copies.
auto lanes_with(unsigned copies) {
    switch (copies) {
        case 1:
            return histogram_lanes<1>;
        case 2:
            return histogram_lanes<2>;
        case 4:
            return histogram_lanes<4>;
        case 8:
            return histogram_lanes<8>;
        case 16:
            return histogram_lanes<16>;
        default:
            return histogram_lanes<32>;
    }
}

const common::Program kProgram{
    "04-per-thread-bins",
    "cuda",
    "CUDA",
    "the histogram counted in tables for each thread or lane",
    {{"private", "256 counters in each thread's local memory"},
     {"uchar-bins", "256 counters of 8 bits for each thread, in shared memory"},
     {"uchar-bins-banked", "the same, neighbouring threads never share a bank"},
     {"lane-bins", "a table for each lane, wholly in that lane's bank"},
     {"uchar-overflow", "256 pixels for an 8-bit counter: 256 equal ones count as none", true}},
    {{"copies",
      {"1", "2", "4", "8", "16", "32"},
      "in lane-bins: copies of the table",
      {"lane-bins"}},
     {"loads",
      {"0", "1", "4"},
      "in lane-bins: loads of 16 pixels under way, or 0 for one pixel to a load",
      {"lane-bins"}}}};

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

    // 4. What fits: how much shared memory a block has (without asking for more) decides how many
    //    threads have room for 256 bytes each. The 32 copies of lane-bins fit every CUDA device.
    const unsigned copies = options.number("copies").value_or(32);
    const unsigned loads = options.number("loads").value_or(4);
    int shared_bytes = 0;
    CHECK_CUDA(
        cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlock, device.id));
    const std::size_t room = static_cast<std::size_t>(shared_bytes) / kBins;

    // 5. The launch: two blocks for each multiprocessor, 256 threads in each by default; 128, or as
    //    many as have room, for the 8-bit counters; for lane-bins one block for each
    //    multiprocessor, as large as can be: its loads keep the memory busy, and fewer tables are
    //    merged.
    const unsigned units = common::cuda::multiprocessors(device.id);
    const auto groups = static_cast<unsigned>(options.groups.value_or(2 * units));
    const auto lane_groups = static_cast<unsigned>(options.groups.value_or(units));
    const auto group_size = static_cast<unsigned>(options.group_size.value_or(256));
    const auto uchar_size =
        static_cast<unsigned>(options.group_size.value_or(std::min<std::size_t>(128, room)));
    const auto lane_size = static_cast<unsigned>(options.group_size.value_or(1024));
    for (const unsigned size : {group_size, uchar_size, lane_size}) {
        common::cuda::require_group_size(device.id, size);
    }
    common::Report report(output, kProgram, options, input, expected, device.name, device.driver);

    // 6. Where its commands go: the context comes by itself, the default stream keeps their
    //    order, and two events note when the work began and ended. Each is given back at the end of
    //    its scope.
    common::cuda::Event begin;
    common::cuda::Event end;
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));

    // 7. The read ceiling: how fast this device's memory gives pixels to a kernel that only reads.
    if (options.read_ceiling) report.set_read_ceiling(common::cuda::read_ceiling_gb_s(pixel_count));

    // 8. The kernels. They were compiled with this file, above.

    // 9. What the strategies share: the pixels and the histogram on the device.
    common::cuda::Memory<std::uint8_t> pixels;
    CHECK_CUDA(cudaMalloc(pixels.out(), pixel_count));
    common::cuda::Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));
    const auto write_pixels = [&] {
        CHECK_CUDA(cudaMemcpy(pixels, input.pixels.data(), pixel_count, cudaMemcpyHostToDevice));
    };
    const auto poison_result = [&] { common::cuda::poison(histogram, sizeof(Histogram)); };

    // 10. private: the pixels are copied in; then zero the histogram, count, copy it out. It is
    //     poisoned, checked, timed, and checked again. lane-bins will go the same way.
    const auto run_with_atomics = [&](const char* variant, const common::Launch& launch,
                                      const auto& start) {
        const auto count_pixels = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            start();
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return common::cuda::elapsed_ms(begin, end);
        };
        report.add(common::verify_and_time(variant, expected, options.repeat,
                                           {.poison = poison_result,
                                            .copy_in = write_pixels,
                                            .run = count_pixels,
                                            .launch = launch}));
    };
    if (options.wants("private")) {
        run_with_atomics("private", {groups, group_size}, [&] {
            histogram_private<<<groups, group_size>>>(pixels, pixel_count, histogram);
        });
        cudaFuncAttributes attributes{};
        CHECK_CUDA(cudaFuncGetAttributes(&attributes, histogram_private));
        std::fprintf(stderr, "    the compiler gave it %zu bytes of memory per thread\n",
                     attributes.localSizeBytes);
    }

    // 11. uchar-bins, uchar-bins-banked and uchar-overflow: shared memory for 256 bytes a thread, a
    //     row for each block, and the host adds the rows in pinned memory; that belongs to the
    //     end-to-end time, not to the kernel's.
    using ByteKernel = void (*)(const std::uint8_t*, std::size_t, unsigned, std::uint32_t*);
    const auto run_in_bytes = [&](const char* variant, ByteKernel kernel,
                                  unsigned pixels_per_item) {
        if (!options.wants(variant)) return;
        if (uchar_size > room) {
            report.add(common::skipped(variant, std::to_string(uchar_size) +
                                                    " threads need 256 bytes of shared memory "
                                                    "each, and a block has " +
                                                    std::to_string(shared_bytes)));
            return;
        }
        const std::size_t rows_bytes = groups * sizeof(Histogram);
        common::cuda::Memory<std::uint32_t> rows;
        common::cuda::HostMemory<std::uint32_t> pinned_rows;
        CHECK_CUDA(cudaMalloc(rows.out(), rows_bytes));
        CHECK_CUDA(cudaMallocHost(pinned_rows.out(), rows_bytes));
        const auto poison_rows = [&] { common::cuda::poison(rows, rows_bytes); };
        const auto count_in_bytes = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            kernel<<<groups, uchar_size, uchar_size * kBins>>>(pixels, pixel_count, pixels_per_item,
                                                               rows);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(pinned_rows, rows, rows_bytes, cudaMemcpyDeviceToHost));
            common::add_rows(pinned_rows, groups, result);
            return common::cuda::elapsed_ms(begin, end);
        };
        report.add(common::verify_and_time(variant, expected, options.repeat,
                                           {.poison = poison_rows,
                                            .copy_in = write_pixels,
                                            .run = count_in_bytes,
                                            .launch = {groups, uchar_size}}));
    };
    run_in_bytes("uchar-bins", histogram_uchar, 255);
    run_in_bytes("uchar-bins-banked", histogram_uchar_banked, 255);
    run_in_bytes("uchar-overflow", histogram_uchar, 256);

    // 12. lane-bins: as private, in a launch of its own.
    if (options.wants("lane-bins")) {
        auto* const lanes = lanes_with(copies);
        run_with_atomics("lane-bins", {lane_groups, lane_size}, [&] {
            lanes<<<lane_groups, lane_size>>>(pixels, pixel_count, histogram, loads);
        });
    }

    // 13. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run, common::diagnosis::explain);
}
