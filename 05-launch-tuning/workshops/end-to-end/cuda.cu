// From the pixels in the host's memory to the histogram there, in CUDA: three ways to copy and
// count.
//
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
#include <vector>

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/tuned.hpp"
#include "05-launch-tuning/workshops/end-to-end/report.hpp"
#include "05-launch-tuning/workshops/tune/limits_cuda.hpp"
#include "common/cuda/cuda.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/status/status.hpp"
#include "common/terminal/exit_status.hpp"
#include "common/terminal/terminal.hpp"

using common::Histogram;
using common::kBins;

const common::Program kProgram{"05-launch-tuning",
                               "workshops/end-to-end/cuda",
                               "CUDA",
                               "ways to copy and count, by wall time",
                               {{"pageable", "copied from ordinary memory, then counted"},
                                {"pinned", "copied from pinned memory, then counted"},
                                {"pipelined", "in chunks: one is counted, the next copied"}},
                               {},
                               {{"--plot", "there is nothing to draw"}}};

int main(int argc, char** argv) try {
    // 1. What is asked for.
    tuning::TunedOptions tuned;
    const common::Options options = tuning::parse_options(argc, argv, kProgram, tuned);
    if (options.list_devices) {
        common::print(common::cuda::list(common::cuda::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, and the right answer.
    const common::Input input = common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const std::size_t pixel_count = input.pixels.size();
    const std::size_t chunks = (pixel_count + kChunkPixels - 1) / kChunkPixels;

    // 3. The device.
    const common::cuda::Device device = common::cuda::choose_device(options.device);
    EndToEnd report(kProgram, options, input, expected, device.name, device.driver);

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
    const tuning::DeviceLimits limits = tuning::limits_of(device);
    const tuning::LaunchConfig for_all = tuning::resolve(tuned, options, limits, pixel_count);
    const tuning::LaunchConfig for_chunk =
        tuning::resolve(tuned, options, limits, std::min<std::size_t>(pixel_count, kChunkPixels));

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
    const bool in_one = !tuned.two_launches;
    common::cuda::Memory<kernels::Total> totals;
    if (in_one) {
        CHECK_CUDA(cudaMalloc(totals.out(), tuning::kTotalWords * sizeof(kernels::Total)));
        CHECK_CUDA(cudaMemset(totals, 0, tuning::kTotalWords * sizeof(kernels::Total)));
        CHECK_CUDA(cudaDeviceSynchronize());  // neither stream waits for it
    }
    // Counts `length` pixels from `first` on.
    const auto launch = [&](const tuning::LaunchConfig& config, std::size_t first,
                            std::size_t length, std::uint32_t* row) {
        if (!in_one) CHECK_CUDA(cudaMemsetAsync(row, 0, sizeof(Histogram), counts));
        const auto blocks =
            static_cast<unsigned>(options.groups.value_or(config.groups(limits.units, length)));
        const kernels::Tuned kernel = kernels::tuned(config.copies, config.loads);
        kernel<<<blocks, static_cast<unsigned>(config.group_size), 0, counts>>>(
            pixels, first, length, totals, row);
        CHECK_CUDA(cudaGetLastError());
    };

    // 7. The copy alone, which no way can be faster than.
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
    report.measure_copy([&] {
        copy_all(pinned);
        CHECK_CUDA(cudaStreamSynchronize(counts));
    });

    // 8. pageable and pinned: copy all, then count all.
    report.measure_way("pageable", [&](Histogram& result) {
        copy_all(input.pixels.data());
        count_all(result);
    });
    report.measure_way("pinned", [&](Histogram& result) {
        copy_all(pinned);
        count_all(result);
    });

    // 9. pipelined: each chunk is counted while the next is copied, and the host adds the rows.
    report.measure_way("pipelined", [&](Histogram& result) {
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
