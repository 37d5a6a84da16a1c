// Exercise 03/tiles: a histogram for each tile of a picture. README.md has the task.
#define BINS 256

// Pixel x of row y is pixels[y * width + x]. Tiles have `side` x `side` pixels, fewer at the right
// and the lower edge; they are numbered row by row. The histogram of tile t begins at histograms +
// t * BINS, and is not zero at first.
__kernel void histogram_tiles(__global const uchar* pixels, ulong width, ulong height, ulong side,
                              __global uint* histograms) {
    __local uint table[BINS];
    const size_t item = get_local_id(0);
    const size_t group_size = get_local_size(0);
    const ulong across = (width + side - 1) / side;
    const ulong tiles = across * ((height + side - 1) / side);
    // There may be more tiles than groups, or fewer.
    for (ulong tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        const ulong left = tile % across * side;
        const ulong top = tile / across * side;
        // ---- your part: zero, count the pixels of this tile, and write its histogram ----
        for (size_t bin = item; bin < BINS; bin += group_size) {
            table[bin] = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong tile_width = min(side, width - left);
        const ulong tile_height = min(side, height - top);
        for (ulong i = item; i < tile_width * tile_height; i += group_size) {
            const ulong x = left + i % tile_width;
            const ulong y = top + i / tile_width;
            atomic_inc(&table[pixels[y * width + x]]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t bin = item; bin < BINS; bin += group_size) {
            histograms[tile * BINS + bin] = table[bin];
        }
        // No third barrier: the same work-item writes a bin out and zeroes it.
        // ---- end of your part ----
    }
}
