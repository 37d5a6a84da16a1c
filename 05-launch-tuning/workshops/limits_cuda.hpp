// What a CUDA device allows, as chapter 05's launches want to know it.
#pragma once

#include "05-launch-tuning/launch.hpp"
#include "common/cuda/cuda.hpp"

inline DeviceLimits limits_of(int id) {
    const common::cuda::Device device = common::cuda::described(id);
    return {.api = "CUDA",
            .device = device.name,
            .driver = device.driver,
            .units = common::cuda::multiprocessors(id),
            .max_group_size = common::cuda::max_block_size(id),
            .local_bytes = 48 << 10};  // what a block gets without asking for more
}
