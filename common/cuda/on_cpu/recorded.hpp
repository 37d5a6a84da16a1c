/// @file
/// What blocks.cpp tells recorded.cpp of launches, blocks and fibers, where a launch is
/// counted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/cuda/on_cpu/cuda_runtime.h"

namespace on_cpu {

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
