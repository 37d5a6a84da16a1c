// The CUDA kernels of more bins than 256.
//
// Each pixel has 16 bits, and belongs to counter pixel >> shift.
#pragma once

#ifndef CUDA_ON_CPU
#include <cooperative_groups.h>
#endif

#include "05-launch-tuning/workshops/bins/values.hpp"

namespace kernels {

using bins::Slice;

constexpr unsigned kPixels = 8;  // in a vector
constexpr unsigned kLoads = 3;   // that a thread has under way at once

// ---- how every strategy reads ----

// Counts the pixels, of which those behind the last whole vector are the tail. `count_one` is
// called with the counter of each; one in front of the slice becomes a very large number.
template <typename Count>
__device__ void count_pixels(const std::uint16_t* pixels, std::uint64_t count, const Slice& slice,
                             const Count& count_one) {
    const auto count_pixel = [&](std::uint32_t pixel) {
        count_one((pixel >> slice.shift) - slice.from);
    };
    const auto count_word = [&](std::uint32_t word) {
        count_pixel(word & 0xffff);
        count_pixel(word >> 16);
    };
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
    const unsigned vector_count = count / kPixels;  // at most 2^29
    const auto* vectors = reinterpret_cast<const uint4*>(pixels);
    const unsigned item = min(thread, std::uint64_t{vector_count});
    const unsigned stride = min(threads, std::uint64_t{vector_count});
    uint4 now[kLoads];
#pragma unroll
    for (unsigned n = 0; n < kLoads; ++n) {
        const unsigned i = item + n * stride;
        now[n] = i < vector_count ? vectors[i] : uint4{};
    }

    for (std::uint64_t i = std::uint64_t{vector_count} * kPixels + thread; i < count;
         i += threads) {
        count_pixel(pixels[i]);
    }
    // The next vectors are asked for before the present ones are counted.
    for (unsigned i = item; i < vector_count; i += kLoads * stride) {
        uint4 next[kLoads];
#pragma unroll
        for (unsigned n = 0; n < kLoads; ++n) {
            const unsigned later = i + (kLoads + n) * stride;
            next[n] = later < vector_count ? vectors[later] : uint4{};
        }
#pragma unroll
        for (unsigned n = 0; n < kLoads; ++n) {
            if (i + n * stride < vector_count) {
                count_word(now[n].x);
                count_word(now[n].y);
                count_word(now[n].z);
                count_word(now[n].w);
            }
            now[n] = next[n];
        }
    }
}

// ---- global: all threads count into the one table in global memory ----
static __global__ void histogram_global(const std::uint16_t* pixels, std::uint64_t count,
                                        Slice slice, std::uint32_t* histogram) {
    count_pixels(pixels, count, slice,
                 [&](unsigned counter) { atomicAdd(&histogram[counter], 1U); });
}

// ---- local, passes: each block has a table of the slice in shared memory ----
//
// When it has counted, it writes the table as its row. So no block waits for another.
template <bool kWhole>
__global__ void histogram_local(const std::uint16_t* pixels, std::uint64_t count, Slice slice,
                                std::uint32_t* rows) {
    extern __shared__ std::uint32_t table[];
    for (unsigned word = threadIdx.x; word < slice.counters * slice.copies; word += blockDim.x) {
        table[word] = 0;
    }
    __syncthreads();
    const unsigned own = threadIdx.x & (slice.copies - 1);
    count_pixels(pixels, count, slice, [&](unsigned counter) {
        if (kWhole || counter < slice.counters) atomicAdd(&table[counter * slice.copies + own], 1U);
    });
    __syncthreads();
    for (unsigned counter = threadIdx.x; counter < slice.counters; counter += blockDim.x) {
        // The copies, beginning with another one each time, so that the banks take turns.
        std::uint32_t sum = 0;
        for (unsigned k = 0; k < slice.copies; ++k) {
            sum += table[counter * slice.copies + (counter + k) % slice.copies];
        }
        rows[std::uint64_t{blockIdx.x} * slice.counters + counter] = sum;
    }
}

#ifndef CUDA_ON_CPU  // the emulation has no clusters

// ---- cluster: the blocks of a cluster have a slice each, and add to each other's ----
//
// Their rows, one behind the other, are a row of the whole table.
static __global__ void histogram_cluster(const std::uint16_t* pixels, std::uint64_t count,
                                         Slice slice, std::uint32_t* rows) {
#if __CUDA_ARCH__ >= 900
    extern __shared__ std::uint32_t table[];
    const auto cluster = cooperative_groups::this_cluster();
    for (unsigned word = threadIdx.x; word < slice.counters; word += blockDim.x) {
        table[word] = 0;
    }
    // Nobody adds to another block's table before it is zero.
    cluster.sync();
    const unsigned bits = __ffs(slice.counters) - 1;
    count_pixels(pixels, count, slice, [&](unsigned counter) {
        std::uint32_t* const slice_of = cluster.map_shared_rank(table, counter >> bits);
        atomicAdd(&slice_of[counter & (slice.counters - 1)], 1U);
    });
    // No block reads its table, or ends, before all have counted.
    cluster.sync();
    for (unsigned counter = threadIdx.x; counter < slice.counters; counter += blockDim.x) {
        rows[std::uint64_t{blockIdx.x} * slice.counters + counter] = table[counter];
    }
#endif
}

#endif

// Adds the rows up. Each thread has a counter and a part of the rows, so that there are enough of
// them where the counters are few.
static __global__ void histogram_sum(const std::uint32_t* rows, unsigned row_count,
                                     unsigned counters, unsigned parts, unsigned from,
                                     std::uint32_t* histogram) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned part = thread / counters;
    const unsigned counter = thread - part * counters;
    if (part >= parts) return;
    std::uint32_t sum = 0;
    for (std::uint64_t row = part; row < row_count; row += parts) {
        sum += rows[row * counters + counter];
    }
    atomicAdd(&histogram[from + counter], sum);
}

}  // namespace kernels
