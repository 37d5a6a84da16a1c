// Chapter 04, the CUDA kernels: of cuda.cu, and of the programs that compare them.
#pragma once

#include <cstdint>

#include "common/histogram/histogram.hpp"

using common::kBins;

// ---- private: 256 counters for each thread ----
//
// A thread's own variables are registers, and registers cannot be indexed: `counters[pixel]` forces
// the array out into memory that CUDA calls local and that is as far away as global memory. The
// host program prints how much of it there is; nvcc -Xptxas -v tells it, too.
__global__ void histogram_private(const std::uint8_t* pixels, std::size_t count,
                                  std::uint32_t* histogram) {
    std::uint32_t counters[kBins];
    for (unsigned bin = 0; bin < kBins; ++bin) {
        counters[bin] = 0;
    }
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        ++counters[pixels[i]];
    }
    for (unsigned bin = 0; bin < kBins; ++bin) {
        if (counters[bin] > 0) {
            atomicAdd(&histogram[bin], counters[bin]);
        }
    }
}

// ---- uchar-bins: 256 counters of 8 bits for each thread, in shared memory ----
//
// An 8-bit counter holds at most 255. So the threads count at most `pixels_per_item` pixels each,
// add their counters up, and begin again: that number must not be more than 255. `bins` has 256
// bytes for each thread of the block, and the block's sums go to its own row of `rows`.
__global__ void histogram_uchar(const std::uint8_t* pixels, std::size_t count,
                                unsigned pixels_per_item, std::uint32_t* rows) {
    extern __shared__ std::uint32_t words[];
    auto* const bins = reinterpret_cast<std::uint8_t*>(words);
    std::uint8_t* own = bins + threadIdx.x * kBins;
    std::uint32_t* row = rows + blockIdx.x * kBins;
    // Each bin of the row is one thread's, here and below: no atomic.
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        row[bin] = 0;
    }
    const std::size_t at_once = std::size_t{blockDim.x} * pixels_per_item;
    // All threads of the block take equally many turns, so all of them reach every barrier.
    for (std::size_t first = blockIdx.x * at_once; first < count; first += gridDim.x * at_once) {
        // Zeroed by all together: neighbouring threads take neighbouring words, four bins each.
        for (unsigned word = threadIdx.x; word < blockDim.x * (kBins / 4); word += blockDim.x) {
            words[word] = 0;
        }
        __syncthreads();
        const std::size_t end = min(first + at_once, count);
        for (std::size_t i = first + threadIdx.x; i < end; i += blockDim.x) {
            ++own[pixels[i]];
        }
        __syncthreads();
        for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
            std::uint32_t sum = 0;
            for (unsigned other = 0; other < blockDim.x; ++other) {
                sum += bins[other * kBins + bin];
            }
            row[bin] += sum;
        }
        // Nobody begins again before all have been added up.
        __syncthreads();
    }
}

// ---- uchar-bins-banked: the same counters, laid out by banks ----
//
// Shared memory is divided into 32 banks, word by word. Above, the counters of neighbouring threads
// are 256 bytes apart, which is the same bank: with equal pixels they wait for each other. Here the
// words of the threads are interleaved, so thread t has only words of bank t % 32, whatever it
// counts: bin b is byte b % 4 of word (b / 4) * blockDim.x + t.
__global__ void histogram_uchar_banked(const std::uint8_t* pixels, std::size_t count,
                                       unsigned pixels_per_item, std::uint32_t* rows) {
    extern __shared__ std::uint32_t words[];
    auto* const bins = reinterpret_cast<std::uint8_t*>(words);
    std::uint32_t* row = rows + blockIdx.x * kBins;
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        row[bin] = 0;
    }
    const std::size_t at_once = std::size_t{blockDim.x} * pixels_per_item;
    for (std::size_t first = blockIdx.x * at_once; first < count; first += gridDim.x * at_once) {
        for (unsigned word = 0; word < kBins / 4; ++word) {
            words[word * blockDim.x + threadIdx.x] = 0;
        }
        const std::size_t end = min(first + at_once, count);
        for (std::size_t i = first + threadIdx.x; i < end; i += blockDim.x) {
            const unsigned bin = pixels[i];
            ++bins[((bin / 4) * blockDim.x + threadIdx.x) * 4 + bin % 4];
        }
        __syncthreads();
        for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
            std::uint32_t sum = 0;
            for (unsigned n = 0; n < blockDim.x; ++n) {
                // Each begins with its own counters, so that here, too, the banks take turns.
                const unsigned other = (threadIdx.x + n) % blockDim.x;
                sum += bins[((bin / 4) * blockDim.x + other) * 4 + bin % 4];
            }
            row[bin] += sum;
        }
        __syncthreads();
    }
}

