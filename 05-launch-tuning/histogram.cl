// Chapter 05, the OpenCL kernels. Read at run time: edit, save, run again.
//
// The host passes GROUP_X and GROUP_Y, the work-items of a group across and down, and for `tuned`
// COPIES of its table, and LOADS that a work-item has under way at once.

#define BINS 256
#define GROUP_SIZE (GROUP_X * GROUP_Y)
#define OF_SHAPE __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1)))

// ---- two-per-sm: chapter 03's `local` ----

__kernel OF_SHAPE void histogram_local(__global const uchar* pixels, ulong count,
                                       __global uint* histogram) {
    __local uint table[BINS];
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);
    for (size_t bin = item; bin < BINS; bin += group_size) {
        table[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        atomic_inc(&table[pixels[i]]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t bin = item; bin < BINS; bin += group_size) {
        atomic_add(&histogram[bin], table[bin]);
    }
}

// ---- occupancy: as many work-items as the device holds, moved over the picture like a stamp ----
//
// The launch does not cover the picture: it is moved down, then across, and each work-item counts
// eight rows of its column before it moves on. Row y begins at byte `first + y * pitch` and has
// `width` pixels; there are `count` in all, so the last row may be short.
#define ROWS_AT_ONCE 8

__kernel OF_SHAPE void histogram_occupancy(__global const uchar* pixels, ulong first, ulong count,
                                           ulong width, ulong pitch, __global uint* histogram) {
    __local uint table[BINS];
    for (uint bin = get_local_id(0); bin < BINS; bin += GROUP_SIZE) {
        table[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong x = get_global_id(0); x < width; x += get_global_size(0)) {
        for (ulong y = get_global_id(1) * ROWS_AT_ONCE; y * width < count;
             y += get_global_size(1) * ROWS_AT_ONCE) {
            for (ulong row = y; row < y + ROWS_AT_ONCE; ++row) {
                // Below the picture, or behind the end of a short last row, there is nothing.
                if (row * width + x < count) {
                    atomic_inc(&table[pixels[first + row * pitch + x]]);
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = get_local_id(0); bin < BINS; bin += GROUP_SIZE) {
        atomic_add(&histogram[bin], table[bin]);
    }
}

// ---- vector: 16 pixels per load ----

void count_four(__local uint* table, uint four) {
    atomic_inc(&table[four & 0xff]);
    atomic_inc(&table[four >> 8 & 0xff]);
    atomic_inc(&table[four >> 16 & 0xff]);
    atomic_inc(&table[four >> 24]);
}

// A load of 16 bytes needs an address that 16 divides, and a row may begin anywhere. So a row is a
// head of single pixels, a body of vectors, and a tail of single pixels.
__kernel OF_SHAPE void histogram_vector(__global const uchar* pixels, ulong first, ulong count,
                                        ulong width, ulong pitch, __global uint* histogram) {
    __local uint table[BINS];
    const uint item = get_local_id(1) * GROUP_X + get_local_id(0);
    for (uint bin = item; bin < BINS; bin += GROUP_SIZE) {
        table[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong y = get_global_id(1); y * width < count; y += get_global_size(1)) {
        __global const uchar* row = pixels + first + y * pitch;
        const ulong length = min(width, count - y * width);
        const ulong head = min((16 - (first + y * pitch) % 16) % 16, length);
        const ulong tail = head + (length - head) / 16 * 16;
        for (ulong x = get_global_id(0); x < head; x += get_global_size(0)) {
            atomic_inc(&table[row[x]]);
        }
        for (ulong x = head + 16 * get_global_id(0); x < tail; x += 16 * get_global_size(0)) {
            const uint4 sixteen = *(__global const uint4*)(row + x);
            count_four(table, sixteen.x);
            count_four(table, sixteen.y);
            count_four(table, sixteen.z);
            count_four(table, sixteen.w);
        }
        for (ulong x = tail + get_global_id(0); x < length; x += get_global_size(0)) {
            atomic_inc(&table[row[x]]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bin < BINS; bin += GROUP_SIZE) {
        atomic_add(&histogram[bin], table[bin]);
    }
}

// ---- tuned: COPIES of the table, LOADS under way while others are counted, one launch ----
//
// Bin b of copy k is word b * COPIES + k, as in chapter 04's lane-bins. `own` is k in bytes. One
// shift takes the value out of its word and multiplies it, one instruction masks it and adds the
// copy: with 32 copies, (four >> 8 & 0xff) * 128 | own becomes (four >> 1 & 0x7f80) | own.
void count_pixel(__local uint* table, uint own, uint value) {
    __local uchar* bin = (__local uchar*)table + (value * (COPIES * 4) | own);
    atomic_inc((__local uint*)bin);
}

void count_word(__local uint* table, uint own, uint four) {
    count_pixel(table, own, four & 0xff);
    count_pixel(table, own, four >> 8 & 0xff);
    count_pixel(table, own, four >> 16 & 0xff);
    count_pixel(table, own, four >> 24);
}

#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif

// A total has 64 bits: the lower half is the sum, the upper half counts the groups that have added
// theirs. Whoever adds last learns it from the same answer, and has the whole sum in hand: it
// writes the bin, and leaves a zero for the next launch (by an atomic, as every access to a total
// is one). Where `totals` is null, the host has zeroed the histogram. The totals lie 128 bytes
// apart, each in its own cache line.
#define APART 16

void hand_over(__global ulong* totals, __global uint* histogram, uint bin, uint sum) {
#ifdef cl_khr_int64_base_atomics
    if (totals != 0) {
        const ulong before = atom_add(&totals[bin * APART], (1UL << 32) + sum);
        if (before >> 32 == get_num_groups(0) - 1) {
            histogram[bin] = (uint)before + sum;
            atom_xchg(&totals[bin * APART], 0UL);
        }
        return;
    }
#endif
    atomic_add(&histogram[bin], sum);
}

__kernel OF_SHAPE void histogram_tuned(__global const uchar* pixels, ulong first, ulong count,
                                       __global ulong* totals, __global uint* histogram) {
    __local uint table[BINS * COPIES];
    const uint own = get_local_id(0) % COPIES * 4;
    // The pixels in front of the first address that 16 divides are the head.
    const uint head = min((16 - first % 16) % 16, count);
    const uint vector_count = (count - head) / 16;
    // The buffer itself begins at such an address.
    __global const uint4* vectors = (__global const uint4*)(pixels + first + head);
    // A work-item without a vector skips the loops over vectors. There are at most 2^28 vectors,
    // and a stride is no more than that, so 8 strides ahead are still less than 2^32.
    const uint item = min(get_global_id(0), (size_t)vector_count);
    const uint stride = min(get_global_size(0), (size_t)vector_count);

    // Ask for the first vectors, and zero the table while they are on their way. What is behind the
    // last one is zero, so that every word has a value, and is not counted.
    uint4 now[LOADS];
#pragma unroll
    for (uint n = 0; n < LOADS; ++n) {
        const uint i = item + n * stride;
        now[n] = i < vector_count ? vectors[i] : (uint4)(0);
    }
    for (uint word = get_local_id(0); word < BINS * COPIES; word += GROUP_SIZE) {
        table[word] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // The pixels in front of the first vector, and those behind the last.
    for (ulong i = get_global_id(0); i < head; i += get_global_size(0)) {
        count_pixel(table, own, pixels[first + i]);
    }
    for (ulong i = head + vector_count * 16UL + get_global_id(0); i < count;
         i += get_global_size(0)) {
        count_pixel(table, own, pixels[first + i]);
    }
    // The next vectors are asked for before the present ones are counted.
    for (uint i = item; i < vector_count; i += LOADS * stride) {
        uint4 next[LOADS];
#pragma unroll
        for (uint n = 0; n < LOADS; ++n) {
            const uint later = i + (LOADS + n) * stride;
            next[n] = later < vector_count ? vectors[later] : (uint4)(0);
        }
#pragma unroll
        for (uint n = 0; n < LOADS; ++n) {
            if (i + n * stride < vector_count) {
                count_word(table, own, now[n].x);
                count_word(table, own, now[n].y);
                count_word(table, own, now[n].z);
                count_word(table, own, now[n].w);
            }
            now[n] = next[n];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Each bin: its copies, beginning with another one each time, so that the banks take turns.
    for (uint bin = get_local_id(0); bin < BINS; bin += GROUP_SIZE) {
        uint sum = 0;
        for (uint k = 0; k < COPIES; ++k) {
            sum += table[bin * COPIES + (bin + k) % COPIES];
        }
        hand_over(totals, histogram, bin, sum);
    }
}
