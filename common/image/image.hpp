/// @file
/// A picture file -> 8-bit grey pixels.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "common/image/pixels.hpp"

namespace common {

/// `height` rows of `width` 8-bit grey pixels, top row first, no padding.
struct Picture {
    std::size_t width = 0;
    std::size_t height = 0;
    PixelBuffer pixels;
};

/// Reads a picture, whole, whatever its size: BMP, PNG, JPEG, binary PGM and PPM (docs/pictures.md
/// says which kinds of them).
///
/// Colour becomes grey as stb_image does it: (77 R + 150 G + 29 B) / 256, rounded down, the weights
/// of ITU-R BT.601 in 8 bits; they add up to 256, so a grey pixel keeps its value. A JPEG already
/// holds that luma as its Y channel, which is taken as it is. Transparency is ignored. 16 bits a
/// sample become 8 by leaving the lower 8 out.
///
/// @throws BadInput naming the file and the reason: missing, no file, empty, truncated, not a
///         picture of these formats, too large, out of memory, unsupported or damaged
Picture load_picture(const std::filesystem::path& path);

/// The same for the bytes of a file, fewer than 2 GiB. The reason then names no file.
Picture decode_picture(const std::string& bytes);

}  // namespace common
