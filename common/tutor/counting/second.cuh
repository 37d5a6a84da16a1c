// Eight more kernels by somebody who had not seen the model of times that they judge: a part of
// unseen.cu, with its helpers. They are right for any number of pixels; of scratch, as many words
// are zeroed as their case says.
#pragma once

// Bins in the order of their bits turned round: neighbours lie far apart, half a warp has a table.
__global__ void reversed_bits(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t tables[2 * 272];
    zero(tables, 2 * 272);
    leftover(pixels, count / 16 * 16, count, bins);
    uint32_t* const table = tables + lane() / 16 * 272;
    const auto* words = reinterpret_cast<const ulonglong2*>(pixels);
    for (size_t i = item(); i < count / 16; i += items()) {
        const ulonglong2 two = __ldg(&words[i]);
        add(table, __brev(static_cast<uint32_t>(two.x)));  // all four pixels of a word at once
        add(table, __brev(static_cast<uint32_t>(two.x >> 32)));
        add(table, __brev(static_cast<uint32_t>(two.y)));
        add(table, __brev(static_cast<uint32_t>(two.y >> 32)));
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        const unsigned at = __brev(bin) >> 24;
        const uint32_t sum = tables[at] + tables[272 + at];
        if (sum > 0) atomicAdd(&bins[bin], sum);
    }
}

// A warp counts the most frequent of its first pixels in registers, all other values by atomics.
__global__ void hot_value(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    leftover(pixels, count / 16 * 16, count, bins);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    const size_t piece = (count / 16 + gridDim.x - 1) / gridDim.x;
    const size_t end = min((blockIdx.x + 1) * piece, count / 16);
    const size_t begin = blockIdx.x * piece + threadIdx.x;
    const unsigned sample = begin < end ? pixels[begin * 16] : 0;
    unsigned best = static_cast<unsigned>(__popc(__match_any_sync(kAll, sample))) << 8 | sample;
    for (int by = 16; by > 0; by /= 2)
        best = max(best, __shfl_xor_sync(kAll, best, by));
    const unsigned hot = best & 255;
    uint32_t hits = 0;
    for (size_t i = begin; i < end; i += blockDim.x) {
        const uint4 four = words[i];
#pragma unroll
        for (unsigned n = 0; n < 4; ++n) {
            const uint32_t word = n == 0 ? four.x : n == 1 ? four.y : n == 2 ? four.z : four.w;
            const uint32_t equal = __vcmpeq4(word, hot * 0x01010101U);
            hits += static_cast<uint32_t>(__popc(equal)) / 8;
            for (unsigned shift = 0; shift < 32; shift += 8)
                if ((equal >> shift & 1) == 0) atomicAdd(&table[word >> shift & 255], 1U);
        }
    }
    for (int by = 16; by > 0; by /= 2)
        hits += __shfl_xor_sync(kAll, hits, by);
    if (lane() == 0 && hits > 0) atomicAdd(&table[hot], hits);
    merge(table, 1, 1, 0, bins);
}

// A warp owns 32 bins, a lane its own counter of each: all warps look through the group's tile.
__global__ void warp_owns_bins(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t tile[1024];
    __shared__ uint32_t counters[256 * 32];
    zero(counters, 256 * 32);
    leftover(pixels, count / 4096 * 4096, count, bins);
    const unsigned warp = threadIdx.x / 32;
    uint32_t* const own = counters + warp * 1024 + lane();
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    for (size_t n = blockIdx.x; n < count / 4096; n += gridDim.x) {
        for (unsigned i = threadIdx.x; i < 1024; i += 256)
            tile[i] = words[n * 1024 + i];
        __syncthreads();
        for (unsigned i = lane(); i < 1024; i += 32) {
            const uint32_t word = tile[i];
            for (unsigned shift = 0; shift < 32; shift += 8) {
                const unsigned value = word >> shift & 255;
                if (value / 32 == warp) ++own[value % 32 * 32];
            }
        }
        __syncthreads();
    }
    uint32_t sum = 0;
    for (unsigned k = 0; k < 32; ++k)
        sum += counters[threadIdx.x * 32 + (k + lane()) % 32];
    if (sum > 0) atomicAdd(&bins[threadIdx.x], sum);
}

// Each of five warps has a table of 16-bit halves: before one is full, the group's table takes it.
__global__ void halves_by_warp(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t halves[5 * 128];
    __shared__ uint32_t table[256];
    zero(halves, 5 * 128);
    zero(table, 256);
    leftover(pixels, count / 4 * 4, count, bins);
    uint32_t* const own = halves + threadIdx.x / 32 * 128;
    const auto* fours = reinterpret_cast<const uchar4*>(pixels);
    unsigned turn = 0;
    for (size_t begin = item() - lane(); begin < count / 4; begin += items()) {
        if (begin + lane() < count / 4) {
            const uchar4 four = fours[begin + lane()];
            atomicAdd(&own[four.x % 128], four.x < 128 ? 1U : 65536U);
            atomicAdd(&own[four.y % 128], four.y < 128 ? 1U : 65536U);
            atomicAdd(&own[four.z % 128], four.z < 128 ? 1U : 65536U);
            atomicAdd(&own[four.w % 128], four.w < 128 ? 1U : 65536U);
        }
        if (++turn < 511 && begin + items() < count / 4) continue;
        turn = 0;
        __syncwarp();  // after at most 511 turns of 128 pixels
        for (unsigned k = lane(); k < 128; k += 32) {
            atomicAdd(&table[k], own[k] & 0xffff);
            atomicAdd(&table[k + 128], own[k] >> 16);
            own[k] = 0;
        }
        __syncwarp();
    }
    merge(table, 1, 1, 0, bins);
}

