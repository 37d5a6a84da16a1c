/// @file
/// The picture beside its histogram, as a PNG.
#pragma once

#include <string>

#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"

namespace common {

/// The bytes of a PNG: left the pixels, scaled to fit 512 x 512 (each shown pixel is the mean of
/// those it stands for), right a bar per bin over the greys from 0 to 255, the highest bar at
/// full height.
std::string histogram_png(const Input& input, const Histogram& histogram);

}  // namespace common
