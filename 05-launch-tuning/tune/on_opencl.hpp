/// @file
/// What the OpenCL programs of this chapter share of `tuned`: what they want to know of a device,
/// its kernel for a choice, its launch, its totals.
#pragma once

#include <cstdint>
#include <vector>

#include "05-launch-tuning/tune/choice.hpp"
#include "common/opencl/opencl.hpp"

namespace tuning {

/// @param kernels those that the program has
Facts facts_of(const common::opencl::Device& device, const std::vector<const Kernel*>& kernels);

/// Whether `tuned` can finish in one launch: there are 64-bit atomics, which OpenCL 1.2 leaves to
/// an extension.
bool has_64_bit_atomics(cl_device_id device);

/// The kernel of a choice, compiled for its copies, its loads and its groups.
/// @param source of the file that has the kernel
/// @return for the caller to release
cl_kernel build(cl_context context, cl_device_id device, const std::string& source,
                const Choice& choice);

/// The totals of 256 bins, zeroed once: every launch of `tuned` leaves zeros behind.
/// @return for the caller to release; null where `tuned` has to be zeroed before instead
cl_mem create_totals(cl_context context, bool one_launch);

/// They hold no poison before a run, as other buffers do, so it is looked whether they are zero.
/// @throws std::runtime_error where they are not
void require_zero(cl_command_queue queue, cl_mem totals);

/// Enqueues `tuned` on `count` pixels from `first` on: one command, or without totals two.
/// @return the first and the last command, which may be the same, for the caller to release
struct Commands {
    cl_event first = nullptr;
    cl_event last = nullptr;
};
Commands enqueue(cl_command_queue queue, cl_kernel kernel, const Choice& choice, std::size_t groups,
                 cl_mem pixels, std::uint64_t first, std::uint64_t count, cl_mem totals,
                 cl_mem histogram, cl_event wait_for = nullptr);
void release(const Commands& commands);

}  // namespace tuning
