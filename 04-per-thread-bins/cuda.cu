// Chapter 04 in CUDA: each thread, or each lane, counts in a table of its own. The kernels are in
// histogram.cuh; opencl.cpp does the same in OpenCL, in the same steps.
//
// Run it:  build/04-per-thread-bins/cuda --tile 100M

#include "04-per-thread-bins/histogram.cuh"
#include "common/cuda/cuda.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::cuda;

const Program kProgram{
    "04-per-thread-bins",
    "cuda",
    "CUDA",
    "the histogram counted in tables for each thread or lane",
    {{"private", "256 counters in each thread's local memory"},
     {"uchar-bins", "256 counters of 8 bits for each thread, in shared memory"},
     {"uchar-bins-banked", "the same, neighbouring threads never share a bank"},
     {"lane-bins", "a table for each lane, wholly in that lane's bank"},
     {"core-bins", "tables for each thread, and one thread for each multiprocessor"},
     {"uchar-overflow", "256 pixels for an 8-bit counter: 256 equal ones count as none", true}},
    {{"copies", {"1", "2", "4", "8", "16", "32"}, "copies of the table", {"lane-bins"}},
     {"loads", {"0", "1", "4"}, "of 16 pixels in flight; 0: one pixel a load", {"lane-bins"}}}};

int main(int argc, char** argv) try {
    // 1. What is asked for, the pixels, and the right answer.
    Lesson lesson(argc, argv, kProgram);
    const std::size_t pixel_count = lesson.pixels.size();
    const std::uint8_t* const from = lesson.pixels.data();

    // 2. The device, and what fits the shared memory of a block: threads with 256 bytes each. The
    //    32 copies of lane-bins fit every CUDA device.
    const int device = choose_device(lesson);
    int shared_bytes = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlock, device));
    const unsigned copies = lesson.number("copies").value_or(32);
    const std::size_t room = static_cast<std::size_t>(shared_bytes) / kBins;

    // 3. The launch: two blocks for each multiprocessor; for lane-bins one that is large, for fewer
    //    tables are merged then; for core-bins one, of one thread.
    const unsigned units = multiprocessors(device), most = max_block_size(device);
    const auto groups = static_cast<unsigned>(lesson.groups(2 * units));
    const auto unit_groups = static_cast<unsigned>(lesson.groups(units));
    const auto group_size = static_cast<unsigned>(lesson.group_size(256, most));
    const auto uchar_size =
        static_cast<unsigned>(lesson.group_size(std::min<std::size_t>(128, room), most));
    const auto lane_size = static_cast<unsigned>(lesson.group_size(1024, most));

    // 4. Where its commands go: the context comes by itself, the default stream keeps their order,
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

    // 5. The kernels. They were compiled with this file, above.

    // 6. What the strategies share: the pixels and the histogram.
    Memory<std::uint8_t> pixels;
    CHECK_CUDA(cudaMalloc(pixels.out(), pixel_count));
    Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));

    // 7. private: zero, count, copy out. The first turn copies the pixels in and warms up; timed
    //    turns follow, then some with the copy. next() compares (verify/runs.hpp).
    if (lesson.wants("private")) {
        Runs runs = lesson.runs("private", {groups, group_size},
                                unsupported_reason(histogram_private, group_size));
        while (runs.next()) {
            poison(histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in())
                CHECK_CUDA(cudaMemcpy(pixels, from, pixel_count, cudaMemcpyHostToDevice));
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            histogram_private<<<groups, group_size>>>(pixels, pixel_count, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(runs.counts.data(), histogram, sizeof(Histogram),
                                  cudaMemcpyDeviceToHost));
            runs.end(milliseconds());
        }
        cudaFuncAttributes attributes{};
        CHECK_CUDA(cudaFuncGetAttributes(&attributes, histogram_private));
        progress("    the compiler gave it " + std::to_string(attributes.localSizeBytes) +
                 " bytes of memory per thread\n");
    }

    // 8. uchar-bins, uchar-bins-banked and uchar-overflow: shared memory for 256 bytes a thread, a
    //    row for each block, and the host adds the rows in pinned memory; that belongs to the
    //    end-to-end time, not to the kernel's.
    const std::string no_room_for_them =
        uchar_size <= room ? ""
                           : std::to_string(uchar_size) +
                                 " threads need 256 bytes of shared memory each, and a block has " +
                                 std::to_string(shared_bytes);
    for (const std::string variant : {"uchar-bins", "uchar-bins-banked", "uchar-overflow"}) {
        if (!lesson.wants(variant, no_room_for_them)) continue;
        const bool banked = variant == "uchar-bins-banked";
        auto* const kernel = banked ? histogram_uchar_banked : histogram_uchar;
        const unsigned pixels_per_item = variant == "uchar-overflow" ? 256 : 255;
        const std::size_t rows_bytes = groups * sizeof(Histogram);
        Memory<std::uint32_t> rows;
        HostMemory<std::uint32_t> pinned_rows;
        CHECK_CUDA(cudaMalloc(rows.out(), rows_bytes));
        CHECK_CUDA(cudaMallocHost(pinned_rows.out(), rows_bytes));
        Runs runs =
            lesson.runs(variant, {groups, uchar_size}, unsupported_reason(kernel, uchar_size));
        while (runs.next()) {
            poison(rows, rows_bytes);
            runs.begin();
            if (runs.copies_in())
                CHECK_CUDA(cudaMemcpy(pixels, from, pixel_count, cudaMemcpyHostToDevice));
            CHECK_CUDA(cudaEventRecord(begin));
            kernel<<<groups, uchar_size, uchar_size * kBins>>>(pixels, pixel_count, pixels_per_item,
                                                               rows);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(pinned_rows, rows, rows_bytes, cudaMemcpyDeviceToHost));
            add_rows(pinned_rows, groups, runs.counts);
            runs.end(milliseconds());
        }
    }

    // 9. lane-bins and core-bins: as private, each in a launch of its own.
    for (const std::string variant : {"lane-bins", "core-bins"}) {
        if (!lesson.wants(variant)) continue;
        const bool in_lanes = variant == "lane-bins";
        const unsigned loads = lesson.number("loads").value_or(4);
        auto* const lanes = lanes_with(copies);
        const unsigned size = in_lanes ? lane_size : 1;
        const void* const kernel = in_lanes ? reinterpret_cast<const void*>(lanes)
                                            : reinterpret_cast<const void*>(histogram_cores);
        Runs runs = lesson.runs(variant, {unit_groups, size}, unsupported_reason(kernel, size));
        while (runs.next()) {
            poison(histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in())
                CHECK_CUDA(cudaMemcpy(pixels, from, pixel_count, cudaMemcpyHostToDevice));
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            if (in_lanes)
                lanes<<<unit_groups, size>>>(pixels, pixel_count, histogram, loads);
            else
                histogram_cores<<<unit_groups, size>>>(pixels, pixel_count, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(runs.counts.data(), histogram, sizeof(Histogram),
                                  cudaMemcpyDeviceToHost));
            runs.end(milliseconds());
        }
    }

    // 10. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
