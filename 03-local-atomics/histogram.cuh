// Chapter 03, the CUDA kernels: of cuda.cu, and of the programs that compare them.
#pragma once

#include <cstdint>

#include "common/histogram/histogram.hpp"

using common::kBins;

// ---- local: the five steps ----
//
// Every loop over the bins strides by the size of the *block*, because the block's own threads
// share the work. Striding by the size of the whole launch here is a mistake that was published:
// then each block merges only the first bins of its table.
__global__ void histogram_local(const std::uint8_t* pixels, std::size_t count,
                                std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins];

    // Step 1: zero the block's table. Shared memory holds anything at first.
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    // Step 2: nobody counts before all bins are zero.
    __syncthreads();

    // Step 3: count, striding by all threads of the launch.
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&table[pixels[i]], 1U);
    }
    // Step 4: nobody reads the table before all have counted.
    __syncthreads();

    // Step 5: add the table to the histogram, with atomics, for other blocks do the same.
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        atomicAdd(&histogram[bin], table[bin]);
    }
}

// ---- local with --walk blocked ----
//
// In step 3 each thread has a stretch of its own, and reads it byte after byte. What neighbouring
// threads read at one step lies far apart. (No unrolling: it would load several pixels at once, and
// then two things differ from above.)
__global__ void histogram_local_blocked(const std::uint8_t* pixels, std::size_t count,
                                        std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    __syncthreads();
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stretch = (count + threads - 1) / threads;
    const std::size_t end = min((thread + 1) * stretch, count);
#pragma unroll 1
    for (std::size_t i = thread * stretch; i < end; ++i) {
        atomicAdd(&table[pixels[i]], 1U);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        atomicAdd(&histogram[bin], table[bin]);
    }
}

// ---- local-buckets: each block writes its own row, and the host adds the rows ----
//
// Steps 1 to 4 are the same. A row belongs to one block, so step 5 needs no atomic.
__global__ void histogram_buckets(const std::uint8_t* pixels, std::size_t count,
                                  std::uint32_t* buckets) {
    __shared__ std::uint32_t table[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&table[pixels[i]], 1U);
    }
    __syncthreads();
    std::uint32_t* row = buckets + blockIdx.x * kBins;
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        row[bin] = table[bin];
    }
}

// ---- local-subhist: the same rows, and a second kernel that adds them ----
//
// `table` is shared memory whose size the host chooses: the third argument of the launch.
__global__ void subhist(const std::uint8_t* pixels, std::size_t count, std::uint32_t* tables) {
    extern __shared__ std::uint32_t table[];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&table[pixels[i]], 1U);
    }
    __syncthreads();
    std::uint32_t* row = tables + blockIdx.x * kBins;
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        row[bin] = table[bin];
    }
}

// A thread for each bin adds up that bin of all tables.
__global__ void sum_tables(const std::uint32_t* tables, std::uint32_t table_count,
                           std::uint32_t* histogram) {
    for (unsigned bin = blockIdx.x * blockDim.x + threadIdx.x; bin < kBins;
         bin += gridDim.x * blockDim.x) {
        std::uint32_t sum = 0;
        for (std::uint32_t table = 0; table < table_count; ++table) {
            sum += tables[table * kBins + bin];
        }
        histogram[bin] = sum;
    }
}
