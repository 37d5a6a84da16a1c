/// @file
/// What the readers of picture files share: numbers out of bytes, and the bounds of a picture.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/process/status.hpp"

namespace common {

inline constexpr const char* kTruncated = "truncated: the file ends before the picture does";

/// 0 behind the end.
inline std::uint32_t byte(std::string_view bytes, std::size_t at) {
    return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : 0;
}

/// An unsigned number of `size` bytes, the most significant one first.
inline std::uint32_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
        value = value << 8 | byte(bytes, at + i);
    return value;
}

/// The same, the least significant byte first.
inline std::uint32_t little_endian(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint32_t value = 0;
    for (std::size_t i = size; i-- > 0;)
        value = value << 8 | byte(bytes, at + i);
    return value;
}

/// @throws BadInput for a picture without pixels, and for one that is too large
inline void check_size(std::int64_t width, std::int64_t height) {
    if (width <= 0 || height <= 0) {
        throw BadInput("damaged or truncated: a picture without pixels");
    }
    // stb_image decodes to up to 4 bytes a pixel and counts them in 31 bits.
    constexpr std::int64_t kLongestSide = 1 << 24;
    constexpr std::int64_t kMaxPicturePixels = (1 << 29) - 1;
    if (std::max(width, height) > kLongestSide || width * height > kMaxPicturePixels) {
        throw BadInput(fmt::format("too large a picture: {} x {} pixels", width, height));
    }
}

}  // namespace common
