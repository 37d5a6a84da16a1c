// Kernels of other kinds than the chapters': what the model of times is judged on. They are right,
// and many of them are slow, each in its own way. The program measures them on a GPU, or runs one
// of them to be counted in the emulation; accuracy.py says which of them the model was made with.
//
//   nvcc -O3 -std=c++20 -arch=sm_90 -o unseen unseen.cu
//   ./unseen --photo landscape.bmp --json unseen.json        all of them, on four pictures
//   ./unseen --only runs --picture ramp --pixels 4194304 --groups 264 --repeat 1
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using std::size_t;
using std::uint32_t;
using std::uint8_t;

// Each takes the pixels, a multiple of 64 Ki; the histogram, zeroed; and zeroed words for tables of
// its own.
using Kernel = void (*)(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t* scratch);
constexpr unsigned kAll = 0xffffffffU;

__device__ inline size_t item() {
    return size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline size_t items() {
    return size_t{gridDim.x} * blockDim.x;
}
__device__ inline unsigned lane() {
    return threadIdx.x % 32;
}
__device__ inline void zero(uint32_t* table, unsigned words) {
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        table[i] = 0;
    __syncthreads();
}
// Counts the pixels of a word; counters of neighbouring bins are so many words apart.
__device__ inline void add(uint32_t* table, uint32_t word, unsigned apart = 1) {
    for (unsigned shift = 0; shift < 32; shift += 8)
        atomicAdd(&table[(word >> shift & 255) * apart], 1U);
}
__device__ inline void add(uint32_t* table, uint4 words, unsigned apart = 1) {
    add(table, words.x, apart);
    add(table, words.y, apart);
    add(table, words.z, apart);
    add(table, words.w, apart);
}
// The pixels behind those that a kernel takes in its own way.
__device__ inline void leftover(const uint8_t* pixels, size_t from, size_t count, uint32_t* bins) {
    for (size_t i = from + item(); i < count; i += items())
        atomicAdd(&bins[pixels[i]], 1U);
}
// Adds up the copies of each bin, and adds the sum to the histogram.
__device__ inline void merge(const uint32_t* table, unsigned copies, unsigned of_bin,
                             unsigned of_copy, uint32_t* bins) {
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        uint32_t sum = 0;
        for (unsigned copy = 0; copy < copies; ++copy)
            sum += table[bin * of_bin + copy * of_copy];
        if (sum > 0) atomicAdd(&bins[bin], sum);
    }
}

// Equal pixels of a warp are added once.
__global__ void match_any(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    for (size_t i = item(); i < count; i += items()) {
        const unsigned value = pixels[i];
        const unsigned same = __match_any_sync(kAll, value);
        if ((same & ((1U << lane()) - 1)) == 0)
            atomicAdd(&bins[value], static_cast<uint32_t>(__popc(same)));
    }
}

// Where a warp has one value alone, one lane adds for all.
__global__ void all_equal(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    for (size_t i = item(); i < count / 4; i += items()) {
        const uint32_t word = words[i];
        for (unsigned shift = 0; shift < 32; shift += 8) {
            const unsigned value = word >> shift & 255;
            if (__all_sync(kAll, value == __shfl_sync(kAll, value, 0))) {
                if (lane() == 0) atomicAdd(&table[value], 32U);
            } else {
                atomicAdd(&table[value], 1U);
            }
        }
    }
    merge(table, 1, 1, 0, bins);
}

// A run of equal pixels is added once: 64 neighbours for each work-item.
__global__ void runs(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    for (size_t i = item(); i < count / 64; i += items()) {
        unsigned value = pixels[i * 64], length = 0;
        for (unsigned k = 0; k < 4; ++k) {
            const uint4 four = words[i * 4 + k];
            for (unsigned n = 0; n < 16; ++n) {
                const uint32_t word = n < 4 ? four.x : n < 8 ? four.y : n < 12 ? four.z : four.w;
                const unsigned next = word >> n % 4 * 8 & 255;
                if (next != value) {
                    atomicAdd(&table[value], length);
                    value = next;
                    length = 0;
                }
                ++length;
            }
        }
        atomicAdd(&table[value], length);
    }
    merge(table, 1, 1, 0, bins);
}

