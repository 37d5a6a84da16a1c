// Exercise 04/more-bins: a picture of 16 bits a pixel in 1,024 bins. README.md has the task.

// Bin b counts the values from b * 64 to b * 64 + 63.
__kernel void histogram_1024(__global const ushort* pixels, ulong count, __global uint* histogram) {
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);
    // ---- your part: 1,024 bins in the place of 256 ----
    __local uint table[1024];
    for (size_t bin = item; bin < 1024; bin += group_size) {
        table[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        atomic_inc(&table[pixels[i] >> 6]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t bin = item; bin < 1024; bin += group_size) {
        atomic_add(&histogram[bin], table[bin]);
    }
    // ---- end of your part ----
}
