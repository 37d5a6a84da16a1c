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
    const PixelBuffer gapped = with_gaps(lesson.input, rows);  // empty where there are none
    lesson.copy_in = [&] {                                     // `examine` calls it
        const std::uint8_t* const from = gapped.empty() ? lesson.pixels.data() : gapped.data();
        CHECK_CUDA(cudaMemcpy(pixels, from, rows.bytes(), cudaMemcpyHostToDevice));
    };
    const auto poison_result = [&] { poison(histogram, sizeof(Histogram)); };
    const auto zero_and_count = [&](const char* variant, const auto& kernel, const Grid& grid,
                                    const auto& launch, const std::string& launch_text = {}) {
        const auto run = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            launch();
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return milliseconds();
        };
        lesson.examine(variant, grid.launch(), unsupported_reason(kernel, grid.launch().group_size),
                       poison_result, run, launch_text);
    };

    // 6. two-per-sm: chapter 03's kernel, two blocks of 256 for each multiprocessor.
    const bool has_gaps = rows.have_gaps();
    if (lesson.wants("two-per-sm",
                     first > 0 || has_gaps ? "it takes neither --offset nor --pitch" : "")) {
        const Grid grid = side_by_side(lesson.group_size(256, most), lesson.groups(2 * units));
        zero_and_count("two-per-sm", kernels::histogram_local, grid, [&] {
            kernels::histogram_local<<<grid.groups_x, grid.items_x>>>(pixels, pixel_count,
                                                                      histogram);
        });
    }

    // 7. occupancy: blocks of 512, as many as fill the device. They lie below each other, and walk
    //    down the rows, which may have gaps between them.
    int resident = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&resident, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    const std::size_t full_groups = lesson.groups(
        std::max<std::size_t>(units * static_cast<std::size_t>(resident) / full_size, 1));
    if (lesson.wants("occupancy")) {
        // The runtime knows the kernel's registers and shared memory, too, and may find that fewer
        // blocks fit than the threads alone would allow.
        int fitting = 0;
        CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &fitting, kernels::histogram_occupancy, static_cast<int>(full_size), 0));
        std::fprintf(
            stderr, "  occupancy: %zu units x %d threads / blocks of %zu = %zu (API: %zu)\n", units,
            resident, full_size, full_groups, units * static_cast<std::size_t>(fitting));
        const Grid grid = below_each_other(full_size, full_groups);
        zero_and_count("occupancy", kernels::histogram_occupancy, grid, [&] {
            kernels::histogram_occupancy<<<dim3(1, grid.groups_y), grid.items_x>>>(pixels, rows,
                                                                                   histogram);
        });
    }

    // 8. vector: as many blocks, side by side, and 16 pixels in one load. Rows without gaps are one
    //    long row.
    if (lesson.wants("vector")) {
        const Rows long_rows = rows.as_one();
        const Grid grid = lay_over(long_rows, full_size, full_groups, 16);
        const dim3 blocks(grid.groups_x, grid.groups_y), block_size(grid.items_x, grid.items_y);
        zero_and_count("vector", kernels::histogram_vector, grid, [&] {
            kernels::histogram_vector<<<blocks, block_size>>>(pixels, long_rows, histogram);
        });
    }

    // 9. tuned: the launch that tune has found, or a rule of thumb, in one command. Nothing is
    //    zeroed before a run: the last block to add to a bin writes it out and leaves its total, of
    //    64 bits, at zero for the next launch. (In two commands, as above, where the command line
    //    asks for them.)
    if (lesson.wants("tuned", has_gaps ? "it takes rows without gaps" : "")) {
        // 48 KiB of shared memory are what a block gets without asking for more.
        const Device about = described(device);
        const DeviceLimits limits{"CUDA", about.name, about.driver, false, units, most, 48 << 10};
        const TunedLaunch launch = launch_for(limits, lesson.options, pixel_count);
        const std::size_t blocks = lesson.groups(launch.groups(units, pixel_count));
        const Grid grid = side_by_side(launch.group_size, blocks);
        const kernels::Tuned kernel = kernels::tuned(launch.copies, launch.loads);
        const bool in_one = lesson.choice("launches") != "two";
        const std::array<kernels::Total, kTotalWords> zeros{};
        Memory<kernels::Total> totals;
        CHECK_CUDA(cudaMalloc(totals.out(), sizeof zeros));
        CHECK_CUDA(cudaMemcpy(totals, zeros.data(), sizeof zeros, cudaMemcpyHostToDevice));
        // The totals are not filled with a pattern before a run, as other buffers are. In place of
        // that the program checks that the run before has left zeros.
        const auto poison_and_check = [&] {
            poison_result();
            std::array<kernels::Total, kTotalWords> words{};
            CHECK_CUDA(cudaMemcpy(words.data(), totals, sizeof words, cudaMemcpyDeviceToHost));
            if (words != zeros)
                throw std::runtime_error("the last launch did not leave its totals at zero");
        };
        const auto count_in_one = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            kernel<<<grid.groups_x, grid.items_x>>>(pixels, first, pixel_count, totals, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return milliseconds();
        };
        const auto launch_second = [&] {
            kernel<<<grid.groups_x, grid.items_x>>>(pixels, first, pixel_count, nullptr, histogram);
        };
        if (in_one)
            lesson.examine("tuned", grid.launch(), unsupported_reason(kernel, launch.group_size),
                           poison_and_check, count_in_one, launch.text(blocks));
        else
            zero_and_count("tuned", kernel, grid, launch_second, launch.text(blocks));
    }

    // 10. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
