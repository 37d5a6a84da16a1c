// More bins than 256, of pixels of 16 bits, in CUDA. The kernels are in histogram.cuh.
//
// Run it:  build/05-launch-tuning/workshops/bins/cuda --random 100M --bins 65536

#include "05-launch-tuning/workshops/bins/histogram.cuh"
#include "05-launch-tuning/workshops/bins/values.hpp"
#include "05-launch-tuning/workshops/limits_cuda.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::cuda;

const Program kProgram{"05-launch-tuning",
                       "workshops/bins/cuda",
                       "CUDA",
                       "more bins than 256, of pixels of 16 bits",
                       {{"global", "one table in global memory"},
                        {"local", "a table for each block in shared memory, as long as it fits"},
                        {"passes", "a slice of the table at a time"},
#ifndef CUDA_ON_CPU
                        {"cluster", "a slice for each block of a cluster"}
#endif
                       }};

int main(int argc, char** argv) try {
    // 1. What is asked for, the pixels, and the right answer.
    bins::Values values;
    Lesson lesson(
        argc, argv, kProgram, [&](CLI::App& app) { values.add_options(app); },
        [&](const Options& options) { return values.load(options); });
    const std::uint64_t pixel_count = values.pixels.size();

    // 2. The device, and the threads of a block: it may ask for all of the shared memory.
    const int device = choose_device(lesson);
    int shared_bytes = 0;
    CHECK_CUDA(
        cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    DeviceLimits limits = limits_of(device);
    limits.local_bytes = static_cast<std::uint64_t>(shared_bytes);
    const std::size_t group_size = lesson.group_size(1024, limits.max_group_size);
    const auto block_size = static_cast<unsigned>(group_size);

    // 3. Where its commands go: the context comes by itself, the default stream keeps their order,
    //    and two events note when the work began and ended. Each is given back at the end of its
    //    scope.
    Event begin, end;
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));
    lesson.read_ceiling([&] { return read_ceiling_gb_s(values.bytes()); });

    // 4. The kernels. They were compiled with this file.

    // 5. What the strategies share: the pixels on the device, the histogram, and a kernel that adds
    //    rows up in it. Counters that are added to are zeroed within the time.
    const std::size_t histogram_bytes = values.bins * sizeof(std::uint32_t);
    Memory<std::uint16_t> pixels;
    Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(pixels.out(), values.bytes()));
    CHECK_CUDA(cudaMalloc(histogram.out(), histogram_bytes));
    std::vector<std::uint32_t> counted(values.bins);
    const auto copy_in = [&] {
        CHECK_CUDA(
            cudaMemcpy(pixels, values.pixels.data(), values.bytes(), cudaMemcpyHostToDevice));
    };
    const auto copy_out = [&] {
        CHECK_CUDA(cudaMemcpy(counted.data(), histogram, histogram_bytes, cudaMemcpyDeviceToHost));
    };
    const auto add_up = [&](const std::uint32_t* rows, std::size_t row_count,
                            std::uint32_t counters, std::uint32_t from) {
        constexpr unsigned kSize = 256;
        const unsigned parts = bins::parts(counters, row_count);
        kernels::histogram_sum<<<(counters * parts + kSize - 1) / kSize, kSize>>>(
            rows, static_cast<unsigned>(row_count), counters, parts, from, histogram);
    };

    // 6. global: every pixel is an atomic addition in global memory.
    if (lesson.wants("global")) {
        const bins::Plan plan = bins::plan("global", values, lesson.options, limits, group_size);
        const auto kernel = kernels::histogram_global;
        const auto blocks = static_cast<unsigned>(plan.groups);
        Runs runs = lesson.runs("global", {blocks, group_size},
                                unsupported_reason(kernel, group_size), plan.text());
        while (runs.next()) {
            poison(histogram, histogram_bytes);
            runs.begin();
            if (runs.copies_in()) copy_in();
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, histogram_bytes));
            kernel<<<blocks, block_size>>>(pixels, pixel_count, plan.slice, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            copy_out();
            runs.end(elapsed_ms(begin, end));
            runs.wrong = values.what_is_wrong(counted);
        }
    }

    // 7. local and passes: a launch for each slice of the table, of which local has one. Each block
    //    writes a row, and a second kernel adds the rows up.
    for (const std::string variant : {"local", "passes"}) {
        if (!lesson.wants(variant)) continue;
        const bins::Plan plan = bins::plan(variant, values, lesson.options, limits, group_size);
        const auto blocks = static_cast<unsigned>(plan.groups);
        const auto kernel =
            plan.slices == 1 ? kernels::histogram_local<true> : kernels::histogram_local<false>;
        const std::size_t rows_bytes =
            plan.unsupported_reason.empty() ? blocks * plan.slice.counters * 4ULL : 0;
        Memory<std::uint32_t> rows;
        CHECK_CUDA(cudaMalloc(rows.out(), rows_bytes));
        if (plan.unsupported_reason.empty())
            CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(plan.local_bytes())));
        Runs runs =
            lesson.runs(variant, {blocks, group_size},
                        plan.unsupported_reason.empty() ? unsupported_reason(kernel, group_size)
                                                        : plan.unsupported_reason,
                        plan.text());
        while (runs.next()) {
            poison(histogram, histogram_bytes);
            poison(rows, rows_bytes);
            runs.begin();
            if (runs.copies_in()) copy_in();
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, histogram_bytes));
            for (bins::Slice slice = plan.slice; slice.from < values.bins;
                 slice.from += slice.counters) {
                kernel<<<blocks, block_size, plan.local_bytes()>>>(pixels, pixel_count, slice,
                                                                   rows);
                add_up(rows, blocks, slice.counters, slice.from);
            }
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            copy_out();
            runs.end(elapsed_ms(begin, end));
            runs.wrong = values.what_is_wrong(counted);
        }
    }

