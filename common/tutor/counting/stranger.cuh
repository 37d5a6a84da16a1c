// Eight kernels by somebody who had not seen the model of times that they judge: a part of
// unseen.cu, with its helpers. They are right for any number of pixels; of scratch, as many words
// are zeroed as their case says.
#pragma once

// No atomics: 256 counters of a byte for each of 96 work-items, added up after 240 pixels of each.
__global__ void byte_counters(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256 * 24];  // a row of 96 bytes for each bin
    zero(table, 256 * 24);
    leftover(pixels, count / 16 * 16, count, bins);
    uint8_t* const own = reinterpret_cast<uint8_t*>(&table[0]) + threadIdx.x;
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    uint32_t sums[3] = {};
    unsigned turn = 0;
    for (size_t begin = blockIdx.x * size_t{96}; begin < count / 16; begin += items()) {
        if (begin + threadIdx.x < count / 16) {
            const uint4 four = words[begin + threadIdx.x];
            for (unsigned shift = 0; shift < 32; shift += 8) {
                ++own[(four.x >> shift & 255) * 96];
                ++own[(four.y >> shift & 255) * 96];
                ++own[(four.z >> shift & 255) * 96];
                ++own[(four.w >> shift & 255) * 96];
            }
        }
        if (++turn < 15 && begin + items() < count / 16) continue;
        turn = 0;
        __syncthreads();
#pragma unroll
        for (unsigned n = 0; n < 3; ++n) {
            const unsigned bin = threadIdx.x + n * 96;
            if (bin >= 256) break;
            uint32_t halves = 0;  // two sums of 16 bits: at most 24 * 480
            for (unsigned k = 0; k < 24; ++k) {
                uint32_t* const four = &table[bin * 24 + (k + threadIdx.x) % 24];
                halves += (*four & 0x00ff00ffU) + (*four >> 8 & 0x00ff00ffU);
                *four = 0;
            }
            sums[n] += (halves & 0xffff) + (halves >> 16);
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned n = 0; n < 3; ++n)
        if (sums[n] > 0) atomicAdd(&bins[threadIdx.x + n * 96], sums[n]);
}

// Four 16-bit counters in each of 64 words of 64 bits, added to the histogram before one is full.
__global__ void packed_64(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ unsigned long long table[64];
    if (threadIdx.x < 64) table[threadIdx.x] = 0;
    __syncthreads();
    leftover(pixels, count / 8 * 8, count, bins);
    const auto* words = reinterpret_cast<const uint2*>(pixels);
    const unsigned turns = 65535 / (8 * blockDim.x);
    unsigned turn = 0;
    for (size_t begin = blockIdx.x * size_t{blockDim.x}; begin < count / 8; begin += items()) {
        if (begin + threadIdx.x < count / 8) {
            const uint2 two = words[begin + threadIdx.x];
            for (unsigned shift = 0; shift < 32; shift += 8) {
                const unsigned one = two.x >> shift & 255, other = two.y >> shift & 255;
                atomicAdd(&table[one % 64], 1ULL << one / 64 * 16);
                atomicAdd(&table[other % 64], 1ULL << other / 64 * 16);
            }
        }
        if (++turn < turns && begin + items() < count / 8) continue;
        turn = 0;
        __syncthreads();
        if (threadIdx.x < 64) {
            const unsigned long long four = table[threadIdx.x];
            for (unsigned n = 0; n < 4; ++n) {
                const auto sum = static_cast<uint32_t>(four >> n * 16 & 0xffff);
                if (sum > 0) atomicAdd(&bins[n * 64 + threadIdx.x], sum);
            }
            table[threadIdx.x] = 0;
        }
        __syncthreads();
    }
}

// The warp takes away the equals of its first lane until none is left: a turn for each value that
// it has. Lane 0 alone counts, in the warp's own table, without atomics.
__global__ void peel_leaders(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t tables[4 * 256];
    zero(tables, 4 * 256);
    leftover(pixels, count / 128 * 128, count, bins);
    uint32_t* const table = tables + threadIdx.x / 32 * 256;
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    for (size_t i = item(); i / 32 < count / 128; i += items()) {
        const uint32_t word = words[i];
        for (unsigned shift = 0; shift < 32; shift += 8) {
            const unsigned value = word >> shift & 255;
            unsigned left = kAll;
            while (left != 0) {
                const unsigned chosen = __shfl_sync(kAll, value, __ffs(static_cast<int>(left)) - 1);
                const unsigned same = __ballot_sync(kAll, static_cast<int>(value == chosen));
                if (lane() == 0) table[chosen] += static_cast<uint32_t>(__popc(same));
                left &= ~same;
            }
        }
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        const uint32_t sum =
            tables[bin] + tables[256 + bin] + tables[512 + bin] + tables[768 + bin];
        if (sum > 0) atomicAdd(&bins[bin], sum);
    }
}

