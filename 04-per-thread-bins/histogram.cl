// Chapter 04, the OpenCL kernels. Read at run time: edit, save, run again.
// Counters of one's own: for each work-item, or for each lane.

#define BINS 256

// The host passes the sizes of the groups when it builds this file. A compiler that does not know
// them has to guess, and may refuse larger groups (NVIDIA's guesses 256).
#define OF_SIZE(items) __attribute__((reqd_work_group_size(items, 1, 1)))

// ---- private: 256 counters in each work-item's private memory ----
//
// Private memory means registers, and registers cannot be indexed: `counters[pixel]` forces the
// array out into slow memory that only looks private. The host program prints how much of it there
// is.
__kernel OF_SIZE(GROUP_SIZE) void histogram_private(__global const uchar* pixels, ulong count,
                                                    __global uint* histogram) {
    uint counters[BINS];
    for (uint bin = 0; bin < BINS; ++bin) {
        counters[bin] = 0;
    }
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        ++counters[pixels[i]];
    }
    for (uint bin = 0; bin < BINS; ++bin) {
        if (counters[bin] > 0) {
            atomic_add(&histogram[bin], counters[bin]);
        }
    }
}

// ---- uchar-bins: 256 counters of 8 bits for each work-item, in local memory ----
//
// An 8-bit counter holds at most 255. So the work-items count at most `pixels_per_item` pixels
// each, add their counters up, and begin again: that number must not be more than 255. `bins` has
// 256 bytes for each work-item of the group, and the group's sums go to its own row of `rows`.
__kernel OF_SIZE(UCHAR_GROUP_SIZE) void histogram_uchar(__global const uchar* pixels, ulong count,
                                                        uint pixels_per_item, __local uint* words,
                                                        __global uint* rows) {
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);
    __local uchar* bins = (__local uchar*)words;
    __local uchar* own = bins + item * BINS;
    __global uint* row = rows + get_group_id(0) * BINS;
    // Each bin of the row is one work-item's, here and below: no atomic.
    for (size_t bin = item; bin < BINS; bin += group_size) {
        row[bin] = 0;
    }
    const ulong at_once = group_size * pixels_per_item;
    // All work-items of the group take equally many turns, so all of them reach every barrier.
    for (ulong first = get_group_id(0) * at_once; first < count;
         first += get_num_groups(0) * at_once) {
        // Zeroed by all together: neighbouring work-items take neighbouring words, four bins each.
        for (size_t word = item; word < group_size * (BINS / 4); word += group_size) {
            words[word] = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong end = min(first + at_once, count);
        for (ulong i = first + item; i < end; i += group_size) {
            ++own[pixels[i]];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // The loop is the same for all, with a test inside: where work-items had loops of their own
        // here, PoCL 3.1 let those beyond the last bin write, too.
        for (size_t base = 0; base < BINS; base += group_size) {
            const size_t bin = base + item;
            if (bin < BINS) {
                uint sum = 0;
                for (size_t other = 0; other < group_size; ++other) {
                    sum += bins[other * BINS + bin];
                }
                row[bin] += sum;
            }
        }
        // Nobody begins again before all have been added up.
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// ---- uchar-bins-banked: the same counters, laid out by banks ----
//
// Local memory is divided into banks, word by word: on most GPUs 32 banks of 4 bytes. Above, the
// counters of neighbouring work-items are 256 bytes apart, which is the same bank: with equal
// pixels they wait for each other. Here the words of the work-items are interleaved, so work-item t
// has only words of bank t % 32, whatever it counts: bin b is byte b % 4 of word (b / 4) *
// group_size + t.
__kernel OF_SIZE(UCHAR_GROUP_SIZE) void histogram_uchar_banked(__global const uchar* pixels,
                                                               ulong count, uint pixels_per_item,
                                                               __local uint* words,
                                                               __global uint* rows) {
    // Not size_t: the remainder below, of 64-bit numbers, would be a routine that a GPU calls.
    const uint item = get_local_id(0);
    const uint group_size = get_local_size(0);
    __local uchar* bins = (__local uchar*)words;
    __global uint* row = rows + get_group_id(0) * BINS;
    for (uint bin = item; bin < BINS; bin += group_size) {
        row[bin] = 0;
    }
    const ulong at_once = (ulong)group_size * pixels_per_item;
    for (ulong first = get_group_id(0) * at_once; first < count;
         first += get_num_groups(0) * at_once) {
        for (uint word = 0; word < BINS / 4; ++word) {
            words[word * group_size + item] = 0;
        }
        const ulong end = min(first + at_once, count);
        for (ulong i = first + item; i < end; i += group_size) {
            const uint bin = pixels[i];
            ++bins[((bin / 4) * group_size + item) * 4 + bin % 4];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint base = 0; base < BINS; base += group_size) {
            const uint bin = base + item;
            if (bin < BINS) {
                uint sum = 0;
                for (uint n = 0; n < group_size; ++n) {
                    // Each begins with its own counters, so that here, too, the banks take turns.
                    const uint other = (item + n) % group_size;
                    sum += bins[((bin / 4) * group_size + other) * 4 + bin % 4];
                }
                row[bin] += sum;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// ---- lane-bins: a copy of the table for each lane, wholly in that lane's bank ----
//
// COPIES tables of 32-bit counters: 32, or fewer where the local memory is small or --copies says
// so. Bin b of copy k is word b * COPIES + k. With 32 copies that word is in bank k, whatever the
// pixel: the 32 work-items that run in step use 32 banks, and none waits for another. Work-items
// with the same lane share a copy, so the additions are atomic.
//
// Pixels come 16 to a load, and four loads are on their way at once. To see what each is worth,
// `loads` can be 1 in place of 4, or 0: then a pixel to a load, as in the chapters before.
void count_four(__local uint* own, uint four) {
    atomic_inc(&own[(four & 0xff) * COPIES]);
    atomic_inc(&own[(four >> 8 & 0xff) * COPIES]);
    atomic_inc(&own[(four >> 16 & 0xff) * COPIES]);
    atomic_inc(&own[(four >> 24) * COPIES]);
}

void count_sixteen(__local uint* own, uint4 sixteen) {
    count_four(own, sixteen.x);
    count_four(own, sixteen.y);
    count_four(own, sixteen.z);
    count_four(own, sixteen.w);
}

__kernel OF_SIZE(LANE_GROUP_SIZE) void histogram_lanes(__global const uchar* pixels, ulong count,
                                                       __global uint* histogram, uint loads) {
    __local uint table[BINS * COPIES];
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);
    for (size_t word = item; word < BINS * COPIES; word += group_size) {
        table[word] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    __local uint* own = table + item % COPIES;
    __global const uint4* vectors = (__global const uint4*)pixels;
    const ulong vector_count = loads > 0 ? count / 16 : 0;
    const ulong stride = get_global_size(0);
    ulong i = get_global_id(0);
    // Four loads before the first count: while one is on its way, so are the others.
    for (; loads == 4 && i + 3 * stride < vector_count; i += 4 * stride) {
        const uint4 first = vectors[i];
        const uint4 second = vectors[i + stride];
        const uint4 third = vectors[i + 2 * stride];
        const uint4 fourth = vectors[i + 3 * stride];
        count_sixteen(own, first);
        count_sixteen(own, second);
        count_sixteen(own, third);
        count_sixteen(own, fourth);
    }
    for (; i < vector_count; i += stride) {
        count_sixteen(own, vectors[i]);
    }
    // The last few pixels, fewer than 16; with no loads of 16 all of them.
    for (i = vector_count * 16 + get_global_id(0); i < count; i += stride) {
        atomic_inc(&own[pixels[i] * COPIES]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (size_t bin = item; bin < BINS; bin += group_size) {
        uint sum = 0;
        for (uint n = 0; n < COPIES; ++n) {
            // Each work-item begins with another copy: the banks take turns here, too.
            sum += table[bin * COPIES + (item + n) % COPIES];
        }
        atomic_add(&histogram[bin], sum);
    }
}

// ---- core-bins: tables for each work-item, and one work-item for each core ----
//
// Chapter 01's threads-private: a group is one work-item, a loop on a core of its own, and needs no
// atomics until it merges. It reads its stretch of the picture in several places side by side, each
// with a table of its own: equal neighbours do not wait for each other, and several lines of memory
// are under way.
#define PLACES 6
#define TABLE (BINS + 8)  // so that equal bins do not lie a power of two apart

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void histogram_cores(
    __global const uchar* pixels, ulong count, __global uint* histogram) {
    __local uint tables[PLACES * TABLE];
    for (uint word = 0; word < PLACES * TABLE; ++word) {
        tables[word] = 0;
    }
    const ulong begin = count * get_global_id(0) / get_global_size(0);
    const ulong end = count * (get_global_id(0) + 1) / get_global_size(0);
    const ulong length = (end - begin) / PLACES;
    for (ulong i = begin; i < begin + length; ++i) {
#pragma unroll
        for (uint place = 0; place < PLACES; ++place) {
            ++tables[place * TABLE + pixels[i + place * length]];
        }
    }
    for (ulong i = begin + PLACES * length; i < end; ++i) {  // fewer than there are places
        ++tables[pixels[i]];
    }
    for (uint bin = 0; bin < BINS; ++bin) {
        uint sum = 0;
        for (uint place = 0; place < PLACES; ++place) {
            sum += tables[place * TABLE + bin];
        }
        atomic_add(&histogram[bin], sum);
    }
}
