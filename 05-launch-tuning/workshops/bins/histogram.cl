// The OpenCL kernels of more bins than 256. Read at run time: edit, save, run again.
//
// Each pixel has 16 bits, and belongs to counter pixel >> shift.
//
// The host passes GROUP_SIZE, the work-items of a group; TABLE_WORDS, the size of its table, 0
// where it has none; and WHOLE, which is 1 where a slice is the whole table.

#define OF_SIZE __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
#define PIXELS 8  // in a vector
#define LOADS 3   // that a work-item has under way at once

// Which counters a launch counts: so many from `from` on, in so many copies.
typedef struct {
    uint shift, from, counters, copies;
} Slice;

// ---- how every strategy reads ----

// Counts into the group's table, or without one into the histogram. A counter in front of the slice
// becomes a very large number. A group that is one work-item, as on a CPU, needs no atomics.
#if TABLE_WORDS > 0
#define WHERE __local
#else
#define WHERE __global
#endif

void count_pixel(WHERE uint* table, const Slice* slice, uint pixel) {
    const uint counter = (pixel >> slice->shift) - slice->from;
    if (!WHOLE && counter >= slice->counters) {
        return;
    }
    WHERE uint* word = table + counter * slice->copies + (get_local_id(0) & (slice->copies - 1));
#if TABLE_WORDS > 0 && GROUP_SIZE == 1
    ++*word;
#else
    atomic_inc(word);
#endif
}

void count_word(WHERE uint* table, const Slice* slice, uint word) {
    count_pixel(table, slice, word & 0xffff);
    count_pixel(table, slice, word >> 16);
}

// Counts the pixels, of which those behind the last whole vector are the tail.
void count_pixels(WHERE uint* table, const Slice* slice, __global const ushort* pixels,
                  ulong count) {
    const uint vector_count = count / PIXELS;  // at most 2^29
    __global const uint4* vectors = (__global const uint4*)pixels;
    const uint item = min(get_global_id(0), (size_t)vector_count);
    const uint stride = min(get_global_size(0), (size_t)vector_count);
    uint4 now[LOADS];
#pragma unroll
    for (uint n = 0; n < LOADS; ++n) {
        const uint i = item + n * stride;
        now[n] = i < vector_count ? vectors[i] : (uint4)(0);
    }

    for (ulong i = (ulong)vector_count * PIXELS + get_global_id(0); i < count;
         i += get_global_size(0)) {
        count_pixel(table, slice, pixels[i]);
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
                count_word(table, slice, now[n].x);
                count_word(table, slice, now[n].y);
                count_word(table, slice, now[n].z);
                count_word(table, slice, now[n].w);
            }
            now[n] = next[n];
        }
    }
}

#if TABLE_WORDS == 0

// ---- global: all work-items count into the one table in global memory ----
__kernel OF_SIZE void histogram_global(__global const ushort* pixels, ulong count, uint shift,
                                       __global uint* histogram) {
    const Slice slice = {shift, 0, 65536 >> shift, 1};
    count_pixels(histogram, &slice, pixels, count);
}

#else

// ---- local, passes: each group has a table of the slice in local memory ----
//
// When it has counted, it writes the table as its row. So no group waits for another.
__kernel OF_SIZE void histogram_local(__global const ushort* pixels, ulong count, uint shift,
                                      uint from, uint counters, uint copies, __global uint* rows) {
    __local uint table[TABLE_WORDS];
    const Slice slice = {shift, from, counters, copies};
    for (uint word = get_local_id(0); word < counters * copies; word += GROUP_SIZE) {
        table[word] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    count_pixels(table, &slice, pixels, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint counter = get_local_id(0); counter < counters; counter += GROUP_SIZE) {
        // The copies, beginning with another one each time, so that the banks take turns.
        uint sum = 0;
        for (uint k = 0; k < copies; ++k) {
            sum += table[counter * copies + (counter + k) % copies];
        }
        rows[get_group_id(0) * counters + counter] = sum;
    }
}

// Adds the rows up. Each work-item has a counter and a part of the rows, so that there are enough
// of them where the counters are few.
__kernel void histogram_sum(__global const uint* rows, uint row_count, uint counters, uint parts,
                            uint from, __global uint* histogram) {
    const uint part = get_global_id(0) / counters;
    if (part >= parts) return;  // groups are whole
    const uint counter = get_global_id(0) - part * counters;
    uint sum = 0;
    for (ulong row = part; row < row_count; row += parts) {
        sum += rows[row * counters + counter];
    }
    atomic_add(&histogram[from + counter], sum);
}

#endif
