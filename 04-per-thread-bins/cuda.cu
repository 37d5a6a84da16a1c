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
// The kernels are in histogram.cuh. histogram.cl and opencl.cpp do the same in OpenCL, in the same
// steps.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "04-per-thread-bins/histogram.cuh"
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
#include "common/verify/verify.hpp"

using common::Histogram;
using common::kBins;

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
    const auto run_with_atomics = [&](const char* variant, const auto& kernel,
                                      const common::Launch& launch, const auto& start) {
        const auto count_pixels = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            start();
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return common::cuda::elapsed_ms(begin, end);
        };
        report.add(common::verify_and_time(
            variant, expected, options.repeat,
            {.poison = poison_result,
             .copy_in = write_pixels,
             .run = count_pixels,
             .launch = launch,
             .unsupported_reason = common::cuda::unsupported_reason(kernel, launch.group_size)}));
    };
    if (options.wants("private")) {
        run_with_atomics("private", histogram_private, {groups, group_size}, [&] {
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
        report.add(common::verify_and_time(
            variant, expected, options.repeat,
            {.poison = poison_rows,
             .copy_in = write_pixels,
             .run = count_in_bytes,
             .launch = {groups, uchar_size},
             .unsupported_reason = common::cuda::unsupported_reason(kernel, uchar_size)}));
    };
    run_in_bytes("uchar-bins", histogram_uchar, 255);
    run_in_bytes("uchar-bins-banked", histogram_uchar_banked, 255);
    run_in_bytes("uchar-overflow", histogram_uchar, 256);

    // 12. lane-bins: as private, in a launch of its own.
    if (options.wants("lane-bins")) {
        auto* const lanes = lanes_with(copies);
        run_with_atomics("lane-bins", lanes, {lane_groups, lane_size}, [&] {
            lanes<<<lane_groups, lane_size>>>(pixels, pixel_count, histogram, loads);
        });
    }

    // 13. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
