// Looks for the best launch of `tuned` in CUDA: every one that is worth a try, checked and timed on
// three pictures of several sizes. search.cpp decides what is tried and when.
//
// Run it:  build/05-launch-tuning/workshops/tune/cuda
//          build/05-launch-tuning/workshops/tune/cuda --seconds 10
//
// opencl.cpp does the same in OpenCL, in the same steps.

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/workshops/limits_cuda.hpp"
#include "05-launch-tuning/workshops/tune/search.hpp"
#include "common/process/status.hpp"

using namespace common;
using namespace common::cuda;

// Long enough for the host to enqueue a row of launches: some 100 microseconds.
__global__ void stay_busy() {
    const long long begin = clock64();
    while (clock64() - begin < 200'000) {
    }
}

int main(int argc, char** argv) try {
    // 1. What is asked for.
    const tuning::Request request =
        tuning::parse_request(argc, argv, "05-launch-tuning/workshops/tune/cuda");
    if (request.list_devices) {
        print(list(devices()));
        return kEveryVariantMatches;
    }

    // 2. The device, what it allows, and the sizes of pictures that fit it.
    const int device = choose_device(request.device).id;
    const DeviceLimits limits = limits_of(device);
    std::size_t free_bytes = 0, memory_bytes = 0;
    CHECK_CUDA(cudaMemGetInfo(&free_bytes, &memory_bytes));
    const std::vector<std::uint64_t> sizes = tuning::tuned_sizes(limits.cpu, memory_bytes / 4);

    // 3. Where its commands go: the context comes by itself, the default stream keeps their order,
    //    and two events note when the work began and ended. A third one stands between launches.
    //    Each is given back at the end of its scope.
    Event begin, between, end;
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(between.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));

    // 4. The pictures, in the device's memory, and room for the results.
    const tuning::TestPictures pictures = tuning::test_pictures(sizes.back());
    std::array<Memory<std::uint8_t>, std::tuple_size_v<tuning::TestPictures>> buffers;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        const std::size_t bytes = pictures[i].pixels.size();
        CHECK_CUDA(cudaMalloc(buffers[i].out(), bytes));
        CHECK_CUDA(
            cudaMemcpy(buffers[i], pictures[i].pixels.data(), bytes, cudaMemcpyHostToDevice));
    }
    Memory<kernels::Total> totals;
    CHECK_CUDA(cudaMalloc(totals.out(), kTotalWords * sizeof(kernels::Total)));
    CHECK_CUDA(cudaMemset(totals, 0, kTotalWords * sizeof(kernels::Total)));
    Memory<std::uint32_t> histogram, unread;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));
    CHECK_CUDA(cudaMalloc(unread.out(), sizeof(Histogram)));

    // 5. The kernels: they were compiled with tuned.cu.

    // 6. Runs a launch on each of the stretches. Only the last one writes what is read: no other
    //    can be right in its place. The device is busy until all of them wait in its queue, and an
    //    event between two keeps the next from beginning before the last has ended.
    const auto run_in_a_row = [&](const TunedLaunch& launch, std::size_t picture,
                                  std::span<const tuning::Stretch> stretches, Histogram& result) {
        const kernels::Tuned kernel = kernels::tuned(launch.copies, launch.loads);
        const auto blocks =
            static_cast<unsigned>(launch.groups(limits.units, stretches.back().count));
        const auto block_size = static_cast<unsigned>(launch.group_size);
        poison(histogram, sizeof(Histogram));
        if (stretches.size() > 1) stay_busy<<<1, 1>>>();
        CHECK_CUDA(cudaEventRecord(begin));
        for (const tuning::Stretch& stretch : stretches) {
            const bool last = &stretch == &stretches.back();
            kernel<<<blocks, block_size>>>(buffers[picture], stretch.first, stretch.count, totals,
                                           last ? histogram : unread);
            // Only what the launch itself says is a refusal; whatever comes later is an error.
            if (const cudaError_t refused = cudaGetLastError(); refused != cudaSuccess)
                throw Unsupported(cudaGetErrorString(refused));
            CHECK_CUDA(cudaEventRecord(last ? end : between));
        }
        CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof(Histogram), cudaMemcpyDeviceToHost));
        return elapsed_ms(begin, end);
    };

    // 7. The search.
    const tuning::Tuning found =
        tuning::search(limits, sizes, request.seconds, tuning::measure_on(pictures, run_in_a_row));

    // 8. The best launches, and what is kept for `tuned`.
    return tuning::finish(request, found);
} catch (...) {
    return common::report_exception("05-launch-tuning/workshops/tune/cuda");
}