// Each work-item looks for its one value in a piece that the group has in shared memory.
__global__ void item_per_bin(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t piece[1024];
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    const uint32_t mine = threadIdx.x * 0x01010101U;
    uint32_t found = 0;
    for (size_t begin = blockIdx.x * size_t{1024}; begin < count / 4;
         begin += gridDim.x * size_t{1024}) {
        for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
            piece[i] = words[begin + i];
        __syncthreads();
        for (unsigned i = 0; i < 1024; ++i) {
            const uint32_t x = piece[i] ^ mine;  // a byte of 0 for each pixel of this value
            found += static_cast<uint32_t>(
                __popc(~(((x & 0x7f7f7f7fU) + 0x7f7f7f7fU) | x | 0x7f7f7f7fU)));
        }
        __syncthreads();
    }
    atomicAdd(&bins[threadIdx.x], found);
}

// Eight votes tell each lane which lanes have the pixels of its eight bins; counters are registers.
__global__ void ballots(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    uint32_t c0 = 0, c1 = 0, c2 = 0, c3 = 0, c4 = 0, c5 = 0, c6 = 0, c7 = 0;
    for (size_t i = item(); i < count; i += items()) {
        const unsigned value = pixels[i];
        uint32_t mine = kAll;
        for (unsigned bit = 0; bit < 5; ++bit) {
            const unsigned votes = __ballot_sync(kAll, static_cast<int>(value >> (3 + bit) & 1));
            mine &= (lane() >> bit & 1) != 0 ? votes : ~votes;
        }
        const unsigned one = __ballot_sync(kAll, static_cast<int>(value & 1));
        const unsigned two = __ballot_sync(kAll, static_cast<int>(value >> 1 & 1));
        const unsigned four = __ballot_sync(kAll, static_cast<int>(value >> 2 & 1));
        c0 += static_cast<uint32_t>(__popc(mine & ~four & ~two & ~one));
        c1 += static_cast<uint32_t>(__popc(mine & ~four & ~two & one));
        c2 += static_cast<uint32_t>(__popc(mine & ~four & two & ~one));
        c3 += static_cast<uint32_t>(__popc(mine & ~four & two & one));
        c4 += static_cast<uint32_t>(__popc(mine & four & ~two & ~one));
        c5 += static_cast<uint32_t>(__popc(mine & four & ~two & one));
        c6 += static_cast<uint32_t>(__popc(mine & four & two & ~one));
        c7 += static_cast<uint32_t>(__popc(mine & four & two & one));
    }
    uint32_t* const to = bins + lane() * 8;
    atomicAdd(to, c0);
    atomicAdd(to + 1, c1);
    atomicAdd(to + 2, c2);
    atomicAdd(to + 3, c3);
    atomicAdd(to + 4, c4);
    atomicAdd(to + 5, c5);
    atomicAdd(to + 6, c6);
    atomicAdd(to + 7, c7);
}

// A lane owns eight bins, in 16 bits each, and every pixel of the warp comes by in a shuffle.
__global__ void shuffles(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    uint32_t whole[8] = {};
    for (size_t i = item(); i < count / 4; i += items()) {
        const uint32_t word = words[i];
        uint32_t low = 0, high = 0;  // a byte for each of the eight: at most 128 in a turn
        for (int from = 0; from < 32; ++from) {
            const uint32_t others = __shfl_sync(kAll, word, from);
            for (unsigned shift = 0; shift < 32; shift += 8) {
                const unsigned value = others >> shift & 255;
                const uint32_t add = value / 8 == lane() ? 1U << value % 4 * 8 : 0;
                low += (value & 4) == 0 ? add : 0;
                high += (value & 4) != 0 ? add : 0;
            }
        }
#pragma unroll
        for (unsigned n = 0; n < 8; ++n)
            whole[n] += (n < 4 ? low : high) >> n % 4 * 8 & 255;
    }
#pragma unroll
    for (unsigned n = 0; n < 8; ++n)
        atomicAdd(&bins[lane() * 8 + n], whole[n]);
}

