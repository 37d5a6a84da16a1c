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

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/tune/choice.hpp"
#include "05-launch-tuning/tune/on_cuda.cuh"
#include "common/cuda/cuda.hpp"
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
using common::kBins;

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

// ---- global and lane-bins, as they stand in chapters 02 and 04 ----
//
// Chapters include nothing of each other, so they are here again; a test (docs/tests/test_peers.py)
// holds each against its original. `local` is chapter 05's two-per-sm.

__global__ void histogram_global(const std::uint8_t* pixels, std::size_t count,
                                 std::uint32_t* histogram) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&histogram[pixels[i]], 1U);
    }
}

template <unsigned copies>
__device__ void count_four(std::uint32_t* own, std::uint32_t four) {
    atomicAdd(&own[(four & 0xff) * copies], 1U);
    atomicAdd(&own[(four >> 8 & 0xff) * copies], 1U);
    atomicAdd(&own[(four >> 16 & 0xff) * copies], 1U);
    atomicAdd(&own[(four >> 24) * copies], 1U);
}

template <unsigned copies>
__device__ void count_sixteen(std::uint32_t* own, uint4 sixteen) {
    count_four<copies>(own, sixteen.x);
    count_four<copies>(own, sixteen.y);
    count_four<copies>(own, sixteen.z);
    count_four<copies>(own, sixteen.w);
}

