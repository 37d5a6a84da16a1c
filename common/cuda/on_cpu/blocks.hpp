// What runs a launch (blocks.cpp), for what checks it (runtime.cpp).
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

// ---- where a launch is counted: what blocks.cpp tells recorded.cpp of it, of blocks and fibers
// ----

/// The allocation that this address is in. (runtime.cpp)
bool device_memory_of(const void* memory, std::uintptr_t& begin, std::size_t& bytes);

namespace recorded {

struct Thread;
Thread* new_thread(const char* stack, std::size_t bytes);
/// Whether it is to run: a launch is counted once, and others are left out.
bool launch_begins(const KernelCall& launch);
/// Whether it is to run again, to see what needs a load: then the first block alone.
bool launch_runs_again();
bool skips(std::size_t block);
void block_begins(std::size_t block, const void* shared, std::size_t bytes);
void goes_on(Thread* thread);  ///< null: the crew
void phase_ends(std::size_t shared_bytes);
void block_ends();

}  // namespace recorded

}  // namespace on_cpu
