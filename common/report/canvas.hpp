/// @file
/// A picture made of rectangles and lines of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace common {

struct Colour {
    std::uint8_t r, g, b;
};

inline constexpr Colour kPaper{250, 250, 248};
inline constexpr Colour kInk{32, 34, 38};
inline constexpr Colour kFaint{216, 218, 222};

class Canvas {
 public:
    /// @param width,height in pixels, 1 or more; all of it is paper
    Canvas(int width, int height);

    /// A rectangle; what lies outside the canvas is left out.
    void fill(int left, int top, int width, int height, Colour colour);

    /// One line in ink, its capitals 14 pixels high. The font has the printable characters of
    /// ASCII; each byte of any other shows as a question mark.
    void text(int left, int top, std::string line);

    /// In pixels.
    static int text_width(std::string line);

    /// The bytes of the file.
    [[nodiscard]] std::string png() const;

 private:
    int width_;
    int height_;
    std::vector<Colour> rgb_;
};

/// The text itself, or its beginning and three dots, no longer than `most` (3 or more) bytes.
std::string shortened(const std::string& text, std::size_t most);

}  // namespace common