// Two tiles of 8 KiB in turn, one filled while the other is counted: read along memory, counted
// across, 64 neighbours for each work-item; rows have 17 words. Two equal neighbours are one add.
__global__ void transposed_tile(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t tiles[2 * 128 * 17];
    __shared__ uint32_t tables[2 * 257];
    zero(tables, 2 * 257);
    leftover(pixels, count / 8192 * 8192, count, bins);
    uint32_t* const table = tables + threadIdx.x / 64 * 257;
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    const size_t end = count / 8192;
    unsigned now = 0;
    if (blockIdx.x < end)
        for (unsigned i = threadIdx.x; i < 2048; i += 128)
            tiles[i / 16 * 17 + i % 16] = words[blockIdx.x * size_t{2048} + i];
    for (size_t tile = blockIdx.x; tile < end; tile += gridDim.x) {
        __syncthreads();
        if (tile + gridDim.x < end)
            for (unsigned i = threadIdx.x; i < 2048; i += 128)
                tiles[(now ^ 1) * 2176 + i / 16 * 17 + i % 16] =
                    words[(tile + gridDim.x) * 2048 + i];
        for (unsigned k = 0; k < 16; ++k) {
            const uint32_t word = tiles[now * 2176 + threadIdx.x * 17 + k];
            for (unsigned shift = 0; shift < 32; shift += 16) {
                const unsigned one = word >> shift & 255, other = word >> shift >> 8 & 255;
                if (one == other) {
                    atomicAdd(&table[one], 2U);
                } else {
                    atomicAdd(&table[one], 1U);
                    atomicAdd(&table[other], 1U);
                }
            }
        }
        now ^= 1;
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        const uint32_t sum = tables[bin] + tables[257 + bin];
        if (sum > 0) atomicAdd(&bins[bin], sum);
    }
}

// Two pixels at once, in a global table of 65,536 pairs, which the second-level cache holds.
__global__ void pairs_16bit(const uint8_t* pixels, size_t count, uint32_t* bins,
                            uint32_t* scratch) {
    leftover(pixels, count / 16 * 16, count, bins);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    for (size_t i = item(); i < count / 16; i += items()) {
        const uint4 four = words[i];
        atomicAdd(&scratch[four.x & 0xffff], 1U);
        atomicAdd(&scratch[four.x >> 16], 1U);
        atomicAdd(&scratch[four.y & 0xffff], 1U);
        atomicAdd(&scratch[four.y >> 16], 1U);
        atomicAdd(&scratch[four.z & 0xffff], 1U);
        atomicAdd(&scratch[four.z >> 16], 1U);
        atomicAdd(&scratch[four.w & 0xffff], 1U);
        atomicAdd(&scratch[four.w >> 16], 1U);
    }
}
// A group for each upper pixel: the sum of its row, by halves, and its part of the columns.
__global__ void pairs_to_bins(const uint8_t*, size_t, uint32_t* bins, uint32_t* scratch) {
    __shared__ uint32_t row[256];
    const uint32_t pairs = scratch[blockIdx.x * 256 + threadIdx.x];
    row[threadIdx.x] = pairs;
    if (pairs > 0) atomicAdd(&bins[threadIdx.x], pairs);
    for (unsigned half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) row[threadIdx.x] += row[threadIdx.x + half];
    }
    if (threadIdx.x == 0 && row[0] > 0) atomicAdd(&bins[blockIdx.x], row[0]);
}

