// Exercise 03/three-channels: three histograms, one pass. README.md has the task.
#define BINS 256
#define CHANNELS 3

// A pixel is three bytes: red, green, blue. `histograms` has 256 counters for red, then 256 for
// green, then 256 for blue.
__kernel void histogram_channels(__global const uchar* pixels, ulong count,
                                 __global uint* histograms) {
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);
    // ---- your part: the table, and the five steps ----
    // TODO: this counts red alone
    __local uint table[BINS];
    for (size_t bin = item; bin < BINS; bin += group_size) {
        table[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        atomic_inc(&table[pixels[i * CHANNELS]]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t bin = item; bin < BINS; bin += group_size) {
        atomic_add(&histograms[bin], table[bin]);
    }
    // ---- end of your part ----
}
