/// @file
/// How fast an OpenCL device can read its own memory.
#pragma once

#include <cstdint>
#include <optional>

#include "common/opencl/opencl.hpp"

namespace common::opencl {

/// GB/s that a kernel reaches which does nothing but read, with 16-byte loads: the best of several
/// launch shapes and repeats, with one load or four on their way at once. No histogram of pixels in
/// this memory can be faster.
/// @param pixels how many the histogram has; what is read is read_ceiling_bytes() of them, or less
///        where the device cannot hold that
/// @returns nothing for a simulator, which would take minutes to say nothing of any memory
/// @throws std::runtime_error where a call fails
std::optional<double> read_ceiling_gb_s(cl_context context, cl_command_queue queue,
                                        std::uint64_t pixels);

}  // namespace common::opencl
