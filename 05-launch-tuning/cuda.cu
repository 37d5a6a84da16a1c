// Chapter 05 in CUDA: the same counting, fed properly. The kernels are in histogram.cuh.
//
//   two-per-sm  chapter 03's kernel, two blocks of 256 for each multiprocessor
//   occupancy   as many threads as the device holds, moved over the picture down and across
//   vector      16 pixels to a load
//   tuned       the best launch for this device, in one command
//
// Run it:  build/05-launch-tuning/cuda --tile 100M
//          build/05-launch-tuning/cuda --tile 100M --variant tuned --copies 8
//
// histogram.cl and opencl.cpp do the same in OpenCL, in the same steps. Beside this: tune/ looks
// for the best launch, peers/ runs NVIDIA's libraries beside these kernels.

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/layout.hpp"
#include "05-launch-tuning/tune/choice.hpp"
#include "05-launch-tuning/tune/on_cuda.cuh"
#include "common/cuda/cuda.hpp"
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

const common::Program kProgram{"05-launch-tuning",
                               "cuda",
                               "CUDA",
                               "the same counting, launched as this device likes it",
                               {{"two-per-sm", "chapter 03's kernel, two blocks for each unit"},
                                {"occupancy", "as many threads as the device holds"},
                                {"vector", "16 pixels to a load"},
                                {"tuned", "the best launch for this device, in one command"}}};

