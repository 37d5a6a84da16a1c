// Eight kernels written, once more, without having seen the model of times that they judge: a part
// of unseen.cu, with its helpers. They are right for any number of pixels; of scratch, as many
// words are zeroed as their case says.
#pragma once

// As of a colour picture: three loads of one byte, and a table for each of the three channels. Each
// group stores its sums, a column for each group, and how many groups there are.
__global__ void triples(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t* scratch) {
    __shared__ uint32_t tables[3 * 256];
    zero(tables, 3 * 256);
    leftover(pixels, count / 3 * 3, count, bins);
    for (size_t i = item(); i < count / 3; i += items())
        for (unsigned channel = 0; channel < 3; ++channel)
            atomicAdd(&tables[channel * 256 + pixels[i * 3 + channel]], 1U);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x)
        scratch[64 + bin * gridDim.x + blockIdx.x] =
            tables[bin] + tables[256 + bin] + tables[512 + bin];
    if (item() == 0) scratch[0] = gridDim.x;
}
// A warp for each bin adds up the sums of all groups.
__global__ void add_triples(const uint8_t*, size_t, uint32_t* bins, uint32_t* scratch) {
    const unsigned groups = scratch[0], bin = blockIdx.x * 8 + threadIdx.x / 32;
    uint32_t sum = 0;
    for (unsigned group = lane(); group < groups; group += 32)
        sum += scratch[64 + bin * groups + group];
    sum = __reduce_add_sync(kAll, sum);
    if (lane() == 0) bins[bin] += sum;
}

// 16 x 16 work-items walk over rows of 4,096 pixels, tile by tile, as over a picture of two
// dimensions. Each of their 16 rows has a table in global memory.
__global__ void square_tiles(const uint8_t* pixels, size_t count, uint32_t* bins,
                             uint32_t* scratch) {
    leftover(pixels, count / 65536 * 65536, count, bins);
    const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (size_t tile = blockIdx.x; tile < count / 65536 * 256; tile += gridDim.x) {
        const size_t row = tile / 256 * 16 + y, column = tile % 256 * 16 + x;
        atomicAdd(&scratch[y * 256 + pixels[row * 4096 + column]], 1U);
    }
}
__global__ void add_tiles(const uint8_t*, size_t, uint32_t* bins, uint32_t* scratch) {
    uint32_t sum = 0;
    for (unsigned y = 0; y < 16; ++y)
        sum += scratch[y * 256 + threadIdx.x];
    bins[threadIdx.x] += sum;
}

// A warp that has counted 1 KiB draws a ticket for the next one of its group's piece.
__global__ void tickets(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256 * 8];  // eight copies of each bin, side by side
    __shared__ unsigned next[1];
    if (threadIdx.x == 0) next[0] = 0;
    zero(table, 256 * 8);
    leftover(pixels, count / 16 * 16, count, bins);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    const size_t piece = (count / 16 + gridDim.x - 1) / gridDim.x;
    const size_t end = min((blockIdx.x + 1) * piece, count / 16);
    for (;;) {
        const unsigned drawn = lane() == 0 ? atomicAdd(&next[0], 1U) : 0;
        const size_t begin = blockIdx.x * piece + __shfl_sync(kAll, drawn, 0) * size_t{64};
        if (begin >= end) break;
        for (size_t i = begin + lane(); i < min(begin + 64, end); i += 32)
            add(table + lane() % 8, words[i], 8);
    }
    merge(table, 8, 8, 1, bins);
}

// Two warps load the next 6 KiB into shared memory while twelve count those before.
__global__ void two_trades(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint4 tiles[2 * 384];
    __shared__ uint32_t tables[12 * 256];
    zero(tables, 12 * 256);
    leftover(pixels, count / 6144 * 6144, count, bins);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    unsigned turn = 0;
    for (size_t tile = blockIdx.x; tile < count / 6144 + gridDim.x; tile += gridDim.x, ++turn) {
        if (threadIdx.x < 64) {
            uint4* const to = tiles + turn % 2 * 384;
            if (tile < count / 6144)
                for (unsigned i = threadIdx.x; i < 384; i += 64)
                    to[i] = words[tile * 384 + i];
        } else if (turn > 0) {
            const unsigned i = threadIdx.x - 64;
            add(tables + i / 32 * 256, tiles[(turn + 1) % 2 * 384 + i]);
        }
        __syncthreads();
    }
    merge(tables, 12, 1, 256, bins);
}

