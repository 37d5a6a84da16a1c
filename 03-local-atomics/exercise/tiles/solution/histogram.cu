// Exercise 03/tiles: a histogram for each tile of a picture. README.md has the task.
#include <cstddef>
#include <cstdint>

constexpr unsigned kBins = 256;

// Pixel x of row y is pixels[y * width + x]. Tiles have `side` x `side` pixels, fewer at the right
// and the lower edge; they are numbered row by row. The histogram of tile t begins at histograms +
// t * kBins, and is not zero at first. (extern "C": the grader looks for the kernel by its name.)
extern "C" __global__ void histogram_tiles(const std::uint8_t* pixels, std::size_t width,
                                           std::size_t height, std::size_t side,
                                           std::uint32_t* histograms) {
    __shared__ std::uint32_t table[kBins];
    const std::size_t across = (width + side - 1) / side;
    const std::size_t tiles = across * ((height + side - 1) / side);
    // There may be more tiles than blocks, or fewer.
    for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const std::size_t left = tile % across * side;
        const std::size_t top = tile / across * side;
        // ---- your part: zero, count the pixels of this tile, and write its histogram ----
        for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
            table[bin] = 0;
        }
        __syncthreads();
        const std::size_t tile_width = min(side, width - left);
        const std::size_t tile_height = min(side, height - top);
        for (std::size_t i = threadIdx.x; i < tile_width * tile_height; i += blockDim.x) {
            const std::size_t x = left + i % tile_width;
            const std::size_t y = top + i / tile_width;
            atomicAdd(&table[pixels[y * width + x]], 1U);
        }
        __syncthreads();
        for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
            histograms[tile * kBins + bin] = table[bin];
        }
        // No third barrier: the same thread writes a bin out and zeroes it.
        // ---- end of your part ----
    }
}
