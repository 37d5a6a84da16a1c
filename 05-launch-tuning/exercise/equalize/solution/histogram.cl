// Exercise 05/equalize: from a picture to a histogram, and back to a picture. README.md has the
// task.
#define BINS 256

// `histogram` is zero at first.
__kernel void count_pixels(__global const uchar* pixels, ulong count, __global uint* histogram) {
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

// Launched with one group, when the first has finished. table[v] is the new value of pixels of v:
// 255 * (number of pixels of v or less) / count, rounded down. `count` may be 0.
__kernel void make_table(__global const uint* histogram, ulong count, __global uint* table) {
    // ---- your part: the table of new values ----
    for (size_t value = get_local_id(0); value < BINS; value += get_local_size(0)) {
        ulong upto = 0;
        for (size_t bin = 0; bin <= value; ++bin) {
            upto += histogram[bin];
        }
        table[value] = 255 * upto / max(count, (ulong)1);  // without a pixel the sums are 0, too
    }
    // ---- end of your part ----
}

// Launched last: writes `count` new pixels.
__kernel void apply_table(__global const uchar* pixels, ulong count, __global const uint* table,
                          __global uchar* result) {
    // ---- your part: each pixel's new value ----
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        result[i] = table[pixels[i]];
    }
    // ---- end of your part ----
}
