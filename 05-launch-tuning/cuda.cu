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

int main(int argc, char** argv) try {
    // 1. What is asked for, the right answer, and where the rows are to lie in the device's buffer.
    LayoutOptions layout;
    Lesson lesson(argc, argv, kProgram, [&](CLI::App& app) { add_layout_options(app, layout); });
    const Rows rows = lay_out(lesson.input, layout);
    const std::uint64_t first = rows.first, pixel_count = rows.count;

    // 2. The device, and blocks of 512 for those that fill it.
    const int device = choose_device(lesson);
    const std::size_t units = multiprocessors(device), most = max_block_size(device);
    const std::size_t full_size = lesson.group_size(512, most);

    // 3. Where its commands go: the context comes by itself, the default stream keeps their order,
    //    and two events, given back at the end of their scope, note when the work began and ended.
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

    // 5. What the strategies share: the pixels, with gaps where asked for, and the histogram.
    const PixelBuffer gapped = with_gaps(lesson.input, rows);  // empty where there are none
    const std::uint8_t* const from = gapped.empty() ? lesson.pixels.data() : gapped.data();
    Memory<std::uint8_t> pixels;
    CHECK_CUDA(cudaMalloc(pixels.out(), rows.bytes()));
    Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));

    // 6. two-per-sm: chapter 03's kernel and launch: zero the histogram, count, copy it out.
    const bool has_gaps = rows.have_gaps();
    if (lesson.wants("two-per-sm",
                     first > 0 || has_gaps ? "it takes neither --offset nor --pitch" : "")) {
        const std::size_t group_size = lesson.group_size(256, most);
        const Grid grid = side_by_side(group_size, lesson.groups(2 * units));
        Runs runs = lesson.runs("two-per-sm", grid.launch(),
                                unsupported_reason(kernels::histogram_local, group_size));
        while (runs.next()) {
            poison(histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in())
                CHECK_CUDA(cudaMemcpy(pixels, from, rows.bytes(), cudaMemcpyHostToDevice));
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            kernels::histogram_local<<<grid.groups_x, grid.items_x>>>(pixels, pixel_count,
                                                                      histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(runs.counts.data(), histogram, sizeof(Histogram),
                                  cudaMemcpyDeviceToHost));
            runs.end(milliseconds());
        }
    }

    // 7. occupancy: blocks of 512, as many as fill the device. They lie below each other, and walk
    //    down the rows. vector: as many blocks, side by side, and 16 pixels in one load; there rows
    //    without gaps are one long row.
    int resident = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&resident, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    const std::size_t full_groups = lesson.groups(
        std::max<std::size_t>(units * static_cast<std::size_t>(resident) / full_size, 1));
    for (const std::string variant : {"occupancy", "vector"}) {
        if (!lesson.wants(variant)) continue;
        const bool wide = variant == "vector";
        auto* const kernel = wide ? kernels::histogram_vector : kernels::histogram_occupancy;
        // The runtime knows the kernel's registers and shared memory, too, and may find that fewer
        // blocks fit than the threads alone would allow.
        int fitting = 0;
        CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, kernel,
                                                                 static_cast<int>(full_size), 0));
        if (!wide)
            std::fprintf(
                stderr, "  occupancy: %zu units x %d threads / blocks of %zu = %zu (API: %zu)\n",
                units, resident, full_size, full_groups, units * static_cast<std::size_t>(fitting));
        const Rows walked = wide ? rows.as_one() : rows;
        const Grid grid = wide ? lay_over(walked, full_size, full_groups, 16)
                               : below_each_other(full_size, full_groups);
        const dim3 blocks(grid.groups_x, grid.groups_y), block_size(grid.items_x, grid.items_y);
        Runs runs = lesson.runs(variant, grid.launch(),
                                unsupported_reason(kernel, grid.launch().group_size));
        while (runs.next()) {
            poison(histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in())
                CHECK_CUDA(cudaMemcpy(pixels, from, rows.bytes(), cudaMemcpyHostToDevice));
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            kernel<<<blocks, block_size>>>(pixels, walked, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(runs.counts.data(), histogram, sizeof(Histogram),
                                  cudaMemcpyDeviceToHost));
            runs.end(milliseconds());
        }
    }

    // 8. tuned: the launch that tune has found, or a rule of thumb, in one command. Nothing is
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
        std::array<kernels::Total, kTotalWords> zeros{}, left{};
        Memory<kernels::Total> totals;
        CHECK_CUDA(cudaMalloc(totals.out(), sizeof zeros));
        CHECK_CUDA(cudaMemcpy(totals, zeros.data(), sizeof zeros, cudaMemcpyHostToDevice));
        Runs runs = lesson.runs("tuned", grid.launch(),
                                unsupported_reason(kernel, launch.group_size), launch.text(blocks));
        while (runs.next()) {
            poison(histogram, sizeof(Histogram));
            // The totals hold no pattern before a run. In place of that: the run before has left
            // zeros.
            CHECK_CUDA(cudaMemcpy(left.data(), totals, sizeof left, cudaMemcpyDeviceToHost));
            if (left != zeros)
                throw std::runtime_error("the last launch did not leave its totals at zero");
            runs.begin();
            if (runs.copies_in())
                CHECK_CUDA(cudaMemcpy(pixels, from, rows.bytes(), cudaMemcpyHostToDevice));
            CHECK_CUDA(cudaEventRecord(begin));
            if (!in_one) CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            kernel<<<grid.groups_x, grid.items_x>>>(
                pixels, first, pixel_count, in_one ? static_cast<kernels::Total*>(totals) : nullptr,
                histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(runs.counts.data(), histogram, sizeof(Histogram),
                                  cudaMemcpyDeviceToHost));
            runs.end(milliseconds());
        }
    }

    // 9. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
