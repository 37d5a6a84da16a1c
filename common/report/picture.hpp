/// @file
/// The picture beside its histogram, as a PNG.
#pragma once

#include <string>

#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"

namespace common {

/// The bytes of the file.
std::string histogram_png(const Input& input, const Histogram& histogram);

}  // namespace common
