// From the pixels in the host's memory to the histogram there, in OpenCL: four ways
// (ways.hpp), beside the copy alone.
//
// Run it:  build/05-launch-tuning/workshops/end-to-end/opencl --tile 1G
//
// cuda.cu does the same in CUDA, in the same steps.

#include <cstring>

#include "05-launch-tuning/workshops/end-to-end/ways.hpp"
#include "05-launch-tuning/workshops/opencl.hpp"

using namespace common;
using namespace common::opencl;

const Program kProgram = copy_and_count("workshops/end-to-end/opencl", "OpenCL");

int main(int argc, char** argv) try {
    // 1. What is asked for, the pixels, and the right answer.
    Lesson lesson(argc, argv, kProgram);
    const std::size_t pixel_count = lesson.pixels.size();
    const std::size_t chunks = (pixel_count + kChunkPixels - 1) / kChunkPixels;

    // 2. The device; the launch of `tuned` for all pixels, and one for a chunk.
    const cl_device_id device = choose_device(lesson);
    if (pixel_count == 0) throw BadInput("there are no pixels to copy");
    const DeviceLimits limits = limits_of(device);
    const TunedLaunch for_all = launch_for(limits, lesson.options, pixel_count);
    const TunedLaunch for_chunk =
        launch_for(limits, lesson.options, std::min<std::size_t>(pixel_count, kChunkPixels));

    // 3. Where its commands go: a queue keeps the order of its commands, so what is to overlap
    //    needs two. Each is released at the end of its scope.
    const Context context = context_of(device);
    const Queue counts = queue_of(context, device, 0);
    const Queue copies = queue_of(context, device, 0);

    // 4. The kernels: `tuned`, compiled for either launch.
    Tuned tuned(context, device, lesson.kernel_file("../../histogram.cl"));
    tuned.built(for_all);
    tuned.built(for_chunk);

    // 5. Memory. Pinned memory is what CL_MEM_ALLOC_HOST_PTR gives when it is mapped. Each chunk
    //    has a histogram of its own: a row of 1 KiB, which any device can address.
    const Buffer staging =
        buffer_of(context, CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR, pixel_count);
    std::uint8_t* pinned = nullptr;
    const auto map_staging = [&] {
        cl_int error = CL_SUCCESS;
        pinned = static_cast<std::uint8_t*>(
            clEnqueueMapBuffer(counts, staging, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, pixel_count,
                               0, nullptr, nullptr, &error));
        CHECK_CL(error, "clEnqueueMapBuffer");
    };
    map_staging();
    std::memcpy(pinned, lesson.pixels.data(), pixel_count);
    const std::size_t patterns = (pixel_count + 3) / 4 * 4;  // bytes of them, for poison
    const Buffer pixels = buffer_of(context, CL_MEM_READ_ONLY, patterns);
    const Buffer rows = buffer_of(context, CL_MEM_READ_WRITE, chunks * sizeof(Histogram));
    const std::vector<Buffer> row_of_chunk = rows_of(rows, chunks);
    // Counts `length` pixels from `first` on, as soon as they have been copied.
    const auto launch = [&](const TunedLaunch& config, const Buffer& from, cl_ulong first,
                            cl_ulong length, const Buffer& row, cl_event copied) {
        tuned.enqueue(counts, config, lesson.groups(config.groups(limits.units, length)), from,
                      first, length, row, copied);
    };

    // 6. What the ways share: a way is timed by wall time, on poisoned buffers.
    const auto poison_all = [&] {
        poison(counts, pixels, patterns);
        poison(counts, rows, chunks * sizeof(Histogram));
    };
    const auto copy_all = [&](const void* from) {
        CHECK_CL(clEnqueueWriteBuffer(counts, pixels, CL_FALSE, 0, pixel_count, from, 0, nullptr,
                                      nullptr));
    };
    const auto count_all = [&](const Buffer& from, Histogram& result) {
        launch(for_all, from, 0, pixel_count, row_of_chunk.front(), nullptr);
        CHECK_CL(clEnqueueReadBuffer(counts, row_of_chunk.front(), CL_TRUE, 0, sizeof(Histogram),
                                     result.data(), 0, nullptr, nullptr));
    };

    // 7. The copy alone, which no way that copies can be faster than. It is counted when its time
    //    is over.
    if (lesson.wants("copy")) {
        Runs runs = lesson.runs("copy");
        while (runs.next()) {
            poison_all();
            runs.begin();
            copy_all(pinned);
            CHECK_CL(clFinish(counts));
            runs.end();
            count_all(pixels, runs.counts);
        }
    }

    // 8. pageable and pinned: copy all, then count all.
    for (const std::string way : {"pageable", "pinned"}) {
        if (!lesson.wants(way)) continue;
        const std::uint8_t* const from = way == "pinned" ? pinned : lesson.pixels.data();
        Runs runs = lesson.runs(way);
        while (runs.next()) {
            poison_all();
            runs.begin();
            copy_all(from);
            count_all(pixels, runs.counts);
            runs.end();
        }
    }

    // 9. pipelined: each chunk is counted while the next is copied, and the host adds the rows.
    if (lesson.wants("pipelined")) {
        std::vector<std::uint32_t> counted(chunks * kBins);
        Runs runs = lesson.runs("pipelined");
        while (runs.next()) {
            poison_all();
            runs.begin();
            for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
                const std::size_t first = chunk * kChunkPixels;
                const std::size_t length = std::min<std::size_t>(kChunkPixels, pixel_count - first);
                Event copied;
                CHECK_CL(clEnqueueWriteBuffer(copies, pixels, CL_FALSE, first, length,
                                              pinned + first, 0, nullptr, copied.out()));
                // Without a flush a driver may wait for more commands before it begins.
                CHECK_CL(clFlush(copies));
                launch(for_chunk, pixels, first, length, row_of_chunk[chunk], copied);
                CHECK_CL(clFlush(counts));
            }
            CHECK_CL(clEnqueueReadBuffer(counts, rows, CL_TRUE, 0, chunks * sizeof(Histogram),
                                         counted.data(), 0, nullptr, nullptr));
            add_rows(counted.data(), chunks, runs.counts);
            runs.end();
        }
    }

    // 10. mapped: the host lets go of its memory, and the kernel reads it there. (A driver may copy
    //     it after all.) When the time is over the host takes it back, for the next run.
    const auto unmap_staging = [&] {
        CHECK_CL(clEnqueueUnmapMemObject(counts, staging, pinned, 0, nullptr, nullptr));
    };
    if (lesson.wants("mapped")) {
        Runs runs = lesson.runs("mapped");
        while (runs.next()) {
            poison_all();
            runs.begin();
            unmap_staging();
            count_all(staging, runs.counts);
            runs.end();
            map_staging();
        }
    }
    unmap_staging();
    CHECK_CL(clFinish(counts));

    // 11. The table, with each way's speed in percent of the copy's, and the exit status that tells
    //     the truth.
    lesson.report().add_column("% of copy", percent_of_the_copy);
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
