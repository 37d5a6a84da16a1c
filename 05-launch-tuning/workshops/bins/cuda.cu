// More bins than 256, in CUDA: of interleaved colours, and of pixels of 16 bits. The kernels are in
// histogram.cuh.
//
//   global   one table in global memory
//   local    a table for each block in shared memory, as long as it fits
//   passes   a slice of the table at a time, and all pixels are read for each
//   cluster  a slice for each block of a cluster, which count into each other's shared memory
//
// Run it:  build/05-launch-tuning/workshops/bins/cuda --random 100M                # RGB
//          build/05-launch-tuning/workshops/bins/cuda --random 100M --bins 65536   # 16 bits
//
// opencl.cpp does the same in OpenCL, in the same steps.

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "05-launch-tuning/workshops/bins/histogram.cuh"
#include "05-launch-tuning/workshops/bins/values.hpp"
#include "common/cuda/cuda.hpp"
#include "common/histogram/histogram.hpp"
#include "common/options/options.hpp"
#include "common/process/exit_status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/report.hpp"
#include "common/run/run.hpp"
#include "common/verify/verify.hpp"

const common::Program kProgram{
    "05-launch-tuning",
    "workshops/bins/cuda",
    "CUDA",
    "more bins than 256: of colours, and of pixels of 16 bits",
    {{"global", "one table in global memory"},
     {"local", "a table for each block in shared memory, as long as it fits"},
     {"passes", "a slice of the table at a time"},
     {"cluster", "a slice for each block of a cluster"}},
    {{"channels",
      {"3", "4"},
      "interleaved RGB (as usual) or RGBA",
      {"global", "local", "passes", "cluster"}},
     {"passes", {"2", "4", "8"}, "slices of the table", {"passes"}},
     {"cluster", {"2", "4", "8"}, "blocks of a cluster", {"cluster"}}}};

// The kernels for a number of channels.
struct Kernels {
    void (*global)(const std::uint8_t*, std::uint64_t, std::uint64_t, bins::Slice, std::uint32_t*);
    decltype(global) whole, part, cluster;
};

template <unsigned kChannels>
constexpr Kernels kKernels{
    kernels::histogram_global<kChannels>, kernels::histogram_local<kChannels, true>,
    kernels::histogram_local<kChannels, false>, kernels::histogram_cluster<kChannels>};

#ifndef ON_CPU_KERNEL

// A launch of clusters of so many blocks.
static void launch_clusters(decltype(Kernels::cluster) kernel, const bins::Plan& plan,
                            cudaStream_t stream, const std::uint8_t* pixels, std::uint64_t first,
                            std::uint64_t count, std::uint32_t* rows) {
    cudaLaunchAttribute clusters{};
    clusters.id = cudaLaunchAttributeClusterDimension;
    clusters.val.clusterDim.x = plan.slices;
    clusters.val.clusterDim.y = clusters.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(plan.groups);
    config.blockDim = static_cast<unsigned>(plan.group_size);
    config.dynamicSmemBytes = plan.local_bytes();
    config.stream = stream;
    config.attrs = &clusters;
    config.numAttrs = 1;
    CHECK_CUDA(cudaLaunchKernelEx(&config, kernel, pixels, first, count, plan.slice, rows));
}

// Why there are no clusters. A kernel that was compiled for an older device has none.
static std::string clusters_missing(int device, decltype(Kernels::cluster) kernel) {
    cudaDeviceProp properties{};
    CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
    cudaFuncAttributes compiled{};
    CHECK_CUDA(cudaFuncGetAttributes(&compiled, kernel));
    if (properties.major < 9) return "this device's compute capability is below 9.0";
    if (compiled.ptxVersion < 90) return "built for a compute capability below 9.0";
    return {};
}

#else  // CUDA on a CPU

static void launch_clusters(decltype(Kernels::cluster), const bins::Plan&, cudaStream_t,
                            const std::uint8_t*, std::uint64_t, std::uint64_t, std::uint32_t*) {}

static std::string clusters_missing(int, decltype(Kernels::cluster)) {
    return "not in the emulation";
}

#endif

