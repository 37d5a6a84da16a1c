// From the pixels in the host's memory to the histogram there, in CUDA: three ways to copy and
// count, beside the copy alone.
//
//   copy       to the device, and nothing else
//   pageable   the pixels from where they happen to be, then the count
//   pinned     from memory that the driver can copy from without a detour
//   pipelined  the same in chunks: while one is counted, the next is on its way
//
// Run it:  build/05-launch-tuning/workshops/end-to-end/cuda --tile 1G
//
// opencl.cpp does the same in OpenCL, in the same steps.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/launch.hpp"
#include "common/cuda/cuda.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/process/exit_status.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/report.hpp"
#include "common/verify/verify.hpp"

using common::Histogram;
using common::kBins;

const common::Program kProgram{"05-launch-tuning",
                               "workshops/end-to-end/cuda",
                               "CUDA",
                               "ways to copy and count, by wall time",
                               {{"copy", "copied from pinned memory, and nothing else"},
                                {"pageable", "copied from ordinary memory, then counted"},
                                {"pinned", "copied from pinned memory, then counted"},
                                {"pipelined", "in chunks: one is counted, the next copied"}},
                               {},
                               {{"--plot", "there is nothing to draw"}}};

// Pixels in a chunk of the pipelined way: small beside a picture that is worth a pipeline, large
// beside what it costs to start a copy and a kernel.
constexpr std::uint64_t kChunkPixels = std::uint64_t{16} << 20;