// Ten warps, each with a table of 257 words, and two wide loads under way; merged in two levels, in
// 16 global rows first.
__global__ void warps_257(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t* scratch) {
    __shared__ uint32_t tables[10 * 257];
    zero(tables, 10 * 257);
    leftover(pixels, count / 16 * 16, count, bins);
    uint32_t* const table = tables + threadIdx.x / 32 * 257;
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    const size_t end = count / 16;
    size_t i = item();
    for (; i + items() < end; i += 2 * items()) {
        const uint4 one = words[i], other = words[i + items()];
        add(table, one);
        add(table, other);
    }
    if (i < end) add(table, words[i]);
    __syncthreads();
    if (threadIdx.x >= 256) return;
    uint32_t sum = 0;
    for (unsigned warp = 0; warp < 10; ++warp)
        sum += tables[warp * 257 + threadIdx.x];
    atomicAdd(&scratch[blockIdx.x % 16 * 256 + threadIdx.x], sum);
}
__global__ void add_sixteen(const uint8_t*, size_t, uint32_t* bins, uint32_t* scratch) {
    uint32_t sum = 0;
    for (unsigned row = 0; row < 16; ++row)
        sum += scratch[row * 256 + threadIdx.x];
    atomicAdd(&bins[threadIdx.x], sum);
}

// Each group has one piece of the picture; even and odd values have tables of their own, 16 banks
// apart, and four equal pixels are one add. Groups write rows, and the last to end adds them up.
__global__ void last_block(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t* scratch) {
    __shared__ uint32_t table[144 + 128];
    __shared__ unsigned ticket[1];
    zero(table, 144 + 128);
    leftover(pixels, count / 4 * 4, count, bins);
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    const size_t piece = (count / 4 + gridDim.x - 1) / gridDim.x;
    const size_t end = min((blockIdx.x + 1) * piece, count / 4);
    for (size_t i = blockIdx.x * piece + threadIdx.x; i < end; i += blockDim.x) {
        const uint32_t word = words[i];
        const unsigned first = word & 255;
        if (word == first * 0x01010101U) {
            atomicAdd(&table[first % 2 * 144 + first / 2], 4U);
        } else {
            for (unsigned shift = 0; shift < 32; shift += 8) {
                const unsigned value = word >> shift & 255;
                atomicAdd(&table[value % 2 * 144 + value / 2], 1U);
            }
        }
    }
    __syncthreads();
    uint32_t* const rows = scratch + 64;
    const unsigned bin = threadIdx.x % 256;
    if (threadIdx.x < 256) rows[blockIdx.x * 256 + bin] = table[bin % 2 * 144 + bin / 2];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) ticket[0] = atomicAdd(&scratch[0], 1U);
    __syncthreads();
    if (ticket[0] + 1 < gridDim.x) return;
    __threadfence();
    uint32_t sum = 0;
    for (unsigned row = threadIdx.x / 256; row < gridDim.x; row += 2)
        sum += static_cast<const volatile uint32_t*>(rows)[row * 256 + bin];
    if (sum > 0) atomicAdd(&bins[bin], sum);
}

// Votes make eight planes of bits of 32 pixels each. A work-item has one bin: it puts the planes
// together, each as it is or turned over, and counts the bits that stay.
__global__ void bit_planes(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint4 planes[64 * 2];  // of 2,048 pixels
    leftover(pixels, count / 2048 * 2048, count, bins);
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    uint32_t turned[8];
#pragma unroll
    for (unsigned bit = 0; bit < 8; ++bit)
        turned[bit] = (threadIdx.x >> bit & 1) != 0 ? 0 : kAll;
    uint32_t found = 0;
    for (size_t begin = blockIdx.x * size_t{512}; begin < count / 2048 * 512;
         begin += gridDim.x * size_t{512}) {
        for (unsigned half = 0; half < 512; half += 256) {
            const uint32_t word = words[begin + half + threadIdx.x];
            uint32_t mine = 0;
#pragma unroll
            for (unsigned bit = 0; bit < 32; ++bit) {
                const unsigned votes = __ballot_sync(kAll, static_cast<int>(word >> bit & 1));
                if (lane() == bit) mine = votes;
            }
            reinterpret_cast<uint32_t*>(&planes[0])[half + threadIdx.x] = mine;
        }
        __syncthreads();
        for (unsigned n = 0; n < 64; ++n) {
            const uint4 low = planes[n * 2], high = planes[n * 2 + 1];
            const uint32_t of_low = (low.x ^ turned[0]) & (low.y ^ turned[1]) &
                                    (low.z ^ turned[2]) & (low.w ^ turned[3]);
            const uint32_t of_high = (high.x ^ turned[4]) & (high.y ^ turned[5]) &
                                     (high.z ^ turned[6]) & (high.w ^ turned[7]);
            found += static_cast<uint32_t>(__popc(of_low & of_high));
        }
        __syncthreads();
    }
    if (found > 0) atomicAdd(&bins[threadIdx.x], found);
}
