// How far from the libraries: chapter 05's `tuned` beside CUB, NPP and the chapters' kernels, in
// one process and on the same buffers.
//
//   cub        cub::DeviceHistogram::HistogramEven, of the CUDA Core Compute Libraries
//   npp        nppiHistogramEven_8u_C1R, of the NVIDIA Performance Primitives, where they are
//   global     chapter 02: one table for everyone
//   local      chapter 03: a table for each block
//   lane-bins  chapter 04: a table for each lane
//   tuned      chapter 05
//
// Run it:  build/05-launch-tuning/workshops/peers/cuda --random 1G
//          build/05-launch-tuning/workshops/peers/cuda --random 1G --contention 40
//          build/05-launch-tuning/workshops/peers/cuda --queued
//
// The pixels lie in the device's memory several times, and each run counts another copy, so that no
// cache has them. What has to be zeroed is zeroed within the time, for all alike.
//
// The device has nothing to do when a run begins, as in the chapters' programs, so that the time
// has in it how long the host takes to hand it the commands: on a small picture that is most of it.
// With --queued the device is kept busy until all of them wait in its queue, and the time is the
// device's alone.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "02-global-atomics/histogram.cuh"
#include "04-per-thread-bins/histogram.cuh"
#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/launch.hpp"
#include "05-launch-tuning/workshops/libraries.cuh"
#include "common/cuda/cuda.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/report.hpp"
#include "common/run/run.hpp"
#include "common/verify/verify.hpp"

using common::Histogram;

const common::Program kProgram{"05-launch-tuning",
                               "workshops/peers/cuda",
                               "CUDA",
                               "the chapters' kernels beside NVIDIA's libraries",
                               {{"cub", "cub::DeviceHistogram::HistogramEven"},
                                {"npp", "nppiHistogramEven_8u_C1R"},
                                {"global", "chapter 02: one table for everyone"},
                                {"local", "chapter 03: a table for each block"},
                                {"lane-bins", "chapter 04: a table for each lane"},
                                {"tuned", "chapter 05"}}};

// Long enough for the host to enqueue whatever is to be timed: some 50 microseconds.
constexpr long long kBusyClocks = 100'000;

__global__ void stay_busy() {
    const long long begin = clock64();
    while (clock64() - begin < kBusyClocks) {
    }
}

