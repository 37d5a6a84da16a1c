// Chapter 05 in CUDA: the same kernels, fed properly. The kernels are in histogram.cuh, for
// peers.cu uses them, too.
//
//   two-per-sm  chapter 03's kernel, two blocks of 256 for each multiprocessor
//   occupancy   as many threads as the device holds, walked over the picture down and across
//   vector      one table for each block, 16 pixels to a load
//   tuned       the best kernel in the best launch for this device, in one launch
//
// Run it:  build/05-launch-tuning/cuda --tile 100M
//          build/05-launch-tuning/cuda --tune
//          build/05-launch-tuning/cuda --tile 100M --variant tuned --kernel lane-bins --copies 8
//          build/05-launch-tuning/cuda --tile 1G --end-to-end
//
// histogram.cl and opencl.cpp do the same in OpenCL, in the same steps.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/cuda_tuned.cuh"
#include "05-launch-tuning/end_to_end.hpp"
#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/launch.hpp"
#include "05-launch-tuning/tuning/run.hpp"
#include "05-launch-tuning/tuning/tuning.hpp"
#include "common/cuda/cuda.hpp"
#include "common/cuda/read_ceiling.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/report/report.hpp"
#include "common/status/status.hpp"
#include "common/timing/timing.hpp"
#include "common/verify/verify.hpp"

using common::Histogram;
using common::kBins;

const common::Program kProgram{"05-launch-tuning",
                               "cuda",
                               "CUDA",
                               "the same kernels, launched as this device likes it",
                               {{"two-per-sm", "chapter 03's kernel, two blocks for each unit"},
                                {"occupancy", "as many threads as the device holds"},
                                {"vector", "one table for each block, 16 pixels to a load"},
                                {"tuned", "the best kernel in the best launch for this device"}}};

// ---- The one launch of `tuned` ----
//
// Which kernel, in which launch, is in cuda_tuned.cu. The totals are zero before it and after it.
void launch_tuned(const TunedLaunch& tuned, const std::uint8_t* pixels, const Picture& picture,
                  kernels::Total* totals, std::uint32_t* histogram, cudaStream_t stream = nullptr) {
    tuned.kernel<<<tuned.launch.blocks, tuned.launch.threads, tuned.shared_bytes, stream>>>(
        pixels, picture.as_one_row(), totals, histogram);
    CHECK_CUDA(cudaGetLastError());
}

// ---- --tune: measure every launch worth a try ----

int tune(const Arguments& arguments, const tuning::Facts& facts) {
    const auto pictures = tuning::test_pictures(facts);
    std::vector<std::uint8_t*> buffers;
    for (const tuning::TestPicture& picture : pictures) {
        std::uint8_t* buffer = nullptr;
        CHECK_CUDA(cudaMalloc(&buffer, picture.pixels.size()));
        CHECK_CUDA(cudaMemcpy(buffer, picture.pixels.data(), picture.pixels.size(),
                              cudaMemcpyHostToDevice));
        buffers.push_back(buffer);
    }
    kernels::Total* const totals = create_totals();
    std::uint32_t* histogram = nullptr;
    std::uint32_t* unread = nullptr;
    CHECK_CUDA(cudaMalloc(&histogram, sizeof(Histogram)));
    CHECK_CUDA(cudaMalloc(&unread, sizeof(Histogram)));
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    CHECK_CUDA(cudaEventCreate(&begin));
    CHECK_CUDA(cudaEventCreate(&end));

    const int status = tuning::run(
        arguments, facts, pictures,
        [&](const tuning::Choice& choice, std::size_t which, std::span<const Picture> parts,
            Histogram& result) {
            if (choice.group_size > most_threads(choice)) {
                throw tuning::Refused("too few registers for blocks of this size");
            }
            const std::uint64_t count = parts.front().count;
            const TunedLaunch tuned =
                make_tuned(choice, parts.front(), groups_of(choice, facts, count));
            // Only the last launch writes what is read: no other can be right in its place.
            common::cuda::poison(histogram, sizeof(Histogram));
            CHECK_CUDA(cudaEventRecord(begin));
            for (const Picture& part : parts) {
                tuned.kernel<<<tuned.launch.blocks, tuned.launch.threads, tuned.shared_bytes>>>(
                    buffers[which], part, totals, &part == &parts.back() ? histogram : unread);
                // Only what the launch itself says is a refusal; whatever comes later is an error.
                if (const cudaError_t refusal = cudaGetLastError(); refusal != cudaSuccess) {
                    throw tuning::Refused(cudaGetErrorString(refusal));
                }
            }
            CHECK_CUDA(cudaEventRecord(end));
            CHECK_CUDA(
                cudaMemcpy(result.data(), histogram, sizeof(Histogram), cudaMemcpyDeviceToHost));
            return common::cuda::elapsed_ms(begin, end);
        });
    CHECK_CUDA(cudaEventDestroy(end));
    CHECK_CUDA(cudaEventDestroy(begin));
    CHECK_CUDA(cudaFree(unread));
    CHECK_CUDA(cudaFree(histogram));
    CHECK_CUDA(cudaFree(totals));
    for (std::uint8_t* const buffer : buffers)
        CHECK_CUDA(cudaFree(buffer));
    return status;
}

