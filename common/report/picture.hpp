/// @file
/// The picture beside its histogram, as a PNG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/histogram/histogram.hpp"
#include "common/image/image.hpp"
#include "common/inputs/inputs.hpp"
#include "common/report/canvas.hpp"

namespace common {

/// The bytes of a PNG: left the pixels, scaled to fit 512 x 512 (each shown pixel is the mean of
/// those it stands for), right a bar per bin over an axis from 0 to 255, the highest bar at full
/// height and its count written beside it.
std::string histogram_png(const Input& input, const Histogram& histogram);

/// A picture whose longer side has `side` pixels: each is the mean of those that it stands for, and
/// one that stands for none is as white as paper.
/// @param pixels rows of `width`, of which the last may be short
/// @param width,height 1 or more
Picture scaled_to_fit(std::span<const std::uint8_t> pixels, std::size_t width, std::size_t height,
                      std::size_t side);

/// Its upper left corner goes to `left` and `top`.
void draw(Canvas& canvas, const Picture& picture, int left, int top);

}  // namespace common