// ---- lane-bins: a copy of the table for each lane, wholly in that lane's bank ----
//
// `copies` tables of 32-bit counters: 32, or fewer where --copies says so. Bin b of copy k is word
// b * copies + k. With 32 copies that word is in bank k, whatever the pixel: the 32 threads of a
// warp use 32 banks, and none waits for another. Threads with the same lane share a copy, so the
// additions are atomic. (A template, because a constant factor is a shift.)
//
// Pixels come 16 to a load, and four loads are on their way at once. To see what each is worth,
// `loads` can be 1 in place of 4, or 0: then a pixel to a load, as in the chapters before.
template <unsigned copies>
__device__ void count_four(std::uint32_t* own, std::uint32_t four) {
    atomicAdd(&own[(four & 0xff) * copies], 1U);
    atomicAdd(&own[(four >> 8 & 0xff) * copies], 1U);
    atomicAdd(&own[(four >> 16 & 0xff) * copies], 1U);
    atomicAdd(&own[(four >> 24) * copies], 1U);
}

template <unsigned copies>
__device__ void count_sixteen(std::uint32_t* own, uint4 sixteen) {
    count_four<copies>(own, sixteen.x);
    count_four<copies>(own, sixteen.y);
    count_four<copies>(own, sixteen.z);
    count_four<copies>(own, sixteen.w);
}

template <unsigned copies>
__global__ void histogram_lanes(const std::uint8_t* pixels, std::size_t count,
                                std::uint32_t* histogram, unsigned loads) {
    __shared__ std::uint32_t table[kBins * copies];
    for (unsigned word = threadIdx.x; word < kBins * copies; word += blockDim.x) {
        table[word] = 0;
    }
    __syncthreads();

    std::uint32_t* own = table + threadIdx.x % copies;
    const auto* vectors = reinterpret_cast<const uint4*>(pixels);
    const std::size_t vector_count = loads > 0 ? count / 16 : 0;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t item = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    std::size_t i = item;
    // Four loads before the first count: while one is on its way, so are the others.
    for (; loads == 4 && i + 3 * stride < vector_count; i += 4 * stride) {
        const uint4 first = vectors[i];
        const uint4 second = vectors[i + stride];
        const uint4 third = vectors[i + 2 * stride];
        const uint4 fourth = vectors[i + 3 * stride];
        count_sixteen<copies>(own, first);
        count_sixteen<copies>(own, second);
        count_sixteen<copies>(own, third);
        count_sixteen<copies>(own, fourth);
    }
    for (; i < vector_count; i += stride) {
        count_sixteen<copies>(own, vectors[i]);
    }
    // The last few pixels, fewer than 16; with no loads of 16 all of them.
    for (i = vector_count * 16 + item; i < count; i += stride) {
        atomicAdd(&own[pixels[i] * copies], 1U);
    }
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        std::uint32_t sum = 0;
        for (unsigned n = 0; n < copies; ++n) {
            // Each thread begins with another copy: the banks take turns here, too.
            sum += table[bin * copies + (threadIdx.x + n) % copies];
        }
        atomicAdd(&histogram[bin], sum);
    }
}

// The kernel with so many copies.
auto lanes_with(unsigned copies) {
    switch (copies) {
        case 1:
            return histogram_lanes<1>;
        case 2:
            return histogram_lanes<2>;
        case 4:
            return histogram_lanes<4>;
        case 8:
            return histogram_lanes<8>;
        case 16:
            return histogram_lanes<16>;
        default:
            return histogram_lanes<32>;
    }
}

// ---- core-bins: tables for each thread, and one thread for each multiprocessor ----
//
// Chapter 01's threads-private: a block is one thread, a loop on a core of its own, and needs no
// atomics until it merges. It reads its stretch of the picture in several places side by side, each
// with a table of its own: equal neighbours do not wait for each other, and several lines of memory
// are under way.
__global__ void histogram_cores(const std::uint8_t* pixels, std::size_t count,
                                std::uint32_t* histogram) {
    constexpr unsigned kPlaces = 6;
    constexpr unsigned kTable = kBins + 8;  // so that equal bins do not lie a power of two apart
    __shared__ std::uint32_t tables[kPlaces * kTable];
    for (unsigned word = 0; word < kPlaces * kTable; ++word) {
        tables[word] = 0;
    }
    const std::size_t begin = count * blockIdx.x / gridDim.x;
    const std::size_t end = count * (blockIdx.x + std::size_t{1}) / gridDim.x;
    const std::size_t length = (end - begin) / kPlaces;
    for (std::size_t i = begin; i < begin + length; ++i) {
#pragma unroll
        for (unsigned place = 0; place < kPlaces; ++place) {
            ++tables[place * kTable + pixels[i + place * length]];
        }
    }
    for (std::size_t i = begin + kPlaces * length; i < end; ++i) {  // fewer than there are places
        ++tables[pixels[i]];
    }
    for (unsigned bin = 0; bin < kBins; ++bin) {
        std::uint32_t sum = 0;
        for (unsigned place = 0; place < kPlaces; ++place) {
            sum += tables[place * kTable + bin];
        }
        atomicAdd(&histogram[bin], sum);
    }
}
