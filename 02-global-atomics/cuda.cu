// Chapter 02 in CUDA: every thread counts in the device's global memory. The kernels are in
// histogram.cuh; opencl.cpp does the same in OpenCL, in the same steps. first.cu is the way in.
//
// Run it:  build/02-global-atomics/cuda --tile 100M

#include "02-global-atomics/histogram.cuh"
#include "common/cuda/cuda.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::cuda;

const Program kProgram{
    "02-global-atomics",
    "cuda",
    "CUDA",
    "the histogram counted in global memory",
    {{"global", "one table, one atomic addition for each pixel"},
     {"subhist", "one table for each block in global memory, then a sum"},
     {"racy", "plain ++ instead of an atomic addition: counts are lost", true}},
    {{"walk", {"interleaved", "blocked"}, "every n-th pixel, or a stretch", {"global", "racy"}}}};

int main(int argc, char** argv) try {
    // 1. What is asked for, the pixels, and the right answer.
    Lesson lesson(argc, argv, kProgram);
    const std::size_t pixel_count = lesson.pixels.size();
    const std::uint8_t* const from = lesson.pixels.data();

    // 2. The device, and the launch: two blocks for each multiprocessor, 256 threads in each.
    const int device = choose_device(lesson);
    const auto group_size = static_cast<unsigned>(lesson.group_size(256, max_block_size(device)));
    const auto groups = static_cast<unsigned>(lesson.groups(2 * multiprocessors(device)));

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

    // 4. The kernels. They were compiled with this file, above.

    // 5. What the strategies share: the histogram, which is read and written, for an atomic does
    //    both; and the pixels.
    Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));
    Memory<std::uint8_t> pixels;
    CHECK_CUDA(cudaMalloc(pixels.out(), pixel_count));

    // 6. global, and racy, whose kernel alone differs: zero, count, copy out. The first turn copies
    //    the pixels in and warms up; timed turns follow, then some with the copy. next() compares.
    const bool blocked = lesson.choice("walk") == "blocked";
    for (const std::string variant : {"global", "racy"}) {
        if (!lesson.wants(variant)) continue;
        auto* kernel = blocked ? histogram_global_blocked : histogram_global;
        if (variant == "racy") kernel = blocked ? histogram_racy_blocked : histogram_racy;
        Runs runs =
            lesson.runs(variant, {groups, group_size}, unsupported_reason(kernel, group_size));
        while (runs.next()) {
            poison(histogram, sizeof(Histogram));  // what a run does not zero shows
            runs.begin();
            if (runs.copies_in())
                CHECK_CUDA(cudaMemcpy(pixels, from, pixel_count, cudaMemcpyHostToDevice));
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            kernel<<<groups, group_size>>>(pixels, pixel_count, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(runs.counts.data(), histogram, sizeof(Histogram),
                                  cudaMemcpyDeviceToHost));
            runs.end(milliseconds());
        }
        if (variant == "racy") lesson.say_what_was_lost(runs);
    }

    // 7. subhist: a table for each block, all of them zeroed, and a second kernel, which adds them.
    if (lesson.wants("subhist", blocked ? "--walk is not for it" : "")) {
        const std::size_t tables_bytes = groups * sizeof(Histogram);
        Memory<std::uint32_t> tables;
        CHECK_CUDA(cudaMalloc(tables.out(), tables_bytes));
        Runs runs =
            lesson.runs("subhist", {groups, group_size}, unsupported_reason(subhist, group_size));
        while (runs.next()) {
            poison(tables, tables_bytes);
            poison(histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in())
                CHECK_CUDA(cudaMemcpy(pixels, from, pixel_count, cudaMemcpyHostToDevice));
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(tables, 0, tables_bytes));
            subhist<<<groups, group_size>>>(pixels, pixel_count, tables);
            CHECK_CUDA(cudaGetLastError());
            sum_tables<<<(kBins + group_size - 1) / group_size, group_size>>>(tables, groups,
                                                                              histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(runs.counts.data(), histogram, sizeof(Histogram),
                                  cudaMemcpyDeviceToHost));
            runs.end(milliseconds());
        }
    }

    // 8. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
