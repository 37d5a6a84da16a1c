// What your kernel is timed against: the same walk, with an addition for each pixel. It is launched
// with even numbers of pixels only.
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
        atomic_inc(&table[one]);
        atomic_inc(&table[two]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t bin = item; bin < BINS; bin += group_size) {
        atomic_add(&histogram[bin], table[bin]);
    }
}
