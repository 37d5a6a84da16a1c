// Exercise 02/host-side: memory, launch and read-back. README.md has the task.
#include <cstdio>
#include <cstdlib>

#include "histogram.cuh"

// What a call returned: after an error there is nothing to go on with.
static void check(cudaError_t error, const char* call) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    std::exit(1);
}

// Counts `count` pixels, which may be 0, with `blocks` blocks of `block_size`, and writes 256
// counts. Called again and again. (extern "C": the grader looks for the function by its name.)
extern "C" void histogram(unsigned blocks, unsigned block_size, const std::uint8_t* pixels,
                          std::size_t count, std::uint32_t* result) {
    // ---- your part: from the pixels to the counts ----
    // TODO 1: memory on the device with the pixels in it, and for 256 counts, which are 0
    // TODO 2 and 3: the launch of histogram_global with its three arguments, and whether it worked
    // TODO 4: the counts, back from the device
    // TODO 5: free what you have allocated
    check(cudaSuccess, "nothing yet");
    // ---- end of your part ----
}
