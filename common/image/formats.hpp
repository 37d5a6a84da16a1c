/// @file
/// What stb_image does not notice in a picture file, or gets wrong. Each function takes the bytes
/// of a whole file, whose first bytes are those of its format.
/// @throws BadInput with the reason, without the file's name
#pragma once

#include <cstdint>
#include <string_view>

#include "common/image/image.hpp"

namespace common {

/// Refuses a file that ends before its pixels do, those of OS/2, whose palettes some versions read
/// wrongly, and a header that cannot be true.
void check_bmp(std::string_view bytes);

/// Refuses a chunk whose checksum is not that of its bytes, a file without its last chunk, and one
/// whose data are too few for its size, however well they are compressed.
void check_png(std::string_view bytes);

/// Refuses a file without its end marker, without data or with too few for its size, and codes that
/// older versions cannot hold.
void check_jpeg(std::string_view bytes);

/// The checksum that a PNG has of each chunk's name and data.
std::uint32_t crc_32(std::string_view bytes);

/// PGM and PPM, which stb_image reads wrongly where a sample has 16 bits or another maximum than
/// 255, and which need no library.
Picture read_pnm(std::string_view bytes, unsigned channels = 1);

}  // namespace common
