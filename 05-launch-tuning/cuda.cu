// Chapter 05 in CUDA: the same counting, fed properly. The kernels are in histogram.cuh; opencl.cpp
// does the same in OpenCL, in the same steps.
//
// Run it:  build/05-launch-tuning/cuda --tile 100M
//          build/05-launch-tuning/cuda --tile 100M --variant tuned --copies 8

#include <array>

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/launch.hpp"
#include "05-launch-tuning/layout.hpp"
#include "common/cuda/cuda.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::cuda;

const Program kProgram{
    "05-launch-tuning",
    "cuda",
    "CUDA",
    "the same counting, launched as this device likes it",
    {{"two-per-sm", "chapter 03's kernel, two blocks for each unit"},
     {"occupancy", "as many threads as the device says it holds"},
     {"vector", "16 pixels per load"},
     {"tuned", "copies, loads ahead and one command, as tune has found"}},
    {{"copies", {"1", "2", "4", "8", "16", "32"}, "of the table", {"tuned"}},
     {"loads", {"1", "2", "3", "4"}, "under way at once", {"tuned"}},
     {"launches", {"one", "two"}, "two: zeroed by a command before", {"tuned"}}}};

int main(int argc, char** argv) try {  // at `catch` all objects of main are gone
    // 1. What is asked for, the pixels, the right answer, and where the rows are to lie in the
    //    device's buffer.
    LayoutOptions layout;
    Lesson lesson(argc, argv, kProgram, [&](CLI::App& app) { add_layout_options(app, layout); });
    const Rows rows = lay_out(lesson.input, layout);
    const std::uint64_t first = rows.first, pixel_count = rows.count;

    // 2. The device, and blocks of 512 for those that fill it.
    const int device = choose_device(lesson);
    const std::size_t units = multiprocessors(device), most = max_block_size(device);
    const std::size_t full_size = lesson.group_size(512, most);

    // 3. Where its commands go: the context comes by itself, the default stream keeps their order,
    //    and two events note when the work began and ended. Each is given back at the end of its
    //    scope.
    Event begin, end;
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));
    const auto milliseconds = [&] {
        float ms = 0;
        CHECK_CUDA(cudaEventSynchronize(end));  // at once, behind a copy that waits
        CHECK_CUDA(cudaEventElapsedTime(&ms, begin, end));
        return static_cast<double>(ms);
    };
    lesson.read_ceiling([&] { return read_ceiling_gb_s(pixel_count); });

    // 4. The kernels. They were compiled with this file, and those of `tuned` with tuned.cu.

    // 5. What the strategies share: the pixels and the histogram; and how a kernel that adds to the
    //    histogram is run: zero it, count, copy it out.
    Memory<std::uint8_t> pixels;
    CHECK_CUDA(cudaMalloc(pixels.out(), rows.bytes()));
    Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));
    const PixelBuffer gapped =
        rows.bytes() == pixel_count ? PixelBuffer() : with_gaps(lesson.input, rows);
    lesson.copy_in = [&] {  // `examine` calls it
        const std::uint8_t* const from = gapped.empty() ? lesson.pixels.data() : gapped.data();
        CHECK_CUDA(cudaMemcpy(pixels, from, rows.bytes(), cudaMemcpyHostToDevice));
    };
    const auto poison_result = [&] { poison(histogram, sizeof(Histogram)); };
    const auto zero_and_count = [&](const auto& launch, Histogram& result) {
        CHECK_CUDA(cudaEventRecord(begin));
        CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
        launch();
        CHECK_CUDA(cudaGetLastError());
        CHECK_CUDA(cudaEventRecord(end));
        CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
        return milliseconds();
    };

    // 6. two-per-sm: chapter 03's kernel, two blocks of 256 for each multiprocessor.
    const bool has_gaps = rows.have_gaps();
    if (lesson.wants("two-per-sm",
                     rows.first > 0 || has_gaps ? "it takes neither --offset nor --pitch" : "")) {
        const auto block_size = static_cast<unsigned>(lesson.group_size(256, most));
        const auto blocks = static_cast<unsigned>(lesson.groups(2 * units));
        const auto launch = [&] {
            kernels::histogram_local<<<blocks, block_size>>>(pixels, pixel_count, histogram);
        };
        lesson.examine("two-per-sm", {blocks, block_size},
                       unsupported_reason(kernels::histogram_local, block_size), poison_result,
                       [&](Histogram& result) { return zero_and_count(launch, result); });
    }

    // 7. occupancy and vector: blocks of 512, as many as fill the device. They lie below each
    //    other, and walk the rows where those are; or side by side, and take 16 pixels at once.
    int resident = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&resident, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    const std::size_t full_groups = lesson.groups(
        std::max<std::size_t>(units * static_cast<std::size_t>(resident) / full_size, 1));
    const Grid stamp = below_each_other(full_size, full_groups);
    const Grid strip = lay_over(rows.as_one(), full_size, full_groups, 16);
    const auto run_on_rows = [&](const char* variant, const auto& kernel, const Grid& grid,
                                 const Rows& part) {
        if (!lesson.wants(variant)) return;
        const auto launch = [&] {
            kernel<<<dim3(grid.groups_x, grid.groups_y), dim3(grid.items_x, grid.items_y)>>>(
                pixels, part, histogram);
        };
        lesson.examine(variant, grid.launch(), unsupported_reason(kernel, grid.launch().group_size),
                       poison_result,
                       [&](Histogram& result) { return zero_and_count(launch, result); });
    };
    if (lesson.wants("occupancy")) {
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
        lesson.say_how_many_idle(full_size);
    }
    run_on_rows("occupancy", kernels::histogram_occupancy, stamp, rows);
    run_on_rows("vector", kernels::histogram_vector, strip, rows.as_one());

    // 8. tuned: the launch that tune has found, or a rule of thumb, in one command. Nothing is
    //    zeroed before a run: the last block to add to a bin writes it out and leaves its total, of
    //    64 bits, at zero for the next launch. (In two commands, where the command line asks for
    //    them.)
    if (lesson.wants("tuned", has_gaps ? "it takes pixels without gaps between the rows" : "")) {
        // 48 KiB of shared memory are what a block gets without asking for more.
        const Device about = described(device);
        const DeviceLimits limits{"CUDA", about.name, about.driver, false, units, most, 48 << 10};
        const TunedLaunch tuned = launch_for(limits, lesson.options, pixel_count);
        const auto blocks = static_cast<unsigned>(lesson.groups(tuned.groups(units, pixel_count)));
        const auto block_size = static_cast<unsigned>(tuned.group_size);
        const kernels::Tuned kernel = kernels::tuned(tuned.copies, tuned.loads);
        const bool in_one = lesson.choice("launches") != "two";
        const std::array<kernels::Total, kTotalWords> zeros{};
        Memory<kernels::Total> totals;
        if (in_one) {
            CHECK_CUDA(cudaMalloc(totals.out(), sizeof zeros));
            CHECK_CUDA(cudaMemcpy(totals, zeros.data(), sizeof zeros, cudaMemcpyHostToDevice));
        }
        // They are not filled with a pattern before a run, as other buffers are. In place of that
        // the program checks that the run before has left zeros.
        const auto poison_and_check = [&] {
            poison_result();
            if (!in_one) return;
            std::array<kernels::Total, kTotalWords> words{};
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
            return milliseconds();
        };
        lesson.examine("tuned", {blocks, block_size}, unsupported_reason(kernel, block_size),
                       poison_and_check, count_tuned, tuned.text(blocks));
    }

    // 9. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
