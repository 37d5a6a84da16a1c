// Chapter 03 in CUDA: each block counts in its own shared memory. The kernels are in
// histogram.cuh; opencl.cpp does the same in OpenCL, in the same steps.
//
// Run it:  build/03-local-atomics/cuda --tile 100M

#include "03-local-atomics/histogram.cuh"
#include "common/cuda/cuda.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::cuda;

const Program kProgram{
    "03-local-atomics",
    "cuda",
    "CUDA",
    "the histogram counted in the shared memory of each block",
    {{"local", "a table for each block, merged with global atomics"},
     {"local-buckets", "each block writes a row of its own, and the host adds the rows"},
     {"local-subhist", "the same rows, added by a second kernel"}},
    {{"walk", {"interleaved", "blocked"}, "local: every n-th pixel, or a stretch", {"local"}}}};

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

    // 5. What the strategies share: the pixels and the histogram.
    Memory<std::uint8_t> pixels;
    CHECK_CUDA(cudaMalloc(pixels.out(), pixel_count));
    Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));

    // 6. local, a kernel for each walk: zero, count, copy out. The first turn copies the pixels and
    //    warms up; timed turns follow, then some with the copy. next() compares (verify/runs.hpp).
    const bool blocked = lesson.choice("walk") == "blocked";
    if (lesson.wants("local")) {
        auto* const local = blocked ? histogram_local_blocked : histogram_local;
        Runs runs =
            lesson.runs("local", {groups, group_size}, unsupported_reason(local, group_size));
        while (runs.next()) {
            poison(histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in())
                CHECK_CUDA(cudaMemcpy(pixels, from, pixel_count, cudaMemcpyHostToDevice));
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            local<<<groups, group_size>>>(pixels, pixel_count, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(runs.counts.data(), histogram, sizeof(Histogram),
                                  cudaMemcpyDeviceToHost));
            runs.end(milliseconds());
        }
    }

    // 7. local-buckets: nothing to zero: every block writes its whole row. The host adds the
    //    rows, in memory of its own that is pinned, so that the copy needs no detour; that belongs
    //    to the end-to-end time, not to the kernel's.
    if (lesson.wants("local-buckets", blocked ? "--walk is for local" : "")) {
        const std::size_t buckets_bytes = groups * sizeof(Histogram);
        Memory<std::uint32_t> buckets;
        HostMemory<std::uint32_t> pinned_buckets;
        CHECK_CUDA(cudaMalloc(buckets.out(), buckets_bytes));
        CHECK_CUDA(cudaMallocHost(pinned_buckets.out(), buckets_bytes));
        Runs runs = lesson.runs("local-buckets", {groups, group_size},
                                unsupported_reason(histogram_buckets, group_size));
        while (runs.next()) {
            poison(buckets, buckets_bytes);
            runs.begin();
            if (runs.copies_in())
                CHECK_CUDA(cudaMemcpy(pixels, from, pixel_count, cudaMemcpyHostToDevice));
            CHECK_CUDA(cudaEventRecord(begin));
            histogram_buckets<<<groups, group_size>>>(pixels, pixel_count, buckets);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(pinned_buckets, buckets, buckets_bytes, cudaMemcpyDeviceToHost));
            add_rows(pinned_buckets, groups, runs.counts);
            runs.end(milliseconds());
        }
    }

    // 8. local-subhist: the same rows, and a second kernel adds them where they are. The host says
    //    how much shared memory a block of the first one gets.
    if (lesson.wants("local-subhist", blocked ? "--walk is for local" : "")) {
        const std::size_t tables_bytes = groups * sizeof(Histogram);
        Memory<std::uint32_t> tables;
        CHECK_CUDA(cudaMalloc(tables.out(), tables_bytes));
        Runs runs = lesson.runs("local-subhist", {groups, group_size},
                                unsupported_reason(subhist, group_size));
        while (runs.next()) {
            poison(tables, tables_bytes);
            poison(histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in())
                CHECK_CUDA(cudaMemcpy(pixels, from, pixel_count, cudaMemcpyHostToDevice));
            CHECK_CUDA(cudaEventRecord(begin));
            subhist<<<groups, group_size, sizeof(Histogram)>>>(pixels, pixel_count, tables);
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

    // 9. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