// One command line, from what is asked for to the table.
static int run(int argc, const char* const* argv, const common::Output& output) {
    // 1. What is asked for.
    bins::ValueOptions asked;
    const common::Options options = bins::parse_options(argc, argv, kProgram, asked);
    if (options.list_devices) {
        common::print(common::cuda::list(common::cuda::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The values, and the right answer.
    const bins::Values values = bins::load(options, asked);
    const std::size_t value_bytes = values.value_bytes();

    // 3. The device.
    const common::cuda::Device device = common::cuda::choose_device(options.device);
    common::cuda::require_group_size(device.id,
                                     static_cast<unsigned>(options.group_size.value_or(1)));
    int local_bytes = 0;
    CHECK_CUDA(
        cudaDeviceGetAttribute(&local_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device.id));
    const DeviceLimits limits{.units = common::cuda::multiprocessors(device.id),
                              .max_group_size = common::cuda::max_block_size(device.id),
                              .local_bytes = static_cast<std::uint64_t>(local_bytes)};
    common::Report report(output, kProgram, options, values.input, values.sum, device.name,
                          device.driver);

    // 4. Where its commands go: a stream that keeps their order; two events note when the work
    //    began and ended. Each is given back at the end of its scope.
    common::cuda::Stream stream;
    CHECK_CUDA(cudaStreamCreate(stream.out()));
    common::cuda::Event begin;
    common::cuda::Event end;
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));

    // 5. The read ceiling: how fast this device's memory gives pixels to a kernel that only reads.
    if (options.read_ceiling)
        report.set_read_ceiling(common::cuda::read_ceiling_gb_s(values.bytes().size()));

    // 6. What the strategies share: the values on the device and the histogram, the kernels, and
    //    how a strategy is examined. What is added up needs the time of zeroing, too.
    const auto make = [&](auto& memory, std::size_t bytes) {
        CHECK_CUDA(cudaMalloc(memory.out(), std::max<std::size_t>(bytes, sizeof(std::uint32_t))));
    };
    const std::size_t histogram_bytes = values.counters() * sizeof(std::uint32_t);
    common::cuda::Memory<std::uint8_t> pixels;
    common::cuda::Memory<std::uint32_t> histogram;
    make(pixels, values.bytes_on_device());
    make(histogram, histogram_bytes);
    const Kernels kernels_of = values.channels == 1   ? kKernels<1>
                               : values.channels == 3 ? kKernels<3>
                                                      : kKernels<4>;
    const auto examine = [&](const std::string& variant, const bins::Plan& plan, const auto& kernel,
                             std::uint32_t* rows, std::size_t rows_bytes, const auto& count) {
        std::vector<std::uint32_t> counted(values.counters());
        common::Result timed = common::verify_and_time(
            variant, values.sum, options.repeat,
            {.poison =
                 [&] {
                     common::cuda::poison(histogram, histogram_bytes);
                     if (rows_bytes > 0) common::cuda::poison(rows, rows_bytes);
                 },
             .copy_in =
                 [&] {
                     CHECK_CUDA(cudaMemcpyAsync(pixels + values.offset * value_bytes,
                                                values.bytes().data(), values.bytes().size(),
                                                cudaMemcpyHostToDevice, stream));
                 },
             .run =
                 [&](common::Histogram& result) {
                     CHECK_CUDA(cudaEventRecord(begin, stream));
                     CHECK_CUDA(cudaMemsetAsync(histogram, 0, histogram_bytes, stream));
                     count();
                     CHECK_CUDA(cudaGetLastError());
                     CHECK_CUDA(cudaEventRecord(end, stream));
                     CHECK_CUDA(cudaMemcpyAsync(counted.data(), histogram, histogram_bytes,
                                                cudaMemcpyDeviceToHost, stream));
                     CHECK_CUDA(cudaStreamSynchronize(stream));
                     values.judge(counted, result);
                     return common::cuda::elapsed_ms(begin, end);
                 },
             .launch = {plan.groups, plan.group_size},
             .unsupported_reason = plan.unsupported_reason.empty()
                                       ? common::cuda::unsupported_reason(kernel, plan.group_size)
                                       : plan.unsupported_reason});
        timed.launch_text = plan.text();
        report.add(std::move(timed));
    };
    const auto add_up = [&](const std::uint32_t* rows, std::size_t row_count,
                            std::uint32_t counters, std::uint32_t from) {
        constexpr unsigned kSize = 256;
        const unsigned parts = bins::parts(counters, row_count);
        kernels::histogram_sum<<<(counters * parts + kSize - 1) / kSize, kSize, 0, stream>>>(
            rows, static_cast<unsigned>(row_count), counters, parts, from, histogram);
    };

    // 7. global: every value is an atomic addition in global memory.
    if (options.wants("global")) {
        const bins::Plan plan = bins::plan("global", values, options, limits);
        const auto kernel = kernels_of.global;
        examine("global", plan, kernel, nullptr, 0, [&] {
            kernel<<<static_cast<unsigned>(plan.groups), static_cast<unsigned>(plan.group_size), 0,
                     stream>>>(pixels, values.offset, values.count(), plan.slice, histogram);
        });
    }

    // 8. local and passes: a launch for each slice of the table, of which local has one. Each block
    //    writes a row, and a second kernel adds the rows up. cluster: a row for each cluster.
    for (const std::string& variant : std::vector<std::string>{"local", "passes", "cluster"}) {
        if (!options.wants(variant)) continue;
        const bool clusters = variant == "cluster";
        bins::Plan plan = bins::plan(variant, values, options, limits);
        const auto kernel = clusters           ? kernels_of.cluster
                            : plan.slices == 1 ? kernels_of.whole
                                               : kernels_of.part;
        if (clusters) {
            const std::string missing = clusters_missing(device.id, kernel);
            if (!missing.empty()) plan.unsupported_reason = missing;
        }
        const std::size_t row_count = clusters ? plan.groups / plan.slices : plan.groups;
        const std::uint32_t row = clusters ? values.counters() : plan.slice.counters;
        std::size_t rows_bytes = row_count * row * sizeof(std::uint32_t);
        if (!plan.unsupported_reason.empty()) rows_bytes = 0;
        common::cuda::Memory<std::uint32_t> rows;
        make(rows, rows_bytes);
        if (plan.unsupported_reason.empty())
            CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(plan.local_bytes())));
        examine(variant, plan, kernel, rows, rows_bytes, [&] {
            if (clusters) {
                launch_clusters(kernel, plan, stream, pixels, values.offset, values.count(), rows);
                add_up(rows, row_count, row, 0);
                return;
            }
            for (bins::Slice slice = plan.slice; slice.from < values.counters();
                 slice.from += slice.counters) {
                slice.counters = std::min(slice.counters, values.counters() - slice.from);
                kernel<<<static_cast<unsigned>(plan.groups), static_cast<unsigned>(plan.group_size),
                         plan.local_bytes(), stream>>>(pixels, values.offset, values.count(), slice,
                                                       rows);
                add_up(rows, row_count, slice.counters, slice.from);
            }
        });
    }

    // 9. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
