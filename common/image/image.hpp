// A picture file -> 8-bit grey pixels.
#pragma once

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

/// Reads a picture, whole: docs/pictures.md says which kinds, and how colour becomes grey.
/// @throws BadInput naming the file and the reason
Picture load_picture(const std::filesystem::path& path);

/// The same for the bytes of a file, fewer than 2 GiB. The reason then names no file.
Picture decode_picture(const std::string& bytes);

}  // namespace common
