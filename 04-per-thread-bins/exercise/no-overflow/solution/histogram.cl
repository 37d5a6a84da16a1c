// Exercise 04/no-overflow: 8-bit counters of one's own, as they were published. README.md has the
// task.
#define BINS 256

// `bins` has 256 bytes for each work-item of the group. Each group adds what it has counted to the
// histogram.
__kernel void histogram_uchar(__global const uchar* pixels, ulong count, __local uint* words,
                              __global uint* histogram) {
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);
    __local uchar* bins = (__local uchar*)words;
    __local uchar* own = bins + item * BINS;
    // ---- your part: no counter may be asked to hold more than it can ----
    const ulong at_once = group_size * 255;
    for (ulong first = get_group_id(0) * at_once; first < count;
         first += get_num_groups(0) * at_once) {
        for (size_t word = item; word < group_size * (BINS / 4); word += group_size) {
            words[word] = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong end = min(first + at_once, count);
        for (ulong i = first + item; i < end; i += group_size) {
            ++own[pixels[i]];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t base = 0; base < BINS; base += group_size) {
            const size_t bin = base + item;
            if (bin < BINS) {
                uint sum = 0;
                for (size_t other = 0; other < group_size; ++other) {
                    sum += bins[other * BINS + bin];
                }
                atomic_add(&histogram[bin], sum);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    // ---- end of your part ----
}
