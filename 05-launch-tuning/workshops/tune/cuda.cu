// Looks for the best launch of `tuned` in CUDA: every kernel in every launch that is worth a try,
// checked and timed on three pictures of several sizes. search.cpp decides what is tried and when.
//
// Run it:  build/05-launch-tuning/workshops/tune/cuda
//          build/05-launch-tuning/workshops/tune/cuda --seconds 10
//
// opencl.cpp does the same in OpenCL, in the same steps.

#include <array>
#include <span>
#include <vector>

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/workshops/tune/program.hpp"
#include "05-launch-tuning/workshops/tune/search.hpp"
#include "common/cuda/cuda.hpp"
#include "common/histogram/histogram.hpp"
#include "common/process/exit_status.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"

using common::Histogram;
using common::kBins;

// ---- local: chapter 03's, a byte to a load ----
//
// kLoads pixels are asked for together, then counted; none is under way meanwhile.
template <unsigned kLoads>
__global__ void histogram_bytes(const std::uint8_t* pixels, std::uint64_t first,
                                std::uint64_t count, kernels::Total* totals,
                                std::uint32_t* histogram) {
    __shared__ std::uint32_t table[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        table[bin] = 0;
    }
    __syncthreads();
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (; i + (kLoads - 1) * stride < count; i += kLoads * stride) {
        std::uint8_t loaded[kLoads];
#pragma unroll
        for (unsigned n = 0; n < kLoads; ++n) {
            loaded[n] = pixels[first + i + n * stride];
        }
#pragma unroll
        for (unsigned n = 0; n < kLoads; ++n) {
            atomicAdd(&table[loaded[n]], 1U);
        }
    }
    for (; i < count; i += stride) {
        atomicAdd(&table[pixels[first + i]], 1U);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        kernels::hand_over(totals, histogram, bin, table[bin]);
    }
}

// ---- uchar-bins: chapter 04's ----
//
// 8-bit counters for each thread, which counts at most 255 pixels; then all are added up. The sums
// stand behind the counters, in shared memory whose size the host knows.
constexpr unsigned kPixelsPerTurn = 255;