// One command line, from what is asked for to the table.
static int run(int argc, const char* const* argv, const common::Output& output) {
    // 1. What is asked for.
    const Arguments arguments = parse_arguments(argc, argv, kProgram, add_places);
    const common::Options& options = arguments.common;
    if (options.list_devices) {
        common::print(common::cuda::list(common::cuda::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, the right answer, and where the rows are to lie in the device's buffer.
    const common::Input input = common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const Rows rows = place_rows(arguments, input);

    // 3. The device.
    const common::cuda::Device device = common::cuda::choose_device(options.device);
    common::cuda::require_group_size(device.id,
                                     static_cast<unsigned>(options.group_size.value_or(1)));
    const std::size_t units = common::cuda::multiprocessors(device.id);
    common::Report report(output, kProgram, options, input, expected, device.name, device.driver);

    // 4. Where its commands go: the context comes by itself, the default stream keeps their
    //    order, and two events note when the work began and ended.
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    CHECK_CUDA(cudaEventCreate(&begin));
    CHECK_CUDA(cudaEventCreate(&end));

    // 5. The read ceiling: how fast this device's memory gives pixels to a kernel that only reads.
    if (options.read_ceiling) {
        report.set_read_ceiling(common::cuda::read_ceiling_gb_s(rows.count));
    }

    // 6. What the strategies share: the pixels, the histogram, and how a kernel that adds to it is
    //    run: zero the histogram, count, copy it out. The kernels were compiled with this file.
    std::uint8_t* pixels = nullptr;
    std::uint32_t* histogram = nullptr;
    CHECK_CUDA(cudaMalloc(&pixels, rows.bytes()));
    CHECK_CUDA(cudaMalloc(&histogram, sizeof(Histogram)));
    const common::PixelBuffer placed =
        rows.bytes() == input.pixels.size() ? common::PixelBuffer() : with_gaps(input, rows);
    const std::uint8_t* const bytes = placed.empty() ? input.pixels.data() : placed.data();
    const auto write_pixels = [&] {
        CHECK_CUDA(cudaMemcpy(pixels, bytes, rows.bytes(), cudaMemcpyHostToDevice));
    };
    const auto poison = [&] { common::cuda::poison(histogram, sizeof(Histogram)); };
    const auto zero = [&] { CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram))); };
    const auto count_between_events = [&](const auto& count_pixels, Histogram& result) {
        CHECK_CUDA(cudaEventRecord(begin));
        count_pixels();
        CHECK_CUDA(cudaGetLastError());
        CHECK_CUDA(cudaEventRecord(end));
        CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof(Histogram), cudaMemcpyDeviceToHost));
        return common::cuda::elapsed_ms(begin, end);
    };

    // 7. two-per-sm: chapter 03's kernel, two blocks of 256 for each multiprocessor.
    if (options.wants("two-per-sm")) {
        if (rows.first > 0 || rows.have_gaps()) {
            report.add(common::skipped("two-per-sm", "it takes neither --offset nor --pitch"));
        } else {
            const auto block_size = static_cast<unsigned>(options.group_size.value_or(256));
            const auto blocks = static_cast<unsigned>(options.groups.value_or(2 * units));
            const auto count_pixels = [&] {
                zero();
                kernels::histogram_local<<<blocks, block_size>>>(pixels, rows.count, histogram);
            };
            report.add(common::verify_and_time(
                "two-per-sm", expected, options.repeat,
                {poison,
                 write_pixels,
                 [&](Histogram& result) { return count_between_events(count_pixels, result); },
                 {blocks, block_size}}));
        }
    }

    // 8. occupancy and vector: blocks of 512, as many as fill the device. They lie below each
    //    other, and walk the rows where those are; or side by side, and take 16 pixels at once.
    const std::size_t full_size = options.group_size.value_or(512);
    int resident = 0;
    CHECK_CUDA(
        cudaDeviceGetAttribute(&resident, cudaDevAttrMaxThreadsPerMultiProcessor, device.id));
    const std::size_t full_groups = options.groups.value_or(
        std::max<std::size_t>(units * static_cast<std::size_t>(resident) / full_size, 1));
    const Shape stamp = below_each_other(full_size, full_groups);
    const Shape strip = lay_over(rows.as_one(), full_size, full_groups, 16);
    const auto run_on_rows = [&](const char* variant, const auto& kernel, const Shape& shape,
                                 const Rows& part) {
        if (!options.wants(variant)) return;
        const auto count_pixels = [&] {
            zero();
            kernel<<<dim3(shape.groups_x, shape.groups_y), dim3(shape.items_x, shape.items_y)>>>(
                pixels, part, histogram);
        };
        report.add(common::verify_and_time(
            variant, expected, options.repeat,
            {poison, write_pixels,
             [&](Histogram& result) { return count_between_events(count_pixels, result); },
             shape.launch()}));
    };
    if (options.wants("occupancy")) {
        // The runtime knows the kernel's registers and shared memory, too, and may find that fewer
        // blocks fit than the threads alone would allow.
        int fitting = 0;
        CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &fitting, kernels::histogram_occupancy, static_cast<int>(full_size), 0));
        std::fprintf(stderr,
                     "  occupancy: %zu units x %d threads / blocks of %zu = %zu; the occupancy API "
                     "says %zu x %d = %zu\n",
                     units, resident, full_size, full_groups, units, fitting,
                     units * static_cast<std::size_t>(fitting));
    }
    run_on_rows("occupancy", kernels::histogram_occupancy, stamp, rows);
    run_on_rows("vector", kernels::histogram_vector, strip, rows.as_one());

    // 9. tuned: the launch that was found for this device. One command, which zeroes, counts and
    //    finishes (two, where the command line asks for them).
    if (options.wants("tuned")) {
        if (rows.have_gaps()) {
            report.add(common::skipped("tuned", "it takes pixels without gaps between the rows"));
        } else {
            const tuning::Facts facts = tuning::facts_of(device, {&tuning::kLaneBins});
            const tuning::Choice choice = tuning::choose_launchable(arguments, facts, rows.count);
            const std::size_t groups =
                options.groups.value_or(groups_of(choice, facts, rows.count));
            const tuning::Counting kernel = tuning::histogram_tuned(choice.copies, choice.loads);
            kernels::Total* const totals = tuning::create_totals(!arguments.two_launches);
            const auto poison_and_look = [&] {
                poison();
                tuning::require_zero(totals);
            };
            const auto count_pixels = [&] {
                if (totals == nullptr) zero();
                kernel<<<static_cast<unsigned>(groups), static_cast<unsigned>(choice.group_size)>>>(
                    pixels, rows.first, rows.count, totals, histogram);
            };
            common::Result timed = common::verify_and_time(
                "tuned", expected, options.repeat,
                {poison_and_look,
                 write_pixels,
                 [&](Histogram& result) { return count_between_events(count_pixels, result); },
                 {groups, choice.group_size}});
            timed.launch_text = choice.launch_text(groups);
            report.add(std::move(timed));
            tuning::require_zero(totals);
            CHECK_CUDA(cudaFree(totals));
        }
    }

    // 10. What is left is released, in the opposite order.
    CHECK_CUDA(cudaFree(histogram));
    CHECK_CUDA(cudaFree(pixels));
    CHECK_CUDA(cudaEventDestroy(end));
    CHECK_CUDA(cudaEventDestroy(begin));

    // 11. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run, common::diagnosis::explain);
}
