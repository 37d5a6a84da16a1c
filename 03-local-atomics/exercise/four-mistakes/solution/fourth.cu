// Exercise 03/four-mistakes: the fourth of four. One thing is wrong. README.md has the task.
#include <cstddef>
#include <cstdint>

constexpr unsigned kBins = 256;

// extern "C": the grader looks for the kernel by its name.
extern "C" __global__ void histogram_local(const std::uint8_t* pixels, std::size_t count,
                                           std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins];
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    // ---- your part: find the mistake, and mend it ----
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    __syncthreads();
    for (std::size_t i = thread; i < count; i += threads) {
        atomicAdd(&table[pixels[i]], 1U);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        atomicAdd(&histogram[bin], table[bin]);
    }
    // ---- end of your part ----
}
