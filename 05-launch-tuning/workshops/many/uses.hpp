/// @file
/// What histograms of many pictures are for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/histogram/histogram.hpp"
#include "common/image/image.hpp"
#include "common/image/pixels.hpp"

namespace many {

/// A picture cut into `number` x `number` tiles, which differ by no more than a pixel in a side;
/// some have no pixel where it has fewer across or down.
struct Tiles {
    std::size_t width, height, number;

    /// Where column (row) n of the tiles begins; that of `number` is the picture's end.
    [[nodiscard]] std::size_t left(std::size_t n) const { return width * n / number; }
    [[nodiscard]] std::size_t top(std::size_t n) const { return height * n / number; }
    [[nodiscard]] std::vector<std::uint64_t> sizes() const;  ///< row by row
    /// The pixels, tile by tile: each as a picture of its own.
    [[nodiscard]] common::PixelBuffer one_behind_the_other(
        std::span<const std::uint8_t> pixels) const;
};

/// Contrast-limited adaptive histogram equalization: each tile's histogram is cut at three times
/// its mean, and what was cut is spread evenly; its running sum says which grey becomes which; a
/// pixel's new grey is interpolated between those of the four nearest tiles. (K. Zuiderveld,
/// Contrast Limited Adaptive Histogram Equalization, Graphics Gems IV, 1994.)
/// @param histograms of the tiles, row by row
common::PixelBuffer equalized(const Tiles& tiles, std::span<const std::uint8_t> pixels,
                              std::span<const common::Histogram> histograms);

/// The bytes of a PNG: a picture beside the same picture changed.
std::string beside_png(const Tiles& tiles, std::span<const std::uint8_t> before,
                       std::span<const std::uint8_t> after);

/// Pixels across and down that a picture has on a contact sheet of so many; its border among them.
std::size_t sheet_cell(std::size_t pictures);

/// Pictures from the darkest mean to the brightest.
std::vector<std::size_t> by_brightness(std::span<const common::Histogram> histograms);

/// From the darkest one always on to the nearest that is left. The distance is how far the pixels
/// of one would have to be moved along the greys, on average, to have the histogram of the other:
/// what their running sums differ by. (Y. Rubner, C. Tomasi, L. Guibas, The Earth Mover's Distance
/// as a Metric for Image Retrieval, International Journal of Computer Vision 40, 2000.)
std::vector<std::size_t> by_distance(std::span<const common::Histogram> histograms);

/// The bytes of a PNG: all pictures in this order, row by row.
/// @param small each no larger than a cell
std::string sheet_png(const std::vector<common::Picture>& small,
                      std::span<const std::size_t> order);

}  // namespace many
