// Eight kernels by a third person who had not seen the model of times that they judge: a part
// of unseen.cu, with its helpers. They are right for any number of pixels; of scratch, as many
// words are zeroed as their case says.
#pragma once

// Each lane has a column of its own, in its own bank, with two 16-bit counters in each word.
__global__ void lane_halves(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[128 * 32];
    zero(table, 128 * 32);
    leftover(pixels, count / 16 * 16, count, bins);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    const unsigned row = threadIdx.x / 2;
    uint32_t low = 0, high = 0;
    unsigned turn = 0;
    for (size_t begin = blockIdx.x * size_t{256}; begin < count / 16; begin += items()) {
        if (begin + threadIdx.x < count / 16) {
            const uint4 four = words[begin + threadIdx.x];
#pragma unroll
            for (unsigned n = 0; n < 16; ++n) {
                const uint32_t word = n < 4 ? four.x : n < 8 ? four.y : n < 12 ? four.z : four.w;
                const unsigned value = word >> n % 4 * 8 & 255;
                atomicAdd(&table[value % 128 * 32 + lane()], value < 128 ? 1U : 65536U);
            }
        }
        if (++turn < 511 && begin + items() < count / 16) continue;
        turn = 0;
        __syncthreads();  // after at most 511 turns of 16 pixels for 8 lanes
        for (unsigned k = 0; k < 16; ++k) {
            uint32_t* const both = &table[row * 32 + threadIdx.x % 2 * 16 + (k + row) % 16];
            low += *both & 0xffff;
            high += *both >> 16;
            *both = 0;
        }
        __syncthreads();
    }
    if (low > 0) atomicAdd(&bins[row], low);
    if (high > 0) atomicAdd(&bins[row + 128], high);
}

// Each work-item sorts eight words in its registers, byte by byte, and adds equal bytes at once.
__global__ void sorted_columns(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    leftover(pixels, count / 32 * 32, count, bins);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    for (size_t i = item(); i < count / 32; i += items()) {
        const uint4 one = words[i * 2], other = words[i * 2 + 1];
        uint32_t sorted[8] = {one.x, one.y, one.z, one.w, other.x, other.y, other.z, other.w};
#pragma unroll
        for (unsigned round = 0; round < 8; ++round)
#pragma unroll
            for (unsigned n = round % 2; n < 7; n += 2) {
                const uint32_t lower = __vminu4(sorted[n], sorted[n + 1]);
                sorted[n + 1] = __vmaxu4(sorted[n], sorted[n + 1]);
                sorted[n] = lower;
            }
        for (unsigned shift = 0; shift < 32; shift += 8) {
            unsigned value = sorted[0] >> shift & 255, equal = 1;
#pragma unroll
            for (unsigned n = 1; n < 8; ++n) {
                const unsigned next = sorted[n] >> shift & 255;
                if (next != value) {
                    atomicAdd(&table[value], equal);
                    equal = 0;
                }
                value = next;
                ++equal;
            }
            atomicAdd(&table[value], equal);
        }
    }
    merge(table, 1, 1, 0, bins);
}

// Equal words of a warp, four pixels each, are added once, to one of 64 rows in global memory.
__global__ void match_words(const uint8_t* pixels, size_t count, uint32_t* bins,
                            uint32_t* scratch) {
    leftover(pixels, count / 128 * 128, count, bins);
    uint32_t* const row = scratch + item() / 32 % 64 * 256;
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    for (size_t i = item(); i / 32 < count / 128; i += items()) {
        const uint32_t word = words[i];
        const unsigned same = __match_any_sync(kAll, word);
        if (static_cast<unsigned>(__ffs(static_cast<int>(same))) != lane() + 1) continue;
        const auto times = static_cast<uint32_t>(__popc(same));
        for (unsigned shift = 0; shift < 32; shift += 8)
            atomicAdd(&row[word >> shift & 255], times);
    }
}
// Sixteen lanes share each bin: a lane adds up every sixteenth row, and shuffles do the rest.
__global__ void sixteen_lanes(const uint8_t*, size_t, uint32_t* bins, uint32_t* scratch) {
    uint32_t sum = 0;
    for (size_t row = item() % 16; row < 64; row += 16)
        sum += scratch[row * 256 + item() / 16];
    for (int by = 8; by > 0; by /= 2)
        sum += __shfl_xor_sync(kAll, sum, by, 16);
    if (item() % 16 == 0) bins[item() / 16] += sum;
}

