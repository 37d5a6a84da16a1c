// Exercise 03/five-steps: a table for each work-group, in local memory. README.md has the task.
#define BINS 256

__kernel void histogram_local(__global const uchar* pixels, ulong count, __global uint* histogram) {
    __local uint table[BINS];
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);
    // ---- your part: the five steps ----
    // TODO 1: zero the group's table
    // TODO 2: wait
    // TODO 3: count, in the table
    // TODO 4: wait
    // TODO 5: add the table to the histogram
    // ---- end of your part ----
}
