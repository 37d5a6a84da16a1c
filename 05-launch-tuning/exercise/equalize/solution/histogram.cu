// Exercise 05/equalize: from a picture to a histogram, and back to a picture. README.md has the
// task.
#include <cstddef>
#include <cstdint>

constexpr unsigned kBins = 256;

// `histogram` is zero at first. (extern "C": the grader looks for the kernels by their names.)
extern "C" __global__ void count_pixels(const std::uint8_t* pixels, std::size_t count,
                                        std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins];
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
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
}

// Launched with one block, when the first has finished. table[v] is the new value of pixels of v:
// 255 * (number of pixels of v or less) / count, rounded down. `count` may be 0.
extern "C" __global__ void make_table(const std::uint32_t* histogram, std::size_t count,
                                      std::uint32_t* table) {
    // ---- your part: the table of new values ----
    for (unsigned value = threadIdx.x; value < kBins; value += blockDim.x) {
        std::size_t upto = 0;
        for (unsigned bin = 0; bin <= value; ++bin) {
            upto += histogram[bin];
        }
        table[value] = count > 0 ? static_cast<std::uint32_t>(255 * upto / count) : 0;
    }
    // ---- end of your part ----
}

// Launched last: writes `count` new pixels.
extern "C" __global__ void apply_table(const std::uint8_t* pixels, std::size_t count,
                                       const std::uint32_t* table, std::uint8_t* result) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    // ---- your part: each pixel's new value ----
    for (std::size_t i = thread; i < count; i += threads) {
        result[i] = static_cast<std::uint8_t>(table[pixels[i]]);
    }
    // ---- end of your part ----
}
