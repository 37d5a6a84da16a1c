// CUB's call, apart from who calls it: CUB has a namespace `cuda`, as common has one.
#include <cstdint>
#include <cub/device/device_histogram.cuh>

cudaError_t count_with_cub(void* scratch, std::size_t& bytes, const std::uint8_t* pixels,
                           std::uint64_t count, std::uint32_t* bins) {
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, pixels, bins, 257, 0, 256,
                                               static_cast<std::int64_t>(count));
}
