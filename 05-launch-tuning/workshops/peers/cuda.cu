// How far from a library: chapter 05's `tuned` beside CUB and the chapters' kernels, in one process
// and on the same buffers.
//
// Run it:  build/05-launch-tuning/workshops/peers/cuda --random 1G
//          build/05-launch-tuning/workshops/peers/cuda --random 1G --contention 40
//          build/05-launch-tuning/workshops/peers/cuda --queued
//
// The pixels lie in the device's memory several times, and each run counts another copy, so that no
// cache has them. Zeroing belongs to the time, for all alike.
//
// The device has nothing to do when a run begins, as in the chapters' programs, so that the time
// has in it how long the host takes to hand it the commands: on a small picture that is most of it.
// With --queued the device is kept busy until all of them wait in its queue, and the time is the
// device's alone.

#include "02-global-atomics/histogram.cuh"
#include "04-per-thread-bins/histogram.cuh"
#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/workshops/limits_cuda.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::cuda;

const Program kProgram{"05-launch-tuning",
                       "workshops/peers/cuda",
                       "CUDA",
                       "the chapters' kernels beside NVIDIA's library",
                       {{"cub", "cub::DeviceHistogram::HistogramEven"},
                        {"global", "chapter 02: one table for everyone"},
                        {"local", "chapter 03: a table for each block"},
                        {"lane-bins", "chapter 04: a table for each lane"},
                        {"tuned", "chapter 05"}}};

// CUB's histogram of 256 bins (cub.cu); without scratch memory it says how many bytes it needs.
cudaError_t count_with_cub(void* scratch, std::size_t& bytes, const std::uint8_t* pixels,
                           std::uint64_t count, std::uint32_t* bins);

// Long enough for the host to enqueue whatever is to be timed: some 50 microseconds.
constexpr long long kBusyClocks = 100'000;

__global__ void stay_busy() {
    const long long begin = clock64();
    while (clock64() - begin < kBusyClocks) {
    }
}

int main(int argc, char** argv) try {
    // 1. What is asked for, the pixels, and the right answer.
    bool queued = false;
    Lesson lesson(argc, argv, kProgram, [&](CLI::App& app) {
        add_flag(app, "--queued", queued,
                 "keep the device busy until all commands of a run wait in its queue");
    });
    const std::uint64_t pixel_count = lesson.pixels.size();

    // 2. The device.
    const int device = choose_device(lesson);
    const DeviceLimits limits = limits_of(device);
    const auto units = static_cast<unsigned>(limits.units);
    lesson.group_size(1, limits.max_group_size);  // it refuses a --group-size that is too large

    // 3. Where its commands go: the default stream keeps their order, and two events note when the
    //    work began and ended.
    Event begin, end;
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));

    // 4. As many copies of the pixels as no cache holds, each where a 16-byte load can begin.
    constexpr std::uint64_t kAtLeast = std::uint64_t{512} << 20;
    // Of a picture so small that these would not fill a cache the kernel's time says little.
    constexpr std::uint64_t kMaxCopies = 4096;
    const std::uint64_t spacing = (pixel_count + 255) / 256 * 256;
    const std::uint64_t copy_count =
        pixel_count == 0
            ? 1
            : std::clamp<std::uint64_t>((kAtLeast + spacing - 1) / spacing, 2, kMaxCopies);
    Memory<std::uint8_t> buffer;
    CHECK_CUDA(cudaMalloc(buffer.out(), copy_count * spacing));
    std::vector<const std::uint8_t*> copies;
    for (std::uint64_t copy = 0; copy < copy_count; ++copy) {
        copies.push_back(buffer + copy * spacing);
        CHECK_CUDA(cudaMemcpy(buffer + copy * spacing, lesson.pixels.data(), pixel_count,
                              cudaMemcpyHostToDevice));
    }

    // 5. The read ceiling; from a busy queue it is no limit but one more kernel, timed as the
    //    others.
    const auto keep_busy = [&] {
        if (queued) stay_busy<<<1, 1>>>();
    };
    lesson.read_ceiling([&]() -> std::optional<double> {
        if (pixel_count == 0) return {};
        return queued ? reading_alone_gb_s(copies, pixel_count, keep_busy)
                      : read_ceiling_gb_s(copies, pixel_count);
    });

    // 6. What all share: the histogram, which `cub` and `tuned` need not find zeroed.
    Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));
    std::size_t next = 0;

    // 7. The library, whose scratch memory is allocated before, and `tuned`, as chapter 05 launches
    //    it.
    std::size_t scratch_bytes = 0;
    CHECK_CUDA(count_with_cub(nullptr, scratch_bytes, nullptr, pixel_count, nullptr));
    Memory<std::uint8_t> scratch;
    CHECK_CUDA(cudaMalloc(scratch.out(), std::max<std::size_t>(scratch_bytes, 1)));
    TunedLaunch config;
    if (lesson.wants("tuned")) config = launch_for(limits, lesson.options, pixel_count);
    const auto blocks = static_cast<unsigned>(lesson.groups(config.groups(units, pixel_count)));
    const auto block_size = static_cast<unsigned>(config.group_size);
    const kernels::Tuned tuned = kernels::tuned(config.copies, config.loads);
    Memory<kernels::Total> totals;
    CHECK_CUDA(cudaMalloc(totals.out(), kTotalWords * sizeof(kernels::Total)));
    CHECK_CUDA(cudaMemset(totals, 0, kTotalWords * sizeof(kernels::Total)));

    // 8. Each is run on the next copy, on a poisoned histogram, between two events; the chapters'
    //    kernels launched as the chapters launch them.
    const std::pair<const char*, Launch> peers[] = {{"cub", {}},
                                                    {"global", {2 * units, 256}},
                                                    {"local", {2 * units, 256}},
                                                    {"lane-bins", {units, 1024}},
                                                    {"tuned", {blocks, block_size}}};
    for (const auto& [name, launch] : peers) {
        const std::string peer = name;
        if (!lesson.wants(peer)) continue;
        Runs runs = lesson.runs(peer, launch, "", peer == "tuned" ? config.text(blocks) : "");
        while (runs.next()) {
            poison(histogram, sizeof(Histogram));
            const std::uint8_t* const pixels = copies[next++ % copies.size()];
            runs.begin();
            keep_busy();
            CHECK_CUDA(cudaEventRecord(begin));
            if (peer != "cub" && peer != "tuned")
                CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            if (peer == "cub")
                CHECK_CUDA(count_with_cub(scratch, scratch_bytes, pixels, pixel_count, histogram));
            if (peer == "global")
                histogram_global<<<2 * units, 256>>>(pixels, pixel_count, histogram);
            if (peer == "local")
                kernels::histogram_local<<<2 * units, 256>>>(pixels, pixel_count, histogram);
            if (peer == "lane-bins")
                histogram_lanes<32><<<units, 1024>>>(pixels, pixel_count, histogram, 4);
            if (peer == "tuned")
                tuned<<<blocks, block_size>>>(pixels, 0, pixel_count, totals, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(runs.counts.data(), histogram, sizeof(Histogram),
                                  cudaMemcpyDeviceToHost));
            runs.end(elapsed_ms(begin, end));
        }
    }

    // 9. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
