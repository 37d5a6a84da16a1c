// The OpenCL kernels of more bins than 256. Read at run time: edit, save, run again.
//
// Value i, of channel i % CHANNELS, belongs to counter i % CHANNELS * bins + (value >> shift).
// With three or four channels a value is a byte, with one it is a pixel of 16 bits.
//
// The host passes CHANNELS; GROUP_SIZE, the work-items of a group; TABLE_WORDS, the size of its
// table, 0 where it has none; and WHOLE, which is 1 where a slice is the whole table.

#define OF_SIZE __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
#define VALUE_BYTES (CHANNELS == 1 ? 2 : 1)
#define VALUES (16 / VALUE_BYTES)  // in a vector
#define LOADS 3                    // that a work-item has under way at once

// Which counters a launch counts: so many from `from` on, in so many copies.
typedef struct {
    uint bins, shift;
    uint from, counters, copies;
} Slice;

// ---- how every strategy reads ----

// Counts into the group's table, or without one into the histogram. A counter in front of the slice
// has become a very large number. A group that is one work-item, as on a CPU, needs no atomics.
#if TABLE_WORDS > 0
#define WHERE __local
#else
#define WHERE __global
#endif

void count_one(WHERE uint* table, const Slice* slice, uint counter) {
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

// The counter of the value i, behind the first of the slice.
uint counter_of(__global const uchar* pixels, ulong first, ulong i, const Slice* slice) {
#if CHANNELS == 1
    const uint bin = ((__global const ushort*)pixels)[first + i] >> slice->shift;
#else
    const uint bin = pixels[first + i];
#endif
    return (uint)(i % CHANNELS) * slice->bins - slice->from + bin;
}

// Four bytes of a vector, of which the first belongs to channel `j` of those in `begin`.
void count_word(WHERE uint* table, const Slice* slice, uint word, const uint* begin, uint j) {
#if CHANNELS == 1
    count_one(table, slice, begin[0] + ((word & 0xffff) >> slice->shift));
    count_one(table, slice, begin[0] + (word >> 16 >> slice->shift));
#else
#pragma unroll
    for (uint n = 0; n < 4; ++n) {
        count_one(table, slice, begin[(j + n) % CHANNELS] + (word >> 8 * n & 0xff));
    }
#endif
}

// Counts the values from `first` on. Those in front of the first address that 16 divides are the
// head, those behind the last whole vector the tail.
void count_values(WHERE uint* table, const Slice* slice, __global const uchar* pixels, ulong first,
                  ulong count) {
    const uint head = min((16 - first * VALUE_BYTES % 16) % 16 / VALUE_BYTES, count);
    const uint vector_count = (count - head) / VALUES;  // at most 2^29
    __global const uint4* vectors = (__global const uint4*)(pixels + (first + head) * VALUE_BYTES);
    const uint item = min(get_global_id(0), (size_t)vector_count);
    const uint stride = min(get_global_size(0), (size_t)vector_count);
    uint4 now[LOADS];
#pragma unroll
    for (uint n = 0; n < LOADS; ++n) {
        const uint i = item + n * stride;
        now[n] = i < vector_count ? vectors[i] : (uint4)(0);
    }

    for (ulong i = get_global_id(0); i < head; i += get_global_size(0)) {
        count_one(table, slice, counter_of(pixels, first, i, slice));
    }
    for (ulong i = head + (ulong)vector_count * VALUES + get_global_id(0); i < count;
         i += get_global_size(0)) {
        count_one(table, slice, counter_of(pixels, first, i, slice));
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
            const uint v = i + n * stride;
            if (v < vector_count) {
                // Where the counters of each channel begin, that of the vector's first value first.
                const uint channel = head + v * (VALUES % CHANNELS);
                uint begin[CHANNELS];
#pragma unroll
                for (uint c = 0; c < CHANNELS; ++c) {
                    begin[c] = (channel + c) % CHANNELS * slice->bins - slice->from;
                }
                count_word(table, slice, now[n].x, begin, 0);
                count_word(table, slice, now[n].y, begin, 4);
                count_word(table, slice, now[n].z, begin, 8);
                count_word(table, slice, now[n].w, begin, 12);
            }
            now[n] = next[n];
        }
    }
}

#if TABLE_WORDS == 0

// ---- global: all work-items count into the one table in global memory ----
__kernel OF_SIZE void histogram_global(__global const uchar* pixels, ulong first, ulong count,
                                       uint bins, uint shift, __global uint* histogram) {
    const Slice slice = {bins, shift, 0, CHANNELS * bins, 1};
    count_values(histogram, &slice, pixels, first, count);
}

#else

// ---- local, passes: each group has a table of the slice in local memory ----
//
// When it has counted, it writes the table as its row. So no group waits for another.
__kernel OF_SIZE void histogram_local(__global const uchar* pixels, ulong first, ulong count,
                                      uint bins, uint shift, uint from, uint counters, uint copies,
                                      __global uint* rows) {
    __local uint table[TABLE_WORDS];
    const Slice slice = {bins, shift, from, counters, copies};
    for (uint word = get_local_id(0); word < counters * copies; word += GROUP_SIZE) {
        table[word] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    count_values(table, &slice, pixels, first, count);
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
