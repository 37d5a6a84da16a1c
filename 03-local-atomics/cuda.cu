// Chapter 03 in CUDA: each block counts in its own shared memory.
//
//   local          a table for each block, merged with global atomics
//   local-buckets  each block writes a row of its own, and the host adds the rows
//   local-subhist  the same rows, added by a second kernel
//
// Run it:  build/03-local-atomics/cuda --tile 100M
//
// The kernels are in histogram.cuh. histogram.cl and opencl.cpp do the same in OpenCL, in the same
// steps.

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "03-local-atomics/histogram.cuh"
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
        report.add(common::verify_and_time(
            "local", expected, options.repeat,
            {.poison = poison_result,
             .copy_in = write_pixels,
             .run = count_local,
             .launch = {groups, group_size},
             .unsupported_reason = common::cuda::unsupported_reason(local, group_size)}));
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
                                            .launch = {groups, group_size},
                                            .unsupported_reason = common::cuda::unsupported_reason(
                                                histogram_buckets, group_size)}));
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
        report.add(common::verify_and_time(
            "local-subhist", expected, options.repeat,
            {.poison = poison_all,
             .copy_in = write_pixels,
             .run = count_in_tables,
             .launch = {groups, group_size},
             .unsupported_reason = common::cuda::unsupported_reason(subhist, group_size)}));
    }

    // 12. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
