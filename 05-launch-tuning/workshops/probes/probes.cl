// Small kernels that each measure one thing, in OpenCL; probes.cuh has the same in CUDA. The host
// program defines BYTES, LOADS and COUNTED.

// ---- contention: an addition for each pixel, and no pixel is read ----
//
// Which counter it is comes from the number of the pixel, well mixed; `together` neighbours take
// the same. So nothing waits for memory but the additions themselves. (No number is a constant: a
// compiler that knows of one counter adds up what is for it first.)
__kernel void contention(const ulong count, const uint mask, const uint spacing,
                         const uint together, __global uint* counters) {
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        uint x = (uint)i / together;
        x = (x ^ x >> 16) * 0x7FEB352D;
        x = (x ^ x >> 15) * 0x846CA68B;
        atomic_inc(&counters[((x ^ x >> 16) & mask) * spacing]);
    }
}

// ---- chase: each load says where the next one is ----
//
// So one is under way at a time, and the time of a hop is the time of an answer.
__kernel void chase(__global const uint* next, const uint hops, __global uint* at) {
    uint here = *at;
    for (uint hop = 0; hop < hops; ++hop) {
        here = next[here];
    }
    *at = here;
}

// ---- read: BYTES to a load, LOADS under way, the first COUNTED pixels of each are counted ----
//
// All words are added up, too, so that every load is needed even where nothing is counted.
#if BYTES == 16
typedef uint4 Load;
#elif BYTES == 4
typedef uint Load;
#else
typedef uchar Load;
#endif

uint count_word(__local uint* table, uint word, int first) {
#pragma unroll
    for (int k = 0; k < (BYTES < 4 ? BYTES : 4); ++k) {
        if (first + k < COUNTED) {
            atomic_inc(&table[word >> 8 * k & 0xFF]);
        }
    }
    return word;
}

uint count_load(__local uint* table, Load load) {
#if BYTES == 16
    return count_word(table, load.x, 0) + count_word(table, load.y, 4) +
           count_word(table, load.z, 8) + count_word(table, load.w, 12);
#else
    return count_word(table, load, 0);
#endif
}

__kernel void read(__global const Load* loads, const ulong count, __global uint* answer) {
    __local uint table[257];  // the histogram, and the sum
    for (uint bin = get_local_id(0); bin < 257; bin += get_local_size(0)) {
        table[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const size_t stride = get_global_size(0);
    uint sum = 0;
    size_t i = get_global_id(0);
    for (; i + (LOADS - 1) * stride < count; i += LOADS * stride) {
        Load loaded[LOADS];
#pragma unroll
        for (uint n = 0; n < LOADS; ++n) {
            loaded[n] = loads[i + n * stride];
        }
#pragma unroll
        for (uint n = 0; n < LOADS; ++n) {
            sum += count_load(table, loaded[n]);
        }
    }
    for (; i < count; i += stride) {
        sum += count_load(table, loads[i]);
    }
    atomic_add(&table[256], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = get_local_id(0); bin < 257; bin += get_local_size(0)) {
        atomic_add(&answer[bin], table[bin]);
    }
}
