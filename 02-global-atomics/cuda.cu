// Chapter 02 in CUDA: every thread counts in the device's global memory. The kernels are in
// histogram.cuh; opencl.cpp does the same in OpenCL, in the same steps. first.cu is the way in.
//
// Run it:  build/02-global-atomics/cuda --tile 100M

#include "02-global-atomics/histogram.cuh"
#include "common/cuda/cuda.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::cuda;

const Program kProgram{
    "02-global-atomics",
    "cuda",
    "CUDA",
    "the histogram counted in global memory",
    {{"global", "one table, one atomic addition for each pixel"},
     {"subhist", "one table for each block in global memory, then a sum"},
     {"racy", "plain ++ instead of an atomic addition: counts are lost", true}},
    {{"walk", {"interleaved", "blocked"}, "every n-th pixel, or a stretch", {"global", "racy"}}}};

int main(int argc, char** argv) try {  // at `catch` all objects of main are gone
    // 1. What is asked for, the pixels, and the right answer.
    Lesson lesson(argc, argv, kProgram);
    const std::size_t pixel_count = lesson.pixels.size();

    // 2. The device, and the launch: two blocks for each multiprocessor, 256 threads in each.
    const int device = choose_device(lesson);
    const auto group_size = static_cast<unsigned>(lesson.group_size(256, max_block_size(device)));
    const auto groups = static_cast<unsigned>(lesson.groups(2 * multiprocessors(device)));

    // 3. Where its commands go: the context comes by itself, the default stream keeps their order,
    //    and two events note when the work began and ended. Each is given back at the end of its
    //    scope.
    Event begin, end;
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));
    const auto milliseconds = [&] {
        float ms = 0;
        CHECK_CUDA(cudaEventSynchronize(end));  // at once, behind a copy that waits
        CHECK_CUDA(cudaEventElapsedTime(&ms, begin, end));
        return static_cast<double>(ms);
    };
    lesson.read_ceiling([&] { return read_ceiling_gb_s(pixel_count); });

    // 4. The kernels. They were compiled with this file, above.

    // 5. What the strategies share: the histogram. It is read and written: an atomic does both.
    Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));

    // 6. global, and racy, which differs in nothing but its kernel: zero the histogram, count, copy
    //    it out. `examine` copies in, poisons before each run, compares all bins, and times.
    const bool blocked = lesson.choice("walk") == "blocked";
    for (const std::string variant : {"global", "racy"}) {
        if (!lesson.wants(variant)) continue;
        auto* kernel = blocked ? histogram_global_blocked : histogram_global;
        if (variant == "racy") kernel = blocked ? histogram_racy_blocked : histogram_racy;
        Memory<std::uint8_t> pixels;
        CHECK_CUDA(cudaMalloc(pixels.out(), pixel_count));
        lesson.copy_in = [&] {  // `examine` calls it
            CHECK_CUDA(
                cudaMemcpy(pixels, lesson.pixels.data(), pixel_count, cudaMemcpyHostToDevice));
        };
        const auto count_pixels = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
            kernel<<<groups, group_size>>>(pixels, pixel_count, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return milliseconds();
        };
        lesson.examine(
            variant, {groups, group_size}, unsupported_reason(kernel, group_size),
            [&] { poison(histogram, sizeof(Histogram)); }, count_pixels);
        if (variant == "racy") lesson.say_what_was_lost(variant);
    }

    // 7. subhist: the same with pitched rows, a table for each block, and a second kernel.
    //    cudaMallocPitch chooses the pitch, in bytes, so that each row of `image` begins where the
    //    device reads best; the tables' pitch is then turned into bins.
    const std::size_t width = lesson.width;
    const std::size_t rows = std::max<std::size_t>((pixel_count + width - 1) / width, 1);
    Memory<std::uint8_t> image;
    std::size_t pitch_bytes = 0;
    const bool has_room =
        blocked || CUDA_HAS_ROOM(cudaMallocPitch(image.out(), &pitch_bytes, width, rows));
    if (lesson.wants("subhist", blocked    ? "--walk is not for it"
                                : has_room ? ""
                                           : "the device has no room for rows this far apart")) {
        // Across, as many blocks as the columns need; the others share the rows.
        const auto groups_x = static_cast<unsigned>(
            std::clamp<std::size_t>((width + group_size - 1) / group_size, 1, groups));
        const unsigned groups_y = std::min(groups / groups_x, kMaxBlocksInY);
        const std::uint32_t tables = groups_x * groups_y;
        poison(image, rows * pitch_bytes);  // gaps behind the rows show where they are counted
        Memory<std::uint32_t> sub_histograms;
        std::size_t table_pitch_bytes = 0;
        CHECK_CUDA(
            cudaMallocPitch(sub_histograms.out(), &table_pitch_bytes, sizeof(Histogram), tables));
        const std::size_t table_pitch_bins = table_pitch_bytes / sizeof(std::uint32_t);
        const auto poison_all = [&] {
            poison(sub_histograms, tables * table_pitch_bytes);
            poison(histogram, sizeof(Histogram));
        };
        lesson.copy_in = [&] {  // `examine` calls it
            const std::size_t whole = pixel_count / width, rest = pixel_count % width;
            CHECK_CUDA(cudaMemcpy2D(image, pitch_bytes, lesson.pixels.data(), width, width, whole,
                                    cudaMemcpyHostToDevice));
            if (rest > 0)
                CHECK_CUDA(cudaMemcpy(image + whole * pitch_bytes,
                                      &lesson.pixels[pixel_count - rest], rest,
                                      cudaMemcpyHostToDevice));
        };
        const auto count_rows = [&](Histogram& result) {
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(
                cudaMemset2DAsync(sub_histograms, table_pitch_bytes, 0, sizeof(Histogram), tables));
            subhist<<<dim3(groups_x, groups_y), group_size>>>(
                image, pitch_bytes, width, pixel_count, sub_histograms, table_pitch_bins);
            CHECK_CUDA(cudaGetLastError());
            sum_tables<<<(kBins + group_size - 1) / group_size, group_size>>>(
                sub_histograms, table_pitch_bins, tables, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof result, cudaMemcpyDeviceToHost));
            return milliseconds();
        };
        lesson.examine("subhist", {tables, group_size, groups_x},
                       unsupported_reason(subhist, group_size), poison_all, count_rows);
    }

    // 8. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
