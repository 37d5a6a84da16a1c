#include "common/report/canvas.hpp"

#include <stb_easy_font.h>
#include <stb_image_write.h>

#include <algorithm>
#include <array>
#include <new>

namespace common {
namespace {

constexpr int kScale = 2;  // of the font

// The font looks all other characters up outside its table.
std::string printable(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text;
}

}  // namespace

Canvas::Canvas(int width, int height)
    : width_(width),
      height_(height),
      rgb_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), kPaper) {}

void Canvas::fill(int left, int top, int width, int height, Colour colour) {
    for (int y = std::max(top, 0); y < std::min(top + height, height_); ++y) {
        for (int x = std::max(left, 0); x < std::min(left + width, width_); ++x) {
            rgb_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                 static_cast<std::size_t>(x)] = colour;
        }
    }
}

// The easy font gives each stroke as a quadrangle along the axes: corners 0 and 2 span it.
void Canvas::text(int left, int top, std::string line) {
    struct Corner {
        float x, y, z;
        std::array<std::uint8_t, 4> colour;
    };
    line = printable(std::move(line));
    std::vector<Corner> corners(line.size() * 64 + 64);
    const int quads = stb_easy_font_print(0, 0, line.data(), nullptr, corners.data(),
                                          static_cast<int>(corners.size() * sizeof(Corner)));
    for (int quad = 0; quad < quads; ++quad) {
        const Corner& from = corners[static_cast<std::size_t>(quad) * 4];
        const Corner& to = corners[static_cast<std::size_t>(quad) * 4 + 2];
        fill(left + kScale * static_cast<int>(from.x), top + kScale * static_cast<int>(from.y),
             kScale * static_cast<int>(to.x - from.x), kScale * static_cast<int>(to.y - from.y),
             kInk);
    }
}

int Canvas::text_width(std::string line) {
    line = printable(std::move(line));
    return kScale * stb_easy_font_width(line.data());
}

std::string Canvas::png() const {
    std::string bytes;
    const auto append = [](void* to, void* data, int size) {
        static_cast<std::string*>(to)->append(static_cast<const char*>(data),
                                              static_cast<std::size_t>(size));
    };
    if (stbi_write_png_to_func(append, &bytes, width_, height_, 3, rgb_.data(), 3 * width_) == 0) {
        throw std::bad_alloc();
    }
    return bytes;
}

std::string shortened(const std::string& text, std::size_t most) {
    return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

}  // namespace common
