// Exercise 05/equal-neighbours: one addition where two pixels are equal. README.md has the task.
#define BINS 256

__kernel void histogram_pairs(__global const uchar* pixels, ulong count, __global uint* histogram) {
    __local uint table[BINS];
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);
    for (size_t bin = item; bin < BINS; bin += group_size) {
        table[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < count / 2; i += get_global_size(0)) {
        const uchar one = pixels[2 * i];
        const uchar two = pixels[2 * i + 1];
        // ---- your part: count both pixels, with one addition where they are equal ----
        if (one == two) {
            atomic_add(&table[one], 2);
        } else {
            atomic_inc(&table[one]);
            atomic_inc(&table[two]);
        }
        // ---- end of your part ----
    }
    // ---- your part: the last pixel, where their number is odd ----
    if (count % 2 == 1 && get_global_id(0) == 0) {
        atomic_inc(&table[pixels[count - 1]]);
    }
    // ---- end of your part ----
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t bin = item; bin < BINS; bin += group_size) {
        atomic_add(&histogram[bin], table[bin]);
    }
}
