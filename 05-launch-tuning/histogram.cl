// Chapter 05, the OpenCL kernels. Read at run time: edit, save, run again.
// The kernels of chapters 03 and 04 again, for any alignment and any pitch, and with everything
// that a launch can vary left to the host.

#define BINS 256

// The host passes these when it builds this file, once for each kernel and shape: GROUP_X by
// GROUP_Y work-items in a group, COPIES of the table, and LOADS that a work-item has on their way
// at once. And it says which kernel it WANTs: a compiler takes its time with each.
#define GROUP_SIZE (GROUP_X * GROUP_Y)
#define OF_SHAPE __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1)))

// A picture is four numbers beside its buffer: row y begins at byte `first + y * pitch` and has
// `width` pixels, `count` in all; the last row may be short. Without gaps it is one long row.
#define PICTURE __global const uchar *pixels, ulong first, ulong count, ulong width, ulong pitch
#define THE_PICTURE pixels, first, count, width, pitch

uint item_in_group(void) {
    return get_local_id(1) * GROUP_X + get_local_id(0);
}

// Nobody counts before all words are zero.
void zero(__local uint* words, uint count) {
    for (uint word = item_in_group(); word < count; word += GROUP_SIZE) {
        words[word] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Where row y ends: the last one may be short, and below the picture there are only empty ones.
ulong end_of_row(ulong y, ulong first, ulong count, ulong width, ulong pitch) {
    return first + y * pitch + min(width, count - min(y * width, count));
}

// ---- Counting pixel by pixel: the work-items side by side walk a row, those below other rows ----
//
// LOADS pixels are asked for together, then counted; none is on its way meanwhile.

void count_bytes(PICTURE, __local uint* table) {
    const ulong stride = get_global_size(0);
    for (ulong y = get_global_id(1); y * width < count; y += get_global_size(1)) {
        const ulong end = end_of_row(y, first, count, width, pitch);
        ulong i = first + y * pitch + get_global_id(0);
        for (; i + (LOADS - 1) * stride < end; i += LOADS * stride) {
            uchar loaded[LOADS];
#pragma unroll
            for (uint n = 0; n < LOADS; ++n) {
                loaded[n] = pixels[i + n * stride];
            }
#pragma unroll
            for (uint n = 0; n < LOADS; ++n) {
                atomic_inc(&table[loaded[n]]);
            }
        }
        for (; i < end; i += stride) {
            atomic_inc(&table[pixels[i]]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// ---- Counting 16 pixels a load, into one of COPIES tables ----
//
// Bin b of copy l is word b * COPIES + l, as in chapter 04; with one copy it is chapter 03's table.
// The place is worked out in bytes: one shift takes a pixel's value out of its vector and
// multiplies it, one instruction masks it and puts the copy in, and the atomic adds the table's
// address. Finding the place must not take longer than the counting.
#define BYTES_OF_BIN (COPIES * 4)

void count_one(__local uint* table, uint own_bytes, uint value) {
    __local uchar* bin = (__local uchar*)table + (value * BYTES_OF_BIN | own_bytes);
    atomic_inc((__local uint*)bin);
}

void count_four(__local uint* table, uint own_bytes, uint four) {
    count_one(table, own_bytes, four & 0xff);
    count_one(table, own_bytes, four >> 8 & 0xff);
    count_one(table, own_bytes, four >> 16 & 0xff);
    count_one(table, own_bytes, four >> 24);
}

void count_sixteen(__local uint* table, uint own_bytes, uint4 sixteen) {
    count_four(table, own_bytes, sixteen.x);
    count_four(table, own_bytes, sixteen.y);
    count_four(table, own_bytes, sixteen.z);
    count_four(table, own_bytes, sixteen.w);
}

// A row: a load of 16 bytes needs an address that 16 divides. The pixels in front of the first such
// address, the head, and behind the last whole vector, the tail, are counted one by one.
typedef struct {
    __global const uchar* pixels;
    uint head;         // pixels
    uint vectors;      // of 16 pixels
    uint tail;         // pixels
    uint own;          // this work-item's first vector, and
    uint stride;       // from one of its vectors to the next; no more than `vectors`, for 32 bits
    uint4 now[LOADS];  // what it has on its way
} Row;

__global const uint4* body_of(Row row) {
    return (__global const uint4*)(row.pixels + row.head);
}

// Asks for the first vectors of row y. Below the picture rows are empty.
Row begin_row(PICTURE, ulong y) {
    const ulong start = first + y * pitch;
    const ulong length = end_of_row(y, first, count, width, pitch) - start;
    Row row;
    row.pixels = pixels + start;
    row.head = min((16 - start % 16) % 16, length);
    row.vectors = (length - row.head) / 16;
    row.tail = (length - row.head) % 16;
    row.own = min(get_global_id(0), (size_t)row.vectors);
    row.stride = min(get_global_size(0), (size_t)row.vectors);
#pragma unroll
    for (uint n = 0; n < LOADS; ++n) {
        const uint i = row.own + n * row.stride;
        if (i < row.vectors) {
            row.now[n] = body_of(row)[i];
        }
    }
    return row;
}

void count_row(Row row, __local uint* table) {
    const uint own_bytes = item_in_group() % COPIES * 4;
    for (ulong i = get_global_id(0); i < row.head; i += get_global_size(0)) {
        count_one(table, own_bytes, row.pixels[i]);
    }
    for (ulong i = get_global_id(0); i < row.tail; i += get_global_size(0)) {
        count_one(table, own_bytes, row.pixels[row.head + row.vectors * 16UL + i]);
    }
    // While some are counted, the next are on their way: they are asked for before the counting
    // begins, and not needed before it ends. What is not there is not counted, whatever `next` has.
    for (uint i = row.own; i < row.vectors; i += LOADS * row.stride) {
        uint4 next[LOADS];
#pragma unroll
        for (uint n = 0; n < LOADS; ++n) {
            const uint later = i + (LOADS + n) * row.stride;
            if (later < row.vectors) {
                next[n] = body_of(row)[later];
            }
        }
#pragma unroll
        for (uint n = 0; n < LOADS; ++n) {
            if (i + n * row.stride < row.vectors) {
                count_sixteen(table, own_bytes, row.now[n]);
            }
            row.now[n] = next[n];
        }
    }
}

// The table is zeroed while the first pixels are on their way.
void count_vectors(PICTURE, __local uint* table) {
    ulong y = get_global_id(1);
    Row row = begin_row(THE_PICTURE, y);
    zero(table, BINS * COPIES);
    for (;;) {
        count_row(row, table);
        y += get_global_size(1);
        if (y * width >= count) {
            break;
        }
        row = begin_row(THE_PICTURE, y);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// The sum of a bin's copies. Each work-item begins with another copy: the banks take turns.
uint sum_of_copies(__local const uint* table, uint bin) {
    uint sum = 0;
    for (uint n = 0; n < COPIES; ++n) {
        sum += table[bin * COPIES + (bin + n) % COPIES];
    }
    return sum;
}

// ---- two-per-sm: chapter 03's `local`, two groups for each compute unit ----

#ifdef WANT_histogram_local
__kernel OF_SHAPE void histogram_local(PICTURE, __global uint* histogram) {
    __local uint table[BINS];
    zero(table, BINS);
    count_bytes(THE_PICTURE, table);
    for (uint bin = item_in_group(); bin < BINS; bin += GROUP_SIZE) {
        atomic_add(&histogram[bin], table[bin]);
    }
}
#endif

// ---- occupancy: as many work-items as the device holds, moved over the picture like a stamp ----
//
// The launch does not cover the picture: it is moved down and across, and each work-item counts
// eight rows of its column before it moves on.
#define ROWS_AT_ONCE 8

#ifdef WANT_histogram_occupancy
__kernel OF_SHAPE void histogram_occupancy(PICTURE, __global uint* histogram) {
    __local uint table[BINS];
    zero(table, BINS);
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
    for (uint bin = item_in_group(); bin < BINS; bin += GROUP_SIZE) {
        atomic_add(&histogram[bin], table[bin]);
    }
}
#endif

// ---- vector: one table, 16-byte loads ----

#ifdef WANT_histogram_vector
__kernel OF_SHAPE void histogram_vector(PICTURE, __global uint* histogram) {
    __local uint table[BINS * COPIES];
    count_vectors(THE_PICTURE, table);
    for (uint bin = item_in_group(); bin < BINS; bin += GROUP_SIZE) {
        atomic_add(&histogram[bin], sum_of_copies(table, bin));
    }
}
#endif

// ---- tuned: one launch that zeroes, counts and finishes ----
//
// Every group adds its sum of a bin to that bin's total. A total has 64 bits: the lower 32 are the
// sum, the upper 32 the number of groups that have added theirs, in one atomic operation. So the
// group that comes last sees it in what the addition returns, and has the whole sum in hand: it
// writes the histogram and leaves a zero behind for the next launch. Nothing has to be zeroed
// before, nobody waits for anybody, and no fence is needed, for nothing is read but what the atomic
// returns. (The zero is written by an atomic, too, as every access to a total is one.)
//
// Where a device has no 64-bit atomics the host zeroes the histogram before, as for the others.
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif

void hand_over(__global ulong* totals, __global uint* histogram, uint bin, uint sum) {
#ifdef IN_ONE_LAUNCH
    const uint groups = get_num_groups(0) * get_num_groups(1);
    const ulong before = atom_add(&totals[bin], (1UL << 32) + sum);
    if (before >> 32 == groups - 1) {
        histogram[bin] = (uint)before + sum;
        atom_xchg(&totals[bin], 0UL);
    }
#else
    atomic_add(&histogram[bin], sum);
#endif
}

// The local memory comes from the host, which knows how much each of these needs.

#ifdef WANT_tuned_local
__kernel OF_SHAPE void tuned_local(PICTURE, __global ulong* totals, __global uint* histogram,
                                   __local uint* table) {
    zero(table, BINS);
    count_bytes(THE_PICTURE, table);
    for (uint bin = item_in_group(); bin < BINS; bin += GROUP_SIZE) {
        hand_over(totals, histogram, bin, table[bin]);
    }
}
#endif

#ifdef WANT_tuned_lanes
__kernel OF_SHAPE void tuned_lanes(PICTURE, __global ulong* totals, __global uint* histogram,
                                   __local uint* table) {
    count_vectors(THE_PICTURE, table);
    for (uint bin = item_in_group(); bin < BINS; bin += GROUP_SIZE) {
        hand_over(totals, histogram, bin, sum_of_copies(table, bin));
    }
}
#endif

// 8-bit counters for each work-item, as chapter 04's uchar-bins: at most 255 pixels, then they are
// added up. Behind them in `words` stand the group's sums.
#define PIXELS_PER_TURN 255

#ifdef WANT_tuned_bytes
__kernel OF_SHAPE void tuned_bytes(PICTURE, __global ulong* totals, __global uint* histogram,
                                   __local uint* words) {
    __local uchar* bytes = (__local uchar*)words;
    __local uchar* own = bytes + item_in_group() * BINS;
    __local uint* sums = words + GROUP_SIZE * (BINS / 4);
    zero(sums, BINS);
    const ulong at_once = GROUP_SIZE * PIXELS_PER_TURN;
    // All work-items of the group take the same turns, so all of them reach every barrier.
    for (ulong y = get_group_id(1); y * width < count; y += get_num_groups(1)) {
        const ulong end = end_of_row(y, first, count, width, pitch);
        for (ulong turn = first + y * pitch + get_group_id(0) * at_once; turn < end;
             turn += get_num_groups(0) * at_once) {
            zero(words, GROUP_SIZE * (BINS / 4));
            const ulong turn_end = min(turn + at_once, end);
            for (ulong i = turn + item_in_group(); i < turn_end; i += GROUP_SIZE) {
                ++own[pixels[i]];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint base = 0; base < BINS; base += GROUP_SIZE) {
                const uint bin = base + item_in_group();
                if (bin < BINS) {
                    uint sum = 0;
                    for (uint item = 0; item < GROUP_SIZE; ++item) {
                        sum += bytes[item * BINS + bin];
                    }
                    sums[bin] += sum;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    for (uint bin = item_in_group(); bin < BINS; bin += GROUP_SIZE) {
        hand_over(totals, histogram, bin, sums[bin]);
    }
}
#endif

// Counters of 32 bits for each work-item, eight for each bin, as chapter 01's threads-private: for
// CPUs, where a work-item of a group of one is a loop on a core of its own and atomics are dear.
#define LANES 8

#ifdef WANT_tuned_items
__kernel OF_SHAPE void tuned_items(PICTURE, __global ulong* totals, __global uint* histogram,
                                   __local uint* words) {
    __local uint* own = words + item_in_group() * BINS * LANES;
    for (uint word = 0; word < BINS * LANES; ++word) {
        own[word] = 0;
    }
    for (ulong y = get_global_id(1); y * width < count; y += get_global_size(1)) {
        const ulong start = first + y * pitch;
        const ulong length = end_of_row(y, first, count, width, pitch) - start;
        // A stretch of its own for each work-item.
        ulong i = start + length * get_global_id(0) / get_global_size(0);
        const ulong end = start + length * (get_global_id(0) + 1) / get_global_size(0);
        for (; i + LOADS * LANES <= end; i += LOADS * LANES) {
#pragma unroll
            for (uint n = 0; n < LOADS * LANES; ++n) {
                ++own[pixels[i + n] * LANES + n % LANES];
            }
        }
        for (; i < end; ++i) {
            ++own[pixels[i] * LANES + i % LANES];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint base = 0; base < BINS; base += GROUP_SIZE) {
        const uint bin = base + item_in_group();
        if (bin < BINS) {
            uint sum = 0;
            for (uint item = 0; item < GROUP_SIZE; ++item) {
                for (uint lane = 0; lane < LANES; ++lane) {
                    sum += words[(item * BINS + bin) * LANES + lane];
                }
            }
            hand_over(totals, histogram, bin, sum);
        }
    }
}
#endif