// The lanes of a warp read one byte each, 32 apart; the next bytes of the same sectors come next.
__global__ void bytes_32_apart(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    for (size_t warp = item() / 32; warp < count / 1024; warp += items() / 32)
        for (unsigned k = 0; k < 32; ++k)
            atomicAdd(&table[pixels[warp * 1024 + lane() * 32 + k]], 1U);
    merge(table, 1, 1, 0, bins);
}

// The same, 2 KiB apart: a lane's next bytes come 2,048 steps long from its own row.
__global__ void bytes_2048_apart(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    for (size_t warp = item() / 32; warp < count / 65536; warp += items() / 32)
        for (unsigned k = 0; k < 2048; ++k)
            atomicAdd(&table[pixels[warp * 65536 + lane() * 2048 + k]], 1U);
    merge(table, 1, 1, 0, bins);
}

// The group fetches a piece into shared memory, waits, counts it from there, waits.
__global__ void staged(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint4 piece[512];
    __shared__ uint32_t table[256];
    zero(table, 256);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&piece[0]);
    for (size_t begin = blockIdx.x * size_t{512}; begin < count / 16;
         begin += gridDim.x * size_t{512}) {
        for (unsigned i = threadIdx.x; i < 512; i += blockDim.x)
            piece[i] = words[begin + i];
        __syncthreads();
        for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x)
            atomicAdd(&table[bytes[i]], 1U);
        __syncthreads();
    }
    merge(table, 1, 1, 0, bins);
}

// Two 16-bit counters in a word, added to the histogram before one is full.
__global__ void packed_16(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[128];
    zero(table, 128);
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    unsigned turn = 0;
    for (size_t begin = blockIdx.x * size_t{blockDim.x}; begin < count / 4; begin += items()) {
        const uint32_t word = words[begin + threadIdx.x];
        for (unsigned shift = 0; shift < 32; shift += 8) {
            const unsigned value = word >> shift & 255;
            atomicAdd(&table[value / 2], 1U << value % 2 * 16);
        }
        if (++turn % 32 > 0 && begin + items() < count / 4) continue;
        __syncthreads();  // after at most 32 turns of 4 pixels of 256 work-items
        for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x)
            atomicAdd(&bins[bin], table[bin / 2] >> bin % 2 * 16 & 0xffff);
        __syncthreads();
        zero(table, 128);
    }
}

// One global table of 4 KiB, its counters 16 bytes apart.
__global__ void spaced(const uint8_t* pixels, size_t count, uint32_t*, uint32_t* scratch) {
    for (size_t i = item(); i < count; i += items())
        atomicAdd(&scratch[pixels[i] * 4], 1U);
}
__global__ void gather_spaced(const uint8_t*, size_t, uint32_t* bins, uint32_t* scratch) {
    bins[threadIdx.x] = scratch[threadIdx.x * 4];
}

// A table for each warp in global memory; a second kernel adds them up.
__global__ void warp_rows(const uint8_t* pixels, size_t count, uint32_t*, uint32_t* scratch) {
    uint32_t* const table = scratch + item() / 32 * 256;
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    for (size_t i = item(); i < count / 4; i += items())
        add(table, words[i]);
}
__global__ void add_rows(const uint8_t*, size_t, uint32_t* bins, uint32_t* scratch) {
    uint32_t sum = 0;
    for (unsigned row = blockIdx.x * 8; row < blockIdx.x * 8 + 8; ++row)
        sum += scratch[row * 256 + threadIdx.x];
    atomicAdd(&bins[threadIdx.x], sum);
}

// Loads of 8 bytes, and a table for each warp in shared memory.
__global__ void warp_tables(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t tables[8 * 256];
    zero(tables, 8 * 256);
    uint32_t* const table = tables + threadIdx.x / 32 * 256;
    const auto* words = reinterpret_cast<const uint2*>(pixels);
    for (size_t i = item(); i < count / 8; i += items()) {
        const uint2 two = words[i];
        add(table, two.x);
        add(table, two.y);
    }
    merge(tables, 8, 1, 256, bins);
}

