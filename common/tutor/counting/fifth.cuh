// Eight kernels written, for the fifth time, without having seen the model of times that they
// judge: a part of unseen.cu, with its helpers. They are right for any number of pixels; of
// scratch, as many words are zeroed as their case says.
#pragma once

// As threads of a processor would share the picture: each work-item has one piece, far from its
// neighbours' pieces, and reads it four pixels at a time.
__global__ void piece_each(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    leftover(pixels, count / 4 * 4, count, bins);
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    const size_t piece = (count / 4 + items() - 1) / items();
    const size_t end = min((item() + 1) * piece, count / 4);
    for (size_t i = item() * piece; i < end; ++i)
        add(table, words[i]);
    merge(table, 1, 1, 0, bins);
}

// From the end of the picture to its beginning, with two loads under way. Each half of a warp has a
// table of its own, which begins a bank on from the one before.
__global__ void half_warps_back(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t tables[26 * 257];
    zero(tables, 26 * 257);
    leftover(pixels, count / 8 * 8, count, bins);
    uint32_t* const table = tables + threadIdx.x / 16 * 257;
    const auto* words = reinterpret_cast<const uint2*>(pixels);
    const size_t all = count / 8;
    for (size_t i = item(); i < all; i += 2 * items()) {
        const bool both = i + items() < all;
        const uint2 one = words[all - 1 - i];
        const uint2 other = both ? words[all - 1 - i - items()] : uint2{};
        add(table, one.y);
        add(table, one.x);
        if (!both) continue;
        add(table, other.y);
        add(table, other.x);
    }
    merge(tables, 26, 1, 257, bins);
}

