/// @file
/// How fast a CUDA device can read its own memory.
#pragma once

#include <cstdint>

namespace common::cuda {

/// GB/s that a kernel reaches which does nothing but read, with 16-byte loads: the best of several
/// launch shapes and repeats. No histogram of pixels in this memory can be faster.
/// @param pixels how many the histogram has; the buffer that is read has as many bytes, but at
///        least 256 MiB, so that it does not fit a cache, and at most 1 GiB
/// @throws std::runtime_error where a call fails
double read_ceiling_gb_s(std::uint64_t pixels);

}  // namespace common::cuda
