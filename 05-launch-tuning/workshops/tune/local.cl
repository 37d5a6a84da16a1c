// For the search only, behind histogram.cl: chapter 03's `local`, a byte to a load. LOADS pixels
// are asked for together, then counted; none is under way meanwhile.
__kernel OF_SHAPE void histogram_bytes(__global const uchar* pixels, ulong first, ulong count,
                                       __global ulong* totals, __global uint* histogram) {
    __local uint table[BINS];
    for (uint bin = get_local_id(0); bin < BINS; bin += GROUP_SIZE) {
        table[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong stride = get_global_size(0);
    ulong i = get_global_id(0);
    for (; i + (LOADS - 1) * stride < count; i += LOADS * stride) {
        uchar loaded[LOADS];
#pragma unroll
        for (uint n = 0; n < LOADS; ++n) {
            loaded[n] = pixels[first + i + n * stride];
        }
#pragma unroll
        for (uint n = 0; n < LOADS; ++n) {
            atomic_inc(&table[loaded[n]]);
        }
    }
    for (; i < count; i += stride) {
        atomic_inc(&table[pixels[first + i]]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = get_local_id(0); bin < BINS; bin += GROUP_SIZE) {
        hand_over(totals, histogram, bin, table[bin]);
    }
}
