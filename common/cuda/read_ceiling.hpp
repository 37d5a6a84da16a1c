// How fast a CUDA device can read its own memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace common::cuda {

/// GB/s that a kernel reaches which does nothing but read, with 16-byte loads: the best of several
/// launch shapes and repeats, with one load or four on their way at once. No histogram of pixels in
/// this memory can be faster.
/// @param pixels how many the histogram has; what is read is read_ceiling_bytes() of them
/// @return none on a device that is emulated
/// @throws std::runtime_error where a call fails
std::optional<double> read_ceiling_gb_s(std::uint64_t pixels);

/// The same for memory that the caller has filled.
/// @param copies where to read, in turn, each at an address that 16 divides: as many as it takes
///        that no cache still holds the first when the last has been read
/// @param bytes of each; what is left of a division by 16 is not read
double read_ceiling_gb_s(const std::vector<const std::uint8_t*>& copies, std::uint64_t bytes);

/// GB/s of reading alone, timed as a strategy is and so no ceiling: of the best launch shape the
/// median run, where the ceiling is the fastest.
/// @param before_each called before each timed launch
double reading_alone_gb_s(const std::vector<const std::uint8_t*>& copies, std::uint64_t bytes,
                          const std::function<void()>& before_each);

/// Whether the build has code for the current device, or the driver can compile what it has.
/// @returns what the runtime says of one of the kernels above; all are built alike
cudaError_t find_a_kernel();

}  // namespace common::cuda
