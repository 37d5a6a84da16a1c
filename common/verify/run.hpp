/// @file
/// One run of a strategy, as a host program and the verification agree on it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "common/histogram/histogram.hpp"

namespace common {

/// How a strategy was launched on a device: what a wrong result depends on.
struct Launch {
    std::size_t groups = 0;      ///< work-groups (CUDA: blocks) in all; 0 where nothing is launched
    std::size_t group_size = 0;  ///< work-items in each
    std::size_t across = 0;      ///< of the groups, where they lie over rows; 0 where they do not

    bool operator==(const Launch&) const = default;
};

/// "2 groups of 256", "6 groups of 64, 3 across".
std::string to_string(const Launch& launch);

/// What one run took.
struct RunTime {
    double kernel_ms = 0;  ///< zeroing of the output included
    std::optional<double> end_to_end_ms;
};

/// Runs a strategy once and leaves its counts in `histogram`, which holds the poison pattern
/// before. Device buffers are for the run itself to poison.
using Run = std::function<RunTime(Histogram& histogram)>;

}  // namespace common
