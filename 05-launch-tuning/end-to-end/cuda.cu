// From the pixels in the host's memory to the histogram there, in CUDA: three ways to copy and
// count.
//
//   pageable   the pixels from where they happen to be, then the count
//   pinned     from memory that the driver can copy from without a detour
//   pipelined  the same in chunks: while one is counted, the next is on its way
//
// Run it:  build/05-launch-tuning/end-to-end/cuda --tile 1G
//
// opencl.cpp does the same in OpenCL, in the same steps.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/end-to-end/report.hpp"
#include "05-launch-tuning/tune/on_cuda.cuh"
#include "common/cuda/cuda.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/status/status.hpp"

using common::Histogram;
using common::kBins;

const common::Program kProgram{"05-launch-tuning",
                               "end-to-end/cuda",
                               "CUDA",
                               "ways to copy and count, by wall time",
                               {{"pageable", "copied from ordinary memory, then counted"},
                                {"pinned", "copied from pinned memory, then counted"},
                                {"pipelined", "in chunks: one is counted, the next copied"}},
                               {},
                               {{"--plot", "there is nothing to draw"}}};

int main(int argc, char** argv) try {
    // 1. What is asked for.
    const Arguments arguments = parse_arguments(argc, argv, kProgram, {});
    const common::Options& options = arguments.common;
    if (options.list_devices) {
        std::fputs(common::cuda::list(common::cuda::devices()).c_str(), stdout);
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, and the right answer.
    const common::Input input = common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const std::size_t count = input.pixels.size();
    const std::size_t chunks = (count + kChunkPixels - 1) / kChunkPixels;

    // 3. The device.
    const common::cuda::Device device = common::cuda::choose_device(options.device);
    EndToEnd report(kProgram, options, input, expected, device.name, device.driver);

    // 4. Where its commands go: a stream keeps the order of its commands, so what is to overlap
    //    needs two, and an event for each chunk tells the second what the first has copied.
    cudaStream_t counts = nullptr;
    cudaStream_t copies = nullptr;
    CHECK_CUDA(cudaStreamCreateWithFlags(&counts, cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    std::vector<cudaEvent_t> copied(chunks);
    for (cudaEvent_t& event : copied)
        CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));

    // 5. The launch of `tuned` for all pixels, and one for a chunk.
    const tuning::Facts facts = tuning::facts_of(device, {&tuning::kLaneBins});
    const std::size_t chunk_pixels = std::min<std::size_t>(count, kChunkPixels);
    const tuning::Choice for_all = tuning::choose_launchable(arguments, facts, count);
    const tuning::Choice for_chunk = tuning::choose_launchable(arguments, facts, chunk_pixels);
    const auto groups = [&](const tuning::Choice& choice, std::size_t pixels) {
        return static_cast<unsigned>(options.groups.value_or(groups_of(choice, facts, pixels)));
    };

    // 6. Memory. Pinned memory for the pixels and for the rows: each chunk has a histogram of its
    //    own.
    std::uint8_t* pinned = nullptr;
    std::uint32_t* pinned_rows = nullptr;
    std::uint8_t* pixels = nullptr;
    std::uint32_t* rows = nullptr;
    const std::size_t rows_bytes = chunks * sizeof(Histogram);
    CHECK_CUDA(cudaMallocHost(&pinned, count));
    CHECK_CUDA(cudaMallocHost(&pinned_rows, rows_bytes));
    CHECK_CUDA(cudaMalloc(&pixels, count));
    CHECK_CUDA(cudaMalloc(&rows, rows_bytes));
    std::memcpy(pinned, input.pixels.data(), count);
    kernels::Total* const totals = tuning::create_totals(!arguments.two_launches);
    const auto launch = [&](const tuning::Choice& choice, std::size_t first, std::size_t length,
                            std::uint32_t* row) {
        if (totals == nullptr) CHECK_CUDA(cudaMemsetAsync(row, 0, sizeof(Histogram), counts));
        const tuning::Counting kernel = tuning::histogram_tuned(choice.copies, choice.loads);
        kernel<<<groups(choice, length), static_cast<unsigned>(choice.group_size), 0, counts>>>(
            pixels, first, length, totals, row);
        CHECK_CUDA(cudaGetLastError());
    };

    // 7. The copy alone, which no way can be faster than.
    const auto copy_all = [&](const void* from) {
        CHECK_CUDA(cudaMemcpyAsync(pixels, from, count, cudaMemcpyHostToDevice, counts));
    };
    const auto count_all = [&](Histogram& result) {
        launch(for_all, 0, count, rows);
        CHECK_CUDA(
            cudaMemcpyAsync(pinned_rows, rows, sizeof(Histogram), cudaMemcpyDeviceToHost, counts));
        CHECK_CUDA(cudaStreamSynchronize(counts));
        std::copy_n(pinned_rows, kBins, result.begin());
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
            const std::size_t length = std::min<std::size_t>(kChunkPixels, count - first);
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
    tuning::require_zero(totals);

    // 10. What was created is released, in the opposite order.
    CHECK_CUDA(cudaFree(totals));
    CHECK_CUDA(cudaFree(rows));
    CHECK_CUDA(cudaFree(pixels));
    CHECK_CUDA(cudaFreeHost(pinned_rows));
    CHECK_CUDA(cudaFreeHost(pinned));
    for (const cudaEvent_t event : copied)
        CHECK_CUDA(cudaEventDestroy(event));
    CHECK_CUDA(cudaStreamDestroy(copies));
    CHECK_CUDA(cudaStreamDestroy(counts));

    // 11. The table, and the exit status that tells the truth.
    return report.finish();
} catch (...) {
    return common::report_exception("05-launch-tuning/end-to-end/cuda");
}