int main(int argc, char** argv) try {
    // 1. What is asked for.
    const common::Options options = common::parse_options(argc, argv, kProgram);
    if (options.list_devices) {
        common::print(common::cuda::list(common::cuda::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, and the right answer.
    const common::Input input = common::load_input(options);
    if (input.pixels.empty()) throw common::BadInput("there are no pixels to copy");
    const Histogram expected = common::reference_histogram(input.pixels);
    const std::size_t pixel_count = input.pixels.size();
    const std::size_t chunks = (pixel_count + kChunkPixels - 1) / kChunkPixels;

    // 3. The device.
    const common::cuda::Device device = common::cuda::choose_device(options.device);
    const common::Output output;
    common::Report report(output, kProgram, options, input, expected, device.name, device.driver);

    // 4. Where its commands go: a stream keeps the order of its commands, so what is to overlap
    //    needs two, and an event for each chunk tells the second what the first has copied. Each is
    //    given back at the end of its scope.
    common::cuda::Stream counts;
    common::cuda::Stream copies;
    CHECK_CUDA(cudaStreamCreateWithFlags(counts.out(), cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamCreateWithFlags(copies.out(), cudaStreamNonBlocking));
    std::vector<common::cuda::Event> copied(chunks);
    for (common::cuda::Event& event : copied)
        CHECK_CUDA(cudaEventCreateWithFlags(event.out(), cudaEventDisableTiming));

    // 5. The launch of `tuned` for all pixels, and one for a chunk.
    const DeviceLimits limits{.api = "CUDA",
                              .device = device.name,
                              .driver = device.driver,
                              .units = common::cuda::multiprocessors(device.id),
                              .max_group_size = common::cuda::max_block_size(device.id),
                              .local_bytes = 48 << 10};  // without asking for more
    const TunedLaunch for_all = launch_for(limits, options, pixel_count);
    const TunedLaunch for_chunk =
        launch_for(limits, options, std::min<std::size_t>(pixel_count, kChunkPixels));

    // 6. Memory. Pinned memory for the pixels and for the rows: each chunk has a histogram of its
    //    own.
    const std::size_t rows_bytes = chunks * sizeof(Histogram);
    common::cuda::HostMemory<std::uint8_t> pinned;
    common::cuda::HostMemory<std::uint32_t> pinned_rows;
    common::cuda::Memory<std::uint8_t> pixels;
    common::cuda::Memory<std::uint32_t> rows;
    CHECK_CUDA(cudaMallocHost(pinned.out(), pixel_count));
    CHECK_CUDA(cudaMallocHost(pinned_rows.out(), rows_bytes));
    CHECK_CUDA(cudaMalloc(pixels.out(), pixel_count));
    CHECK_CUDA(cudaMalloc(rows.out(), rows_bytes));
    std::memcpy(pinned, input.pixels.data(), pixel_count);
    common::cuda::Memory<kernels::Total> totals;
    CHECK_CUDA(cudaMalloc(totals.out(), kTotalWords * sizeof(kernels::Total)));
    CHECK_CUDA(cudaMemset(totals, 0, kTotalWords * sizeof(kernels::Total)));
    CHECK_CUDA(cudaDeviceSynchronize());  // neither stream waits for it
    // Counts `length` pixels from `first` on.
    const auto launch = [&](const TunedLaunch& config, std::size_t first, std::size_t length,
                            std::uint32_t* row) {
        const auto blocks =
            static_cast<unsigned>(options.groups.value_or(config.groups(limits.units, length)));
        const kernels::Tuned kernel = kernels::tuned(config.copies, config.loads);
        kernel<<<blocks, static_cast<unsigned>(config.group_size), 0, counts>>>(
            pixels, first, length, totals, row);
        CHECK_CUDA(cudaGetLastError());
    };

    // 7. A row of the table, by wall time, checked before and after it is timed; and the first one:
    //    the copy alone, which no way can be faster than. It is counted when its time is over.
    using Work = std::function<void(Histogram&)>;
    const auto measure = [&](const char* way, const Work& timed, const Work& untimed = {}) {
        if (!options.wants(way)) return 0.0;
        common::Result row = common::verify_and_time(
            way, expected, options.repeat, [&](Histogram& result) -> common::RunTime {
                const double ms = common::wall_ms([&] { timed(result); });
                if (untimed) untimed(result);
                return {ms, std::nullopt};
            });
        row.timed_by_host = true;
        report.add(row);
        return row.kernel.median_ms;
    };
    const auto copy_all = [&](const void* from) {
        CHECK_CUDA(cudaMemcpyAsync(pixels, from, pixel_count, cudaMemcpyHostToDevice, counts));
    };
    const auto count_all = [&](Histogram& result) {
        launch(for_all, 0, pixel_count, rows);
        CHECK_CUDA(
            cudaMemcpyAsync(pinned_rows, rows, sizeof(Histogram), cudaMemcpyDeviceToHost, counts));
        CHECK_CUDA(cudaStreamSynchronize(counts));
        std::copy_n(static_cast<const std::uint32_t*>(pinned_rows), kBins, result.begin());
    };
    const double copy_ms = measure(
        "copy",
        [&](Histogram&) {
            copy_all(pinned);
            CHECK_CUDA(cudaStreamSynchronize(counts));
        },
        count_all);
    report.add_column("% of copy", [&](const common::Result& way) -> std::optional<double> {
        if (copy_ms == 0 || way.check != common::Check::kMatch) return {};
        return 100 * copy_ms / way.kernel.median_ms;
    });

    // 8. pageable and pinned: copy all, then count all.
    measure("pageable", [&](Histogram& result) {
        copy_all(input.pixels.data());
        count_all(result);
    });
    measure("pinned", [&](Histogram& result) {
        copy_all(pinned);
        count_all(result);
    });

    // 9. pipelined: each chunk is counted while the next is copied, and the host adds the rows.
    measure("pipelined", [&](Histogram& result) {
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
            const std::size_t first = chunk * kChunkPixels;
            const std::size_t length = std::min<std::size_t>(kChunkPixels, pixel_count - first);
            CHECK_CUDA(cudaMemcpyAsync(pixels + first, pinned + first, length,
                                       cudaMemcpyHostToDevice, copies));
            CHECK_CUDA(cudaEventRecord(copied[chunk], copies));
            CHECK_CUDA(cudaStreamWaitEvent(counts, copied[chunk], 0));
            launch(for_chunk, first, length, rows + chunk * kBins);
        }
        CHECK_CUDA(cudaMemcpyAsync(pinned_rows, rows, rows_bytes, cudaMemcpyDeviceToHost, counts));
        CHECK_CUDA(cudaStreamSynchronize(counts));
        common::add_rows(pinned_rows, chunks, result);
    });

    // 10. The table, and the exit status that tells the truth.
    return report.finish();
} catch (...) {
    return common::report_exception("05-launch-tuning/workshops/end-to-end/cuda");
}
