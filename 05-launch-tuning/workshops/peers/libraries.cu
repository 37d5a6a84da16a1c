// Apart from who calls them: to compile CUB's templates takes longer than all else.
#include "05-launch-tuning/workshops/peers/libraries.hpp"

#include <algorithm>
#include <cub/device/device_histogram.cuh>
#include <memory>
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

// A call of CUB says how much scratch memory it needs where it is given none.
Library cub_of(std::uint64_t count) {
    const auto call = [count](void* scratch, std::size_t& bytes, const std::uint8_t* pixels,
                              std::uint32_t* bins) {
        return cub::DeviceHistogram::HistogramEven(
            scratch, bytes, pixels, bins, static_cast<int>(kBins) + 1, 0, static_cast<int>(kBins),
            static_cast<std::int64_t>(count));
    };
    std::size_t bytes = 0;
    CHECK_CUDA(call(nullptr, bytes, nullptr, nullptr));
    return {"cub", "",
            [call, bytes, scratch = make_scratch(bytes)](const std::uint8_t* pixels,
                                                         std::uint32_t* bins) {
                std::size_t same_bytes = bytes;
                CHECK_CUDA(call(*scratch, same_bytes, pixels, bins));
            }};
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

// NPP's versions differ in the type that they return the size in: int, later size_t.
template <typename Size>
std::size_t npp_scratch_bytes(NppStatus (*ask)(NppiSize, int, Size*, NppStreamContext),
                              NppiSize size, const NppStreamContext& context) {
    Size bytes = 0;
    check_npp(ask(size, kBins + 1, &bytes, context), "nppiHistogramEvenGetBufferSize_8u_C1R_Ctx");
    return static_cast<std::size_t>(bytes);
}

// NPP counts rectangles of at most 2^31 pixels: the one that these make, about as wide as high.
Library npp_of(std::uint64_t count, int device) {
    std::uint64_t width = 1;
    while (count % (2 * width) == 0 && 4 * width * width <= count)
        width *= 2;
    if (count == 0 || width < 64 || count / width > (1U << 20) || count >= (1U << 31))
        return {"npp", "these pixels make no rectangle that NPP takes", {}};
    const NppiSize size{static_cast<int>(width), static_cast<int>(count / width)};
    const NppStreamContext context = npp_context(device);
    const std::size_t bytes =
        npp_scratch_bytes(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx, size, context);
    return {"npp", "",
            [size, context, scratch = make_scratch(bytes)](const std::uint8_t* pixels,
                                                           std::uint32_t* bins) {
                check_npp(nppiHistogramEven_8u_C1R_Ctx(pixels, size.width, size,
                                                       reinterpret_cast<Npp32s*>(bins), kBins + 1,
                                                       0, kBins, *scratch, context),
                          "nppiHistogramEven_8u_C1R_Ctx");
            }};
}

#else

Library npp_of(std::uint64_t, int) {
    return {"npp", "built without NPP (the toolkit's libnppist)", {}};
}

#endif

}  // namespace

std::vector<Library> all(std::uint64_t count, int device) {
    return {cub_of(count), npp_of(count, device)};
}

}  // namespace libraries
