// Apart from who calls them: to compile CUB's templates takes longer than all else.
#include "05-launch-tuning/workshops/libraries.hpp"

#include <algorithm>
#include <cub/device/device_histogram.cuh>
#include <memory>
#include <optional>
#include <stdexcept>

#include "common/cuda/cuda.hpp"
#include "common/histogram/histogram.hpp"

#ifdef WITH_NPP
#include <npp.h>
#endif

namespace libraries {
namespace {

using common::kBins;

using Scratch = common::cuda::Memory<std::uint8_t>;
std::shared_ptr<Scratch> make_scratch(std::size_t bytes) {
    auto scratch = std::make_shared<Scratch>();
    CHECK_CUDA(cudaMalloc(scratch->out(), std::max<std::size_t>(bytes, 1)));
    return scratch;
}

// ---- CUB ----------------------------------------------------------------------------------------

// A call of CUB says how much scratch memory it needs where it is given none.
// @param most pixels that a call may have
Library of_cub(std::uint64_t most, cudaStream_t stream) {
    const auto call = [stream](void* scratch, std::size_t& bytes, const std::uint8_t* pixels,
                               std::uint64_t count, std::uint32_t* bins) {
        return cub::DeviceHistogram::HistogramEven(
            scratch, bytes, pixels, bins, static_cast<int>(kBins) + 1, 0, static_cast<int>(kBins),
            static_cast<std::int64_t>(count), stream);
    };
    std::size_t bytes = 0;
    CHECK_CUDA(call(nullptr, bytes, nullptr, most, nullptr));
    const std::string version = "CUB " + std::to_string(CUB_MAJOR_VERSION) + '.' +
                                std::to_string(CUB_MINOR_VERSION) + '.' +
                                std::to_string(CUB_SUBMINOR_VERSION);
    return {"cub", version, "",
            [call, bytes, scratch = make_scratch(bytes)](const std::uint8_t* pixels,
                                                         std::uint64_t count, std::uint32_t* bins) {
                std::size_t same_bytes = bytes;
                CHECK_CUDA(call(*scratch, same_bytes, pixels, count, bins));
            }};
}

// ---- NPP ----------------------------------------------------------------------------------------

#ifdef WITH_NPP

void check_npp(NppStatus status, const char* call) {
    if (status != NPP_SUCCESS) {
        throw std::runtime_error(std::string(call) + ": NPP's status " + std::to_string(status));
    }
}

std::string npp_version() {
    const NppLibraryVersion* const version = nppGetLibVersion();
    return "NPP " + std::to_string(version->major) + '.' + std::to_string(version->minor) + '.' +
           std::to_string(version->build);
}

// What NPP wants to know of the stream and the device.
NppStreamContext npp_context(int device, cudaStream_t stream) {
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

Library npp(std::span<const std::uint64_t> counts, int device, cudaStream_t stream) {
    Library npp{"npp", npp_version(), "", {}};
    const NppStreamContext context = npp_context(device, stream);
    std::size_t bytes = 0;
    for (const std::uint64_t count : counts) {
        const std::optional<NppiSize> size = as_rectangle(count);
        if (!size) {
            npp.missing = "these pixels make no rectangle that NPP takes";
            return npp;
        }
        bytes = std::max(
            bytes, npp_scratch_bytes(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx, *size, context));
    }
    npp.count = [context, scratch = make_scratch(bytes)](const std::uint8_t* pixels,
                                                         std::uint64_t count, std::uint32_t* bins) {
        const NppiSize size = *as_rectangle(count);
        check_npp(
            nppiHistogramEven_8u_C1R_Ctx(pixels, size.width, size, reinterpret_cast<Npp32s*>(bins),
                                         kBins + 1, 0, kBins, *scratch, context),
            "nppiHistogramEven_8u_C1R_Ctx");
    };
    return npp;
}

#else

Library npp(std::span<const std::uint64_t>, int, cudaStream_t) {
    return {"npp", "", "built without NPP (the toolkit's libnppist)", {}};
}

#endif

}  // namespace

std::vector<Library> all(std::span<const std::uint64_t> counts, int device, cudaStream_t stream) {
    const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
    return {of_cub(most, stream), npp(counts, device, stream)};
}

}  // namespace libraries
