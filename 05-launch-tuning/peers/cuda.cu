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
// Run it:  build/05-launch-tuning/peers/cuda --random 1G
//          build/05-launch-tuning/peers/cuda --random 1G --contention 40
//          build/05-launch-tuning/peers/cuda --queued
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

#include <cub/device/device_histogram.cuh>

#include "02-global-atomics/histogram.cuh"
#include "04-per-thread-bins/histogram.cuh"
#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/tuned.hpp"
#include "common/cuda/cuda.hpp"
#include "common/cuda/handles.hpp"
#include "common/cuda/read_ceiling.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/report/report.hpp"
#include "common/run/run.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"
#include "common/tutor/diagnosis/explain.hpp"
#include "common/verify/verify.hpp"

#ifdef WITH_NPP
#include <npp.h>
#endif

using common::Histogram;

const common::Program kProgram{"05-launch-tuning",
                               "peers/cuda",
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

#ifdef WITH_NPP

void check_npp(NppStatus status, const char* call) {
    if (status != NPP_SUCCESS) {
        throw std::runtime_error(std::string(call) + ": NPP's status " + std::to_string(status));
    }
}

// What NPP wants to know of the stream and the device.
NppStreamContext npp_context(int device) {
    NppStreamContext context{};
    cudaDeviceProp properties{};
    CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
    context.nCudaDeviceId = device;
    context.nMultiProcessorCount = properties.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    context.nSharedMemPerBlock = properties.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = properties.major;
    context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
    return context;
}

// NPP counts rectangles of at most 2^31 pixels. The one that these pixels make, about as wide as
// high; nothing where they make only a strip.
std::optional<NppiSize> as_rectangle(std::uint64_t count) {
    std::uint64_t width = 1;
    while (count % (2 * width) == 0 && 4 * width * width <= count)
        width *= 2;
    if (count == 0 || width < 64 || count / width > (1U << 20) || count >= (1U << 31)) {
        return std::nullopt;
    }
    return NppiSize{static_cast<int>(width), static_cast<int>(count / width)};
}

// NPP's versions differ in the type that they return the size in: int, later size_t.
template <typename Size>
std::size_t npp_scratch_bytes(NppStatus (*ask)(NppiSize, int, Size*, NppStreamContext),
                              NppiSize size, const NppStreamContext& context) {
    Size bytes = 0;
    check_npp(ask(size, kBins + 1, &bytes, context), "nppiHistogramEvenGetBufferSize_8u_C1R_Ctx");
    return static_cast<std::size_t>(bytes);
}

#endif

// One command line, from what is asked for to the table.
static int run(int argc, const char* const* argv, const common::Output& output) {
    // 1. What is asked for.
    bool queued = false;
    tuning::TunedOptions tuned;
    const common::Options options =
        tuning::parse_options(argc, argv, kProgram, tuned, [&](CLI::App& app) {
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

    // 7. CUB. Its scratch memory is allocated once, as one would.
    const auto cub_histogram = [&](void* scratch, std::size_t& bytes, const std::uint8_t* pixels) {
        std::uint32_t* const bins = histogram;
        CHECK_CUDA(cub::DeviceHistogram::HistogramEven(
            scratch, bytes, pixels, bins, static_cast<int>(kBins) + 1, 0, static_cast<int>(kBins),
            static_cast<std::int64_t>(pixel_count)));
    };
    std::size_t cub_bytes = 0;
    common::cuda::Memory<std::uint8_t> cub_scratch;
    cub_histogram(nullptr, cub_bytes, copies.front());
    CHECK_CUDA(cudaMalloc(cub_scratch.out(), std::max<std::size_t>(cub_bytes, 1)));
    run("cub", [&](const std::uint8_t* pixels) { cub_histogram(cub_scratch, cub_bytes, pixels); });

    // 8. NPP.
#ifdef WITH_NPP
    if (const std::optional<NppiSize> size = as_rectangle(pixel_count); !size) {
        if (options.wants("npp")) {
            report.add(common::skipped("npp", "these pixels make no rectangle that NPP takes"));
        }
    } else {
        const NppStreamContext context = npp_context(device.id);
        common::cuda::Memory<std::uint8_t> scratch;
        CHECK_CUDA(cudaMalloc(
            scratch.out(),
            npp_scratch_bytes(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx, *size, context)));
        run("npp", [&](const std::uint8_t* pixels) {
            check_npp(nppiHistogramEven_8u_C1R_Ctx(
                          pixels, size->width, *size,
                          reinterpret_cast<Npp32s*>(static_cast<std::uint32_t*>(histogram)),
                          kBins + 1, 0, kBins, scratch, context),
                      "nppiHistogramEven_8u_C1R_Ctx");
        });
    }
#else
    if (options.wants("npp")) {
        report.add(common::skipped("npp", "built without NPP (the toolkit's libnppist)"));
    }
#endif

    // 9. The chapters' kernels, launched as the chapters launch them.
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
        const tuning::DeviceLimits limits{
            .api = "CUDA",
            .device = device.name,
            .driver = device.driver,
            .units = units,
            .max_group_size = tuning::kMaxCudaThreads,
            .local_bytes = tuning::kCudaSharedBytes,
            .kernels = {&tuning::kReplicated},
            .max_threads = [](const tuning::LaunchConfig& config) {
                cudaFuncAttributes kernel{};
                CHECK_CUDA(
                    cudaFuncGetAttributes(&kernel, kernels::tuned(config.copies, config.loads)));
                return static_cast<std::size_t>(kernel.maxThreadsPerBlock);
            }};
        const tuning::LaunchConfig config = tuning::resolve(tuned, options, limits, pixel_count);
        const auto blocks =
            static_cast<unsigned>(options.groups.value_or(config.groups(units, pixel_count)));
        const auto block_size = static_cast<unsigned>(config.group_size);
        const kernels::Tuned kernel = kernels::tuned(config.copies, config.loads);
        common::cuda::Memory<kernels::Total> totals;
        if (!tuned.two_launches) {
            CHECK_CUDA(cudaMalloc(totals.out(), tuning::kTotalWords * sizeof(kernels::Total)));
            CHECK_CUDA(cudaMemset(totals, 0, tuning::kTotalWords * sizeof(kernels::Total)));
        }
        run(
            "tuned",
            [&](const std::uint8_t* pixels) {
                if (tuned.two_launches) zero_histogram();
                kernel<<<blocks, block_size>>>(pixels, 0, pixel_count, totals, histogram);
            },
            config.launch_text(blocks));
    }

    // 10. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run, common::diagnosis::explain);
}
