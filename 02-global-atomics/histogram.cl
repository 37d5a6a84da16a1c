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
// The picture is a rectangle here: its rows are `image_pitch_bytes` apart, which may be more than
// `width`. A group covers as many columns as it has work-items, and each work-item walks down the
// rows of its column. Where there are fewer groups than the picture needs, they stride on.
//
// Two pitches, two units: the picture's in bytes, the tables' in bins. A byte pitch that is used to
// index an array of uint is off by a factor of four.
__kernel OF_GROUP_SIZE void subhist(__global const uchar* image, ulong image_pitch_bytes,
                                    ulong width, ulong count, __global uint* tables,
                                    ulong table_pitch_bins) {
    const size_t group = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    __global uint* table = tables + group * table_pitch_bins;
    for (ulong y = get_group_id(1); y * width < count; y += get_num_groups(1)) {
        for (ulong x = get_global_id(0); x < width; x += get_global_size(0)) {
            // The last row may be short.
            if (y * width + x < count) {
                atomic_inc(&table[image[y * image_pitch_bytes + x]]);
            }
        }
    }
}

// The second step: a work-item for each bin adds up that bin of all tables. Nobody else writes its
// result, so it needs no atomic, and the histogram needs no zeroing.
__kernel OF_GROUP_SIZE void sum_tables(__global const uint* tables, ulong table_pitch_bins,
                                       uint table_count, __global uint* histogram) {
    for (size_t bin = get_global_id(0); bin < BINS; bin += get_global_size(0)) {
        uint sum = 0;
        for (uint table = 0; table < table_count; ++table) {
            sum += tables[table * table_pitch_bins + bin];
        }
        histogram[bin] = sum;
    }
}