#ifndef CUDA_ON_CPU
    // 8. cluster: one launch, in clusters of as many blocks as there are slices.
    if (lesson.wants("cluster")) {
        bins::Plan plan = bins::plan("cluster", values, lesson.options, limits, group_size);
        const auto kernel = kernels::histogram_cluster;
        int major = 0;
        CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
        if (major < 9) plan.unsupported_reason = "clusters need compute capability 9.0";
        const auto blocks = static_cast<unsigned>(plan.groups);
        const std::size_t rows_bytes =
            plan.unsupported_reason.empty() ? blocks * plan.slice.counters * 4ULL : 0;
        Memory<std::uint32_t> rows;
        CHECK_CUDA(cudaMalloc(rows.out(), rows_bytes));
        if (plan.unsupported_reason.empty())
            CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(plan.local_bytes())));
        cudaLaunchAttribute in_clusters{};
        in_clusters.id = cudaLaunchAttributeClusterDimension;
        in_clusters.val.clusterDim = {plan.slices, 1, 1};
        cudaLaunchConfig_t launch{};
        launch.gridDim = blocks;
        launch.blockDim = block_size;
        launch.dynamicSmemBytes = plan.local_bytes();
        launch.attrs = &in_clusters;
        launch.numAttrs = 1;
        Runs runs =
            lesson.runs("cluster", {blocks, group_size},
                        plan.unsupported_reason.empty() ? unsupported_reason(kernel, group_size)
                                                        : plan.unsupported_reason,
                        plan.text());
        while (runs.next()) {
            poison(histogram, histogram_bytes);
            poison(rows, rows_bytes);
            runs.begin();
            if (runs.copies_in()) copy_in();
            CHECK_CUDA(cudaEventRecord(begin));
            CHECK_CUDA(cudaMemsetAsync(histogram, 0, histogram_bytes));
            CHECK_CUDA(cudaLaunchKernelEx(&launch, kernel, pixels, pixel_count, plan.slice, rows));
            add_up(rows, blocks / plan.slices, values.bins, 0);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(cudaEventRecord(end));
            copy_out();
            runs.end(elapsed_ms(begin, end));
            runs.wrong = values.what_is_wrong(counted);
        }
    }
#endif

    // 9. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
