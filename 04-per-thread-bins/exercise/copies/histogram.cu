// Exercise 04/copies: COPIES tables for each block. README.md has the task.
#include <cstddef>
#include <cstdint>

constexpr unsigned kBins = 256;
constexpr unsigned kCopies = COPIES;  // the grader passes 1, 2, 8 and 32

// extern "C": the grader looks for the kernel by its name.
extern "C" __global__ void histogram_copies(const std::uint8_t* pixels, std::size_t count,
                                            std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins * kCopies];
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    // ---- your part: zero all copies ----
    // TODO: only the first copy is zeroed
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin * kCopies] = 0;
    }
    // ---- end of your part ----
    __syncthreads();
    for (std::size_t i = thread; i < count; i += threads) {
        atomicAdd(&table[pixels[i] * kCopies + threadIdx.x % kCopies], 1U);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        // ---- your part: add the copies of this bin up, and merge ----
        atomicAdd(&histogram[bin], table[bin * kCopies]);  // TODO: the other copies
        // ---- end of your part ----
    }
}