__global__ void histogram_uchar(const std::uint8_t* pixels, std::uint64_t first,
                                std::uint64_t count, kernels::Total* totals,
                                std::uint32_t* histogram) {
    extern __shared__ std::uint32_t words[];
    auto* const bytes = reinterpret_cast<std::uint8_t*>(words);
    std::uint8_t* const own = bytes + threadIdx.x * kBins;
    std::uint32_t* const sums = words + blockDim.x * (kBins / 4);
    // A bin of the sums is one thread's from the beginning to the end: no barrier.
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        sums[bin] = 0;
    }
    const std::uint64_t at_once = std::uint64_t{blockDim.x} * kPixelsPerTurn;
    // All threads of the block take equally many turns, so all of them reach every barrier.
    for (std::uint64_t turn = blockIdx.x * at_once; turn < count; turn += gridDim.x * at_once) {
        for (unsigned word = threadIdx.x; word < blockDim.x * (kBins / 4); word += blockDim.x) {
            words[word] = 0;
        }
        __syncthreads();
        const std::uint64_t end = min(turn + at_once, count);
        for (std::uint64_t i = turn + threadIdx.x; i < end; i += blockDim.x) {
            ++own[pixels[first + i]];
        }
        __syncthreads();
        for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
            std::uint32_t sum = 0;
            for (unsigned thread = 0; thread < blockDim.x; ++thread) {
                sum += bytes[thread * kBins + bin];
            }
            sums[bin] += sum;
        }
        __syncthreads();
    }
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        kernels::hand_over(totals, histogram, bin, sums[bin]);
    }
}

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
        common::print(common::cuda::list(common::cuda::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The device, and what it allows. A kernel that needs many registers leaves room for fewer
    //    threads.
    const common::cuda::Device device = common::cuda::choose_device(request.device);
    const auto kernel_of = [](const tuning::LaunchConfig& config) -> kernels::Tuned {
        static constexpr kernels::Tuned kOfLoads[] = {histogram_bytes<1>, histogram_bytes<2>,
                                                      histogram_bytes<3>, histogram_bytes<4>};
        if (config.kernel == &tuning::kUcharBins) return histogram_uchar;
        if (config.kernel == &tuning::kLocal) return kOfLoads[config.loads - 1];
        return kernels::tuned(config.copies, config.loads);
    };
    const tuning::Space space{{.api = "CUDA",
                               .device = device.name,
                               .driver = device.driver,
                               .units = common::cuda::multiprocessors(device.id),
                               .max_group_size = common::cuda::max_block_size(device.id),
                               .local_bytes = 48 << 10},  // without asking for more
                              tuning::all_kernels(),
                              [&](const tuning::LaunchConfig& config) {
                                  cudaFuncAttributes kernel{};
                                  CHECK_CUDA(cudaFuncGetAttributes(&kernel, kernel_of(config)));
                                  return static_cast<std::size_t>(kernel.maxThreadsPerBlock);
                              }};
    std::size_t free_bytes = 0;
    std::size_t memory_bytes = 0;
    CHECK_CUDA(cudaMemGetInfo(&free_bytes, &memory_bytes));
    const std::vector<std::uint64_t> sizes =
        tuning::tuned_sizes(space.device.cpu, memory_bytes / 4);

    // 3. Where its commands go: the context comes by itself, the default stream keeps their order,
    //    and two events note when the work began and ended. A third one stands between launches.
    //    Each is given back at the end of its scope.
    common::cuda::Event begin;
    common::cuda::Event between;
    common::cuda::Event end;
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(between.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));

    // 4. The pictures, in the device's memory, and room for the results.
    const tuning::TestPictures pictures = tuning::test_pictures(sizes.back());
    std::array<common::cuda::Memory<std::uint8_t>, std::tuple_size_v<tuning::TestPictures>> buffers;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        const std::size_t bytes = pictures[i].pixels.size();
        CHECK_CUDA(cudaMalloc(buffers[i].out(), bytes));
        CHECK_CUDA(
            cudaMemcpy(buffers[i], pictures[i].pixels.data(), bytes, cudaMemcpyHostToDevice));
    }
    common::cuda::Memory<kernels::Total> totals;
    CHECK_CUDA(cudaMalloc(totals.out(), kTotalWords * sizeof(kernels::Total)));
    CHECK_CUDA(cudaMemset(totals, 0, kTotalWords * sizeof(kernels::Total)));
    common::cuda::Memory<std::uint32_t> histogram;
    common::cuda::Memory<std::uint32_t> unread;
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));
    CHECK_CUDA(cudaMalloc(unread.out(), sizeof(Histogram)));

    // 5. The kernels: they were compiled with this file, or with tuned.cu.

    // 6. Runs a launch on each of the stretches. Only the last one writes what is read: no other
    //    can be right in its place. The device is busy until all of them wait in its queue, and an
    //    event between two keeps the next from beginning before the last has ended.
    const auto run_in_a_row = [&](const tuning::LaunchConfig& config, std::size_t picture,
                                  std::span<const tuning::Stretch> stretches, Histogram& result) {
        const kernels::Tuned kernel = kernel_of(config);
        const auto blocks =
            static_cast<unsigned>(config.groups(space.device.units, stretches.back().count));
        const auto block_size = static_cast<unsigned>(config.group_size);
        const std::size_t shared_bytes =
            config.kernel == &tuning::kUcharBins ? config.local_bytes() : 0;
        common::cuda::poison(histogram, sizeof(Histogram));
        if (stretches.size() > 1) stay_busy<<<1, 1>>>();
        CHECK_CUDA(cudaEventRecord(begin));
        for (const tuning::Stretch& stretch : stretches) {
            const bool last = &stretch == &stretches.back();
            kernel<<<blocks, block_size, shared_bytes>>>(
                buffers[picture], stretch.first, stretch.count, totals, last ? histogram : unread);
            // Only what the launch itself says is a refusal; whatever comes later is an error.
            if (const cudaError_t refused = cudaGetLastError(); refused != cudaSuccess)
                throw common::Unsupported(cudaGetErrorString(refused));
            CHECK_CUDA(cudaEventRecord(last ? end : between));
        }
        CHECK_CUDA(cudaMemcpy(result.data(), histogram, sizeof(Histogram), cudaMemcpyDeviceToHost));
        return common::cuda::elapsed_ms(begin, end);
    };

    // 7. The search.
    const tuning::Tuning found =
        tuning::search(space, sizes, request.seconds, tuning::measure_on(pictures, run_in_a_row));

    // 8. The heat map, and what is kept for `tuned`.
    return tuning::finish(request, found);
} catch (...) {
    return common::report_exception("05-launch-tuning/workshops/tune/cuda");
}
