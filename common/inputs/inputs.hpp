// The pixels that a program counts: a picture's, or generated ones.
#pragma once

#include "common/image/pixels.hpp"
#include "common/options/options.hpp"

namespace common {

/// What a program counts. The pixels are rows of `width`, without padding; the last row may be
/// short.
struct Input {
    std::string name;  ///< what the table calls it
    std::size_t width = 0;
    std::size_t height = 0;  ///< rows of the picture itself; a tiled one goes on below them
    PixelBuffer pixels;
    std::optional<std::uint64_t> seed;  ///< of generated pixels
    unsigned pixel_bytes = 1;           ///< more where `pixels` has only a part of each
};

/// Uniform over 0..values-1.
/// The generators below give the same pixels for the same seed on every machine and with any number
/// of threads: pixel blocks are counted, and each draws from splitmix64 (Steele, Lea, Flood: Fast
/// splittable pseudorandom number generators, 2014) started at its own number.
/// @param values 1 to 256
PixelBuffer uniform_pixels(std::size_t count, unsigned values, std::uint64_t seed);

/// `percent` of the pixels, each chosen independently, have one value, `hot_value(seed)`; the
/// others are uniform over 0..255.
PixelBuffer contended_pixels(std::size_t count, unsigned percent, std::uint64_t seed);
std::uint8_t hot_value(std::uint64_t seed);

PixelBuffer constant_pixels(std::size_t count, std::uint8_t value);

/// 0, 1, 2, ... 255, 0, 1, ...
PixelBuffer ramp_pixels(std::size_t count);

/// The pixels of load_input in parts, for those who cannot or need not have all of them at once.
class PixelStream {
 public:
    /// @throws BadInput for a picture that cannot be used
    explicit PixelStream(const Options& options);

    std::string name;
    std::size_t width = 0;
    std::size_t height = 0;
    std::uint64_t size = 0;  ///< pixels
    std::optional<std::uint64_t> seed;

    /// Sets `pixels` to those from `first` on, which must be there; on this thread alone. It is
    /// quickest where 2^20 divides `first`.
    void read(std::uint64_t first, std::span<std::uint8_t> pixels) const;

    /// Sets the pixels from one address to another: those of a block of 2^20, from its beginning
    /// on, which is so far behind the first pixel of all.
    using Fill = std::function<void(std::uint8_t* first, std::uint8_t* last, std::uint64_t offset)>;
    [[nodiscard]] const Fill& fill() const { return fill_; }

 private:
    Fill fill_;
};

/// What the command line asks for: the picture, tiled or not, or generated pixels.
/// @throws BadInput for a picture that cannot be used; std::bad_alloc
Input load_input(const Options& options);

}  // namespace common
