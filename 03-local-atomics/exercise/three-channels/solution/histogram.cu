// Exercise 03/three-channels: three histograms, one pass. README.md has the task.
#include <cstddef>
#include <cstdint>

constexpr unsigned kBins = 256;
constexpr unsigned kChannels = 3;

// A pixel is three bytes: red, green, blue. `histograms` has 256 counters for red, then 256 for
// green, then 256 for blue. (extern "C": the grader looks for the kernel by its name.)
extern "C" __global__ void histogram_channels(const std::uint8_t* pixels, std::size_t count,
                                              std::uint32_t* histograms) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    // ---- your part: the table, and the five steps ----
    __shared__ std::uint32_t table[kChannels * kBins];
    for (unsigned bin = threadIdx.x; bin < kChannels * kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    __syncthreads();
    for (std::size_t i = thread; i < count; i += threads) {
        for (unsigned channel = 0; channel < kChannels; ++channel) {
            atomicAdd(&table[channel * kBins + pixels[i * kChannels + channel]], 1U);
        }
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kChannels * kBins; bin += blockDim.x) {
        atomicAdd(&histograms[bin], table[bin]);
    }
    // ---- end of your part ----
}
