// The OpenCL kernels of many pictures. Read at run time: edit, save, run again.
//
// The pictures lie one behind the other: picture p is the bytes from first[p] up to first[p + 1],
// of which there may be none, and it may begin anywhere. Its histogram is row p of the result.
//
// The host puts chapter 05's histogram.cl in front of it, whose `tuned` counts and finishes as
// these do, and passes what that one wants: GROUP_X and GROUP_Y, the work-items of a group; COPIES
// of its table; and LOADS, which a work-item has under way at once.

// ---- how a group counts bytes, in every strategy ----

// Chapter 05's `tuned`: bin b of copy k is word b * COPIES + k, and its count_word counts.
#define TABLE_WORDS (BINS * COPIES)

// Zeroes the table and counts the bytes from `begin` up to `end`. They may be any: those in front
// of the first address that 16 divides are the head, those behind the last whole vector the tail.
void count_bytes(__local uint* table, __global const uchar* pixels, ulong begin, ulong end) {
    const uint item = get_local_id(0);
    const uint own = item % COPIES * 4;
    const ulong length = end - begin;
    const uint head = min((16 - begin % 16) % 16, length);
    const uint vector_count = (length - head) / 16;  // at most 2^28
    __global const uint4* vectors = (__global const uint4*)(pixels + begin + head);

    // Ask for the first vectors, and zero the table while they are on their way.
    uint4 now[LOADS];
#pragma unroll
    for (uint n = 0; n < LOADS; ++n) {
        const uint i = item + n * GROUP_SIZE;
        now[n] = i < vector_count ? vectors[i] : (uint4)(0);
    }
    for (uint word = item; word < TABLE_WORDS; word += GROUP_SIZE) {
        table[word] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = item; i < head; i += GROUP_SIZE) {
        count_pixel(table, own, pixels[begin + i]);
    }
    for (ulong i = begin + head + vector_count * 16UL + item; i < end; i += GROUP_SIZE) {
        count_pixel(table, own, pixels[i]);
    }
    // The next vectors are asked for before the present ones are counted.
    for (uint i = item; i < vector_count; i += LOADS * GROUP_SIZE) {
        uint4 next[LOADS];
#pragma unroll
        for (uint n = 0; n < LOADS; ++n) {
            const uint later = i + (LOADS + n) * GROUP_SIZE;
            next[n] = later < vector_count ? vectors[later] : (uint4)(0);
        }
#pragma unroll
        for (uint n = 0; n < LOADS; ++n) {
            if (i + n * GROUP_SIZE < vector_count) {
                count_word(table, own, now[n].x);
                count_word(table, own, now[n].y);
                count_word(table, own, now[n].z);
                count_word(table, own, now[n].w);
            }
            now[n] = next[n];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// The copies of a bin, beginning with another one each time, so that the banks take turns.
uint sum_of(__local const uint* table, uint bin) {
    uint sum = 0;
    for (uint k = 0; k < COPIES; ++k) {
        sum += table[bin * COPIES + (bin + k) % COPIES];
    }
    return sum;
}

// ---- one-by-one, queued: all groups of the launch count one picture ----
//
// They finish it as chapter 05's do, with its totals.
__kernel OF_SHAPE void histogram_picture(__global const uchar* pixels, ulong begin, ulong end,
                                         __global ulong* totals, __global uint* rows, ulong p) {
    __local uint table[TABLE_WORDS];
    const ulong group = get_group_id(0);
    const ulong groups = get_num_groups(0);
    // Each group has a stretch, and the last one what is left: whole vectors, where it can be.
    const ulong stretch = ((end - begin) / groups + 15) / 16 * 16;
    const ulong from = min(begin + group * stretch, end);
    const ulong to = group == groups - 1 ? end : min(from + stretch, end);
    count_bytes(table, pixels, from, to);
    for (uint bin = get_local_id(0); bin < BINS; bin += GROUP_SIZE) {
        hand_over(totals, rows + p * BINS, bin, sum_of(table, bin));
    }
}

// ---- group-each: a group for each picture ----
//
// Nobody else writes its row, so each bin is written once, and nothing has to be zero before.
// (Fewer groups than pictures walk over them.)
__kernel OF_SHAPE void histogram_group_each(__global const uchar* pixels,
                                            __global const ulong* first, ulong pictures,
                                            __global uint* rows) {
    __local uint table[TABLE_WORDS];
    for (ulong p = get_group_id(0); p < pictures; p += get_num_groups(0)) {
        count_bytes(table, pixels, first[p], first[p + 1]);
        for (uint bin = get_local_id(0); bin < BINS; bin += GROUP_SIZE) {
            rows[p * BINS + bin] = sum_of(table, bin);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // before the table is zeroed again
    }
}
