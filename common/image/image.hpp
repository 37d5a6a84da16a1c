/// @file
/// A picture file -> 8-bit grey pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "common/image/pixels.hpp"

namespace common {

/// An 8-bit grey picture: `height` rows of `width` pixels, top row first, no padding.
struct Picture {
    std::size_t width = 0;
    std::size_t height = 0;
    PixelBuffer pixels;
};

/// Reads any picture that stb_image reads (BMP of 1, 4, 8, 16, 24 and 32 bits, bottom-up and
/// top-down, not run-length encoded; PNG, JPEG, PGM and a few more), whole, whatever its size.
///
/// Colour becomes grey as stb_image does it: (77 R + 150 G + 29 B) / 256, rounded down, the weights
/// of ITU-R BT.601 in 8 bits; they add up to 256, so a grey pixel keeps its value. A JPEG already
/// holds that luma as its Y channel, which is taken as it is. Transparency is ignored.
///
/// @throws BadInput naming the file and the reason: missing, a folder, empty, truncated, not a
///         picture, too large, out of memory, unsupported or damaged
Picture load_picture(const std::filesystem::path& path);

}  // namespace common
