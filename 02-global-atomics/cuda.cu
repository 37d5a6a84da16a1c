// Chapter 02 in CUDA: every thread counts in global memory.
//
//   racy     plain ++, broken on purpose: it loses counts
//   global   one table, one atomic addition for each pixel
//   subhist  one table for each block in global memory, then a second kernel that sums them
//
// Run it:  build/02-global-atomics/cuda --tile 4M
//          build/02-global-atomics/cuda --tile 4M --variant racy
//
// The kernels are in histogram.cuh. histogram.cl and opencl.cpp do the same in OpenCL, in the same
// steps.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "02-global-atomics/histogram.cuh"
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
    "02-global-atomics",
    "cuda",
    "CUDA",
    "the histogram counted in global memory",
    {{"global", "one table, one atomic addition for each pixel"},
     {"subhist", "one table for each block in global memory, then a sum"},
     {"racy", "plain ++ instead of an atomic addition: counts are lost", true}},
    {{"walk",
      {"interleaved", "blocked"},
      "in global and racy a thread takes every n-th pixel, or a stretch of its own",
      {"global", "racy"}}}};

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

    // 8. What the strategies share: the histogram. It is read and written: an atomic does both.
    common::cuda::Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));
    const auto poison_result = [&] { common::cuda::poison(histogram, sizeof(Histogram)); };

    // 9. global, and racy, which differs in nothing but its kernel; each has one for each walk. The
    //    pixels are copied in; then zero the histogram, count, copy it out. Each is poisoned,
    //    checked, timed, and checked again.
    const bool blocked = options.choice("walk") == "blocked";
    for (const std::string variant : {"global", "racy"}) {
        if (!options.wants(variant)) continue;
        auto* kernel = blocked ? histogram_global_blocked : histogram_global;
        if (variant == "racy") kernel = blocked ? histogram_racy_blocked : histogram_racy;
        const std::string unsupported_reason = common::cuda::unsupported_reason(kernel, group_size);
        common::cuda::Memory<std::uint8_t> pixels;
        CHECK_CUDA(cudaMalloc(pixels.out(), pixel_count));
        const auto write_pixels = [&] {
            CHECK_CUDA(
                cudaMemcpy(pixels, input.pixels.data(), pixel_count, cudaMemcpyHostToDevice));
        };
        Histogram last{};
        const auto count_pixels = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            kernel<<<groups, group_size>>>(pixels, pixel_count, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            last = result;
            return common::cuda::elapsed_ms(begin, end);
        };
        report.add(common::verify_and_time(variant, expected, options.repeat,
                                           {.poison = poison_result,
                                            .copy_in = write_pixels,
                                            .run = count_pixels,
                                            .launch = {groups, group_size},
                                            .unsupported_reason = unsupported_reason}));
        if (variant == "racy" && unsupported_reason.empty())
            report.say_what_was_lost(variant, last);
    }

    // 10. subhist: the same with pitched rows, a table for each block, and a second kernel.
    //     cudaMallocPitch chooses the pitch, in bytes, so that each row of `image` begins where the
    //     device reads best, and a narrow picture may so become too large; the tables' pitch is
    //     then turned into bins.
    const std::size_t width = input.width;
    // The last row may be short, and a picture of no pixels gets memory for one row.
    const std::size_t rows = std::max<std::size_t>((pixel_count + width - 1) / width, 1);
    common::cuda::Memory<std::uint8_t> image;
    std::size_t image_pitch_bytes = 0;
    if (options.wants("subhist") && blocked) {
        report.add(common::skipped("subhist", "its threads walk down columns, without --walk"));
    } else if (options.wants("subhist") &&
               !CUDA_HAS_ROOM(cudaMallocPitch(image.out(), &image_pitch_bytes, width, rows))) {
        report.add(common::skipped("subhist", "the device has no room for rows this far apart"));
    } else if (options.wants("subhist")) {
        // Across, as many blocks as the columns need; the others share the rows.
        const auto groups_x = static_cast<unsigned>(
            std::clamp<std::size_t>((width + group_size - 1) / group_size, 1, groups));
        const unsigned groups_y = std::min(groups / groups_x, common::cuda::kMaxBlocksInY);
        const std::uint32_t tables = groups_x * groups_y;
        common::cuda::Memory<std::uint32_t> sub_histograms;
        std::size_t table_pitch_bytes = 0;
        CHECK_CUDA(
            cudaMallocPitch(sub_histograms.out(), &table_pitch_bytes, sizeof(Histogram), tables));
        // So that gaps behind the rows show where they are counted.
        common::cuda::poison(image, rows * image_pitch_bytes);
        const std::size_t table_pitch_bins = table_pitch_bytes / sizeof(std::uint32_t);
        const auto poison_all = [&] {
            common::cuda::poison(sub_histograms, tables * table_pitch_bytes);
            poison_result();
        };
        const auto write_rows = [&] {
            CHECK_CUDA(cudaMemcpy2D(image, image_pitch_bytes, input.pixels.data(), width, width,
                                    pixel_count / width, cudaMemcpyHostToDevice));
            if (const std::size_t rest = pixel_count % width; rest > 0) {
                CHECK_CUDA(cudaMemcpy(image + pixel_count / width * image_pitch_bytes,
                                      &input.pixels[pixel_count - rest], rest,
                                      cudaMemcpyHostToDevice));
            }
        };
        const auto count_in_sub_histograms = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(
                cudaMemset2DAsync(sub_histograms, table_pitch_bytes, 0, sizeof(Histogram), tables));
            subhist<<<dim3(groups_x, groups_y), group_size>>>(
                image, image_pitch_bytes, width, pixel_count, sub_histograms, table_pitch_bins);
            CHECK_CUDA(cudaGetLastError());
            sum_tables<<<(kBins + group_size - 1) / group_size, group_size>>>(
                sub_histograms, table_pitch_bins, tables, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return common::cuda::elapsed_ms(begin, end);
        };
        report.add(common::verify_and_time(
            "subhist", expected, options.repeat,
            {.poison = poison_all,
             .copy_in = write_rows,
             .run = count_in_sub_histograms,
             .launch = {tables, group_size, groups_x},
             .unsupported_reason = common::cuda::unsupported_reason(subhist, group_size)}));
        report.say_how_many_idle(group_size);
    }

    // 11. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
