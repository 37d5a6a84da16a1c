// Chapter 05 in CUDA: the same counting, fed properly. The kernels are in histogram.cuh.
//
//   two-per-sm  chapter 03's kernel, two blocks of 256 for each multiprocessor
//   occupancy   as many threads as the device holds, moved over the picture down and across
//   vector      16 pixels per load
//   tuned       the best launch for this device, in one command
//
// Run it:  build/05-launch-tuning/cuda --tile 100M
//          build/05-launch-tuning/cuda --tile 100M --variant tuned --copies 8
//
// histogram.cl and opencl.cpp do the same in OpenCL, in the same steps. Beside this: tune/ looks
// for the best launch, peers/ runs NVIDIA's libraries beside these kernels.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/layout.hpp"
#include "05-launch-tuning/tuned.hpp"
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

const common::Program kProgram{"05-launch-tuning",
                               "cuda",
                               "CUDA",
                               "the same counting, launched as this device likes it",
                               {{"two-per-sm", "chapter 03's kernel, two blocks for each unit"},
                                {"occupancy", "as many threads as the device says it holds"},
                                {"vector", "16 pixels per load"},
                                {"tuned", "the best launch for this device, in one command"}}};

// One command line, from what is asked for to the table.
static int run(int argc, const char* const* argv, const common::Output& output) {
    // 1. What is asked for.
    LayoutOptions layout;
    tuning::TunedOptions tuned;
    const common::Options options = tuning::parse_options(
        argc, argv, kProgram, tuned, [&](CLI::App& app) { add_layout_options(app, layout); });
    if (options.list_devices) {
        common::print(common::cuda::list(common::cuda::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, the right answer, and where the rows are to lie in the device's buffer.
    const common::Input input = common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const Rows rows = lay_out(input, layout);
    const std::uint64_t first = rows.first;
    const std::uint64_t pixel_count = rows.count;

    // 3. The device.
    const common::cuda::Device device = common::cuda::choose_device(options.device);
    common::cuda::require_group_size(device.id,
                                     static_cast<unsigned>(options.group_size.value_or(1)));
    const std::size_t units = common::cuda::multiprocessors(device.id);
    common::Report report(output, kProgram, options, input, expected, device.name, device.driver);

    // 4. Where its commands go: the context comes by itself, the default stream keeps their
    //    order, and two events note when the work began and ended. Each is given back at the end of
    //    its scope.
    common::cuda::Event begin;
    common::cuda::Event end;
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));

    // 5. The read ceiling: how fast this device's memory gives pixels to a kernel that only reads.
    if (options.read_ceiling) report.set_read_ceiling(common::cuda::read_ceiling_gb_s(pixel_count));

    // 6. What the strategies share: the pixels and the histogram on the device; and how a kernel
    //    that adds to the histogram is run: zero it, count, copy it out. The kernels were compiled
    //    with this file.
    common::cuda::Memory<std::uint8_t> pixels;
    CHECK_CUDA(cudaMalloc(pixels.out(), rows.bytes()));
    common::cuda::Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));
    const common::PixelBuffer spread =
        rows.bytes() == input.pixels.size() ? common::PixelBuffer() : with_gaps(input, rows);
    const std::uint8_t* const bytes = spread.empty() ? input.pixels.data() : spread.data();
    const auto write_pixels = [&] {
        CHECK_CUDA(cudaMemcpy(pixels, bytes, rows.bytes(), cudaMemcpyHostToDevice));
    };
    const auto poison_result = [&] { common::cuda::poison(histogram, sizeof(Histogram)); };
    const auto count_in_two = [&](const auto& launch, Histogram& result) {
        CHECK_CUDA(cudaEventRecord(begin));
        CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
        launch();
        CHECK_CUDA(cudaGetLastError());
        CHECK_CUDA(cudaEventRecord(end));
        CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
        return common::cuda::elapsed_ms(begin, end);
    };

    // 7. two-per-sm: chapter 03's kernel, two blocks of 256 for each multiprocessor.
    if (options.wants("two-per-sm") && (rows.first > 0 || rows.have_gaps())) {
        report.add(common::skipped("two-per-sm", "it takes neither --offset nor --pitch"));
    } else if (options.wants("two-per-sm")) {
        const auto block_size = static_cast<unsigned>(options.group_size.value_or(256));
        const auto blocks = static_cast<unsigned>(options.groups.value_or(2 * units));
        const auto launch = [&] {
            kernels::histogram_local<<<blocks, block_size>>>(pixels, pixel_count, histogram);
        };
        report.add(common::verify_and_time(
            "two-per-sm", expected, options.repeat,
            {.poison = poison_result,
             .copy_in = write_pixels,
             .run = [&](Histogram& result) { return count_in_two(launch, result); },
             .launch = {blocks, block_size},
             .unsupported_reason =
                 common::cuda::unsupported_reason(kernels::histogram_local, block_size)}));
    }

    // 8. occupancy and vector: blocks of 512, as many as fill the device. They lie below each
    //    other, and walk the rows where those are; or side by side, and take 16 pixels at once.
    const std::size_t full_size = options.group_size.value_or(512);
    int resident = 0;
    CHECK_CUDA(
        cudaDeviceGetAttribute(&resident, cudaDevAttrMaxThreadsPerMultiProcessor, device.id));
    const std::size_t full_groups = options.groups.value_or(
        std::max<std::size_t>(units * static_cast<std::size_t>(resident) / full_size, 1));
    const Grid stamp = below_each_other(full_size, full_groups);
    const Grid strip = lay_over(rows.as_one(), full_size, full_groups, 16);
    const auto run_on_rows = [&](const char* variant, const auto& kernel, const Grid& grid,
                                 const Rows& part) {
        if (!options.wants(variant)) return;
        const auto launch = [&] {
            kernel<<<dim3(grid.groups_x, grid.groups_y), dim3(grid.items_x, grid.items_y)>>>(
                pixels, part, histogram);
        };
        report.add(common::verify_and_time(
            variant, expected, options.repeat,
            {.poison = poison_result,
             .copy_in = write_pixels,
             .run = [&](Histogram& result) { return count_in_two(launch, result); },
             .launch = grid.launch(),
             .unsupported_reason =
                 common::cuda::unsupported_reason(kernel, grid.launch().group_size)}));
    };
    if (options.wants("occupancy")) {
        // The runtime knows the kernel's registers and shared memory, too, and may find that fewer
        // blocks fit than the threads alone would allow.
        int fitting = 0;
        CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &fitting, kernels::histogram_occupancy, static_cast<int>(full_size), 0));
        std::fprintf(stderr,
                     "  occupancy: %zu units x %d threads / blocks of %zu = %zu; the occupancy "
                     "API says %zu x %d = %zu\n",
                     units, resident, full_size, full_groups, units, fitting,
                     units * static_cast<std::size_t>(fitting));
        report.say_how_many_idle(full_size);
    }
    run_on_rows("occupancy", kernels::histogram_occupancy, stamp, rows);
    run_on_rows("vector", kernels::histogram_vector, strip, rows.as_one());

    // 9. tuned: the launch that was found for this device. One command, which zeroes, counts and
    //    finishes. It keeps totals of 64 bits, zeroed once: each launch leaves zeros behind. (Two
    //    commands, where the command line asks for them.)
    if (options.wants("tuned") && rows.have_gaps()) {
        report.add(common::skipped("tuned", "it takes pixels without gaps between the rows"));
    } else if (options.wants("tuned")) {
        const tuning::DeviceLimits limits{
            .api = "CUDA",
            .device = device.name,
            .driver = device.driver,
            .units = units,
            .max_group_size = tuning::kMaxCudaThreads,
            .local_bytes = tuning::kCudaSharedBytes,
            .kernels = {&tuning::kReplicated},
            .max_threads = [](const tuning::LaunchConfig& config) {
                cudaFuncAttributes kernel{};
                CHECK_CUDA(
                    cudaFuncGetAttributes(&kernel, kernels::tuned(config.copies, config.loads)));
                return static_cast<std::size_t>(kernel.maxThreadsPerBlock);
            }};
        const tuning::LaunchConfig config = tuning::resolve(tuned, options, limits, pixel_count);
        const auto blocks =
            static_cast<unsigned>(options.groups.value_or(config.groups(units, pixel_count)));
        const auto block_size = static_cast<unsigned>(config.group_size);
        const kernels::Tuned kernel = kernels::tuned(config.copies, config.loads);

        const bool in_one = !tuned.two_launches;
        const std::array<kernels::Total, tuning::kTotalWords> zeros{};
        common::cuda::Memory<kernels::Total> totals;
        if (in_one) {
            CHECK_CUDA(cudaMalloc(totals.out(), sizeof zeros));
            CHECK_CUDA(cudaMemcpy(totals, zeros.data(), sizeof zeros, cudaMemcpyHostToDevice));
        }
        // They are not filled with a pattern before a run, as other buffers are. In place of that
        // the program checks that the run before has left zeros.
        const auto poison_and_check = [&] {
            poison_result();
            if (!in_one) return;
            std::array<kernels::Total, tuning::kTotalWords> words{};
            CHECK_CUDA(cudaMemcpy(words.data(), totals, sizeof words, cudaMemcpyDeviceToHost));
            if (words != zeros)
                throw std::runtime_error("the last launch did not leave its totals at zero");
        };

        const auto count_tuned = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            if (!in_one) CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            kernel<<<blocks, block_size>>>(pixels, first, pixel_count, totals, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return common::cuda::elapsed_ms(begin, end);
        };
        common::Result timed = common::verify_and_time(
            "tuned", expected, options.repeat,
            {.poison = poison_and_check,
             .copy_in = write_pixels,
             .run = count_tuned,
             .launch = {blocks, block_size},
             .unsupported_reason = common::cuda::unsupported_reason(kernel, block_size)});
        timed.launch_text = config.launch_text(blocks);
        report.add(std::move(timed));
    }

    // 10. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