template <unsigned copies>
__global__ void histogram_lanes(const std::uint8_t* pixels, std::size_t count,
                                std::uint32_t* histogram, unsigned loads) {
    __shared__ std::uint32_t table[kBins * copies];
    for (unsigned word = threadIdx.x; word < kBins * copies; word += blockDim.x) {
        table[word] = 0;
    }
    __syncthreads();

    std::uint32_t* own = table + threadIdx.x % copies;
    const auto* vectors = reinterpret_cast<const uint4*>(pixels);
    const std::size_t vector_count = loads > 0 ? count / 16 : 0;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t item = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    std::size_t i = item;
    // Four loads before the first count: while one is on its way, so are the others.
    for (; loads == 4 && i + 3 * stride < vector_count; i += 4 * stride) {
        const uint4 first = vectors[i];
        const uint4 second = vectors[i + stride];
        const uint4 third = vectors[i + 2 * stride];
        const uint4 fourth = vectors[i + 3 * stride];
        count_sixteen<copies>(own, first);
        count_sixteen<copies>(own, second);
        count_sixteen<copies>(own, third);
        count_sixteen<copies>(own, fourth);
    }
    for (; i < vector_count; i += stride) {
        count_sixteen<copies>(own, vectors[i]);
    }
    // The last few pixels, fewer than 16; with no loads of 16 all of them.
    for (i = vector_count * 16 + item; i < count; i += stride) {
        atomicAdd(&own[pixels[i] * copies], 1U);
    }
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        std::uint32_t sum = 0;
        for (unsigned n = 0; n < copies; ++n) {
            // Each thread begins with another copy: the banks take turns here, too.
            sum += table[bin * copies + (threadIdx.x + n) % copies];
        }
        atomicAdd(&histogram[bin], sum);
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
    const Arguments arguments =
        parse_arguments(argc, argv, kProgram, [&](CLI::App& app, Arguments&) {
            common::add_flag(app, "--queued", queued,
                             "keep the device busy until all commands of a run wait in its queue");
        });
    const common::Options& options = arguments.common;
    if (options.list_devices) {
        common::print(common::cuda::list(common::cuda::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, and the right answer.
    const common::Input input = common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const std::uint64_t count = input.pixels.size();

    // 3. The device.
    const common::cuda::Device device = common::cuda::choose_device(options.device);
    common::cuda::require_group_size(device.id,
                                     static_cast<unsigned>(options.group_size.value_or(1)));
    const auto units = static_cast<unsigned>(common::cuda::multiprocessors(device.id));
    common::Report report(output, kProgram, options, input, expected, device.name, device.driver);

    // 4. As many copies of the pixels as no cache holds, each where a 16-byte load can begin.
    constexpr std::uint64_t kAtLeast = std::uint64_t{512} << 20;
    // Of a picture so small that these would not fill a cache the kernel's time says little.
    constexpr std::uint64_t kMaxCopies = 4096;
    const std::uint64_t spacing = (count + 255) / 256 * 256;
    const std::uint64_t copy_count =
        count == 0 ? 1
                   : std::clamp<std::uint64_t>((kAtLeast + spacing - 1) / spacing, 2, kMaxCopies);
    std::uint8_t* buffer = nullptr;
    CHECK_CUDA(cudaMalloc(&buffer, std::max<std::uint64_t>(copy_count * spacing, 1)));
    CHECK_CUDA(cudaMemcpy(buffer, input.pixels.data(), count, cudaMemcpyHostToDevice));
    std::vector<const std::uint8_t*> copies;
    for (std::uint64_t copy = 0; copy < copy_count; ++copy) {
        if (copy > 0) {
            CHECK_CUDA(
                cudaMemcpy(buffer + copy * spacing, buffer, count, cudaMemcpyDeviceToDevice));
        }
        copies.push_back(buffer + copy * spacing);
    }

    // 5. The read ceiling; from a busy queue it is no limit but one more kernel, timed as the
    // others.
    const auto keep_busy = [&] {
        if (queued) stay_busy<<<1, 1>>>();
    };
    if (options.read_ceiling && count > 0) {
        report.set_read_ceiling(queued ? common::cuda::reading_alone_gb_s(copies, count, keep_busy)
                                       : common::cuda::read_ceiling_gb_s(copies, count));
    }

    // 6. What all share. Each is run on the next copy, on a poisoned histogram, between two events.
    std::uint32_t* histogram = nullptr;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    CHECK_CUDA(cudaMalloc(&histogram, sizeof(Histogram)));
    CHECK_CUDA(cudaEventCreate(&begin));
    CHECK_CUDA(cudaEventCreate(&end));

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
        CHECK_CUDA(cub::DeviceHistogram::HistogramEven(
            scratch, bytes, pixels, histogram, static_cast<int>(kBins) + 1, 0,
            static_cast<int>(kBins), static_cast<std::int64_t>(count)));
    };
    std::size_t cub_bytes = 0;
    void* cub_scratch = nullptr;
    cub_histogram(nullptr, cub_bytes, copies.front());
    CHECK_CUDA(cudaMalloc(&cub_scratch, std::max<std::size_t>(cub_bytes, 1)));
    run("cub", [&](const std::uint8_t* pixels) { cub_histogram(cub_scratch, cub_bytes, pixels); });

    // 8. NPP.
#ifdef WITH_NPP
    if (const std::optional<NppiSize> size = as_rectangle(count); !size) {
        if (options.wants("npp")) {
            report.add(common::skipped("npp", "these pixels make no rectangle that NPP takes"));
        }
    } else {
        const NppStreamContext context = npp_context(device.id);
        std::uint8_t* scratch = nullptr;
        CHECK_CUDA(cudaMalloc(&scratch, npp_scratch_bytes(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx,
                                                          *size, context)));
        run("npp", [&](const std::uint8_t* pixels) {
            check_npp(nppiHistogramEven_8u_C1R_Ctx(pixels, size->width, *size,
                                                   reinterpret_cast<Npp32s*>(histogram), kBins + 1,
                                                   0, kBins, scratch, context),
                      "nppiHistogramEven_8u_C1R_Ctx");
        });
        CHECK_CUDA(cudaFree(scratch));
    }
#else
    if (options.wants("npp")) {
        report.add(common::skipped("npp", "built without NPP (the toolkit's libnppist)"));
    }
#endif

    // 9. The chapters' kernels, launched as the chapters launch them.
    run("global", [&](const std::uint8_t* pixels) {
        zero_histogram();
        histogram_global<<<2 * units, 256>>>(pixels, count, histogram);
    });
    run("local", [&](const std::uint8_t* pixels) {
        zero_histogram();
        kernels::histogram_local<<<2 * units, 256>>>(pixels, count, histogram);
    });
    run("lane-bins", [&](const std::uint8_t* pixels) {
        zero_histogram();
        histogram_lanes<32><<<units, 1024>>>(pixels, count, histogram, 4);
    });
    if (options.wants("tuned")) {
        const tuning::Facts facts = tuning::facts_of(device, {&tuning::kLaneBins});
        const tuning::Choice choice = tuning::choose_launchable(arguments, facts, count);
        const std::size_t groups = options.groups.value_or(groups_of(choice, facts, count));
        const tuning::Counting kernel = tuning::histogram_tuned(choice.copies, choice.loads);
        kernels::Total* const totals = tuning::create_totals(!arguments.two_launches);
        run(
            "tuned",
            [&](const std::uint8_t* pixels) {
                if (totals == nullptr) zero_histogram();
                kernel<<<static_cast<unsigned>(groups), static_cast<unsigned>(choice.group_size)>>>(
                    pixels, 0, count, totals, histogram);
            },
            choice.launch_text(groups));
        tuning::require_zero(totals);
        CHECK_CUDA(cudaFree(totals));
    }

    // 10. What was created is released, and the table.
    CHECK_CUDA(cudaFree(cub_scratch));
    CHECK_CUDA(cudaEventDestroy(end));
    CHECK_CUDA(cudaEventDestroy(begin));
    CHECK_CUDA(cudaFree(histogram));
    CHECK_CUDA(cudaFree(buffer));
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run, common::diagnosis::explain);
}