// Four lanes compare their pixels, four at once, and the first lane with a value adds for all.
__global__ void quads(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t tables[3 * 272];
    zero(tables, 3 * 272);
    leftover(pixels, count / 128 * 128, count, bins);
    uint32_t* const table = tables + threadIdx.x / 64 * 272;
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    for (size_t i = item(); i / 32 < count / 128; i += items()) {
        const uint32_t word = words[i];
        uint32_t times = 0x01010101U, others = 0;  // bytes: how many have it; has one before it
#pragma unroll
        for (unsigned by = 1; by < 4; ++by) {
            const uint32_t other = __shfl_xor_sync(kAll, word, static_cast<int>(by));
            const uint32_t equal = __vseteq4(word, other);
            times += equal;
            if ((lane() ^ by) < lane()) others |= equal;
        }
        for (unsigned shift = 0; shift < 32; shift += 8)
            if ((others >> shift & 1) == 0)
                atomicAdd(&table[word >> shift & 255], times >> shift & 7);
    }
    merge(tables, 3, 1, 272, bins);
}

// A table in constant memory says where the counter of a value is: not beside its neighbours'.
struct Places {
    uint8_t of[256];
};
constexpr Places far_apart() {
    Places places{};
    for (unsigned value = 0; value < 256; ++value)
        places.of[value] = static_cast<uint8_t>(value * 77 % 256);
    return places;
}
__constant__ Places kPlaces = far_apart();
__global__ void looked_up(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t tables[12 * 256];  // for two warps each
    zero(tables, 12 * 256);
    leftover(pixels, count / 2 * 2, count, bins);
    uint32_t* const table = tables + threadIdx.x / 64 * 256;
    const auto* pairs = reinterpret_cast<const std::uint16_t*>(pixels);
    for (size_t i = item(); i < count / 2; i += items()) {
        const unsigned two = pairs[i];
        atomicAdd(&table[kPlaces.of[two % 256]], 1U);
        atomicAdd(&table[kPlaces.of[two / 256]], 1U);
    }
    __syncthreads();
    if (threadIdx.x >= 256) return;
    uint32_t sum = 0;
    for (unsigned n = 0; n < 12; ++n)
        sum += tables[n * 256 + kPlaces.of[threadIdx.x]];
    if (sum > 0) atomicAdd(&bins[threadIdx.x], sum);
}

// A warp reads the same 4 KiB eight times: each time, its lanes count 32 values in four registers.
__global__ void eight_times(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    leftover(pixels, count / 4096 * 4096, count, bins);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    for (size_t piece = item() / 32; piece < count / 4096; piece += items() / 32)
        for (unsigned time = 0; time < 8; ++time) {
            unsigned long long own[4] = {};  // a byte for each value: at most 128
            for (unsigned k = 0; k < 8; ++k) {
                const uint4 row = words[piece * 256 + k * 32 + lane()];
#pragma unroll
                for (unsigned n = 0; n < 16; ++n) {
                    const uint32_t word = n < 4 ? row.x : n < 8 ? row.y : n < 12 ? row.z : row.w;
                    const unsigned value = word >> n % 4 * 8 & 255;
#pragma unroll
                    for (unsigned eight = 0; eight < 4; ++eight)
                        if (value / 8 == time * 4 + eight) own[eight] += 1ULL << value % 8 * 8;
                }
            }
            uint32_t mine = 0;
#pragma unroll
            for (unsigned n = 0; n < 32; ++n) {
                const auto of_lane = static_cast<uint32_t>(own[n / 8] >> n % 8 * 8 & 255);
                const uint32_t sum = __reduce_add_sync(kAll, of_lane);
                if (lane() == n) mine = sum;
            }
            if (mine > 0) atomicAdd(&table[time * 32 + lane()], mine);
        }
    merge(table, 1, 1, 0, bins);
}

// Two neighbours that differ in the lowest three bits at most are one add, in a table of pairs.
__global__ void near_pairs(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t pairs[8 * 256];  // of a difference and the first pixel
    __shared__ uint32_t table[256];
    zero(pairs, 8 * 256);
    zero(table, 256);
    leftover(pixels, count / 8 * 8, count, bins);
    const auto* words = reinterpret_cast<const uint2*>(pixels);
    for (size_t i = item(); i < count / 8; i += items()) {
        const uint2 two = words[i];
#pragma unroll
        for (unsigned n = 0; n < 4; ++n) {
            const uint32_t word = (n < 2 ? two.x : two.y) >> n % 2 * 16;
            const unsigned one = word & 255, other = word >> 8 & 255;
            if ((one ^ other) < 8) {
                atomicAdd(&pairs[(one ^ other) * 256 + one], 1U);
            } else {
                atomicAdd(&table[one], 1U);
                atomicAdd(&table[other], 1U);
            }
        }
    }
    __syncthreads();
    if (threadIdx.x >= 256) return;
    uint32_t sum = table[threadIdx.x];
    for (unsigned differ = 0; differ < 8; ++differ)
        sum += pairs[differ * 256 + threadIdx.x] + pairs[differ * 256 + (threadIdx.x ^ differ)];
    if (sum > 0) atomicAdd(&bins[threadIdx.x], sum);
}
