// Exercise 02/striped: eight tables for the whole launch. README.md has the task.
#define BINS 256
#define TABLES 8

// The tables lie one behind the other, TABLES * BINS counters, all zero at first.
__kernel void histogram_striped(__global const uchar* pixels, ulong count, __global uint* tables) {
    // ---- your part: choose this work-item's table, and count in it ----
    __global uint* own = tables + get_global_id(0) % TABLES * BINS;
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        atomic_inc(&own[pixels[i]]);
    }
    // ---- end of your part ----
}

// Launched when the other has finished. What is in `histogram` before is not zero.
__kernel void sum_tables(__global const uint* tables, __global uint* histogram) {
    for (size_t bin = get_global_id(0); bin < BINS; bin += get_global_size(0)) {
        // ---- your part: add the tables up ----
        uint sum = 0;
        for (uint table = 0; table < TABLES; ++table) {
            sum += tables[table * BINS + bin];
        }
        histogram[bin] = sum;
        // ---- end of your part ----
    }
}
