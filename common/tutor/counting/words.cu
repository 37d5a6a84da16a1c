// What the words of a kernel cost on a GPU: each is repeated by one warp of a multiprocessor, which
// waits for each answer, and by 32 warps, which keep its part of the multiprocessor busy.
//
//   nvcc -O3 -std=c++20 -arch=sm_90 -o words words.cu && ./words words.json
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using std::uint32_t;

enum Word {
    kMultiply,
    kPopc,
    kShuffle,
    kVote,
    kFourVotes,
    kReduce,
    kMatch,
    kMatchOne,
    kSharedLoad,
    kBarrier,
    kCached,
    kConstant,
    kConstantOne,
    kWords
};
const char* const kNames[] = {"multiply",
                              "popc",
                              "shuffle",
                              "vote",
                              "four votes",
                              "reduce",
                              "match, 32 values",
                              "match, 1 value",
                              "shared load",
                              "barrier",
                              "load, first-level cache",
                              "constant, 32 addresses",
                              "constant, 1 address"};
__constant__ uint32_t fixed[1024];  // each its own place, as the tables below
constexpr unsigned kAll = 0xffffffffU, kTurns = 1024, kUnrolled = 16;

template <int kWord>
__device__ uint32_t once(uint32_t x, const uint32_t* table, const uint32_t* memory) {
    if constexpr (kWord == kMultiply) return x * threadIdx.x + 3;
    if constexpr (kWord == kPopc) return static_cast<uint32_t>(__popc(x));
    if constexpr (kWord == kShuffle) return __shfl_xor_sync(kAll, x, 1);
    if constexpr (kWord == kVote) return __ballot_sync(kAll, x & 1) + threadIdx.x % 32;
    if constexpr (kWord == kFourVotes)
        return __ballot_sync(kAll, x & 1) + __ballot_sync(kAll, x & 2) +
               __ballot_sync(kAll, x & 4) + __ballot_sync(kAll, x & 8);
    if constexpr (kWord == kReduce) return __reduce_add_sync(kAll, x);
    if constexpr (kWord == kMatch) return __match_any_sync(kAll, x + threadIdx.x % 32);
    if constexpr (kWord == kMatchOne) return __match_any_sync(kAll, x) & 1;
    if constexpr (kWord == kSharedLoad) return table[x];
    if constexpr (kWord == kCached) return memory[x];
    if constexpr (kWord == kConstant || kWord == kConstantOne) return fixed[x];
    if constexpr (kWord == kBarrier) __syncthreads();
    return x;
}

template <int kWord>
__global__ void repeat(uint32_t start, uint32_t* out, long long* clocks) {
    __shared__ uint32_t table[1024];
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
        table[i] = i;
    __syncthreads();
    uint32_t x = kWord == kMatch || kWord == kMatchOne || kWord == kConstantOne
                     ? start
                     : start + threadIdx.x % 32;
    if (kWord == kCached) x = out[1024 + x];
    const long long begin = clock64();
    for (unsigned turn = 0; turn < kTurns; ++turn)
#pragma unroll
        for (unsigned n = 0; n < kUnrolled; ++n)
            x = once<kWord>(x, table, out + 1024);
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0 && blockIdx.x == 0) *clocks = end - begin;
    out[threadIdx.x] = x + table[threadIdx.x];
}

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

template <int kWord>
void measure(std::FILE* file, int units) {
    uint32_t* out = nullptr;
    long long *clocks = nullptr, took = 0;
    check(cudaMalloc(&out, 8192));
    check(cudaMalloc(&clocks, sizeof took));
    std::vector<uint32_t> own(2048);
    for (uint32_t i = 0; i < 2048; ++i)
        own[i] = i < 1024 ? 0 : i - 1024;  // each word holds its own place
    check(cudaMemcpy(out, own.data(), 8192, cudaMemcpyHostToDevice));
    check(cudaMemcpyToSymbol(fixed, own.data() + 1024, 4096));
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    for (const unsigned warps : {1U, 4U, 8U, 16U, 32U}) {
        std::vector<float> times;
        for (unsigned run = 0; run < 9; ++run) {
            check(cudaEventRecord(begin));
            repeat<kWord><<<units, warps * 32>>>(0, out, clocks);
            check(cudaGetLastError());
            check(cudaEventRecord(end));
            check(cudaEventSynchronize(end));
            float ms = 0;
            check(cudaEventElapsedTime(&ms, begin, end));
            if (run >= 2) times.push_back(ms * 1e6F / (kTurns * kUnrolled));
        }
        check(cudaMemcpy(&took, clocks, sizeof took, cudaMemcpyDeviceToHost));
        std::sort(times.begin(), times.end());
        std::fprintf(
            file, "%s\n  {\"word\": \"%s\", \"warps\": %u, \"clocks\": %.3f, \"ns\": %.4f}",
            kWord == 0 && warps == 1 ? "" : ",", kNames[kWord], warps,
            static_cast<double>(took) / (kTurns * kUnrolled), static_cast<double>(times[3]));
    }
    check(cudaFree(out));
    check(cudaFree(clocks));
    if constexpr (kWord + 1 < kWords) measure<kWord + 1>(file, units);
}

int main(int argc, char** argv) {
    cudaDeviceProp card{};
    check(cudaGetDeviceProperties(&card, 0));
    std::FILE* const file = argc > 1 ? std::fopen(argv[1], "w") : stdout;
    if (file == nullptr) return 2;
    std::fprintf(file, "{\"card\": \"%s\", \"multiprocessors\": %d, \"words\": [", card.name,
                 card.multiProcessorCount);
    measure<0>(file, card.multiProcessorCount);
    std::fprintf(file, "]}\n");
    return 0;
}