// A piece is put in order of its upper four bits, and counted in that order.
__global__ void two_passes(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    __shared__ uint32_t begins[17];
    __shared__ uint8_t ordered[4096];
    zero(table, 256);
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    for (size_t begin = blockIdx.x * size_t{1024}; begin < count / 4;
         begin += gridDim.x * size_t{1024}) {
        zero(begins, 17);
        for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
            for (unsigned shift = 4; shift < 32; shift += 8)
                atomicAdd(&begins[(words[begin + i] >> shift & 15) + 1], 1U);
        __syncthreads();
        if (threadIdx.x == 0)
            for (unsigned n = 1; n < 16; ++n)
                begins[n] += begins[n - 1];
        __syncthreads();
        for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
            for (unsigned shift = 0; shift < 32; shift += 8) {
                const unsigned value = words[begin + i] >> shift & 255;
                ordered[atomicAdd(&begins[value >> 4], 1U)] = static_cast<uint8_t>(value);
            }
        __syncthreads();
        for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x)
            atomicAdd(&table[ordered[i]], 1U);
        __syncthreads();
    }
    merge(table, 1, 1, 0, bins);
}

// Eight copies, each 8 banks on from the one before.
__global__ void skewed(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t tables[8 * 264];
    zero(tables, 8 * 264);
    uint32_t* const table = tables + lane() % 8 * 264;
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    for (size_t i = item(); i < count / 4; i += items())
        add(table, words[i]);
    merge(tables, 8, 1, 264, bins);
}

// Counters 8 words apart lie in four banks.
__global__ void apart_8(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[8 * 256];
    zero(table, 8 * 256);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    for (size_t i = item(); i < count / 16; i += items())
        add(table, words[i], 8);
    merge(table, 1, 8, 0, bins);
}

// 256 counters of 16 bits for each work-item, an array of its own.
__global__ void own_array(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    std::uint16_t own[256] = {};
    for (size_t i = item(); i < count; i += items())
        ++own[pixels[i]];
    for (unsigned bin = 0; bin < 256; ++bin)
        if (own[bin] > 0) atomicAdd(&bins[bin], static_cast<uint32_t>(own[bin]));
}

// Sixteen counters of its own for each work-item, and 16 groups that read the same pixels.
__global__ void own_sixteen(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    uint32_t own[16] = {};
    const unsigned part = blockIdx.x % 16;
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    const size_t stride = (gridDim.x - part + 15) / 16 * blockDim.x;
    for (size_t i = blockIdx.x / 16 * blockDim.x + threadIdx.x; i < count / 4; i += stride) {
        const uint32_t word = words[i];
        for (unsigned shift = 0; shift < 32; shift += 8)
            if ((word >> shift >> 4 & 15) == part) ++own[word >> shift & 15];
    }
    for (unsigned n = 0; n < 16; ++n)
        if (own[n] > 0) atomicAdd(&bins[part * 16 + n], own[n]);
}

// The first lane of each warp works, the others wait for it.
__global__ void one_lane(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    if (lane() == 0)
        for (size_t i = item() / 32; i < count / 16; i += items() / 32)
            add(table, words[i]);
    merge(table, 1, 1, 0, bins);
}

// Wide loads, four copies, the next load under way; in few groups.
__global__ void few_groups(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[4 * 256];
    zero(table, 4 * 256);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    uint4 next = item() < count / 16 ? words[item()] : uint4{};
    for (size_t i = item(); i < count / 16; i += items()) {
        const uint4 four = next;
        if (i + items() < count / 16) next = words[i + items()];
        add(table + lane() % 4, four, 4);
    }
    merge(table, 4, 4, 1, bins);
}

// 44 KiB of shared memory: five groups fit.
__global__ void much_local(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[44 * 256];
    zero(table, 44 * 256);
    const unsigned copy = threadIdx.x % 44;
    for (size_t i = item(); i < count; i += items())
        atomicAdd(&table[pixels[i] * 44 + copy], 1U);
    merge(table, 44, 44, 1, bins);
}

#include "fifth.cuh"
#include "fourth.cuh"
#include "second.cuh"
#include "stranger.cuh"
#include "third.cuh"

// ---- what is measured, and how ----

struct Case {
    const char* name;
    Kernel kernel, second;   // the second adds up, or is none
    unsigned second_groups;  // 0: one for 8 warps of the first
    unsigned few;            // groups, where it has its own launches