// Most pixels are taken to be as the first one is: all others are added straight to the histogram.
__global__ void but_background(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    leftover(pixels, count / 16 * 16, count, bins);
    if (count == 0) return;
    const unsigned background = pixels[0];
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    for (size_t i = item(); i < count / 16; i += items()) {
        const uint4 four = words[i];
#pragma unroll
        for (unsigned n = 0; n < 16; ++n) {
            const uint32_t word = n < 4 ? four.x : n < 8 ? four.y : n < 12 ? four.z : four.w;
            const unsigned value = word >> n % 4 * 8 & 255;
            if (value != background) atomicAdd(&bins[value], 1U);
        }
    }
}
// The background has what is missing.
__global__ void fill_background(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t others[1];
    zero(others, 1);
    if (count == 0) return;
    const unsigned background = pixels[0];
    if (threadIdx.x != background) atomicAdd(&others[0], bins[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) bins[background] = static_cast<uint32_t>(count) - others[0];
}

// A warp counts in bytes, four to a word. The lane that turns a byte from 255 to 0, which the add
// tells it, hands 256 to the group's table, and takes back what the next byte of the word got.
__global__ void odometers(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t bytes[10 * 64];
    __shared__ uint32_t table[256];
    zero(bytes, 10 * 64);
    zero(table, 256);
    leftover(pixels, count / 4 * 4, count, bins);
    uint32_t* const own = bytes + threadIdx.x / 32 * 64;
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    for (size_t i = item(); i < count / 4; i += items()) {
        const uint32_t word = words[i];
        for (unsigned shift = 0; shift < 32; shift += 8) {
            unsigned value = word >> shift & 255;
            const uint32_t before = atomicAdd(&own[value % 64], 1U << value / 64 * 8);
            while ((before >> value / 64 * 8 & 255) == 255) {
                atomicAdd(&table[value], 256U);
                value += 64;
                if (value >= 256) break;
                atomicSub(&table[value], 1U);
            }
        }
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        uint32_t sum = table[bin];
        for (unsigned warp = 0; warp < 10; ++warp)
            sum += bytes[warp * 64 + bin % 64] >> bin / 64 * 8 & 255;
        if (sum > 0) atomicAdd(&bins[bin], sum);
    }
}

// Each work-item looks for two values in all pixels of its group: all lanes load the same 16 bytes.
__global__ void watchers(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    leftover(pixels, count / 16 * 16, count, bins);
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    const uint32_t low = threadIdx.x * 0x01010101U, high = low + 0x80808080U;
    const size_t piece = (count / 16 + gridDim.x - 1) / gridDim.x;
    const size_t end = min((blockIdx.x + 1) * piece, count / 16);
    uint32_t of_low = 0, of_high = 0;
    for (size_t begin = blockIdx.x * piece; begin < end; begin += 60) {
        uint32_t lows = 0, highs = 0;  // a sum in each byte: at most 240
        for (size_t i = begin; i < min(begin + 60, end); ++i) {
            const uint4 four = words[i];
            lows += __vseteq4(four.x, low) + __vseteq4(four.y, low);
            lows += __vseteq4(four.z, low) + __vseteq4(four.w, low);
            highs += __vseteq4(four.x, high) + __vseteq4(four.y, high);
            highs += __vseteq4(four.z, high) + __vseteq4(four.w, high);
        }
        of_low = __dp4a(lows, 0x01010101U, of_low);
        of_high = __dp4a(highs, 0x01010101U, of_high);
    }
    atomicAdd(&bins[threadIdx.x], of_low);
    atomicAdd(&bins[threadIdx.x + 128], of_high);
}

// All four quarters of the picture at once, and a table for each. Each group stores a row of sums.
__global__ void quarters(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t* scratch) {
    __shared__ uint32_t tables[4 * 264];
    zero(tables, 4 * 264);
    leftover(pixels, count / 16 * 16, count, bins);
    const auto* words = reinterpret_cast<const uint32_t*>(pixels);
    const size_t quarter = count / 16;  // in words
    for (size_t i = item(); i < quarter; i += items()) {
        const uint32_t one = words[i], two = words[quarter + i];
        const uint32_t three = words[2 * quarter + i], four = words[3 * quarter + i];
        add(tables, one);
        add(tables + 264, two);
        add(tables + 2 * 264, three);
        add(tables + 3 * 264, four);
    }
    __syncthreads();
    if (item() == 0) scratch[0] = gridDim.x;
    if (threadIdx.x >= 256) return;
    const uint32_t* const of_bin = tables + threadIdx.x;
    scratch[64 + blockIdx.x * 256 + threadIdx.x] =
        of_bin[0] + of_bin[264] + of_bin[2 * 264] + of_bin[3 * 264];
}
// Eight groups share the rows.
__global__ void add_quarters(const uint8_t*, size_t, uint32_t* bins, uint32_t* scratch) {
    uint32_t sum = 0;
    for (unsigned row = blockIdx.x; row < scratch[0]; row += gridDim.x)
        sum += scratch[64 + row * 256 + threadIdx.x];
    if (sum > 0) atomicAdd(&bins[threadIdx.x], sum);
}

// Each lane begins with another of its 16 pixels than the lanes beside it, so that smooth pictures
// have them meet less often. The last group to end moves the sums to the histogram.
__global__ void rotated(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t* scratch) {
    __shared__ uint32_t tables[6 * 256];
    __shared__ unsigned ended[1];
    zero(tables, 6 * 256);
    leftover(pixels, count / 16 * 16, count, bins);
    uint32_t* const table = tables + threadIdx.x / 32 * 256;
    const auto* words = reinterpret_cast<const uint4*>(pixels);
    const unsigned by = lane() % 4 * 8;
    for (size_t i = item(); i < count / 16; i += items()) {
        uint4 four = words[i];
        if ((lane() & 4) != 0) four = make_uint4(four.y, four.z, four.w, four.x);
        if ((lane() & 8) != 0) four = make_uint4(four.z, four.w, four.x, four.y);
        add(table, __funnelshift_r(four.x, four.x, by));
        add(table, __funnelshift_r(four.y, four.y, by));
        add(table, __funnelshift_r(four.z, four.z, by));
        add(table, __funnelshift_r(four.w, four.w, by));
    }
    uint32_t* const sums = scratch + 64;
    merge(tables, 6, 1, 256, sums);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) ended[0] = atomicAdd(&scratch[0], 1U) + 1;
    __syncthreads();
    if (ended[0] < gridDim.x) return;
    __threadfence();
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x)
        atomicAdd(&bins[bin], atomicExch(&sums[bin], 0U));
}

// Equal pixels side by side in the lanes of a warp are added by the last of them. Eight loads of
// one byte are under way.
__global__ void lane_runs(const uint8_t* pixels, size_t count, uint32_t* bins, uint32_t*) {
    __shared__ uint32_t table[256];
    zero(table, 256);
    leftover(pixels, count / 256 * 256, count, bins);
    for (size_t row = item() / 32; row < count / 256; row += items() / 32) {
        unsigned values[8];
#pragma unroll
        for (unsigned n = 0; n < 8; ++n)
            values[n] = pixels[row * 256 + n * 32 + lane()];
#pragma unroll
        for (unsigned n = 0; n < 8; ++n) {
            const unsigned left = __shfl_up_sync(kAll, values[n], 1);
            const bool first = lane() == 0 || left != values[n];
            const unsigned firsts = __ballot_sync(kAll, static_cast<int>(first));
            if (lane() < 31 && (firsts >> lane() >> 1 & 1) == 0) continue;
            const int begin = 31 - __clz(static_cast<int>(firsts & (kAll >> (31 - lane()))));
            atomicAdd(&table[values[n]], lane() + 1 - static_cast<unsigned>(begin));
        }
    }
    merge(table, 1, 1, 0, bins);
}
