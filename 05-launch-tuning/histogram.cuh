// Chapter 05, the CUDA kernels, for the two programs that use them: cuda.cu and peers.cu.
// The kernels of chapters 03 and 04 again, for any alignment and any pitch, and with everything
// that a launch can vary left to the host. histogram.cl has the same in OpenCL.
#pragma once

#include <cstddef>
#include <cstdint>

#include "05-launch-tuning/launch.hpp"
#include "common/histogram/histogram.hpp"

// kCopies of the table, and kLoads that a thread has on their way at once, are template parameters:
// the compiler unrolls for them. (OpenCL compiles at run time and gets them as macros.)

namespace kernels {

using common::kBins;

__device__ inline unsigned thread_in_block() {
    return threadIdx.y * blockDim.x + threadIdx.x;
}
__device__ inline unsigned block_size() {
    return blockDim.x * blockDim.y;
}

// Nobody counts before all words are zero.
__device__ inline void zero(std::uint32_t* words, unsigned count) {
    for (unsigned word = thread_in_block(); word < count; word += block_size()) {
        words[word] = 0;
    }
    __syncthreads();
}

// The threads of the whole launch stand in columns, across and down.
__device__ inline std::uint64_t column() {
    return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::uint64_t columns() {
    return std::uint64_t{gridDim.x} * blockDim.x;
}
__device__ inline std::uint64_t row() {
    return std::uint64_t{blockIdx.y} * blockDim.y + threadIdx.y;
}
__device__ inline std::uint64_t rows() {
    return std::uint64_t{gridDim.y} * blockDim.y;
}

// Where row y ends: the last one may be short, and below the picture there are only empty ones.
__device__ inline std::uint64_t end_of_row(const Picture& picture, std::uint64_t y) {
    const std::uint64_t before = min(y * picture.width, picture.count);
    return picture.first + y * picture.pitch + min(picture.width, picture.count - before);
}

// ---- Counting pixel by pixel: the threads side by side walk a row, those below other rows ----
//
// kLoads pixels are asked for together, then counted; none is on its way meanwhile.

template <unsigned kLoads>
__device__ void count_bytes(const std::uint8_t* pixels, const Picture& picture,
                            std::uint32_t* table) {
    const std::uint64_t stride = columns();
    for (std::uint64_t y = row(); y * picture.width < picture.count; y += rows()) {
        const std::uint64_t end = end_of_row(picture, y);
        std::uint64_t i = picture.first + y * picture.pitch + column();
        for (; i + (kLoads - 1) * stride < end; i += kLoads * stride) {
            std::uint8_t loaded[kLoads];
#pragma unroll
            for (unsigned n = 0; n < kLoads; ++n) {
                loaded[n] = pixels[i + n * stride];
            }
#pragma unroll
            for (unsigned n = 0; n < kLoads; ++n) {
                atomicAdd(&table[loaded[n]], 1U);
            }
        }
        for (; i < end; i += stride) {
            atomicAdd(&table[pixels[i]], 1U);
        }
    }
    __syncthreads();
}

// ---- Counting 16 pixels a load, into one of kCopies tables ----
//
// Bin b of copy l is word b * kCopies + l, as in chapter 04; with one copy it is chapter 03's
// table. The place is worked out in bytes: one shift takes a pixel's value out of its vector and
// multiplies it, one instruction masks it and puts the copy in, and the atomic adds the table's
// address. Finding the place must not take longer than the counting.

template <unsigned kCopies>
__device__ void count_one(std::uint32_t* table, unsigned own_bytes, std::uint32_t value) {
    constexpr unsigned kBytesOfBin = kCopies * sizeof(std::uint32_t);
    char* const bin = reinterpret_cast<char*>(table) + (value * kBytesOfBin | own_bytes);
    atomicAdd(reinterpret_cast<std::uint32_t*>(bin), 1U);
}

template <unsigned kCopies>
__device__ void count_four(std::uint32_t* table, unsigned own_bytes, std::uint32_t four) {
    count_one<kCopies>(table, own_bytes, four & 0xff);
    count_one<kCopies>(table, own_bytes, four >> 8 & 0xff);
    count_one<kCopies>(table, own_bytes, four >> 16 & 0xff);
    count_one<kCopies>(table, own_bytes, four >> 24);
}

template <unsigned kCopies>
__device__ void count_sixteen(std::uint32_t* table, unsigned own_bytes, uint4 sixteen) {
    count_four<kCopies>(table, own_bytes, sixteen.x);
    count_four<kCopies>(table, own_bytes, sixteen.y);
    count_four<kCopies>(table, own_bytes, sixteen.z);
    count_four<kCopies>(table, own_bytes, sixteen.w);
}

// A row: a load of 16 bytes needs an address that 16 divides. The pixels in front of the first such
// address, the head, and behind the last whole vector, the tail, are counted one by one.
template <unsigned kLoads>
struct Row {
    const std::uint8_t* pixels;
    unsigned head;      // pixels
    unsigned vectors;   // of 16 pixels
    unsigned tail;      // pixels
    unsigned own;       // this thread's first vector, and
    unsigned stride;    // from one of its vectors to the next; no more than `vectors`, for 32 bits
    uint4 now[kLoads];  // what it has on its way
};

template <unsigned kLoads>
__device__ const uint4* body_of(const Row<kLoads>& row) {
    return reinterpret_cast<const uint4*>(row.pixels + row.head);
}

// Asks for the first vectors of row y. Below the picture rows are empty.
template <unsigned kLoads>
__device__ Row<kLoads> begin_row(const std::uint8_t* pixels, const Picture& picture,
                                 std::uint64_t y) {
    const std::uint64_t start = picture.first + y * picture.pitch;
    const std::uint64_t length = end_of_row(picture, y) - start;
    Row<kLoads> row;
    row.pixels = pixels + start;
    row.head = min((16 - start % 16) % 16, length);
    row.vectors = (length - row.head) / 16;
    row.tail = (length - row.head) % 16;
    row.own = min(column(), std::uint64_t{row.vectors});
    row.stride = min(columns(), std::uint64_t{row.vectors});
#pragma unroll
    for (unsigned n = 0; n < kLoads; ++n) {
        const unsigned i = row.own + n * row.stride;
        if (i < row.vectors) row.now[n] = body_of(row)[i];
    }
    return row;
}

template <unsigned kCopies, unsigned kLoads>
__device__ void count_row(Row<kLoads>& row, std::uint32_t* table) {
    const unsigned own_bytes = thread_in_block() % kCopies * sizeof(std::uint32_t);
    for (std::uint64_t i = column(); i < row.head; i += columns()) {
        count_one<kCopies>(table, own_bytes, row.pixels[i]);
    }
    for (std::uint64_t i = column(); i < row.tail; i += columns()) {
        count_one<kCopies>(table, own_bytes, row.pixels[row.head + row.vectors * 16ULL + i]);
    }
    // While some are counted, the next are on their way: they are asked for before the counting
    // begins, and not needed before it ends. What is not there is not counted, whatever `next` has.
    for (unsigned i = row.own; i < row.vectors; i += kLoads * row.stride) {
        uint4 next[kLoads];
#pragma unroll
        for (unsigned n = 0; n < kLoads; ++n) {
            const unsigned later = i + (kLoads + n) * row.stride;
            if (later < row.vectors) next[n] = body_of(row)[later];
        }
#pragma unroll
        for (unsigned n = 0; n < kLoads; ++n) {
            if (i + n * row.stride < row.vectors) {
                count_sixteen<kCopies>(table, own_bytes, row.now[n]);
            }
            row.now[n] = next[n];
        }
    }
}

// The table is zeroed while the first pixels are on their way.
template <unsigned kCopies, unsigned kLoads>
__device__ void count_vectors(const std::uint8_t* pixels, const Picture& picture,
                              std::uint32_t* table) {
    std::uint64_t y = row();
    Row<kLoads> one = begin_row<kLoads>(pixels, picture, y);
    zero(table, kBins * kCopies);
    for (;;) {
        count_row<kCopies>(one, table);
        y += rows();
        if (y * picture.width >= picture.count) break;
        one = begin_row<kLoads>(pixels, picture, y);
    }
    __syncthreads();
}

// The sum of a bin's copies. Each thread begins with another copy: the banks take turns.
template <unsigned kCopies>
__device__ std::uint32_t sum_of_copies(const std::uint32_t* table, unsigned bin) {
    std::uint32_t sum = 0;
    for (unsigned n = 0; n < kCopies; ++n) {
        sum += table[bin * kCopies + (bin + n) % kCopies];
    }
    return sum;
}

// ---- two-per-sm: chapter 03's `local`, two blocks for each multiprocessor ----

static __global__ void histogram_local(const std::uint8_t* pixels, Picture picture,
                                       std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins];
    zero(table, kBins);
    count_bytes<1>(pixels, picture, table);
    for (unsigned bin = thread_in_block(); bin < kBins; bin += block_size()) {
        atomicAdd(&histogram[bin], table[bin]);
    }
}

// ---- occupancy: as many threads as the device holds, moved over the picture like a stamp ----
//
// The launch does not cover the picture: it is moved down and across, and each thread counts eight
// rows of its column before it moves on.
constexpr unsigned kRowsAtOnce = 8;

static __global__ void histogram_occupancy(const std::uint8_t* pixels, Picture picture,
                                           std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins];
    zero(table, kBins);
    for (std::uint64_t x = column(); x < picture.width; x += columns()) {
        for (std::uint64_t y = row() * kRowsAtOnce; y * picture.width < picture.count;
             y += rows() * kRowsAtOnce) {
            for (std::uint64_t one = y; one < y + kRowsAtOnce; ++one) {
                // Below the picture, or behind the end of a short last row, there is nothing.
                if (one * picture.width + x < picture.count) {
                    atomicAdd(&table[pixels[picture.first + one * picture.pitch + x]], 1U);
                }
            }
        }
    }
    __syncthreads();
    for (unsigned bin = thread_in_block(); bin < kBins; bin += block_size()) {
        atomicAdd(&histogram[bin], table[bin]);
    }
}