    unsigned items = 256, zeroed = 0;  // work-items of a group; words of scratch
    unsigned of_unit[2] = {2, 8};      // groups for each of 132 multiprocessors, or of few
};
const Case kCases[] = {{"match_any", match_any, nullptr, 0, 0},
                       {"all_equal", all_equal, nullptr, 0, 0},
                       {"runs", runs, nullptr, 0, 0},
                       {"item_per_bin", item_per_bin, nullptr, 0, 0},
                       {"ballots", ballots, nullptr, 0, 0},
                       {"shuffles", shuffles, nullptr, 0, 0},
                       {"bytes_32_apart", bytes_32_apart, nullptr, 0, 0},
                       {"bytes_2048_apart", bytes_2048_apart, nullptr, 0, 0},
                       {"staged", staged, nullptr, 0, 0},
                       {"packed_16", packed_16, nullptr, 0, 0},
                       {"spaced", spaced, gather_spaced, 1, 0, 256, 1024},
                       {"warp_rows", warp_rows, add_rows, 0, 0},
                       {"warp_tables", warp_tables, nullptr, 0, 0},
                       {"two_passes", two_passes, nullptr, 0, 0},
                       {"skewed", skewed, nullptr, 0, 0},
                       {"apart_8", apart_8, nullptr, 0, 0},
                       {"own_array", own_array, nullptr, 0, 0},
                       {"own_sixteen", own_sixteen, nullptr, 0, 0},
                       {"one_lane", one_lane, nullptr, 0, 0},
                       {"few_groups", few_groups, nullptr, 0, 12},
                       {"much_local", much_local, nullptr, 0, 0},
                       {"byte_counters", byte_counters, nullptr, 0, 0, 96, 0, {3, 9}},
                       {"packed_64", packed_64, nullptr, 0, 0, 192, 0, {4, 10}},
                       {"peel_leaders", peel_leaders, nullptr, 0, 0, 128, 0, {4, 16}},
                       {"transposed_tile", transposed_tile, nullptr, 0, 0, 128, 0, {3, 8}},
                       {"pairs_16bit", pairs_16bit, pairs_to_bins, 256, 0, 256, 65536, {2, 8}},
                       {"warps_257", warps_257, add_sixteen, 1, 0, 320, 16 * 256, {3, 5}},
                       {"last_block", last_block, nullptr, 0, 0, 512, 1, {1, 4}},
                       {"bit_planes", bit_planes, nullptr, 0, 0, 256, 0, {2, 6}},
                       {"reversed_bits", reversed_bits, nullptr, 0, 0, 224, 0, {4, 9}},
                       {"hot_value", hot_value, nullptr, 0, 0, 512, 0, {1, 4}},
                       {"warp_owns_bins", warp_owns_bins, nullptr, 0, 0, 256, 0, {2, 6}},
                       {"halves_by_warp", halves_by_warp, nullptr, 0, 0, 160, 0, {3, 12}},
                       {"lane_columns", lane_columns, lane_sums, 32, 0, 1024, 8192, {1, 2}},
                       {"bitonic_warps", bitonic_warps, nullptr, 0, 0, 384, 0, {2, 5}},
                       {"recent_two", recent_two, nullptr, 0, 0, 64, 0, {8, 24}},
                       {"owner_wins", owner_wins, nullptr, 0, 0, 288, 0, {3, 7}},
                       {"lane_halves", lane_halves, nullptr, 0, 0, 256, 0, {2, 7}},
                       {"sorted_columns", sorted_columns, nullptr, 0, 0, 1024, 0, {1, 2}},
                       {"match_words", match_words, sixteen_lanes, 16, 0, 128, 64 * 256, {6, 16}},
                       {"split_queues", split_queues, nullptr, 0, 0, 128, 0, {3, 6}},
                       {"nibble_marks", nibble_marks, nullptr, 0, 0, 256, 0, {3, 8}},
                       {"own_columns", own_columns, add_columns, 256, 33, 64, 256 * 8448, {2, 4}},
                       {"bytes_to_registers", bytes_to_registers, nullptr, 0, 0, 480, 0, {1, 4}},
                       {"narrow_range", narrow_range, nullptr, 0, 0, 96, 0, {5, 20}},
                       {"triples", triples, add_triples, 32, 0, 96, 0, {6, 16}},
                       {"square_tiles", square_tiles, add_tiles, 1, 0, 256, 16 * 256, {2, 8}},
                       {"tickets", tickets, nullptr, 0, 0, 352, 0, {2, 5}},
                       {"two_trades", two_trades, nullptr, 0, 0, 448, 0, {1, 4}},
                       {"quads", quads, nullptr, 0, 0, 192, 0, {3, 10}},
                       {"looked_up", looked_up, nullptr, 0, 0, 768, 0, {1, 2}},
                       {"eight_times", eight_times, nullptr, 0, 0, 160, 0, {3, 8}},
                       {"near_pairs", near_pairs, nullptr, 0, 0, 512, 0, {1, 4}},
                       {"piece_each", piece_each, nullptr, 0, 0, 64, 0, {8, 48}},
                       {"half_warps_back", half_warps_back, nullptr, 0, 0, 416, 0, {2, 4}},
                       {"but_background", but_background, fill_background, 1, 0, 96, 0, {8, 20}},
                       {"odometers", odometers, nullptr, 0, 0, 320, 0, {3, 6}},
                       {"watchers", watchers, nullptr, 0, 0, 128, 0, {6, 16}},
                       {"quarters", quarters, add_quarters, 8, 0, 1024, 0, {1, 2}},
                       {"rotated", rotated, nullptr, 0, 0, 192, 320, {4, 10}},
                       {"lane_runs", lane_runs, nullptr, 0, 0, 576, 0, {1, 3}}};

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

