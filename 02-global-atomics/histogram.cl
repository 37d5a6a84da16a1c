// Chapter 02, the OpenCL kernels. Read at run time: edit, save, run again.
// Work-items count in global memory, which all of them share.

#define BINS 256

// The host passes GROUP_SIZE when it builds this file. A compiler that does not know how large the
// groups will be has to guess, and may refuse larger ones (NVIDIA's guesses 256).
#define OF_GROUP_SIZE __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))

// ---- racy: broken on purpose ----
//
// ++ is read, add, write. Between the read and the write of one work-item others read and write the
// same counter, and their counts are lost.
__kernel OF_GROUP_SIZE void histogram_racy(__global const uchar* pixels, ulong count,
                                           __global uint* histogram) {
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        ++histogram[pixels[i]];
    }
}

// ---- global: one table, one atomic addition for each pixel ----
//
// The loop strides by the number of work-items in the whole launch (grid-stride), so any launch
// counts any picture, and at each step neighbouring work-items read neighbouring pixels.
__kernel OF_GROUP_SIZE void histogram_global(__global const uchar* pixels, ulong count,
                                             __global uint* histogram) {
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        atomic_inc(&histogram[pixels[i]]);
    }
}

// ---- racy and global with --walk blocked ----
//
// Each work-item has a stretch of its own, and reads it byte after byte. What neighbouring
// work-items read at one step lies far apart. The last stretches may be short, or empty. (No
// unrolling: it would load several pixels at once, and then two things differ from above.)
__kernel OF_GROUP_SIZE void histogram_racy_blocked(__global const uchar* pixels, ulong count,
                                                   __global uint* histogram) {
    const ulong stretch = (count + get_global_size(0) - 1) / get_global_size(0);
    const ulong end = min((get_global_id(0) + 1) * stretch, count);
#pragma unroll 1
    for (ulong i = get_global_id(0) * stretch; i < end; ++i) {
        ++histogram[pixels[i]];
    }
}

__kernel OF_GROUP_SIZE void histogram_global_blocked(__global const uchar* pixels, ulong count,
                                                     __global uint* histogram) {
    const ulong stretch = (count + get_global_size(0) - 1) / get_global_size(0);
    const ulong end = min((get_global_id(0) + 1) * stretch, count);
#pragma unroll 1
    for (ulong i = get_global_id(0) * stretch; i < end; ++i) {
        atomic_inc(&histogram[pixels[i]]);
    }
}

// ---- subhist: one table for each work-group, still in global memory ----
//
// The walk is that of `global`. What differs is where a work-item counts: in the table of its
// group, which it shares with that group alone.
__kernel OF_GROUP_SIZE void subhist(__global const uchar* pixels, ulong count,
                                    __global uint* tables) {
    __global uint* table = tables + get_group_id(0) * BINS;
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        atomic_inc(&table[pixels[i]]);
    }
}

// The second step: a work-item for each bin adds up that bin of all tables. Nobody else writes its
// result, so it needs no atomic, and the histogram needs no zeroing.
__kernel OF_GROUP_SIZE void sum_tables(__global const uint* tables, uint table_count,
                                       __global uint* histogram) {
    for (size_t bin = get_global_id(0); bin < BINS; bin += get_global_size(0)) {
        uint sum = 0;
        for (uint table = 0; table < table_count; ++table) {
            sum += tables[table * BINS + bin];
        }
        histogram[bin] = sum;
    }
}
