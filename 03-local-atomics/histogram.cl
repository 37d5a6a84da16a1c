// Chapter 03, the OpenCL kernels. Read at run time: edit, save, run again.
// Each work-group counts in local memory, which belongs to it alone, and hands its table over once.

#define BINS 256

// The host passes GROUP_SIZE when it builds this file. A compiler that does not know how large the
// groups will be has to guess, and may refuse larger ones (NVIDIA's guesses 256).
#define OF_GROUP_SIZE __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))

// ---- local: the five steps ----
//
// Every loop over the bins strides by the size of the *group*, because the group's own work-items
// share the work. Striding by the global size here is a mistake that was published: then each group
// merges only the first bins of its table.
__kernel OF_GROUP_SIZE void histogram_local(__global const uchar* pixels, ulong count,
                                            __global uint* histogram) {
    __local uint table[BINS];
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);

    // Step 1: zero the group's table. Local memory holds anything at first.
    for (size_t bin = item; bin < BINS; bin += group_size) {
        table[bin] = 0;
    }
    // Step 2: nobody counts before all bins are zero.
    barrier(CLK_LOCAL_MEM_FENCE);

    // Step 3: count, striding by all work-items of the launch.
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        atomic_inc(&table[pixels[i]]);
    }
    // Step 4: nobody reads the table before all have counted.
    barrier(CLK_LOCAL_MEM_FENCE);

    // Step 5: add the table to the histogram, with atomics, for other groups do the same.
    for (size_t bin = item; bin < BINS; bin += group_size) {
        atomic_add(&histogram[bin], table[bin]);
    }
}

// ---- local with --walk blocked ----
//
// In step 3 each work-item has a stretch of its own, and reads it byte after byte. What
// neighbouring work-items read at one step lies far apart. (No unrolling: it would load several
// pixels at once, and then two things differ from above.)
__kernel OF_GROUP_SIZE void histogram_local_blocked(__global const uchar* pixels, ulong count,
                                                    __global uint* histogram) {
    __local uint table[BINS];
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);
    for (size_t bin = item; bin < BINS; bin += group_size) {
        table[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong stretch = (count + get_global_size(0) - 1) / get_global_size(0);
    const ulong end = min((get_global_id(0) + 1) * stretch, count);
#pragma unroll 1
    for (ulong i = get_global_id(0) * stretch; i < end; ++i) {
        atomic_inc(&table[pixels[i]]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t bin = item; bin < BINS; bin += group_size) {
        atomic_add(&histogram[bin], table[bin]);
    }
}

// ---- local-buckets: each group writes its own row, and the host adds the rows ----
//
// Steps 1 to 4 are the same. A row belongs to one group, so step 5 needs no atomic.
__kernel OF_GROUP_SIZE void histogram_buckets(__global const uchar* pixels, ulong count,
                                              __global uint* buckets) {
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
    __global uint* row = buckets + get_group_id(0) * BINS;
    for (size_t bin = item; bin < BINS; bin += group_size) {
        row[bin] = table[bin];
    }
}

// ---- local-subhist: the same rows, and a second kernel that adds them ----
//
// `table` is local memory whose size the host chooses: clSetKernelArg with a size and no data.
__kernel OF_GROUP_SIZE void subhist(__global const uchar* pixels, ulong count, __local uint* table,
                                    __global uint* tables) {
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
    __global uint* row = tables + get_group_id(0) * BINS;
    for (size_t bin = item; bin < BINS; bin += group_size) {
        row[bin] = table[bin];
    }
}

// A work-item for each bin adds up that bin of all tables.
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
