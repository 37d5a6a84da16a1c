// Which KiB of memory share a queue of the L2 cache: half of the warps add to the first word of the
// one, half to that of the other, which takes twice as long where both wait in one queue.
//
//   nvcc -O3 -std=c++20 -arch=sm_90 -o queues queues.cu && ./queues queues.json
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using std::uint32_t;

constexpr std::size_t kAll = 1024, kWords = 256;  // KiB, and the words of one

__global__ void add(uint32_t* one, uint32_t* other) {
    if (threadIdx.x % 32 != 0) return;
    for (unsigned turn = 0; turn < 128; ++turn)
        atomicAdd(threadIdx.x % 64 == 0 ? one : other, 1U);
}

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

/// Microseconds, the least of so many runs.
float took(uint32_t* one, uint32_t* other, int runs) {
    static cudaEvent_t begin = nullptr, end = nullptr;
    if (begin == nullptr) {
        check(cudaEventCreate(&begin));
        check(cudaEventCreate(&end));
    }
    float least = 1e9F;
    for (int run = 0; run < runs; ++run) {
        check(cudaEventRecord(begin));
        add<<<132, 256>>>(one, other);
        check(cudaGetLastError());
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin, end));
        least = std::min(least, ms * 1000);
    }
    return least;
}

int main(int argc, char** argv) {
    cudaDeviceProp card{};
    check(cudaGetDeviceProperties(&card, 0));
    std::FILE* const file = argc > 1 ? std::fopen(argv[1], "w") : stdout;
    if (file == nullptr) return 2;
    uint32_t* memory = nullptr;
    check(cudaMalloc(&memory, 8 << 20));
    took(memory, memory, 300);
    const float same = took(memory, memory + 1, 9);
    const auto shares = [memory, same](std::size_t one, std::size_t other) {
        return took(memory + one * kWords, memory + other * kWords, 4) > 0.85F * same;
    };
    // What disturbs a run makes it longer, for a while: only what agrees in every round shares.
    std::vector<std::size_t> like(kAll);  // of each the first KiB of its queue
    for (int round = 0; round < 4; ++round)
        for (std::size_t kib = 0; kib < kAll; ++kib) {
            if (round > 0 && like[kib] != kib && shares(like[kib], kib)) continue;
            like[kib] = kib;
            for (std::size_t first = 0; first < kib && like[kib] == kib; ++first)
                if (like[first] == first && shares(first, kib)) like[kib] = first;
        }
    std::fprintf(file, "{\"card\": \"%s\", \"same_us\": %.2f, \"first_of_queue\": [", card.name,
                 static_cast<double>(same));
    for (std::size_t kib = 0; kib < kAll; ++kib)
        std::fprintf(file, "%s%zu", kib > 0 ? ", " : "", like[kib]);
    std::fprintf(file, "]}\n");
    return 0;
}
