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
     {"loads",
      {"0", "1", "4"},
      "loads of 16 pixels under way, or 0 for one pixel to a load",
      {"lane-bins"}}}};

int main(int argc, char** argv) try {  // at `catch` all objects of main are gone
    // 1. What is asked for, the pixels, and the right answer.
    Lesson lesson(argc, argv, kProgram);
    const std::size_t pixel_count = lesson.pixels.size();
    const unsigned loads = lesson.number("loads").value_or(4);

    // 2. The device, and what fits: how much shared memory a block has (without asking for more)
    //    decides how many threads have room for 256 bytes each. The 32 copies of lane-bins fit
    //    every CUDA device.
    const int device = choose_device(lesson);
    int shared_bytes = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlock, device));
    const unsigned copies = lesson.number("copies").value_or(32);
    const std::size_t room = static_cast<std::size_t>(shared_bytes) / kBins;

    // 3. The launch: two blocks for each multiprocessor, 256 threads in each by default; 128, or as
    //    many as have room, for the 8-bit counters; for lane-bins one block for each
    //    multiprocessor, as large as can be: its loads keep the memory busy, and fewer tables are
    //    merged; for core-bins one block of one thread for each multiprocessor.
    const unsigned units = multiprocessors(device), most = max_block_size(device);
    const auto groups = static_cast<unsigned>(lesson.groups(2 * units));
    const auto unit_groups = static_cast<unsigned>(lesson.groups(units));
    const auto group_size = static_cast<unsigned>(lesson.group_size(256, most));
    const auto uchar_size =
        static_cast<unsigned>(lesson.group_size(std::min<std::size_t>(128, room), most));
    const auto lane_size = static_cast<unsigned>(lesson.group_size(1024, most));

    // 4. Where its commands go: the context comes by itself, the default stream keeps their order,
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

    // 5. The kernels. They were compiled with this file, above.

    // 6. What the strategies share: the pixels and the histogram.
    Memory<std::uint8_t> pixels;
    CHECK_CUDA(cudaMalloc(pixels.out(), pixel_count));
    Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));
    lesson.copy_in = [&] {  // `examine` calls it
        CHECK_CUDA(cudaMemcpy(pixels, lesson.pixels.data(), pixel_count, cudaMemcpyHostToDevice));
    };

    // 7. private: zero the histogram, count, copy it out. `examine` copies the pixels in, poisons
    //    the histogram before each run, compares all bins, and times. lane-bins and core-bins go
    //    the same way.
    const auto run_with_atomics = [&](const char* variant, const auto& kernel, const Launch& launch,
                                      const auto& start) {
        const auto count_pixels = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            start();
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return milliseconds();
        };
        lesson.examine(
            variant, launch, unsupported_reason(kernel, launch.group_size),
            [&] { poison(histogram, sizeof(Histogram)); }, count_pixels);
    };
    if (lesson.wants("private")) {
        run_with_atomics("private", histogram_private, {groups, group_size}, [&] {
            histogram_private<<<groups, group_size>>>(pixels, pixel_count, histogram);
        });
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
    using ByteKernel = void (*)(const std::uint8_t*, std::size_t, unsigned, std::uint32_t*);
    const auto run_in_bytes = [&](const char* variant, ByteKernel kernel,
                                  unsigned pixels_per_item) {
        if (!lesson.wants(variant, no_room_for_them)) return;
        const std::size_t rows_bytes = groups * sizeof(Histogram);
        Memory<std::uint32_t> rows;
        HostMemory<std::uint32_t> pinned_rows;
        CHECK_CUDA(cudaMalloc(rows.out(), rows_bytes));
        CHECK_CUDA(cudaMallocHost(pinned_rows.out(), rows_bytes));
        const auto count_in_bytes = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            kernel<<<groups, uchar_size, uchar_size * kBins>>>(pixels, pixel_count, pixels_per_item,
                                                               rows);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(pinned_rows, rows, rows_bytes, cudaMemcpyDeviceToHost));
            add_rows(pinned_rows, groups, result);
            return milliseconds();
        };
        lesson.examine(
            variant, {groups, uchar_size}, unsupported_reason(kernel, uchar_size),
            [&] { poison(rows, rows_bytes); }, count_in_bytes);
    };
    run_in_bytes("uchar-bins", histogram_uchar, 255);
    run_in_bytes("uchar-bins-banked", histogram_uchar_banked, 255);
    run_in_bytes("uchar-overflow", histogram_uchar, 256);

    // 9. lane-bins: as private, in a launch of its own.
    if (lesson.wants("lane-bins")) {
        auto* const lanes = lanes_with(copies);
        run_with_atomics("lane-bins", lanes, {unit_groups, lane_size}, [&] {
            lanes<<<unit_groups, lane_size>>>(pixels, pixel_count, histogram, loads);
        });
    }

    // 10. core-bins: as private, in blocks of one thread, one for each multiprocessor.
    if (lesson.wants("core-bins")) {
        run_with_atomics("core-bins", histogram_cores, {unit_groups, 1}, [&] {
            histogram_cores<<<unit_groups, 1>>>(pixels, pixel_count, histogram);
        });
    }

    // 11. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