std::vector<uint8_t> picture_of(const std::string& name, const std::string& photo, size_t count) {
    std::vector<uint8_t> pixels(count);
    if (name == "photo") {
        std::ifstream file(photo, std::ios::binary);  // 512 x 512 of 8 bits, from the lowest row up
        std::vector<char> bmp{std::istreambuf_iterator<char>(file),
                              std::istreambuf_iterator<char>()};
        if (bmp.size() < 1078 + 262144) {
            std::fprintf(stderr, "--photo: not 512 x 512 pixels of 8 bits\n");
            std::exit(2);
        }
        for (size_t i = 0; i < count; ++i)
            pixels[i] = static_cast<uint8_t>(bmp[1078 + (511 - i / 512 % 512) * 512 + i % 512]);
    } else {
        uint32_t x = 1;
        for (size_t i = 0; i < count; ++i) {
            x = x * 1664525 + 1013904223;
            pixels[i] = static_cast<uint8_t>(name == "uniform" ? x >> 24
                                             : name == "ramp"  ? i
                                                               : 127);
        }
    }
    return pixels;
}

int main(int argc, char** argv) {
    std::string only, one_picture, photo = "images/landscape.bmp", json, driver;
    size_t one_size = 0;
    unsigned one_launch = 0, repeat = 15;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string name = argv[i], value = argv[i + 1];
        if (name == "--only") only = value;
        if (name == "--picture") one_picture = value;
        if (name == "--photo") photo = value;
        if (name == "--json") json = value;
        if (name == "--driver") driver = value;
        if (name == "--pixels") one_size = std::stoul(value);
        if (name == "--groups") one_launch = static_cast<unsigned>(std::stoul(value));
        if (name == "--repeat") repeat = static_cast<unsigned>(std::stoul(value));
    }
    cudaDeviceProp card{};
    int runtime = 0, wrong = 0;
    check(cudaGetDeviceProperties(&card, 0));
    check(cudaRuntimeGetVersion(&runtime));
    std::string rows, kernels;
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    const auto sizes = one_size > 0 ? std::vector{one_size}
                                    : std::vector<size_t>{size_t{64} << 20, size_t{256} << 20};
#ifndef CUDA_ON_CPU
    for (const Case& each : kCases) {
        cudaFuncAttributes has{};
        int at_once = 0;
        check(cudaFuncGetAttributes(&has, each.kernel));
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, each.kernel,
                                                            static_cast<int>(each.items), 0));
        kernels += std::string(kernels.empty() ? "" : ",") + "\n  {\"kernel\": \"" + each.name +
                   "\", \"registers\": " + std::to_string(has.numRegs) +
                   ", \"shared\": " + std::to_string(has.sharedSizeBytes) +
                   ", \"own\": " + std::to_string(has.localSizeBytes) +
                   ", \"at_once\": " + std::to_string(at_once) + "}";
    }
