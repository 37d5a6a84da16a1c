/// @file
/// What chapter 05's tuner wants to know of a CUDA device.
#pragma once

#include "05-launch-tuning/tuning/tuning.hpp"
#include "common/cuda/cuda.hpp"

inline tuning::Facts cuda_facts(const common::cuda::Device& device) {
    tuning::Facts facts{"CUDA", device.name, device.driver};
    const auto ask = [&](cudaDeviceAttr attribute) {
        int value = 0;
        CHECK_CUDA(cudaDeviceGetAttribute(&value, attribute, device.id));
        return static_cast<std::size_t>(value);
    };
    facts.units = common::cuda::multiprocessors(device.id);
    facts.most_items = ask(cudaDevAttrMaxThreadsPerBlock);
    facts.local_bytes = ask(cudaDevAttrMaxSharedMemoryPerBlock);
    std::size_t free_bytes = 0;
    std::size_t memory_bytes = 0;
    CHECK_CUDA(cudaMemGetInfo(&free_bytes, &memory_bytes));
    facts.picture_bytes = memory_bytes / 4;
    facts.kernels = {"local", "lane-bins", "byte-bins"};  // item-bins is for CPUs
    return facts;
}
