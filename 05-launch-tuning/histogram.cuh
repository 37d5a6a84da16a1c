// Chapter 05, the CUDA kernels. `tuned` is a template: tuned.cu compiles it, once for all programs.
#pragma once

#include <cstdint>

#include "05-launch-tuning/layout.hpp"
#include "common/histogram/histogram.hpp"

namespace kernels {

using common::kBins;

// ---- two-per-sm: chapter 03's `local` ----

static __global__ void histogram_local(const std::uint8_t* pixels, std::size_t count,
                                       std::uint32_t* histogram) {
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
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        atomicAdd(&histogram[bin], table[bin]);
    }
}

// ---- occupancy: as many threads as the device holds, moved over the picture like a stamp ----
//
// The launch does not cover the picture: it is moved down, then across, and each thread counts
// eight rows of its column before it moves on. Row y begins at byte `first + y * pitch` and has
// `width` pixels; there are `count` in all, so the last row may be short.
constexpr unsigned kRowsAtOnce = 8;

static __global__ void histogram_occupancy(const std::uint8_t* pixels, Rows rows,
                                           std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    __syncthreads();
    const std::uint64_t across = std::uint64_t{gridDim.x} * blockDim.x;
    const std::uint64_t down = std::uint64_t{gridDim.y} * kRowsAtOnce;
    for (std::uint64_t x = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; x < rows.width;
         x += across) {
        for (std::uint64_t y = std::uint64_t{blockIdx.y} * kRowsAtOnce; y * rows.width < rows.count;
             y += down) {
            for (std::uint64_t row = y; row < y + kRowsAtOnce; ++row) {
                // Below the picture, or behind the end of a short last row, there is nothing.
                if (row * rows.width + x < rows.count) {
                    atomicAdd(&table[pixels[rows.first + row * rows.pitch + x]], 1U);
                }
            }
        }
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        atomicAdd(&histogram[bin], table[bin]);
    }
}

// ---- vector: 16 pixels per load ----

__device__ inline void count_four(std::uint32_t* table, std::uint32_t four) {
    atomicAdd(&table[four & 0xff], 1U);
    atomicAdd(&table[four >> 8 & 0xff], 1U);
    atomicAdd(&table[four >> 16 & 0xff], 1U);
    atomicAdd(&table[four >> 24], 1U);
}

// A load of 16 bytes needs an address that 16 divides, and a row may begin anywhere. So a row is a
// head of single pixels, a body of vectors, and a tail of single pixels.
static __global__ void histogram_vector(const std::uint8_t* pixels, Rows rows,
                                        std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins];
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    const unsigned block_size = blockDim.x * blockDim.y;
    for (unsigned bin = thread; bin < kBins; bin += block_size) {
        table[bin] = 0;
    }
    __syncthreads();
    const std::uint64_t column = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::uint64_t columns = std::uint64_t{gridDim.x} * blockDim.x;
    const std::uint64_t down = std::uint64_t{gridDim.y} * blockDim.y;
    for (std::uint64_t y = std::uint64_t{blockIdx.y} * blockDim.y + threadIdx.y;
         y * rows.width < rows.count; y += down) {
        const std::uint8_t* row = pixels + rows.first + y * rows.pitch;
        const std::uint64_t length = min(rows.width, rows.count - y * rows.width);
        const std::uint64_t head = min((16 - (rows.first + y * rows.pitch) % 16) % 16, length);
        const std::uint64_t tail = head + (length - head) / 16 * 16;
        for (std::uint64_t x = column; x < head; x += columns) {
            atomicAdd(&table[row[x]], 1U);
        }
        for (std::uint64_t x = head + 16 * column; x < tail; x += 16 * columns) {
            const uint4 sixteen = *reinterpret_cast<const uint4*>(row + x);
            count_four(table, sixteen.x);
            count_four(table, sixteen.y);
            count_four(table, sixteen.z);
            count_four(table, sixteen.w);
        }
        for (std::uint64_t x = tail + column; x < length; x += columns) {
            atomicAdd(&table[row[x]], 1U);
        }
    }
    __syncthreads();
    for (unsigned bin = thread; bin < kBins; bin += block_size) {
        atomicAdd(&histogram[bin], table[bin]);
    }
}

