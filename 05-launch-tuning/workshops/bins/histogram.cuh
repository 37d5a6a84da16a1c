// The CUDA kernels of more bins than 256.
//
// Value i, of channel i % kChannels, belongs to counter i % kChannels * bins + (value >> shift).
// With three or four channels a value is a byte, with one it is a pixel of 16 bits.
//
// Templates, for the channels, and for what is done with each value.
#pragma once

#include <cstdint>
#ifndef CUDA_ON_CPU
#include <cooperative_groups.h>
#endif

#include "05-launch-tuning/workshops/bins/values.hpp"

namespace kernels {

using bins::Slice;

template <unsigned kChannels>
constexpr unsigned kValueBytes = kChannels == 1 ? 2 : 1;
template <unsigned kChannels>
constexpr unsigned kValues = 16 / kValueBytes<kChannels>;  // in a vector
constexpr unsigned kLoads = 3;                             // that a thread has under way at once

// ---- how every strategy reads ----

// The counter of the value i, behind the first of the slice.
template <unsigned kChannels>
__device__ unsigned counter_of(const std::uint8_t* pixels, std::uint64_t first, std::uint64_t i,
                               const Slice& slice) {
    unsigned bin = 0;
    if constexpr (kChannels == 1)
        bin = reinterpret_cast<const std::uint16_t*>(pixels)[first + i] >> slice.shift;
    else
        bin = pixels[first + i];
    return static_cast<unsigned>(i % kChannels) * slice.bins - slice.from + bin;
}

// Four bytes of a vector, of which the first belongs to channel `j` of those in `begin`.
template <unsigned kChannels, typename Count>
__device__ void count_word(std::uint32_t word, const unsigned* begin, unsigned j,
                           const Slice& slice, const Count& count_one) {
    if constexpr (kChannels == 1) {
        count_one(begin[0] + ((word & 0xffff) >> slice.shift));
        count_one(begin[0] + (word >> 16 >> slice.shift));
    } else {
#pragma unroll
        for (unsigned n = 0; n < 4; ++n) {
            count_one(begin[(j + n) % kChannels] + (word >> 8 * n & 0xff));
        }
    }
}

// Counts the values from `first` on. Those in front of the first address that 16 divides are the
// head, those behind the last whole vector the tail. `count_one` is called with the counter of
// each; one in front of the slice has become a very large number.
template <unsigned kChannels, typename Count>
__device__ void count_values(const std::uint8_t* pixels, std::uint64_t first, std::uint64_t count,
                             const Slice& slice, const Count& count_one) {
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
    const unsigned head =
        min((16 - first * kValueBytes<kChannels> % 16) % 16 / kValueBytes<kChannels>, count);
    const unsigned vector_count = (count - head) / kValues<kChannels>;  // at most 2^29
    const auto* vectors =
        reinterpret_cast<const uint4*>(pixels + (first + head) * kValueBytes<kChannels>);
    const unsigned item = min(thread, std::uint64_t{vector_count});
    const unsigned stride = min(threads, std::uint64_t{vector_count});
    uint4 now[kLoads];
#pragma unroll
    for (unsigned n = 0; n < kLoads; ++n) {
        const unsigned i = item + n * stride;
        now[n] = i < vector_count ? vectors[i] : uint4{};
    }

    for (std::uint64_t i = thread; i < head; i += threads) {
        count_one(counter_of<kChannels>(pixels, first, i, slice));
    }
    for (std::uint64_t i = head + std::uint64_t{vector_count} * kValues<kChannels> + thread;
         i < count; i += threads) {
        count_one(counter_of<kChannels>(pixels, first, i, slice));
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
            const unsigned v = i + n * stride;
            if (v < vector_count) {
                // Where the counters of each channel begin, that of the vector's first value first.
                const unsigned channel = head + v * (kValues<kChannels> % kChannels);
                unsigned begin[kChannels];
#pragma unroll
                for (unsigned c = 0; c < kChannels; ++c) {
                    begin[c] = (channel + c) % kChannels * slice.bins - slice.from;
                }
                count_word<kChannels>(now[n].x, begin, 0, slice, count_one);
                count_word<kChannels>(now[n].y, begin, 4, slice, count_one);
                count_word<kChannels>(now[n].z, begin, 8, slice, count_one);
                count_word<kChannels>(now[n].w, begin, 12, slice, count_one);
            }
            now[n] = next[n];
        }
    }
}

// ---- global: all threads count into the one table in global memory ----
template <unsigned kChannels>
__global__ void histogram_global(const std::uint8_t* pixels, std::uint64_t first,
                                 std::uint64_t count, Slice slice, std::uint32_t* histogram) {
    count_values<kChannels>(pixels, first, count, slice,
                            [&](unsigned counter) { atomicAdd(&histogram[counter], 1U); });
}

// ---- local, passes: each block has a table of the slice in shared memory ----
//
// When it has counted, it writes the table as its row. So no block waits for another.
template <unsigned kChannels, bool kWhole>
__global__ void histogram_local(const std::uint8_t* pixels, std::uint64_t first,
                                std::uint64_t count, Slice slice, std::uint32_t* rows) {
    extern __shared__ std::uint32_t table[];
    for (unsigned word = threadIdx.x; word < slice.counters * slice.copies; word += blockDim.x) {
        table[word] = 0;
    }
    __syncthreads();
    const unsigned own = threadIdx.x & (slice.copies - 1);
    count_values<kChannels>(pixels, first, count, slice, [&](unsigned counter) {
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

// ---- cluster: the blocks of a cluster have a slice each, and count into each other's ----
//
// From compute capability 9.0 on. `slice.counters` is a power of two; the last slice may end behind
// the table. A cluster has a row.
#ifndef CUDA_ON_CPU
template <unsigned kChannels>
__global__ void histogram_cluster(const std::uint8_t* pixels, std::uint64_t first,
                                  std::uint64_t count, Slice slice, std::uint32_t* rows) {
#if __CUDA_ARCH__ >= 900
    extern __shared__ std::uint32_t table[];
    const auto cluster = cooperative_groups::this_cluster();
    for (unsigned word = threadIdx.x; word < slice.counters; word += blockDim.x) {
        table[word] = 0;
    }
    cluster.sync();  // nobody counts into a table that is not zero yet
    const unsigned bits = 31 - __clz(slice.counters);
    count_values<kChannels>(pixels, first, count, slice, [&](unsigned counter) {
        std::uint32_t* const its = cluster.map_shared_rank(table, counter >> bits);
        atomicAdd(&its[counter & (slice.counters - 1)], 1U);
    });
    cluster.sync();  // nobody's table is gone, or read, while another still counts into it
    const unsigned begin = cluster.block_rank() * slice.counters;
    std::uint32_t* const row =
        rows + std::uint64_t{blockIdx.x / cluster.num_blocks()} * kChannels * slice.bins;
    for (unsigned word = threadIdx.x; word < slice.counters; word += blockDim.x) {
        if (begin + word < kChannels * slice.bins) {
            row[begin + word] = table[word];
        }
    }
#endif
}
#else  // CUDA on a CPU, which has no clusters
template <unsigned kChannels>
constexpr void (*histogram_cluster)(const std::uint8_t*, std::uint64_t, std::uint64_t, Slice,
                                    std::uint32_t*) = nullptr;
#endif

}  // namespace kernels
