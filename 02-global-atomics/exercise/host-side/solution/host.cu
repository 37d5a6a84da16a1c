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
    std::uint8_t* input = nullptr;
    std::uint32_t* counts = nullptr;
    const std::size_t bytes = 256 * sizeof *counts;
    check(cudaMalloc(&input, count > 0 ? count : 1), "cudaMalloc");
    check(cudaMalloc(&counts, bytes), "cudaMalloc");
    check(cudaMemcpy(input, pixels, count, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemset(counts, 0, bytes), "cudaMemset");
    histogram_global<<<blocks, block_size>>>(input, count, counts);
    check(cudaGetLastError(), "histogram_global");
    check(cudaMemcpy(result, counts, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    check(cudaFree(counts), "cudaFree");
    check(cudaFree(input), "cudaFree");
    // ---- end of your part ----
}
