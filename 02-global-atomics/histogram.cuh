// Chapter 02, the CUDA kernels: of cuda.cu, and of the programs that compare them.
#pragma once

#include <cstdint>

#include "common/histogram/histogram.hpp"

using common::kBins;

// ---- racy: broken on purpose ----
//
// ++ is read, add, write. Between the read and the write of one thread others read and write the
// same counter, and their counts are lost.
__global__ void histogram_racy(const std::uint8_t* pixels, std::size_t count,
                               std::uint32_t* histogram) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        ++histogram[pixels[i]];
    }
}

// ---- global: one table, one atomic addition for each pixel ----
//
// The loop strides by the number of threads in the whole launch (grid-stride), so any launch counts
// any picture, and at each step neighbouring threads read neighbouring pixels. The index is 64 bits
// wide before it is multiplied: 32 would overflow on a large picture.
__global__ void histogram_global(const std::uint8_t* pixels, std::size_t count,
                                 std::uint32_t* histogram) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&histogram[pixels[i]], 1U);
    }
}

// ---- racy and global with --walk blocked ----
//
// Each thread has a stretch of its own, and reads it byte after byte. What neighbouring threads
// read at one step lies far apart. The last stretches may be short, or empty. (No unrolling: it
// would load several pixels at once, and then two things differ from above.)
__global__ void histogram_racy_blocked(const std::uint8_t* pixels, std::size_t count,
                                       std::uint32_t* histogram) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stretch = (count + threads - 1) / threads;
    const std::size_t end = min((thread + 1) * stretch, count);
#pragma unroll 1
    for (std::size_t i = thread * stretch; i < end; ++i) {
        ++histogram[pixels[i]];
    }
}

__global__ void histogram_global_blocked(const std::uint8_t* pixels, std::size_t count,
                                         std::uint32_t* histogram) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stretch = (count + threads - 1) / threads;
    const std::size_t end = min((thread + 1) * stretch, count);
#pragma unroll 1
    for (std::size_t i = thread * stretch; i < end; ++i) {
        atomicAdd(&histogram[pixels[i]], 1U);
    }
}

// ---- subhist: one table for each block, still in global memory ----
//
// The walk is that of `global`. What differs is where a thread counts: in the table of its block,
// which it shares with that block alone.
__global__ void subhist(const std::uint8_t* pixels, std::size_t count, std::uint32_t* tables) {
    std::uint32_t* table = tables + std::size_t{blockIdx.x} * kBins;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&table[pixels[i]], 1U);
    }
}

// The second step: a thread for each bin adds up that bin of all tables. Nobody else writes its
// result, so it needs no atomic, and the histogram needs no zeroing.
__global__ void sum_tables(const std::uint32_t* tables, std::uint32_t table_count,
                           std::uint32_t* histogram) {
    for (std::size_t bin = blockIdx.x * blockDim.x + threadIdx.x; bin < kBins;
         bin += gridDim.x * blockDim.x) {
        std::uint32_t sum = 0;
        for (std::uint32_t table = 0; table < table_count; ++table) {
            sum += tables[table * kBins + bin];
        }
        histogram[bin] = sum;
    }
}
