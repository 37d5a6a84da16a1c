// More bins than 256, of pixels of 16 bits, in CUDA. The kernels are in histogram.cuh.
//
//   global   one table in global memory
//   local    a table for each block in shared memory, as long as it fits
//   passes   a slice of the table at a time, and all pixels are read for each
//   cluster  a slice for each block of a cluster, which count into each other's shared memory
//
// Run it:  build/05-launch-tuning/workshops/bins/cuda --random 100M --bins 65536
//
// opencl.cpp does the same in OpenCL, in the same steps.

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
                        {"cluster", "a slice for each block of a cluster"}},
                       {{"passes", {"2", "4", "8"}, "slices of the table", {"passes"}},
                        {"cluster", {"2", "4", "8"}, "blocks of a cluster", {"cluster"}}}};

using Kernel = decltype(&kernels::histogram_global);

#ifndef CUDA_ON_CPU

// A launch of clusters of so many blocks.
static void launch_clusters(Kernel kernel, const bins::Plan& plan, const std::uint16_t* pixels,
                            std::uint64_t first, std::uint64_t count, std::uint32_t* rows) {
    cudaLaunchAttribute clusters{};
    clusters.id = cudaLaunchAttributeClusterDimension;
    clusters.val.clusterDim.x = plan.slices;
    clusters.val.clusterDim.y = clusters.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(plan.groups);
    config.blockDim = static_cast<unsigned>(plan.group_size);
    config.dynamicSmemBytes = plan.local_bytes();
    config.attrs = &clusters;
    config.numAttrs = 1;
    CHECK_CUDA(cudaLaunchKernelEx(&config, kernel, pixels, first, count, plan.slice, rows));
}

// Why there are no clusters. A kernel that was compiled for an older device has none.
static std::string clusters_missing(int device, Kernel kernel) {
    cudaDeviceProp properties{};
    CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
    cudaFuncAttributes compiled{};
    CHECK_CUDA(cudaFuncGetAttributes(&compiled, kernel));
    if (properties.major < 9) return "this device's compute capability is below 9.0";
    if (compiled.ptxVersion < 90) return "built for a compute capability below 9.0";
    return {};
}

#else  // CUDA on a CPU

static void launch_clusters(Kernel, const bins::Plan&, const std::uint16_t*, std::uint64_t,
                            std::uint64_t, std::uint32_t*) {}

static std::string clusters_missing(int, Kernel) {
    return "not in the emulation";
}

#endif

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
    const auto milliseconds = [&] {
        float ms = 0;
        CHECK_CUDA(cudaEventSynchronize(end));
        CHECK_CUDA(cudaEventElapsedTime(&ms, begin, end));
        return static_cast<double>(ms);
    };
    lesson.read_ceiling([&] { return read_ceiling_gb_s(values.bytes()); });

    // 4. The kernels. They were compiled with this file.

    // 5. What the strategies share: the pixels on the device and the histogram, and how a kernel
    //    that adds to it is run. What is added up needs the time of zeroing, too.
    const std::size_t histogram_bytes = values.bins * sizeof(std::uint32_t);
    Memory<std::uint16_t> pixels;
    Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(pixels.out(), values.bytes_on_device()));
    CHECK_CUDA(cudaMalloc(histogram.out(), histogram_bytes));
    std::vector<std::uint32_t> counted(values.bins);
    lesson.copy_in = [&] {  // `examine` calls it
        CHECK_CUDA(cudaMemcpy(pixels + values.offset, values.pixels.data(), values.bytes(),
                              cudaMemcpyHostToDevice));
    };
    const auto zero_and_count = [&](const auto& count, Histogram& result) {
        CHECK_CUDA(cudaEventRecord(begin));
        CHECK_CUDA(cudaMemsetAsync(histogram, 0, histogram_bytes));
        count();
        CHECK_CUDA(cudaGetLastError());
        CHECK_CUDA(cudaEventRecord(end));
        CHECK_CUDA(cudaMemcpy(counted.data(), histogram, histogram_bytes, cudaMemcpyDeviceToHost));
        result = values.judge(counted, lesson.expected);
        return milliseconds();
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
        const auto count = [&] {
            kernel<<<blocks, block_size>>>(pixels, values.offset, pixel_count, plan.slice,
                                           histogram);
        };
        lesson.examine(
            "global", {blocks, group_size}, unsupported_reason(kernel, group_size),
            [&] { poison(histogram, histogram_bytes); },
            [&](Histogram& result) { return zero_and_count(count, result); }, plan.text());
    }

    // 7. local and passes: a launch for each slice of the table, of which local has one. Each block
    //    writes a row, and a second kernel adds the rows up. cluster: a row for each cluster.
    for (const std::string variant : {"local", "passes", "cluster"}) {
        if (!lesson.wants(variant)) continue;
        const bool clusters = variant == "cluster";
        bins::Plan plan = bins::plan(variant, values, lesson.options, limits, group_size);
        const auto blocks = static_cast<unsigned>(plan.groups);
        const Kernel kernel = clusters           ? kernels::histogram_cluster
                              : plan.slices == 1 ? kernels::histogram_local<true>
                                                 : kernels::histogram_local<false>;
        if (clusters) {
            const std::string missing = clusters_missing(device, kernel);
            if (!missing.empty()) plan.unsupported_reason = missing;
        }
        const std::size_t row_count = clusters ? plan.groups / plan.slices : plan.groups;
        const std::uint32_t row = clusters ? values.bins : plan.slice.counters;
        std::size_t rows_bytes = row_count * row * sizeof(std::uint32_t);
        if (!plan.unsupported_reason.empty()) rows_bytes = 0;
        Memory<std::uint32_t> rows;
        CHECK_CUDA(cudaMalloc(rows.out(), rows_bytes));
        if (plan.unsupported_reason.empty())
            CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(plan.local_bytes())));
        const auto count = [&] {
            if (clusters) {
                launch_clusters(kernel, plan, pixels, values.offset, pixel_count, rows);
                add_up(rows, row_count, row, 0);
                return;
            }
            for (bins::Slice slice = plan.slice; slice.from < values.bins;
                 slice.from += slice.counters) {
                kernel<<<blocks, block_size, plan.local_bytes()>>>(pixels, values.offset,
                                                                   pixel_count, slice, rows);
                add_up(rows, row_count, slice.counters, slice.from);
            }
        };
        const auto poison_both = [&] {
            poison(histogram, histogram_bytes);
            if (rows_bytes > 0) poison(rows, rows_bytes);
        };
        lesson.examine(
            variant, {blocks, group_size},
            plan.unsupported_reason.empty() ? unsupported_reason(kernel, group_size)
                                            : plan.unsupported_reason,
            poison_both, [&](Histogram& result) { return zero_and_count(count, result); },
            plan.text());
    }

    // 8. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
