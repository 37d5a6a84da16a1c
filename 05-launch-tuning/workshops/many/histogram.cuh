// The CUDA kernels of many pictures.
//
// The pictures lie one behind the other: picture p is the bytes from first[p] up to first[p + 1],
// of which there may be none, and it may begin anywhere. Its histogram is row p of the result.
//
// Templates, for the copies of a block's table, and for the loads that a thread has under way.
#pragma once

#include "05-launch-tuning/histogram.cuh"

namespace kernels {

// ---- how a block counts bytes, in every strategy ----
//
// Chapter 05's `tuned`: bin b of copy k is word b * kCopies + k, and its count_word counts.

// Zeroes the table and counts the bytes from `begin` up to `end`. They may be any: those in front
// of the first address that 16 divides are the head, those behind the last whole vector the tail.
template <unsigned kCopies, unsigned kLoads>
__device__ void count_bytes(std::uint32_t* table, const std::uint8_t* pixels, std::uint64_t begin,
                            std::uint64_t end) {
    const unsigned own = threadIdx.x % kCopies * 4;
    const std::uint64_t length = end - begin;
    const unsigned head = min((16 - begin % 16) % 16, length);
    const unsigned vector_count = (length - head) / 16;  // at most 2^28
    const auto* vectors = reinterpret_cast<const uint4*>(pixels + begin + head);

    // Ask for the first vectors, and zero the table while they are on their way.
    uint4 now[kLoads];
#pragma unroll
    for (unsigned n = 0; n < kLoads; ++n) {
        const unsigned i = threadIdx.x + n * blockDim.x;
        now[n] = i < vector_count ? vectors[i] : uint4{};
    }
    for (unsigned word = threadIdx.x; word < kBins * kCopies; word += blockDim.x) {
        table[word] = 0;
    }
    __syncthreads();

    for (unsigned i = threadIdx.x; i < head; i += blockDim.x) {
        count_pixel<kCopies>(table, own, pixels[begin + i]);
    }
    for (std::uint64_t i = begin + head + vector_count * 16ULL + threadIdx.x; i < end;
         i += blockDim.x) {
        count_pixel<kCopies>(table, own, pixels[i]);
    }
    // The next vectors are asked for before the present ones are counted.
    for (unsigned i = threadIdx.x; i < vector_count; i += kLoads * blockDim.x) {
        uint4 next[kLoads];
#pragma unroll
        for (unsigned n = 0; n < kLoads; ++n) {
            const unsigned later = i + (kLoads + n) * blockDim.x;
            next[n] = later < vector_count ? vectors[later] : uint4{};
        }
#pragma unroll
        for (unsigned n = 0; n < kLoads; ++n) {
            if (i + n * blockDim.x < vector_count) {
                count_word<kCopies>(table, own, now[n].x);
                count_word<kCopies>(table, own, now[n].y);
                count_word<kCopies>(table, own, now[n].z);
                count_word<kCopies>(table, own, now[n].w);
            }
            now[n] = next[n];
        }
    }
    __syncthreads();
}

// The copies of a bin, beginning with another one each time, so that the banks take turns.
template <unsigned kCopies>
__device__ std::uint32_t sum_of(const std::uint32_t* table, unsigned bin) {
    std::uint32_t sum = 0;
    for (unsigned k = 0; k < kCopies; ++k) {
        sum += table[bin * kCopies + (bin + k) % kCopies];
    }
    return sum;
}

// ---- one-by-one, queued, graph: all blocks of the launch count one picture ----
//
// They finish it as chapter 05's do, with its totals.
template <unsigned kCopies, unsigned kLoads>
__global__ void histogram_picture(const std::uint8_t* pixels, std::uint64_t begin,
                                  std::uint64_t end, Total* totals, std::uint32_t* row) {
    __shared__ std::uint32_t table[kBins * kCopies];
    // Each block has a stretch, and the last one what is left: whole vectors, where it can be.
    const std::uint64_t stretch = ((end - begin) / gridDim.x + 15) / 16 * 16;
    const std::uint64_t from = min(begin + blockIdx.x * stretch, end);
    const std::uint64_t to = blockIdx.x == gridDim.x - 1 ? end : min(from + stretch, end);
    count_bytes<kCopies, kLoads>(table, pixels, from, to);
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        hand_over(totals, row, bin, sum_of<kCopies>(table, bin));
    }
}

// ---- group-each: a block for each picture ----
//
// Nobody else writes its row, so each bin is written once, and nothing has to be zero before.
// (Fewer blocks than pictures walk over them.)
template <unsigned kCopies, unsigned kLoads>
__global__ void histogram_group_each(const std::uint8_t* pixels, const std::uint64_t* first,
                                     std::uint64_t pictures, std::uint32_t* rows) {
    __shared__ std::uint32_t table[kBins * kCopies];
    for (std::uint64_t p = blockIdx.x; p < pictures; p += gridDim.x) {
        count_bytes<kCopies, kLoads>(table, pixels, first[p], first[p + 1]);
        for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
            rows[p * kBins + bin] = sum_of<kCopies>(table, bin);
        }
        __syncthreads();  // before the table is zeroed again
    }
}

}  // namespace kernels