#endif
    for (const size_t size : sizes)
        for (const std::string picture : {"uniform", "ramp", "constant", "photo"}) {
            if (!one_picture.empty() && picture != one_picture) continue;
            const auto pixels = picture_of(picture, photo, size);
            std::vector<uint32_t> expected(256), got(256);
            for (const uint8_t value : pixels)
                ++expected[value];
            uint8_t* on_gpu = nullptr;
            uint32_t *bins = nullptr, *scratch = nullptr;
            const size_t scratch_bytes = size_t{8} * 132 * 8 * 1024;
            check(cudaMalloc(&on_gpu, size));
            check(cudaMalloc(&bins, 1024));
            check(cudaMalloc(&scratch, scratch_bytes));
            check(cudaMemcpy(on_gpu, pixels.data(), size, cudaMemcpyHostToDevice));
            for (const Case& each : kCases)
                for (const unsigned of_unit : each.of_unit) {
                    if (!only.empty() &&
                        ("," + only + ",").find("," + std::string(each.name) + ",") ==
                            std::string::npos)
                        continue;
                    if (one_launch > 0 && of_unit != each.of_unit[0]) continue;
                    const unsigned groups =
                        one_launch > 0 ? one_launch : of_unit * (each.few > 0 ? each.few : 132);
                    const bool rows_of_all = each.second != nullptr && each.second_groups == 0;
                    const size_t zeroed = (rows_of_all ? groups * 2048 : each.zeroed) * size_t{4};
                    std::vector<float> times;
                    for (unsigned run = 0; run < (repeat == 1 ? 1 : repeat + 2); ++run) {
                        check(cudaMemset(bins, 0xa5, 1024));
                        check(cudaEventRecord(begin));
                        check(cudaMemsetAsync(bins, 0, 1024));
                        if (zeroed > 0) check(cudaMemsetAsync(scratch, 0, zeroed));
                        const Kernel first = each.kernel, second = each.second;
                        first<<<groups, each.items>>>(on_gpu, size, bins, scratch);
                        if (second != nullptr) {
                            const unsigned others =
                                each.second_groups > 0 ? each.second_groups : groups;
                            second<<<others, 256>>>(on_gpu, size, bins, scratch);
                        }
                        check(cudaGetLastError());
                        check(cudaEventRecord(end));
                        check(cudaEventSynchronize(end));
                        float ms = 0;
                        check(cudaEventElapsedTime(&ms, begin, end));
                        if (run >= 2) times.push_back(ms * 1000);
                        check(cudaMemcpy(got.data(), bins, 1024, cudaMemcpyDeviceToHost));
                        if (got != expected) {
                            std::fprintf(stderr, "%s is wrong: %s\n", each.name, picture.c_str());
                            wrong = 1;
                            break;
                        }
                    }
                    if (times.empty()) continue;
                    std::sort(times.begin(), times.end());
                    char row[256];
                    std::snprintf(row, sizeof row,
                                  "%s\n  {\"kernel\": \"%s\", \"picture\": \"%s\", \"pixels\": "
                                  "%zu, \"groups\": %u, \"group_size\": %u, \"median_us\": %.2f, "
                                  "\"min_us\": %.2f, \"max_us\": %.2f}",
                                  rows.empty() ? "" : ",", each.name, picture.c_str(), size, groups,
                                  each.items, times[times.size() / 2], times.front(), times.back());
                    rows += row;
                }
            check(cudaFree(on_gpu));
            check(cudaFree(bins));
            check(cudaFree(scratch));
        }
    if (!json.empty())
        std::ofstream(json) << "{\"card\": \"" << card.name << "\", \"driver\": \"" << driver
                            << "\", \"runtime\": " << runtime << ", \"runs\": " << repeat
                            << ",\n \"kernels\": [" << kernels << "],\n \"rows\": [" << rows
                            << "]}\n";
    return wrong;
}