// ---- tuned: kCopies of the table, kLoads under way while others are counted, one launch ----
//
// Bin b of copy k is word b * kCopies + k, as in chapter 04's lane-bins. `own` is k in bytes. One
// shift takes the value out of its word and multiplies it, one instruction masks it and adds the
// copy: with 32 copies, (four >> 8 & 0xff) * 128 | own becomes (four >> 1 & 0x7f80) | own.
template <unsigned kCopies>
__device__ void count_pixel(std::uint32_t* table, unsigned own, std::uint32_t value) {
    char* const bin = reinterpret_cast<char*>(table) + (value * (kCopies * 4) | own);
    atomicAdd(reinterpret_cast<std::uint32_t*>(bin), 1U);
}

template <unsigned kCopies>
__device__ void count_word(std::uint32_t* table, unsigned own, std::uint32_t four) {
    count_pixel<kCopies>(table, own, four & 0xff);
    count_pixel<kCopies>(table, own, four >> 8 & 0xff);
    count_pixel<kCopies>(table, own, four >> 16 & 0xff);
    count_pixel<kCopies>(table, own, four >> 24);
}

// A total has 64 bits: the lower half is the sum, the upper half counts the blocks that have added
// theirs. Whoever adds last learns it from the same answer, and has the whole sum in hand: it
// writes the bin, and leaves a zero for the next launch (by an atomic, as every access to a total
// is one). Where `totals` is null, the host has zeroed the histogram. The totals lie 128 bytes
// apart, each in its own cache line.
constexpr unsigned kApart = 16;
using Total = unsigned long long;

__device__ inline void hand_over(Total* totals, std::uint32_t* histogram, unsigned bin,
                                 std::uint32_t sum) {
    if (totals != nullptr) {
        const Total before = atomicAdd(&totals[bin * kApart], (Total{1} << 32) + sum);
        if (before >> 32 == gridDim.x - 1) {
            histogram[bin] = static_cast<std::uint32_t>(before) + sum;
            atomicExch(&totals[bin * kApart], Total{0});
        }
        return;
    }
    atomicAdd(&histogram[bin], sum);
}

template <unsigned kCopies, unsigned kLoads>
__global__ void histogram_tuned(const std::uint8_t* pixels, std::uint64_t first,
                                std::uint64_t count, Total* totals, std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins * kCopies];
    const unsigned own = threadIdx.x % kCopies * 4;
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
    // The pixels in front of the first address that 16 divides are the head.
    const unsigned head = min((16 - first % 16) % 16, count);
    const unsigned vector_count = (count - head) / 16;
    // The buffer itself begins at such an address.
    const auto* vectors = reinterpret_cast<const uint4*>(pixels + first + head);
    // A thread without a vector skips the loops over vectors. There are at most 2^28 vectors, and a
    // stride is no more than that, so 8 strides ahead are still less than 2^32.
    const unsigned item = min(thread, std::uint64_t{vector_count});
    const unsigned stride = min(threads, std::uint64_t{vector_count});

    // Ask for the first vectors, and zero the table while they are on their way. What is behind the
    // last one is zero, so that every word has a value, and is not counted.
    uint4 now[kLoads];
#pragma unroll
    for (unsigned n = 0; n < kLoads; ++n) {
        const unsigned i = item + n * stride;
        now[n] = i < vector_count ? vectors[i] : uint4{};
    }
    for (unsigned word = threadIdx.x; word < kBins * kCopies; word += blockDim.x) {
        table[word] = 0;
    }
    __syncthreads();

    // The pixels in front of the first vector, and those behind the last.
    for (std::uint64_t i = thread; i < head; i += threads) {
        count_pixel<kCopies>(table, own, pixels[first + i]);
    }
    for (std::uint64_t i = head + vector_count * 16ULL + thread; i < count; i += threads) {
        count_pixel<kCopies>(table, own, pixels[first + i]);
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
                count_word<kCopies>(table, own, now[n].x);
                count_word<kCopies>(table, own, now[n].y);
                count_word<kCopies>(table, own, now[n].z);
                count_word<kCopies>(table, own, now[n].w);
            }
            now[n] = next[n];
        }
    }
    __syncthreads();

    // Each bin: its copies, beginning with another one each time, so that the banks take turns.
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        std::uint32_t sum = 0;
        for (unsigned k = 0; k < kCopies; ++k) {
            sum += table[bin * kCopies + (bin + k) % kCopies];
        }
        hand_over(totals, histogram, bin, sum);
    }
}

/// `histogram_tuned` for some copies (1, 2, 4 ... 32) and loads (1 to 4).
using Tuned = void (*)(const std::uint8_t* pixels, std::uint64_t first, std::uint64_t count,
                       Total* totals, std::uint32_t* histogram);
Tuned tuned(unsigned copies, unsigned loads);

}  // namespace kernels
