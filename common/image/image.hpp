/// @file
/// A picture file -> 8-bit grey pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "common/image/pixels.hpp"

namespace common {

/// An 8-bit grey picture: `height` rows of `width` pixels, top row first, no padding. Or with
/// colours: three bytes a pixel are red, green and blue; behind four stands 255, for opaque.
struct Picture {
    std::size_t width = 0;
    std::size_t height = 0;
    PixelBuffer pixels;
    unsigned channels = 1;  ///< 1, 3 or 4

    /// Makes room for all pixels.
    void resize() { pixels.resize(width * height * channels); }

    /// Sets pixel i to a colour, or to the grey of it.
    void set(std::size_t i, std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
        if (channels == 1) {
            pixels[i] = static_cast<std::uint8_t>((77 * red + 150 * green + 29 * blue) / 256);
            return;
        }
        const std::uint32_t all[] = {red, green, blue, 255};
        for (unsigned c = 0; c < channels; ++c)
            pixels[i * channels + c] = static_cast<std::uint8_t>(all[c]);
    }
};

/// Reads a picture, whole, whatever its size: BMP, PNG, JPEG, binary PGM and PPM (docs/pictures.md
/// says which kinds of them).
///
/// Colour becomes grey as stb_image does it: (77 R + 150 G + 29 B) / 256, rounded down, the weights
/// of ITU-R BT.601 in 8 bits; they add up to 256, so a grey pixel keeps its value. A JPEG already
/// holds that luma as its Y channel, which is taken as it is. Transparency is ignored. 16 bits a
/// sample become 8 by leaving the lower 8 out; a PGM or PPM whose largest value is M, neither 255
/// nor 65535, is scaled by 255 / M, rounded to the nearest.
///
/// @param channels 3 or 4 keep the colours
/// @throws BadInput naming the file and the reason: missing, no file, empty, truncated, not a
///         picture of these formats, too large, out of memory, unsupported or damaged
Picture load_picture(const std::filesystem::path& path, unsigned channels = 1);

/// The same for the bytes of a file, fewer than 2 GiB. The reason then names no file.
Picture decode_picture(std::string_view bytes, unsigned channels = 1);

}  // namespace common
