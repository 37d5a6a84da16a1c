/// @file
/// What runs a launch (blocks.cpp), for what checks it (runtime.cpp).
#pragma once

#include <string>

#include "common/cuda/on_cpu/cuda_runtime.h"

namespace on_cpu {

/// How a launch ended; and of what failed in it, more than its code says.
struct Outcome {
    cudaError_t error = cudaSuccess;
    std::string why;
};

/// The processor's threads that take blocks.
unsigned units();

/// The device's multiprocessors: as many, or, where launches are counted, an H100's.
unsigned multiprocessors();

/// Runs a launch that CUDA allows, and waits for its end. The environment's CUDA_ON_CPU_ORDER, a
/// number, is the order of threads and blocks: 0, as without it, the first first; 1 the last first;
/// any other a shuffle of the threads behind each barrier.
Outcome run_blocks(const KernelCall& launch);

}  // namespace on_cpu
