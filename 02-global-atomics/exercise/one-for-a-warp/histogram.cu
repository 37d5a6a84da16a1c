// Exercise 02/one-for-a-warp: equal pixels of a warp are added once. README.md has the task.
#include <cstddef>
#include <cstdint>

// extern "C": the grader looks for the kernel by its name.
extern "C" __global__ void histogram_warp(const std::uint8_t* pixels, std::size_t count,
                                          std::uint32_t* histogram) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const unsigned lane = threadIdx.x % 32;
    // A block's last warp may have fewer lanes than 32. `all` has a bit for each that is there.
    const unsigned lanes = min(32U, blockDim.x - (threadIdx.x - lane));
    const unsigned all = 0xffffffffU >> (32 - lanes);
    // The first pixel of the warp decides, so all of its lanes turn equally often.
    for (std::size_t i = thread; i - lane < count; i += threads) {
        const unsigned counting = __ballot_sync(all, i < count);  // the lanes that have a pixel
        if (i >= count) continue;
        const unsigned bin = pixels[i];
        // ---- your part: add once for all lanes of `counting` that have this bin ----
        atomicAdd(&histogram[bin], 1U);  // TODO: this adds once for each of them
        // ---- end of your part ----
    }
}
