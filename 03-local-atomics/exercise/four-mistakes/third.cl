// Exercise 03/four-mistakes: the third of four. One thing is wrong. README.md has the task.
#define BINS 256

__kernel void histogram_local(__global const uchar* pixels, ulong count, __global uint* histogram) {
    __local uint table[BINS];
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);
    // ---- your part: find the mistake, and mend it ----
    if (get_global_id(0) >= count) return;
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
    // ---- end of your part ----
}
