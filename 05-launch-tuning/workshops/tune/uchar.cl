// For the search only, behind histogram.cl: chapter 04's uchar-bins. 8-bit counters for each
// work-item, which counts at most 255 pixels; then all are added up.
#define PIXELS_PER_TURN 255

__kernel OF_SHAPE void histogram_uchar(__global const uchar* pixels, ulong first, ulong count,
                                       __global ulong* totals, __global uint* histogram) {
    __local uint words[GROUP_SIZE * (BINS / 4)];
    __local uint sums[BINS];
    __local uchar* bytes = (__local uchar*)words;
    __local uchar* own = bytes + get_local_id(0) * BINS;
    // A bin of the sums is one work-item's from the beginning to the end: no barrier.
    for (uint bin = get_local_id(0); bin < BINS; bin += GROUP_SIZE) {
        sums[bin] = 0;
    }
    const ulong at_once = GROUP_SIZE * PIXELS_PER_TURN;
    // All work-items of the group take equally many turns, so all of them reach every barrier.
    for (ulong turn = get_group_id(0) * at_once; turn < count;
         turn += get_num_groups(0) * at_once) {
        for (uint word = get_local_id(0); word < GROUP_SIZE * (BINS / 4); word += GROUP_SIZE) {
            words[word] = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong end = min(turn + at_once, count);
        for (ulong i = turn + get_local_id(0); i < end; i += GROUP_SIZE) {
            ++own[pixels[first + i]];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint bin = get_local_id(0); bin < BINS; bin += GROUP_SIZE) {
            uint sum = 0;
            for (uint item = 0; item < GROUP_SIZE; ++item) {
                sum += bytes[item * BINS + bin];
            }
            sums[bin] += sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint bin = get_local_id(0); bin < BINS; bin += GROUP_SIZE) {
        hand_over(totals, histogram, bin, sums[bin]);
    }
}
