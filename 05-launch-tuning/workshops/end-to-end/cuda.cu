// From the pixels in the host's memory to the histogram there, in CUDA: four ways (ways.hpp),
// beside the copy alone.
//
// Run it:  build/05-launch-tuning/workshops/end-to-end/cuda --tile 1G
//
// opencl.cpp does the same in OpenCL, in the same steps.

#include <cstring>

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/workshops/end-to-end/ways.hpp"
#include "05-launch-tuning/workshops/limits_cuda.hpp"

using namespace common;
using namespace common::cuda;

const Program kProgram = copy_and_count("workshops/end-to-end/cuda", "CUDA");

int main(int argc, char** argv) try {
    // 1. What is asked for, the pixels, and the right answer.
    Lesson lesson(argc, argv, kProgram);
    const std::size_t pixel_count = lesson.pixels.size();
    const std::size_t chunks = (pixel_count + kChunkPixels - 1) / kChunkPixels;

    // 2. The device; the launch of `tuned` for all pixels, and one for a chunk.
    const int device = choose_device(lesson);
    if (pixel_count == 0) throw BadInput("there are no pixels to copy");
    const DeviceLimits limits = limits_of(device);
    const TunedLaunch for_all = launch_for(limits, lesson.options, pixel_count);
    const TunedLaunch for_chunk =
        launch_for(limits, lesson.options, std::min<std::size_t>(pixel_count, kChunkPixels));

    // 3. Where its commands go: a stream keeps the order of its commands, so what is to overlap
    //    needs two, and an event for each chunk tells the second what the first has copied. Each is
    //    given back at the end of its scope.
    Stream counts, copies;
    CHECK_CUDA(cudaStreamCreateWithFlags(counts.out(), cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamCreateWithFlags(copies.out(), cudaStreamNonBlocking));
    std::vector<Event> copied(chunks);
    for (Event& event : copied)
        CHECK_CUDA(cudaEventCreateWithFlags(event.out(), cudaEventDisableTiming));

    // 4. The kernels. They were compiled with tuned.cu.

    // 5. Memory. Pinned memory for the pixels, which the device can also read where it is, and for
    //    the rows: each chunk has a histogram of its own.
    const std::size_t rows_bytes = chunks * sizeof(Histogram);
    HostMemory<std::uint8_t> pinned;
    HostMemory<std::uint32_t> pinned_rows;
    Memory<std::uint8_t> pixels;
    Memory<std::uint32_t> rows;
    CHECK_CUDA(cudaHostAlloc(pinned.out(), pixel_count, cudaHostAllocMapped));
    CHECK_CUDA(cudaMallocHost(pinned_rows.out(), rows_bytes));
    CHECK_CUDA(cudaMalloc(pixels.out(), pixel_count));
    CHECK_CUDA(cudaMalloc(rows.out(), rows_bytes));
    std::memcpy(pinned, lesson.pixels.data(), pixel_count);
    Memory<kernels::Total> totals;
    CHECK_CUDA(cudaMalloc(totals.out(), kTotalWords * sizeof(kernels::Total)));
    CHECK_CUDA(cudaMemset(totals, 0, kTotalWords * sizeof(kernels::Total)));
    CHECK_CUDA(cudaDeviceSynchronize());  // neither stream waits for it
    // Counts `length` pixels from `first` on.
    const auto launch = [&](const TunedLaunch& config, const std::uint8_t* from, std::size_t first,
                            std::size_t length, std::uint32_t* row) {
        const auto blocks =
            static_cast<unsigned>(lesson.groups(config.groups(limits.units, length)));
        const auto block_size = static_cast<unsigned>(config.group_size);
        const kernels::Tuned kernel = kernels::tuned(config.copies, config.loads);
        kernel<<<blocks, block_size, 0, counts>>>(from, first, length, totals, row);
        CHECK_CUDA(cudaGetLastError());
    };

    // 6. What the ways share: a way is timed by wall time, on poisoned buffers.
    const auto poison_all = [&] {
        poison(pixels, pixel_count);
        poison(rows, rows_bytes);
    };
    const auto copy_all = [&](const void* from) {
        CHECK_CUDA(cudaMemcpyAsync(pixels, from, pixel_count, cudaMemcpyHostToDevice, counts));
    };
    const auto count_all = [&](const std::uint8_t* from, Histogram& result) {
        launch(for_all, from, 0, pixel_count, rows);
        CHECK_CUDA(
            cudaMemcpyAsync(pinned_rows, rows, sizeof(Histogram), cudaMemcpyDeviceToHost, counts));
        CHECK_CUDA(cudaStreamSynchronize(counts));
        std::copy_n(static_cast<const std::uint32_t*>(pinned_rows), kBins, result.begin());
    };

    // 7. The copy alone, which no way that copies can be faster than. It is counted when its time
    //    is over.
    if (lesson.wants("copy")) {
        Runs runs = lesson.runs("copy");
        while (runs.next()) {
            poison_all();
            runs.begin();
            copy_all(pinned);
            CHECK_CUDA(cudaStreamSynchronize(counts));
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
        Runs runs = lesson.runs("pipelined");
        while (runs.next()) {
            poison_all();
            runs.begin();
            for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
                const std::size_t first = chunk * kChunkPixels;
                const std::size_t length = std::min<std::size_t>(kChunkPixels, pixel_count - first);
                CHECK_CUDA(cudaMemcpyAsync(pixels + first, pinned + first, length,
                                           cudaMemcpyHostToDevice, copies));
                CHECK_CUDA(cudaEventRecord(copied[chunk], copies));
                CHECK_CUDA(cudaStreamWaitEvent(counts, copied[chunk], 0));
                launch(for_chunk, pixels, first, length, rows + chunk * kBins);
            }
            CHECK_CUDA(
                cudaMemcpyAsync(pinned_rows, rows, rows_bytes, cudaMemcpyDeviceToHost, counts));
            CHECK_CUDA(cudaStreamSynchronize(counts));
            add_rows(pinned_rows, chunks, runs.counts);
            runs.end();
        }
    }

    // 10. mapped: the kernel reads the host's memory, over the bus, under the address that it has
    //     for the device.
    if (lesson.wants("mapped")) {
        std::uint8_t* seen_by_device = nullptr;
        CHECK_CUDA(cudaHostGetDevicePointer(&seen_by_device, pinned, 0));
        Runs runs = lesson.runs("mapped");
        while (runs.next()) {
            poison_all();
            runs.begin();
            count_all(seen_by_device, runs.counts);
            runs.end();
        }
    }

    // 11. The table, with each way's speed in percent of the copy's, and the exit status that tells
    //     the truth.
    lesson.report().add_column("% of copy", percent_of_the_copy);
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
