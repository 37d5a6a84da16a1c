#include "common/report/report.hpp"

#include <stb_image_write.h>

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

// The longer side has kSide pixels, each of them the nearest; what the last row lacks is as white
// as paper.
void draw_picture(Canvas& canvas, const Input& input) {
    const std::size_t longer = std::max(input.width, input.height);
    const auto scaled = [&](std::size_t size) {
        return std::max<std::size_t>(size * kSide / longer, 1);
    };
    if (input.pixels.empty()) return;
    const std::size_t width = scaled(input.width), height = scaled(input.height);
    const int left = kMargin + (kSide - static_cast<int>(width)) / 2;
    const int top = kMargin + (kSide - static_cast<int>(height)) / 2;
    for (std::size_t i = 0; i < width * height; ++i) {
        const std::size_t x = i % width, y = i / width;
        const std::size_t of = y * input.height / height * input.width + x * input.width / width;
        const std::uint8_t grey = of < input.pixels.size() ? input.pixels[of] : kPaper.r;
        canvas.fill(left + static_cast<int>(x), top + static_cast<int>(y), 1, 1,
                    {grey, grey, grey});
    }
}

void draw_histogram(Canvas& canvas, const Histogram& histogram) {
    constexpr int kLeft = kMargin + kSide + kGap;
    constexpr int kBarWidth = kSide / static_cast<int>(kBins);
    for (int line = 0; line < 4; ++line)
        canvas.fill(kLeft, kMargin + line * kSide / 4, kSide, 1, kFaint);
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
