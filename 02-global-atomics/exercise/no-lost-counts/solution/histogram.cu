// Exercise 02/no-lost-counts: one table for all threads. README.md has the task.
#include <cstddef>
#include <cstdint>

// extern "C": the grader looks for the kernel by its name.
extern "C" __global__ void histogram_global(const std::uint8_t* pixels, std::size_t count,
                                            std::uint32_t* histogram) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        // ---- your part: count this pixel, and lose no other thread's ----
        atomicAdd(&histogram[pixels[i]], 1U);
        // ---- end of your part ----
    }
}