// Loads of two bytes, and a global table of a line for each bin, with a word of it for each lane.
__global__ void lane_columns(const uint8_t* pixels, size_t count, uint32_t* bins,
                             uint32_t* scratch) {
    leftover(pixels, count / 2 * 2, count, bins);
    const auto* pairs = reinterpret_cast<const std::uint16_t*>(pixels);
    for (size_t i = item(); i < count / 2; i += items()) {
        const unsigned two = pairs[i];
        atomicAdd(&scratch[two % 256 * 32 + lane()], 1U);
        atomicAdd(&scratch[two / 256 * 32 + lane()], 1U);
    }
}
// A warp for each bin adds up its line.
__global__ void lane_sums(const uint8_t*, size_t, uint32_t* bins, uint32_t* scratch) {
    uint32_t sum = scratch[item()];
    for (unsigned by = 16; by > 0; by /= 2)
        sum += __shfl_down_sync(kAll, sum, by);
    if (lane() == 0 && sum > 0) atomicAdd(&bins[item() / 32], sum);
}

// A warp sorts its words, the four bytes by themselves; the first of equal pixels adds them all.
__global__ void bitonic_warps(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    leftover(pixels, count / 128 * 128, count, bins);
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    for (size_t i = item(); i / 32 < count / 128; i += items()) {
        uint32_t word = words[i];
#pragma unroll
        for (unsigned size = 2; size <= 32; size *= 2)
#pragma unroll
            for (unsigned by = size / 2; by > 0; by /= 2) {
                const uint32_t other = __shfl_xor_sync(kAll, word, static_cast<int>(by));
                const bool lower = ((lane() & by) == 0) == ((lane() & size) == 0);
                word = lower ? __vminu4(word, other) : __vmaxu4(word, other);
            }
        const uint32_t before = __shfl_up_sync(kAll, word, 1);
        for (unsigned shift = 0; shift < 32; shift += 8) {
            const unsigned value = word >> shift & 255;
            const bool first = lane() == 0 || value != (before >> shift & 255);
            const unsigned heads = __ballot_sync(kAll, static_cast<int>(first));
            const unsigned next = heads >> lane() >> 1;
            const int equal =
                next != 0 ? __ffs(static_cast<int>(next)) : 32 - static_cast<int>(lane());
            if (first) atomicAdd(&table[value], static_cast<uint32_t>(equal));
        }
    }
    merge(table, 1, 1, 0, bins);
}

// Each work-item holds two values with their counts; a third sends the older to the group's table.
__global__ void recent_two(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    leftover(pixels, count / 8 * 8, count, bins);
    unsigned newer = 0, older = 1;
    uint32_t of_newer = 0, of_older = 0;
    const auto* words = reinterpret_cast<const uint2*>(pixels);
    for (size_t i = item(); i < count / 8; i += items()) {
        const uint2 two = words[i];
#pragma unroll
        for (unsigned n = 0; n < 8; ++n) {
            const unsigned value = (n < 4 ? two.x : two.y) >> n % 4 * 8 & 255;
            if (value == newer) {
                ++of_newer;
            } else if (value == older) {
                ++of_older;
            } else {
                if (of_older > 0) atomicAdd(&table[older], of_older);
                older = newer;
                of_older = of_newer;
                newer = value;
                of_newer = 1;
            }
        }
    }
    atomicAdd(&table[newer], of_newer);
    atomicAdd(&table[older], of_older);
    merge(table, 1, 1, 0, bins);
}

// Lanes write their numbers where their values are: one adds, others try again, three times.
__global__ void owner_wins(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t tables[9 * 256];
    __shared__ uint8_t owners[9 * 256];
    zero(tables, 9 * 256);
    const unsigned warp = threadIdx.x / 32;
    uint32_t* const table = tables + warp * 256;
    uint8_t* const owner = owners + warp * 256;
    const size_t warps = items() / 32;
    const size_t piece = (count / 32 + warps) / warps * 32;  // neighbours, for each warp
    const size_t end = min((item() / 32 + 1) * piece, count);
    for (size_t begin = item() / 32 * piece; begin < end; begin += 32) {
        bool waits = begin + lane() < end;
        const unsigned value = waits ? pixels[begin + lane()] : 0;
        for (unsigned n = 0; n < 4 && __any_sync(kAll, static_cast<int>(waits)) != 0; ++n) {
            if (waits) owner[value] = static_cast<uint8_t>(lane());
            __syncwarp();
            if (waits && owner[value] == lane()) {
                ++table[value];
                waits = false;
            }
            __syncwarp();
        }
        if (waits) atomicAdd(&table[value], 1U);
        __syncwarp();
    }
    merge(tables, 9, 1, 256, bins);
}