// Four warps sort each tile into queues for four ranges; each warp counts one without atomics.
__global__ void split_queues(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint8_t queues[4 * 4 * 128];  // for each range and warp
    __shared__ unsigned ends[4 * 4];
    __shared__ uint32_t counters[256 * 32];
    zero(counters, 256 * 32);
    leftover(pixels, count / 512 * 512, count, bins);
    const unsigned warp = threadIdx.x / 32;
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    for (size_t tile = blockIdx.x; tile < count / 512; tile += gridDim.x) {
        const uint32_t word = words[tile * 128 + threadIdx.x];
#pragma unroll
        for (unsigned range = 0; range < 4; ++range) {
            unsigned at = range * 512 + warp * 128;
            for (unsigned shift = 0; shift < 32; shift += 8) {
                const unsigned value = word >> shift & 255;
                const unsigned votes = __ballot_sync(kAll, static_cast<int>(value / 64 == range));
                const int before = __popc(votes & ((1U << lane()) - 1));
                if (value / 64 == range) queues[at + before] = static_cast<uint8_t>(value);
                at += static_cast<unsigned>(__popc(votes));
            }
            if (lane() == 0) ends[range * 4 + warp] = at;
        }
        __syncthreads();
        for (unsigned from = warp * 4; from < warp * 4 + 4; ++from)
            for (unsigned i = from * 128 + lane(); i < ends[from]; i += 32)
                ++counters[queues[i] * 32 + lane()];
        __syncthreads();
    }
    for (unsigned bin = threadIdx.x; bin < 256; bin += 128) {
        uint32_t sum = 0;
        for (unsigned k = 0; k < 32; ++k)
            sum += counters[bin * 32 + (k + lane()) % 32];
        if (sum > 0) atomicAdd(&bins[bin], sum);
    }
}

// A pixel marks its bit in one of 16 masks for each half of its value; a bin joins two masks.
__global__ void nibble_marks(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t masks[32 * 32];  // for each 32 pixels, 16 of upper and 16 of lower halves
    leftover(pixels, count / 1024 * 1024, count, bins);
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    const unsigned upper = threadIdx.x / 16, lower = threadIdx.x % 16;
    uint32_t found = 0;
    for (size_t tile = blockIdx.x; tile < count / 1024; tile += gridDim.x) {
        zero(masks, 32 * 32);
        const uint32_t word = words[tile * 256 + threadIdx.x];
        for (unsigned n = 0; n < 4; ++n) {
            const unsigned value = word >> n * 8 & 255;
            uint32_t* const of_warp = &masks[threadIdx.x / 32 * 128 + n * 32];
            atomicOr(&of_warp[value / 16], 1U << lane());
            atomicOr(&of_warp[16 + value % 16], 1U << lane());
        }
        __syncthreads();
        for (unsigned n = 0; n < 32; ++n)
            found +=
                static_cast<uint32_t>(__popc(masks[n * 32 + upper] & masks[n * 32 + 16 + lower]));
        __syncthreads();
    }
    if (found > 0) atomicAdd(&bins[threadIdx.x], found);
}

