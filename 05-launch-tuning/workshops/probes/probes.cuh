// Small kernels that each measure one thing, in CUDA; probes.cl has the same in OpenCL.
#pragma once

#include "common/histogram/histogram.hpp"

using common::kBins;

// ---- contention: an addition for each pixel, and no pixel is read ----
//
// Which counter it is comes from the number of the pixel, well mixed; `together` neighbours take
// the same. So nothing waits for memory but the additions themselves.
__global__ void contention(std::size_t count, std::uint32_t mask, std::uint32_t spacing,
                           std::uint32_t together, std::uint32_t* counters) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        auto x = static_cast<std::uint32_t>(i) / together;
        x = (x ^ x >> 16) * 0x7FEB352D;
        x = (x ^ x >> 15) * 0x846CA68B;
        atomicAdd(&counters[((x ^ x >> 16) & mask) * spacing], 1U);
    }
}

// ---- chase: each load says where the next one is ----
//
// So one is under way at a time, and the time of a hop is the time of an answer.
__global__ void chase(const std::uint32_t* next, std::uint32_t hops, std::uint32_t* at) {
    std::uint32_t here = *at;
    for (std::uint32_t hop = 0; hop < hops; ++hop) {
        here = next[here];
    }
    *at = here;
}

// ---- read: the first `kCounted` pixels of each load are counted, `kLoads` are under way ----
//
// All words are added up, too, so that every load is needed even where nothing is counted.
template <int kCounted>
__device__ std::uint32_t count_word(std::uint32_t* table, std::uint32_t word, int first,
                                    int pixels = 4) {
#pragma unroll
    for (int k = 0; k < pixels; ++k) {
        if (first + k < kCounted) {
            atomicAdd(&table[word >> 8 * k & 0xFF], 1U);
        }
    }
    return word;
}
template <int kCounted>
__device__ std::uint32_t count_load(std::uint32_t* table, std::uint8_t load) {
    return count_word<kCounted>(table, load, 0, 1);
}
template <int kCounted>
__device__ std::uint32_t count_load(std::uint32_t* table, std::uint32_t load) {
    return count_word<kCounted>(table, load, 0);
}
template <int kCounted>
__device__ std::uint32_t count_load(std::uint32_t* table, uint4 load) {
    return count_word<kCounted>(table, load.x, 0) + count_word<kCounted>(table, load.y, 4) +
           count_word<kCounted>(table, load.z, 8) + count_word<kCounted>(table, load.w, 12);
}

template <typename Load, unsigned kLoads, int kCounted>
__global__ void read(const std::uint8_t* pixels, std::size_t count, std::uint32_t* answer) {
    __shared__ std::uint32_t table[kBins + 1];  // the histogram, and the sum
    for (unsigned bin = threadIdx.x; bin <= kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    __syncthreads();
    const auto* loads = reinterpret_cast<const Load*>(pixels);
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    std::uint32_t sum = 0;
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (; i + (kLoads - 1) * stride < count; i += kLoads * stride) {
        Load loaded[kLoads];
#pragma unroll
        for (unsigned n = 0; n < kLoads; ++n) {
            loaded[n] = loads[i + n * stride];
        }
#pragma unroll
        for (unsigned n = 0; n < kLoads; ++n) {
            sum += count_load<kCounted>(table, loaded[n]);
        }
    }
    for (; i < count; i += stride) {
        sum += count_load<kCounted>(table, loads[i]);
    }
    atomicAdd(&table[kBins], sum);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin <= kBins; bin += blockDim.x) {
        atomicAdd(&answer[bin], table[bin]);
    }
}

using Read = void (*)(const std::uint8_t*, std::size_t, std::uint32_t*);
template <typename Load>
Read read_with(unsigned loads, unsigned counted) {
    switch (loads * 100 + counted) {
        case 100:
            return read<Load, 1, 0>;
        case 101:
            return read<Load, 1, 1>;
        case 102:
            return read<Load, 1, 2>;
        case 104:
            return read<Load, 1, 4>;
        case 108:
            return read<Load, 1, 8>;
        case 112:
            return read<Load, 1, 12>;
        case 116:
            return read<Load, 1, 16>;
        case 200:
            return read<Load, 2, 0>;
        case 400:
            return read<Load, 4, 0>;
        default:
            return nullptr;
    }
}
