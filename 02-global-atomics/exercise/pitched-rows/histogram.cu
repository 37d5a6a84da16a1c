// Exercise 02/pitched-rows: the chapter's `subhist`, over memory with gaps. README.md has the task.
#include <cstddef>
#include <cstdint>

constexpr unsigned kBins = 256;

// Row y of the picture begins at byte y * image_pitch_bytes and has `width` pixels, a byte each;
// there are `count` in all, so the last row may be short. From the table of one block to that of
// the next there are `table_pitch_bytes`. The tables are zero; what lies between them is not.
// (extern "C": the grader looks for the kernels by their names.)
extern "C" __global__ void subhist(const std::uint8_t* image, std::size_t image_pitch_bytes,
                                   std::size_t width, std::size_t count, std::uint32_t* tables,
                                   std::size_t table_pitch_bytes) {
    // ---- your part: count each pixel in the table of the block ----
    // TODO: this is the chapter's, for rows and tables without gaps
    std::uint32_t* table = tables + std::size_t{blockIdx.x} * kBins;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&table[image[i]], 1U);
    }
    // ---- end of your part ----
}

extern "C" __global__ void sum_tables(const std::uint32_t* tables, std::size_t table_pitch_bytes,
                                      std::uint32_t table_count, std::uint32_t* histogram) {
    for (unsigned bin = blockIdx.x * blockDim.x + threadIdx.x; bin < kBins;
         bin += gridDim.x * blockDim.x) {
        // ---- your part: add up this bin of all tables ----
        // TODO: here, too, the tables have no gaps
        std::uint32_t sum = 0;
        for (std::uint32_t table = 0; table < table_count; ++table) {
            sum += tables[table * kBins + bin];
        }
        histogram[bin] = sum;
        // ---- end of your part ----
    }
}
