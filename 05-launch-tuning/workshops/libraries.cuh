/// @file
/// The histograms of NVIDIA's libraries: CUB comes with the compiler, NPP with the full toolkit.
/// Scratch memory is allocated once, as one would.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include <cub/device/device_histogram.cuh>

#include "common/cuda/cuda.hpp"
#include "common/histogram/histogram.hpp"

#ifdef WITH_NPP
#include <npp.h>
#endif

namespace libraries {

using common::kBins;

/// Gives the device so many pixels to count into 256 bins.
using Count =
    std::function<void(const std::uint8_t* pixels, std::uint64_t count, std::uint32_t* bins)>;

using Scratch = common::cuda::Memory<std::uint8_t>;
inline std::shared_ptr<Scratch> make_scratch(std::size_t bytes) {
    auto scratch = std::make_shared<Scratch>();
    CHECK_CUDA(cudaMalloc(scratch->out(), std::max<std::size_t>(bytes, 1)));
    return scratch;
}

// ---- CUB ----------------------------------------------------------------------------------------

inline std::string cub_version() {
    return "CUB " + std::to_string(CUB_MAJOR_VERSION) + '.' + std::to_string(CUB_MINOR_VERSION) +
           '.' + std::to_string(CUB_SUBMINOR_VERSION);
}

/// Bins of one width. @param most pixels that a call may have
inline Count cub_even(std::uint64_t most, cudaStream_t stream = nullptr) {
    const auto call = [stream](void* scratch, std::size_t& bytes, const std::uint8_t* pixels,
                               std::uint64_t count, std::uint32_t* bins) {
        CHECK_CUDA(cub::DeviceHistogram::HistogramEven(
            scratch, bytes, pixels, bins, static_cast<int>(kBins) + 1, 0, static_cast<int>(kBins),
            static_cast<std::int64_t>(count), stream));
    };
    std::size_t bytes = 0;
    call(nullptr, bytes, nullptr, most, nullptr);
    return [call, bytes, scratch = make_scratch(bytes)](
               const std::uint8_t* pixels, std::uint64_t count, std::uint32_t* bins) mutable {
        call(*scratch, bytes, pixels, count, bins);
    };
}

/// Bins of any width, each of which it has to look for: here as wide as the others.
inline Count cub_range(std::uint64_t most, cudaStream_t stream = nullptr) {
    auto levels = std::make_shared<common::cuda::Memory<int>>();
    int borders[kBins + 1];
    for (int border = 0; border <= static_cast<int>(kBins); ++border)
        borders[border] = border;
    CHECK_CUDA(cudaMalloc(levels->out(), sizeof borders));
    CHECK_CUDA(cudaMemcpy(*levels, borders, sizeof borders, cudaMemcpyHostToDevice));
    const auto call = [stream, levels](void* scratch, std::size_t& bytes,
                                       const std::uint8_t* pixels, std::uint64_t count,
                                       std::uint32_t* bins) {
        const int* const all = *levels;
        CHECK_CUDA(cub::DeviceHistogram::HistogramRange(scratch, bytes, pixels, bins,
                                                        static_cast<int>(kBins) + 1, all,
                                                        static_cast<std::int64_t>(count), stream));
    };
    std::size_t bytes = 0;
    call(nullptr, bytes, nullptr, most, nullptr);
    return [call, bytes, scratch = make_scratch(bytes)](
               const std::uint8_t* pixels, std::uint64_t count, std::uint32_t* bins) mutable {
        call(*scratch, bytes, pixels, count, bins);
    };
}

// ---- NPP ----------------------------------------------------------------------------------------

#ifdef WITH_NPP

inline void check_npp(NppStatus status, const char* call) {
    if (status != NPP_SUCCESS) {
        throw std::runtime_error(std::string(call) + ": NPP's status " + std::to_string(status));
    }
}

inline std::string npp_version() {
    const NppLibraryVersion* const version = nppGetLibVersion();
    return "NPP " + std::to_string(version->major) + '.' + std::to_string(version->minor) + '.' +
           std::to_string(version->build);
}

// What NPP wants to know of the stream and the device.
inline NppStreamContext npp_context(int device, cudaStream_t stream) {
    NppStreamContext context{};
    cudaDeviceProp properties{};
    CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
    context.hStream = stream;
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
inline std::optional<NppiSize> as_rectangle(std::uint64_t count) {
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

/// Why it cannot count pictures of so many pixels each; empty where it can.
inline std::string npp_missing(std::span<const std::uint64_t> counts) {
    const bool all = std::all_of(counts.begin(), counts.end(),
                                 [](std::uint64_t count) { return as_rectangle(count); });
    return all ? "" : "these pixels make no rectangle that NPP takes";
}

/// For pictures of so many pixels each, where npp_missing() has nothing to say.
inline Count npp(std::span<const std::uint64_t> counts, int device, cudaStream_t stream = nullptr) {
    const NppStreamContext context = npp_context(device, stream);
    std::size_t bytes = 0;
    for (const std::uint64_t count : counts)
        bytes = std::max(bytes, npp_scratch_bytes(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx,
                                                  as_rectangle(count).value(), context));
    return [context, scratch = make_scratch(bytes)](const std::uint8_t* pixels, std::uint64_t count,
                                                    std::uint32_t* bins) {
        const NppiSize size = *as_rectangle(count);
        check_npp(
            nppiHistogramEven_8u_C1R_Ctx(pixels, size.width, size, reinterpret_cast<Npp32s*>(bins),
                                         kBins + 1, 0, kBins, *scratch, context),
            "nppiHistogramEven_8u_C1R_Ctx");
    };
}

#else

inline std::string npp_version() {
    return {};
}
inline std::string npp_missing(std::span<const std::uint64_t>) {
    return "built without NPP (the toolkit's libnppist)";
}
inline Count npp(std::span<const std::uint64_t>, int, cudaStream_t = nullptr) {
    return {};
}

#endif

}  // namespace libraries
