// CUB's call in a file of its own: CUB has a namespace `cuda`, and common::cuda would clash with
// it.
#include <cstdint>
#include <cub/device/device_histogram.cuh>

cudaError_t count_with_cub(void* scratch, std::size_t& bytes, const std::uint8_t* pixels,
                           std::uint64_t count, std::uint32_t* bins) {
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, pixels, bins, 257, 0, 256,
                                               static_cast<std::int64_t>(count));
}
