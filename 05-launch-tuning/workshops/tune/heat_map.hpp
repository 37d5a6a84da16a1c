/// @file
/// A search as a heat map for a terminal. (docs/tools/plots.py draws the same from the JSON.)
#pragma once

#include <string>

#include "05-launch-tuning/workshops/tune/cache.hpp"

namespace tuning {

/// A heat map for each size, as lines (UTF-8): a row for each kernel and number of copies, a column
/// for each group size and number of groups for a unit, each cell the best of the loads in percent
/// of the best of that size. Kernels that were tried in other groups stand in a block of their own.
/// Under each map its best launch; at the end how many were measured, refused, wrong or not tried,
/// and why.
std::string heat_map_text(const Tuning& tuning);

}  // namespace tuning