// ---- vector: one table, 16-byte loads ----

static __global__ void histogram_vector(const std::uint8_t* pixels, Picture picture,
                                        std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins];
    count_vectors<1, 1>(pixels, picture, table);
    for (unsigned bin = thread_in_block(); bin < kBins; bin += block_size()) {
        atomicAdd(&histogram[bin], table[bin]);
    }
}

// ---- tuned: one launch that zeroes, counts and finishes ----
//
// Every block adds its sum of a bin to that bin's total. A total has 64 bits: the lower 32 are the
// sum, the upper 32 the number of blocks that have added theirs, in one atomic operation. So the
// block that comes last sees it in what the addition returns, and has the whole sum in hand: it
// writes the histogram and leaves a zero behind for the next launch. Nothing has to be zeroed
// before, nobody waits for anybody, and no fence is needed, for nothing is read but what the atomic
// returns. (The zero is written by an atomic, too, as every access to a total is one.)
using Total = unsigned long long;

__device__ inline void hand_over(Total* totals, std::uint32_t* histogram, unsigned bin,
                                 std::uint32_t sum) {
    const unsigned blocks = gridDim.x * gridDim.y;
    const Total before = atomicAdd(&totals[bin], (Total{1} << 32) + sum);
    if (before >> 32 == blocks - 1) {
        histogram[bin] = static_cast<std::uint32_t>(before) + sum;
        atomicExch(&totals[bin], Total{0});
    }
}

