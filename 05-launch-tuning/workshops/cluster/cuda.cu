// The device of a rank of cluster.cpp on NVIDIA's GPUs, which counts with chapter 05's `tuned`.
// cpu.cpp has the same for processors.

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/workshops/cluster/cluster.hpp"
#include "05-launch-tuning/workshops/limits_cuda.hpp"

using namespace common;
using namespace common::cuda;

const Program cluster::kProgram{
    .chapter = "05-launch-tuning",
    .name = "workshops/cluster/cuda",
    .api = "CUDA",
    .summary = "one histogram from many processes",
    .variants = {{"tuned", "chapter 05's, as tune has found it or by default"}},
    .unsupported = {{"--plot", "there is nothing to draw"},
                    {"--time-limit", "mpirun --timeout S ends all ranks after S seconds"},
                    {"--no-ceiling", "none is measured"},
                    {"--list-devices", "chapter 05's program lists them"},
                    {"--no-diagnosis", "a wrong result is not looked into"}},
    .max_pixels = kMaxPixels};

struct CudaDevice : cluster::Device {
    DeviceLimits limits;
    TunedLaunch launch;
    std::optional<std::size_t> groups;  // as the command line says
    kernels::Tuned tuned = nullptr;
    Memory<std::uint8_t> pixels;
    Memory<std::uint32_t> histogram;
    Memory<kernels::Total> totals;

    void copy_in(std::span<const std::uint8_t> some, std::size_t before) override {
        CHECK_CUDA(cudaMemcpy(pixels + before, some.data(), some.size(), cudaMemcpyHostToDevice));
    }

    Histogram count(std::size_t first, std::size_t count) override {
        Histogram counted{};
        const std::size_t blocks = groups.value_or(launch.groups(limits.units, count));
        tuned<<<static_cast<unsigned>(blocks), static_cast<unsigned>(launch.group_size)>>>(
            pixels, first, count, totals, histogram);
        CHECK_CUDA(cudaGetLastError());
        CHECK_CUDA(cudaMemcpy(counted.data(), histogram, sizeof counted, cudaMemcpyDeviceToHost));
        return counted;
    }
};

std::unique_ptr<cluster::Device> cluster::device_for(const Options& options, int nth,
                                                     std::size_t pixels) {
    auto cuda = std::make_unique<CudaDevice>();
    const auto number = static_cast<std::size_t>(nth) % devices().size();
    const common::cuda::Device device =
        choose_device(options.device.empty() ? std::to_string(number) : options.device);
    cuda->name = device.name;
    cuda->driver = device.driver;
    cuda->limits = limits_of(device.id);
    cuda->launch = launch_for(cuda->limits, options, std::min(pixels, kMaxLaunchPixels));
    cuda->groups = options.groups;
    cuda->tuned = kernels::tuned(cuda->launch.copies, cuda->launch.loads);
    CHECK_CUDA(cudaMalloc(cuda->pixels.out(), pixels));
    CHECK_CUDA(cudaMalloc(cuda->histogram.out(), sizeof(Histogram)));
    CHECK_CUDA(cudaMalloc(cuda->totals.out(), kTotalWords * sizeof(kernels::Total)));
    CHECK_CUDA(cudaMemset(cuda->totals, 0, kTotalWords * sizeof(kernels::Total)));
    return cuda;
}
