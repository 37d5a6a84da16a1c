/// @file
/// BMP, by a reader of our own: docs/dependencies.md says why.
#pragma once

#include <string_view>

#include "common/image/image.hpp"

namespace common {

/// Reads a whole BMP file: 1, 2, 4, 8, 16, 24 or 32 bits a pixel, with bit fields, run-length
/// encoded (RLE4, RLE8) or neither; the headers of Windows and of OS/2.
/// @param bytes begin with "BM"
/// @throws BadInput with the reason, without the file's name
Picture read_bmp(std::string_view bytes, unsigned channels = 1);

}  // namespace common
