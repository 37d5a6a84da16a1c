/// @file
/// What a CUDA device allows `tuned`, for the workshops. (The lesson's program has it on its page.)
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/tuned.hpp"
#include "common/cuda/cuda.hpp"

namespace tuning {

/// @param kernel_of that a launch runs: one that needs many registers leaves room for fewer threads
inline DeviceLimits limits_of(
    const common::cuda::Device& device, std::vector<const Kernel*> kernels = {&kReplicated},
    std::function<kernels::Tuned(const LaunchConfig&)> kernel_of = [](const LaunchConfig& config) {
        return kernels::tuned(config.copies, config.loads);
    }) {
    return {.api = "CUDA",
            .device = device.name,
            .driver = device.driver,
            .units = common::cuda::multiprocessors(device.id),
            .max_group_size = kMaxCudaThreads,
            .local_bytes = kCudaSharedBytes,
            .kernels = std::move(kernels),
            .max_threads = [kernel_of = std::move(kernel_of)](const LaunchConfig& config) {
                cudaFuncAttributes kernel{};
                CHECK_CUDA(cudaFuncGetAttributes(&kernel, kernel_of(config)));
                return static_cast<std::size_t>(kernel.maxThreadsPerBlock);
            }};
}

}  // namespace tuning