// ---- --end-to-end: three ways to copy and count ----
//
// pageable   the pixels from where they happen to be, then the count
// pinned     from memory that the driver can copy from without a detour
// pipelined  the same in chunks: while one is counted, the next is on its way

int end_to_end(const Arguments& arguments, const common::Input& input, const Histogram& expected,
               const common::cuda::Device& device, const tuning::Facts& facts,
               const std::optional<tuning::Tuning>& known) {
    EndToEnd report(kProgram, arguments, input, expected, device.name, device.driver);
    const std::size_t count = input.pixels.size();
    const Picture whole{0, count, count, count};
    const std::size_t chunks = (count + kChunkPixels - 1) / kChunkPixels;

    // A launch for the whole picture, and one for a chunk.
    const auto make_for = [&](const Picture& picture) {
        const tuning::Choice choice = choose_launchable(arguments, known, facts, picture.count);
        return make_tuned(
            choice, picture,
            arguments.common.groups.value_or(groups_of(choice, facts, picture.count)));
    };
    const TunedLaunch count_whole = make_for(whole);
    const std::size_t chunk_pixels = std::min<std::size_t>(count, kChunkPixels);
    const TunedLaunch count_chunk = make_for({0, chunk_pixels, chunk_pixels, chunk_pixels});

    // Pinned memory for the pixels and for the rows: each chunk has a histogram of its own.
    std::uint8_t* pinned = nullptr;
    std::uint32_t* pinned_rows = nullptr;
    std::uint8_t* pixels = nullptr;
    std::uint32_t* rows = nullptr;
    const std::size_t rows_bytes = chunks * sizeof(Histogram);
    CHECK_CUDA(cudaMallocHost(&pinned, count));
    CHECK_CUDA(cudaMallocHost(&pinned_rows, rows_bytes));
    CHECK_CUDA(cudaMalloc(&pixels, count));
    CHECK_CUDA(cudaMalloc(&rows, rows_bytes));
    kernels::Total* const totals = create_totals();
    std::memcpy(pinned, input.pixels.data(), count);
    // A stream keeps the order of its commands, so what is to overlap needs two, and an event for
    // each chunk that tells the second stream when the first has copied it.
    cudaStream_t copies = nullptr;
    cudaStream_t counts = nullptr;
    CHECK_CUDA(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamCreateWithFlags(&counts, cudaStreamNonBlocking));
    std::vector<cudaEvent_t> copied(chunks);
    for (cudaEvent_t& event : copied)
        CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));

    const auto copy_all = [&](const void* from) {
        CHECK_CUDA(cudaMemcpyAsync(pixels, from, count, cudaMemcpyHostToDevice, counts));
    };
    const auto count_all = [&](Histogram& result) {
        launch_tuned(count_whole, pixels, whole, totals, rows, counts);
        CHECK_CUDA(
            cudaMemcpyAsync(pinned_rows, rows, sizeof(Histogram), cudaMemcpyDeviceToHost, counts));
        CHECK_CUDA(cudaStreamSynchronize(counts));
        common::add_rows(pinned_rows, 1, result);
    };
    report.measure_copy([&] {
        copy_all(pinned);
        CHECK_CUDA(cudaStreamSynchronize(counts));
    });
    report.measure_way("pageable", [&](Histogram& result) {
        copy_all(input.pixels.data());
        count_all(result);
    });
    report.measure_way("pinned", [&](Histogram& result) {
        copy_all(pinned);
        count_all(result);
    });
    report.measure_way("pipelined", [&](Histogram& result) {
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
            const std::size_t first = chunk * kChunkPixels;
            const std::size_t length = std::min<std::size_t>(kChunkPixels, count - first);
            CHECK_CUDA(cudaMemcpyAsync(pixels + first, pinned + first, length,
                                       cudaMemcpyHostToDevice, copies));
            CHECK_CUDA(cudaEventRecord(copied[chunk], copies));
            CHECK_CUDA(cudaStreamWaitEvent(counts, copied[chunk], 0));
            launch_tuned(count_chunk, pixels, {first, length, length, length}, totals,
                         rows + chunk * kBins, counts);
        }
        CHECK_CUDA(cudaMemcpyAsync(pinned_rows, rows, rows_bytes, cudaMemcpyDeviceToHost, counts));
        CHECK_CUDA(cudaStreamSynchronize(counts));
        common::add_rows(pinned_rows, chunks, result);
    });
    require_zero(totals);

    for (const cudaEvent_t event : copied)
        CHECK_CUDA(cudaEventDestroy(event));
    CHECK_CUDA(cudaStreamDestroy(counts));
    CHECK_CUDA(cudaStreamDestroy(copies));
    CHECK_CUDA(cudaFree(totals));
    CHECK_CUDA(cudaFree(rows));
    CHECK_CUDA(cudaFree(pixels));
    CHECK_CUDA(cudaFreeHost(pinned_rows));
    CHECK_CUDA(cudaFreeHost(pinned));
    return report.finish();
}

