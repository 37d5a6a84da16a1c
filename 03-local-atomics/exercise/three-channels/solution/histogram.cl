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
    __local uint table[CHANNELS * BINS];
    for (size_t bin = item; bin < CHANNELS * BINS; bin += group_size) {
        table[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        for (uint channel = 0; channel < CHANNELS; ++channel) {
            atomic_inc(&table[channel * BINS + pixels[i * CHANNELS + channel]]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t bin = item; bin < CHANNELS * BINS; bin += group_size) {
        atomic_add(&histograms[bin], table[bin]);
    }
    // ---- end of your part ----
}
