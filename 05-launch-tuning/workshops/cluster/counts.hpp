/// @file
/// Counters for the whole. Those of one piece have 32 bits, as everywhere in this course.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "common/histogram/histogram.hpp"

namespace cluster {

using Counts = std::array<std::uint64_t, common::kBins>;

/// @param part a Histogram or Counts
inline void add(const auto& part, Counts& sum) {
    for (std::size_t bin = 0; bin < common::kBins; ++bin)
        sum[bin] += part[bin];
}

inline std::uint64_t total(const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace cluster