int main(int argc, char** argv) try {
    // 1. What is asked for.
    const Arguments arguments = parse_arguments(argc, argv, kProgram);
    const common::Options& options = arguments.common;
    if (options.list_devices) {
        std::fputs(common::cuda::list(common::cuda::devices()).c_str(), stdout);
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, the right answer, and where the picture is to lie in its buffer.
    //    (--tune has pictures of its own.)
    const common::Input input = arguments.tune ? common::Input() : common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const Picture picture = place_in_buffer(arguments, input);

    // 3. The device, what it allows, and what --tune has found on it.
    const common::cuda::Device device = common::cuda::choose_device(options.device);
    const tuning::Facts facts = cuda_facts(device);
    common::cuda::require_group_size(device.id,
                                     static_cast<unsigned>(options.group_size.value_or(1)));
    const std::optional<tuning::Tuning> known =
        arguments.tune ? std::nullopt : tuning::recall(facts);

    // 4. Where its commands go: the context comes by itself, the default stream keeps their
    //    order, and two events note when the work began and ended.
    if (arguments.tune) return tune(arguments, facts);
    if (arguments.end_to_end) return end_to_end(arguments, input, expected, device, facts, known);
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    CHECK_CUDA(cudaEventCreate(&begin));
    CHECK_CUDA(cudaEventCreate(&end));
    common::Report report(kProgram, options, input, expected, device.name, device.driver);
    if (options.read_ceiling) {
        report.set_read_ceiling(common::cuda::read_ceiling_gb_s(picture.count));
    }

    // 5. The launches. two-per-sm: two blocks of 256 for each multiprocessor. occupancy: blocks of
    //    512, as many as fill the device, one below the other. vector: as many, side by side.
    //    tuned: what was measured.
    const std::size_t two_size = options.group_size.value_or(256);
    const std::size_t two_groups = options.groups.value_or(2 * facts.units);
    const std::size_t full_size = options.group_size.value_or(512);
    int resident = 0;
    CHECK_CUDA(
        cudaDeviceGetAttribute(&resident, cudaDevAttrMaxThreadsPerMultiProcessor, device.id));
    const std::size_t full_groups = options.groups.value_or(
        std::max<std::size_t>(facts.units * static_cast<std::size_t>(resident) / full_size, 1));
    const tuning::Choice choice = choose_launchable(arguments, known, facts, picture.count);
    const std::size_t tuned_groups =
        options.groups.value_or(groups_of(choice, facts, picture.count));
    const Launch two_per_sm = as_launch(lay_over(picture.as_one_row(), two_size, two_groups, 1));
    const Launch occupancy = as_launch(
        {full_size, 1, 1, std::min<std::size_t>(full_groups, common::cuda::kMostBlocksInY)});
    const Launch vector = as_launch(lay_over(picture.as_one_row(), full_size, full_groups, 16));
    const TunedLaunch tuned = make_tuned(choice, picture, tuned_groups);
    if (options.wants("occupancy")) {
        // The runtime knows the kernel's registers and shared memory, too, and may find that fewer
        // blocks fit than the threads alone would allow.
        int fitting = 0;
        CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &fitting, kernels::histogram_occupancy, static_cast<int>(full_size), 0));
        std::fprintf(stderr,
                     "  occupancy: %zu multiprocessors x %d threads on each / blocks of %zu = %zu "
                     "blocks; the occupancy API says %zu x %d = %zu\n",
                     facts.units, resident, full_size, full_groups, facts.units, fitting,
                     facts.units * static_cast<std::size_t>(fitting));
    }

    // 6. The kernels. They were compiled with this file, and those of `tuned` with cuda_tuned.cu.

    // 7. Memory on the device.
    std::uint8_t* pixels = nullptr;
    std::uint32_t* histogram = nullptr;
    CHECK_CUDA(cudaMalloc(&pixels, picture.bytes()));
    CHECK_CUDA(cudaMalloc(&histogram, sizeof(Histogram)));
    kernels::Total* const totals = create_totals();
    const common::PixelBuffer placed =
        picture.bytes() == input.pixels.size() ? common::PixelBuffer() : with_gaps(input, picture);
    const std::uint8_t* const bytes = placed.empty() ? input.pixels.data() : placed.data();
    const auto write_pixels = [&] {
        CHECK_CUDA(cudaMemcpy(pixels, bytes, picture.bytes(), cudaMemcpyHostToDevice));
    };
    const auto read_histogram = [&](Histogram& result) {
        CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof(Histogram), cudaMemcpyDeviceToHost));
    };

    // 8. two-per-sm, occupancy, vector: zero the histogram, count, copy it out.
    using Kernel = void (*)(const std::uint8_t*, Picture, std::uint32_t*);
    const auto count_in_two = [&](Kernel kernel, const Launch& launch, const Picture& part,
                                  Histogram& result) {
        CHECK_CUDA(cudaEventRecord(begin));
        CHECK_CUDA(cudaMemsetAsync(histogram, 0, sizeof(Histogram)));
        kernel<<<launch.blocks, launch.threads>>>(pixels, part, histogram);
        CHECK_CUDA(cudaGetLastError());
        CHECK_CUDA(cudaEventRecord(end));
        read_histogram(result);
        return common::cuda::elapsed_ms(begin, end);
    };

    // 9. tuned: one launch, which zeroes and finishes by itself.
    const auto count_in_one = [&](Histogram& result) {
        CHECK_CUDA(cudaEventRecord(begin));
        launch_tuned(tuned, pixels, picture, totals, histogram);
        CHECK_CUDA(cudaEventRecord(end));
        read_histogram(result);
        return common::cuda::elapsed_ms(begin, end);
    };

    // 10. Each variant that is asked for: poisoned, checked, timed, and checked again.
    const auto poison = [&] {
        common::cuda::poison(histogram, sizeof(Histogram));
        require_zero(totals);
    };
    const auto run = [&](const char* variant, const auto& count, const std::string& launch = {}) {
        if (!options.wants(variant)) return;
        common::Result result = common::verify_and_time(
            variant, expected, options.repeat, common::DeviceRun{poison, write_pixels, count});
        result.launch = launch;
        report.add(std::move(result));
    };
    const auto run_in_two = [&](const char* variant, Kernel kernel, const Launch& launch,
                                const Picture& part) {
        run(variant, [&](Histogram& result) { return count_in_two(kernel, launch, part, result); });
    };
    run_in_two("two-per-sm", kernels::histogram_local, two_per_sm, picture.as_one_row());
    run_in_two("occupancy", kernels::histogram_occupancy, occupancy, picture);
    run_in_two("vector", kernels::histogram_vector, vector, picture.as_one_row());
    run("tuned", count_in_one,
        launch_text(choice, std::size_t{tuned.launch.blocks.x} * tuned.launch.blocks.y));
    require_zero(totals);

    // 11. What was created is released, in the opposite order.
    CHECK_CUDA(cudaFree(totals));
    CHECK_CUDA(cudaFree(histogram));
    CHECK_CUDA(cudaFree(pixels));
    CHECK_CUDA(cudaEventDestroy(end));
    CHECK_CUDA(cudaEventDestroy(begin));

    // 12. The table, and the exit status that tells the truth.
    return report.finish();
} catch (...) {
    return common::report_exception("05-launch-tuning/cuda");
}
