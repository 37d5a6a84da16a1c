#include "common/report/picture.hpp"

#include <fmt/format.h>
#include <stb_easy_font.h>
#include <stb_image_write.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <vector>

#include "common/image/image.hpp"

namespace common {
namespace {

struct Colour {
    std::uint8_t r, g, b;
};

constexpr Colour kPaper{250, 250, 248};
constexpr Colour kInk{32, 34, 38};
constexpr Colour kFaint{216, 218, 222};
constexpr Colour kBar{38, 98, 158};

constexpr int kSide = 512;  // of the picture and of the bars, which are 2 pixels wide
constexpr int kMargin = 28;
constexpr int kTop = 48;     // room for a line of text
constexpr int kBottom = 64;  // room for the grey scale and the numbers under the axis
constexpr int kGap = 48;
constexpr int kWidth = kMargin + kSide + kGap + kSide + kMargin;
constexpr int kHeight = kTop + kSide + kBottom;

// What is drawn on: rectangles and lines of text, in pixels.
class Canvas {
 public:
    Canvas() : rgb_(static_cast<std::size_t>(kWidth) * kHeight, kPaper) {}

    // What lies outside the canvas is left out.
    void fill(int left, int top, int width, int height, Colour colour) {
        for (int y = std::max(top, 0); y < std::min(top + height, kHeight); ++y) {
            for (int x = std::max(left, 0); x < std::min(left + width, kWidth); ++x)
                rgb_[static_cast<std::size_t>(y * kWidth + x)] = colour;
        }
    }

    // One line in ink, its capitals 14 pixels high. The easy font gives each stroke as a quadrangle
    // along the axes: corners 0 and 2 span it.
    void text(int left, int top, std::string line) {
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

    static int text_width(std::string line) { return kScale * stb_easy_font_width(line.data()); }

    // The bytes of the file.
    [[nodiscard]] std::string png() const {
        std::string bytes;
        const auto append = [](void* to, void* data, int size) {
            static_cast<std::string*>(to)->append(static_cast<const char*>(data),
                                                  static_cast<std::size_t>(size));
        };
        if (stbi_write_png_to_func(append, &bytes, kWidth, kHeight, 3, rgb_.data(), 3 * kWidth) ==
            0)
            throw std::bad_alloc();
        return bytes;
    }

 private:
    static constexpr int kScale = 2;  // of the font

    // The font looks all other characters up outside its table.
    static std::string printable(std::string text) {
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
        return text;
    }

    std::vector<Colour> rgb_;
};

// A picture whose longer side has kSide pixels: each is the mean of those that it stands for, and
// one that stands for none is as white as paper.
Picture scaled_to_fit(const Input& input) {
    const std::size_t width = input.width;
    const std::size_t height = input.height;
    const double scale = kSide / static_cast<double>(std::max(width, height));
    const auto scaled = [&](std::size_t size) {
        return static_cast<std::size_t>(
            std::max(1L, std::lround(static_cast<double>(size) * scale)));
    };
    Picture shown{scaled(width), scaled(height), {}};
    for (std::size_t y = 0; y < shown.height; ++y) {
        const std::size_t top = y * height / shown.height;
        const std::size_t bottom = std::max((y + 1) * height / shown.height, top + 1);
        for (std::size_t x = 0; x < shown.width; ++x) {
            const std::size_t left = x * width / shown.width;
            const std::size_t right = std::max((x + 1) * width / shown.width, left + 1);
            std::uint64_t sum = 0;
            std::uint64_t count = 0;
            for (std::size_t row = top; row < bottom; ++row) {
                const std::size_t last = std::min(row * width + right, input.pixels.size());
                for (std::size_t i = row * width + left; i < last; ++i, ++count)
                    sum += input.pixels[i];
            }
            // The last row may be short.
            shown.pixels.push_back(count == 0 ? kPaper.r : static_cast<std::uint8_t>(sum / count));
        }
    }
    return shown;
}

void draw_picture(Canvas& canvas, const Input& input) {
    if (input.pixels.empty()) return;
    const Picture shown = scaled_to_fit(input);
    const int left = kMargin + (kSide - static_cast<int>(shown.width)) / 2;
    const int top = kTop + (kSide - static_cast<int>(shown.height)) / 2;
    for (std::size_t i = 0; i < shown.pixels.size(); ++i) {
        const std::uint8_t grey = shown.pixels[i];
        canvas.fill(left + static_cast<int>(i % shown.width),
                    top + static_cast<int>(i / shown.width), 1, 1, {grey, grey, grey});
    }
}

void draw_histogram(Canvas& canvas, const Histogram& histogram) {
    constexpr int kLeft = kMargin + kSide + kGap;
    constexpr int kBarWidth = kSide / static_cast<int>(kBins);
    for (int line = 0; line < 4; ++line) {
        canvas.fill(kLeft, kTop + line * kSide / 4, kSide, 1, kFaint);
    }
    const auto highest = std::max_element(histogram.begin(), histogram.end());
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        if (histogram[bin] == 0) continue;
        // A bin that is not empty shows, however small beside the highest.
        const std::uint64_t height = std::uint64_t{histogram[bin]} * kSide / *highest;
        const int shown = std::max(static_cast<int>(height), 1);
        canvas.fill(kLeft + static_cast<int>(bin) * kBarWidth, kTop + kSide - shown, kBarWidth,
                    shown, kBar);
    }
    canvas.fill(kLeft, kTop + kSide, kSide, 1, kInk);
    for (int bin = 0; bin < static_cast<int>(kBins); ++bin) {
        const auto grey = static_cast<std::uint8_t>(bin);
        canvas.fill(kLeft + bin * kBarWidth, kTop + kSide + 4, kBarWidth, 12, {grey, grey, grey});
    }
    for (const int tick : {0, 64, 128, 192, 255}) {
        const std::string label = std::to_string(tick);
        const int centre = kLeft + tick * kBarWidth + 1;
        canvas.fill(centre, kTop + kSide, 1, 4, kInk);
        canvas.text(std::clamp(centre - Canvas::text_width(label) / 2, kLeft,
                               kLeft + kSide - Canvas::text_width(label)),
                    kTop + kSide + 24, label);
    }
    canvas.text(kLeft, kTop - 26,
                *highest == 0 ? "no pixels"
                              : fmt::format("highest bin: {} pixels of value {}", *highest,
                                            highest - histogram.begin()));
}

}  // namespace

std::string histogram_png(const Input& input, const Histogram& histogram) {
    constexpr std::size_t kLongestName = 40;
    Canvas canvas;
    canvas.text(kMargin, kTop - 26,
                input.name.size() <= kLongestName ? input.name
                                                  : input.name.substr(0, kLongestName - 3) + "...");
    draw_picture(canvas, input);
    canvas.text(kMargin, kTop + kSide + 24, fmt::format("{} pixels", input.pixels.size()));
    draw_histogram(canvas, histogram);
    return canvas.png();
}

}  // namespace common