// Each of at most 8,448 work-items has 256 counters of its own in global memory, without atomics.
__global__ void own_columns(const uint8_t* pixels, size_t count, uint32_t* bins,
                            uint32_t* scratch) {
    constexpr size_t kColumns = 8448;
    leftover(pixels, count / 8 * 8, count, bins);
    if (item() >= kColumns) return;
    uint32_t* const own = scratch + item();
    const auto* words = reinterpret_cast<const uint2*>(pixels);
    for (size_t i = item(); i < count / 8; i += min(items(), kColumns)) {
        const uint2 two = words[i];
        for (unsigned shift = 0; shift < 32; shift += 8) {
            ++own[(two.x >> shift & 255) * kColumns];
            ++own[(two.y >> shift & 255) * kColumns];
        }
    }
}
// A group for each bin adds up the counters of all work-items.
__global__ void add_columns(const uint8_t*, size_t, uint32_t* bins, uint32_t* scratch) {
    __shared__ uint32_t of_warps[8];
    uint32_t sum = 0;
    for (unsigned column = threadIdx.x; column < 8448; column += 256)
        sum += scratch[size_t{blockIdx.x} * 8448 + column];
    sum = __reduce_add_sync(kAll, sum);
    if (lane() == 0) of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (unsigned warp = 1; warp < 8; ++warp)
        sum += of_warps[warp];
    bins[blockIdx.x] += sum;
}

// A warp counts 192 pixels in bytes, four to a word, and its lanes add them to their registers.
__global__ void bytes_to_registers(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t bytes[15 * 64];
    __shared__ uint32_t table[256];
    zero(bytes, 15 * 64);
    zero(table, 256);
    leftover(pixels, count / 2 * 2, count, bins);
    uint32_t* const own = bytes + threadIdx.x / 32 * 64;
    const auto* pairs = reinterpret_cast<const std::uint16_t*>(pixels);
    const size_t warps = items() / 32, warp = item() / 32;
    const size_t piece = (count / 64 / warps + 1) * 32;  // neighbours, for each warp
    const size_t end = min((warp + 1) * piece, count / 2);
    uint32_t sums[8] = {};
    for (size_t begin = warp * piece; begin < end; begin += 96) {
#pragma unroll
        for (size_t i = begin + lane(); i < begin + 96; i += 32) {
            if (i >= end) break;
            const unsigned two = pairs[i];
            atomicAdd(&own[two % 64], 1U << two % 256 / 64 * 8);
            atomicAdd(&own[two / 256 % 64], 1U << two / 256 / 64 * 8);
        }
        __syncwarp();
#pragma unroll
        for (unsigned n = 0; n < 8; ++n)
            sums[n] += own[n % 2 * 32 + lane()] >> n / 2 * 8 & 255;
        own[lane()] = own[32 + lane()] = 0;
        __syncwarp();
    }
#pragma unroll
    for (unsigned n = 0; n < 8; ++n)
        atomicAdd(&table[n * 32 + lane()], sums[n]);
    merge(table, 1, 1, 0, bins);
}

// Where 512 pixels of a warp lie within twelve values, it looks for these one by one.
__global__ void narrow_range(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    leftover(pixels, count / 512 * 512, count, bins);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    const size_t end = count / 512 * 32;
    uint4 next = item() < end ? words[item()] : uint4{};
    for (size_t i = item(); i < end; i += items()) {
        const uint4 four = next;
        if (i + items() < end) next = words[i + items()];
        uint32_t low = __vminu4(__vminu4(four.x, four.y), __vminu4(four.z, four.w));
        uint32_t high = __vmaxu4(__vmaxu4(four.x, four.y), __vmaxu4(four.z, four.w));
        low = __vminu4(low, low >> 16 | low << 16);
        high = __vmaxu4(high, high >> 16);
        const unsigned first = __reduce_min_sync(kAll, min(low & 255, low >> 8 & 255));
        const unsigned last = __reduce_max_sync(kAll, max(high & 255, high >> 8 & 255));
        if (last - first >= 12) {
            add(table, four);
            continue;
        }
        for (unsigned value = first; value <= last; ++value) {
            const uint32_t all = value * 0x01010101U;
            const int bits = __popc(__vcmpeq4(four.x, all)) + __popc(__vcmpeq4(four.y, all)) +
                             __popc(__vcmpeq4(four.z, all)) + __popc(__vcmpeq4(four.w, all));
            const uint32_t sum = __reduce_add_sync(kAll, static_cast<uint32_t>(bits) / 8);
            if (lane() == 0 && sum > 0) atomicAdd(&table[value], sum);
        }
    }
    merge(table, 1, 1, 0, bins);
}
