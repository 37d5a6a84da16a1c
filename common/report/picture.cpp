#include "common/report/picture.hpp"

#include <stb_image_write.h>

#include <algorithm>
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
constexpr int kGap = 48;
constexpr int kWidth = kMargin + kSide + kGap + kSide + kMargin;
constexpr int kHeight = kMargin + kSide + kMargin;

// What is drawn on: rectangles, in pixels.
class Canvas {
 public:
    Canvas() : rgb_(static_cast<std::size_t>(kWidth) * kHeight, kPaper) {}

    void fill(int left, int top, int width, int height, Colour colour) {
        for (int y = top; y < top + height; ++y) {
            for (int x = left; x < left + width; ++x)
                rgb_[static_cast<std::size_t>(y * kWidth + x)] = colour;
        }
    }

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
    const int top = kMargin + (kSide - static_cast<int>(shown.height)) / 2;
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
        canvas.fill(kLeft, kMargin + line * kSide / 4, kSide, 1, kFaint);
    }
    const auto highest = std::max_element(histogram.begin(), histogram.end());
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        if (histogram[bin] == 0) continue;
        // A bin that is not empty shows, however small beside the highest.
        const std::uint64_t height = std::uint64_t{histogram[bin]} * kSide / *highest;
        const int shown = std::max(static_cast<int>(height), 1);
        canvas.fill(kLeft + static_cast<int>(bin) * kBarWidth, kMargin + kSide - shown, kBarWidth,
                    shown, kBar);
    }
    canvas.fill(kLeft, kMargin + kSide, kSide, 1, kInk);
    for (int bin = 0; bin < static_cast<int>(kBins); ++bin) {
        const auto grey = static_cast<std::uint8_t>(bin);
        canvas.fill(kLeft + bin * kBarWidth, kMargin + kSide + 4, kBarWidth, 12,
                    {grey, grey, grey});
    }
}

}  // namespace

std::string histogram_png(const Input& input, const Histogram& histogram) {
    Canvas canvas;
    draw_picture(canvas, input);
    draw_histogram(canvas, histogram);
    return canvas.png();
}

}  // namespace common