// The shared memory comes from the host, which knows how much each of these needs.

template <unsigned kLoads>
__global__ void tuned_local(const std::uint8_t* pixels, Picture picture, Total* totals,
                            std::uint32_t* histogram) {
    extern __shared__ std::uint32_t table[];
    zero(table, kBins);
    count_bytes<kLoads>(pixels, picture, table);
    for (unsigned bin = thread_in_block(); bin < kBins; bin += block_size()) {
        hand_over(totals, histogram, bin, table[bin]);
    }
}

template <unsigned kCopies, unsigned kLoads>
__global__ void tuned_lanes(const std::uint8_t* pixels, Picture picture, Total* totals,
                            std::uint32_t* histogram) {
    extern __shared__ std::uint32_t table[];
    count_vectors<kCopies, kLoads>(pixels, picture, table);
    for (unsigned bin = thread_in_block(); bin < kBins; bin += block_size()) {
        hand_over(totals, histogram, bin, sum_of_copies<kCopies>(table, bin));
    }
}

// 8-bit counters for each thread, as chapter 04's uchar-bins: at most 255 pixels, then they are
// added up. Behind them in `words` stand the block's sums.
constexpr unsigned kPixelsPerTurn = 255;

static __global__ void tuned_bytes(const std::uint8_t* pixels, Picture picture, Total* totals,
                                   std::uint32_t* histogram) {
    extern __shared__ std::uint32_t words[];
    auto* const bytes = reinterpret_cast<std::uint8_t*>(words);
    std::uint8_t* own = bytes + thread_in_block() * kBins;
    std::uint32_t* sums = words + block_size() * (kBins / 4);
    zero(sums, kBins);
    const std::uint64_t at_once = std::uint64_t{block_size()} * kPixelsPerTurn;
    // All threads of the block take the same turns, so all of them reach every barrier.
    for (std::uint64_t y = blockIdx.y; y * picture.width < picture.count; y += gridDim.y) {
        const std::uint64_t end = end_of_row(picture, y);
        for (std::uint64_t turn = picture.first + y * picture.pitch + blockIdx.x * at_once;
             turn < end; turn += gridDim.x * at_once) {
            zero(words, block_size() * (kBins / 4));
            const std::uint64_t turn_end = min(turn + at_once, end);
            for (std::uint64_t i = turn + thread_in_block(); i < turn_end; i += block_size()) {
                ++own[pixels[i]];
            }
            __syncthreads();
            for (unsigned bin = thread_in_block(); bin < kBins; bin += block_size()) {
                std::uint32_t sum = 0;
                for (unsigned thread = 0; thread < block_size(); ++thread) {
                    sum += bytes[thread * kBins + bin];
                }
                sums[bin] += sum;
            }
            __syncthreads();
        }
    }
    for (unsigned bin = thread_in_block(); bin < kBins; bin += block_size()) {
        hand_over(totals, histogram, bin, sums[bin]);
    }
}

using Tuned = void (*)(const std::uint8_t* pixels, Picture picture, Total* totals,
                       std::uint32_t* histogram);

}  // namespace kernels