// One command line, from what is asked for to the table.
static int run(int argc, const char* const* argv, const common::Output& output) {
    // 1. What is asked for.
    bool queued = false;
    const common::Options options = common::parse_options(argc, argv, kProgram, [&](CLI::App& app) {
        common::add_flag(app, "--queued", queued,
                         "keep the device busy until all commands of a run wait in its queue");
    });
    if (options.list_devices) {
        common::print(common::cuda::list(common::cuda::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, and the right answer.
    const common::Input input = common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const std::uint64_t pixel_count = input.pixels.size();

    // 3. The device.
    const common::cuda::Device device = common::cuda::choose_device(options.device);
    common::cuda::require_group_size(device.id,
                                     static_cast<unsigned>(options.group_size.value_or(1)));
    const unsigned units = common::cuda::multiprocessors(device.id);
    common::Report report(output, kProgram, options, input, expected, device.name, device.driver);

    // 4. As many copies of the pixels as no cache holds, each where a 16-byte load can begin.
    constexpr std::uint64_t kAtLeast = std::uint64_t{512} << 20;
    // Of a picture so small that these would not fill a cache the kernel's time says little.
    constexpr std::uint64_t kMaxCopies = 4096;
    const std::uint64_t spacing = (pixel_count + 255) / 256 * 256;
    const std::uint64_t copy_count =
        pixel_count == 0
            ? 1
            : std::clamp<std::uint64_t>((kAtLeast + spacing - 1) / spacing, 2, kMaxCopies);
    common::cuda::Memory<std::uint8_t> buffer;
    CHECK_CUDA(cudaMalloc(buffer.out(), std::max<std::uint64_t>(copy_count * spacing, 1)));
    CHECK_CUDA(cudaMemcpy(buffer, input.pixels.data(), pixel_count, cudaMemcpyHostToDevice));
    std::vector<const std::uint8_t*> copies;
    for (std::uint64_t copy = 0; copy < copy_count; ++copy) {
        if (copy > 0) {
            CHECK_CUDA(
                cudaMemcpy(buffer + copy * spacing, buffer, pixel_count, cudaMemcpyDeviceToDevice));
        }
        copies.push_back(buffer + copy * spacing);
    }

    // 5. The read ceiling; from a busy queue it is no limit but one more kernel, timed as the
    //    others.
    const auto keep_busy = [&] {
        if (queued) stay_busy<<<1, 1>>>();
    };
    if (options.read_ceiling && pixel_count > 0) {
        report.set_read_ceiling(
            queued ? common::cuda::reading_alone_gb_s(copies, pixel_count, keep_busy)
                   : common::cuda::read_ceiling_gb_s(copies, pixel_count));
    }

    // 6. What all share. Each is run on the next copy, on a poisoned histogram, between two events.
    common::cuda::Memory<std::uint32_t> histogram;
    common::cuda::Event begin;
    common::cuda::Event end;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));
    std::size_t next = 0;
    using CountOnDevice = std::function<void(const std::uint8_t* pixels)>;
    const auto run = [&](const char* variant, const CountOnDevice& count_on_device,
                         const std::string& launch = {}) {
        if (!options.wants(variant)) return;
        common::Result timed = common::verify_and_time(
            variant, expected, options.repeat, [&](Histogram& result) -> common::RunTime {
                common::cuda::poison(histogram, sizeof(Histogram));
                const std::uint8_t* const pixels = copies[next++ % copies.size()];
                keep_busy();
                CHECK_CUDA(cudaEventRecord(begin));
                count_on_device(pixels);
                CHECK_CUDA(cudaGetLastError());
                CHECK_CUDA(cudaEventRecord(end));
                CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof(Histogram),
                                      cudaMemcpyDeviceToHost));
                return {common::cuda::elapsed_ms(begin, end), std::nullopt};
            });
        timed.launch_text = launch;
        report.add(std::move(timed));
    };
    const auto zero_histogram = [&] {
        CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
    };

    // 7. The libraries. Their scratch memory is allocated before.
    run("cub", [&, count = libraries::cub_even(pixel_count)](const std::uint8_t* pixels) {
        count(pixels, pixel_count, histogram);
    });
    if (const std::string missing = libraries::npp_missing({&pixel_count, 1}); missing.empty()) {
        run("npp", [&, count = libraries::npp({&pixel_count, 1}, device.id)](
                       const std::uint8_t* pixels) { count(pixels, pixel_count, histogram); });
    } else if (options.wants("npp")) {
        report.add(common::skipped("npp", missing));
    }

    // 8. The chapters' kernels, launched as the chapters launch them.
    run("global", [&](const std::uint8_t* pixels) {
        zero_histogram();
        histogram_global<<<2 * units, 256>>>(pixels, pixel_count, histogram);
    });
    run("local", [&](const std::uint8_t* pixels) {
        zero_histogram();
        kernels::histogram_local<<<2 * units, 256>>>(pixels, pixel_count, histogram);
    });
    run("lane-bins", [&](const std::uint8_t* pixels) {
        zero_histogram();
        histogram_lanes<32><<<units, 1024>>>(pixels, pixel_count, histogram, 4);
    });
    if (options.wants("tuned")) {
        const DeviceLimits limits{.api = "CUDA",
                                  .device = device.name,
                                  .driver = device.driver,
                                  .units = common::cuda::multiprocessors(device.id),
                                  .max_group_size = common::cuda::max_block_size(device.id),
                                  .local_bytes = 48 << 10};  // without asking for more
        const TunedLaunch config = launch_for(limits, options, pixel_count);
        const auto blocks =
            static_cast<unsigned>(options.groups.value_or(config.groups(units, pixel_count)));
        const auto block_size = static_cast<unsigned>(config.group_size);
        const kernels::Tuned kernel = kernels::tuned(config.copies, config.loads);
        common::cuda::Memory<kernels::Total> totals;
        CHECK_CUDA(cudaMalloc(totals.out(), kTotalWords * sizeof(kernels::Total)));
        CHECK_CUDA(cudaMemset(totals, 0, kTotalWords * sizeof(kernels::Total)));
        run(
            "tuned",
            [&](const std::uint8_t* pixels) {
                kernel<<<blocks, block_size>>>(pixels, 0, pixel_count, totals, histogram);
            },
            config.text(blocks));
    }

    // 9. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
