#include <stb_image_write.h>

#include "common/report/report.hpp"

namespace common {
namespace {

constexpr int kSide = 512;  // of the picture and of the bars, which are 2 pixels wide
constexpr int kMargin = 28;
constexpr int kBarsLeft = kMargin + kSide + 48;
constexpr int kWidth = kBarsLeft + kSide + kMargin;
constexpr int kHeight = kMargin + kSide + kMargin;

using Colour = std::array<std::uint8_t, 3>;
constexpr Colour kPaper{250, 250, 248}, kInk{32, 34, 38}, kFaint{216, 218, 222}, kBar{38, 98, 158};

}  // namespace

std::string histogram_png(const Input& input, const Histogram& histogram) {
    std::vector<Colour> rgb(static_cast<std::size_t>(kWidth) * kHeight, kPaper);
    const auto fill = [&](int left, int top, int width, int height, const Colour& colour) {
        for (int y = top; y < top + height; ++y)
            std::fill_n(rgb.begin() + y * kWidth + left, width, colour);
    };
    // The longer side has kSide pixels, each of them the nearest; what the last row lacks is paper.
    const std::size_t longer = std::max({input.width, input.height, std::size_t{1}});
    const std::size_t width = std::max<std::size_t>(input.width * kSide / longer, 1);
    const std::size_t height = std::max<std::size_t>(input.height * kSide / longer, 1);
    for (std::size_t i = 0; i < width * height; ++i) {
        const std::size_t x = i % width, y = i / width;
        const std::size_t of = y * input.height / height * input.width + x * input.width / width;
        if (of >= input.pixels.size()) continue;
        const std::uint8_t grey = input.pixels[of];
        fill(kMargin + static_cast<int>((kSide - width) / 2 + x),
             kMargin + static_cast<int>((kSide - height) / 2 + y), 1, 1, {grey, grey, grey});
    }
    for (int line = 0; line < 4; ++line)
        fill(kBarsLeft, kMargin + line * kSide / 4, kSide, 1, kFaint);
    const std::uint64_t highest = *std::max_element(histogram.begin(), histogram.end());
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        const auto grey = static_cast<std::uint8_t>(bin);
        const int left = kBarsLeft + 2 * static_cast<int>(bin);
        fill(left, kMargin + kSide + 4, 2, 12, {grey, grey, grey});
        if (histogram[bin] == 0) continue;
        // A bin that is not empty shows, however small beside the highest.
        const int shown =
            std::max(static_cast<int>(std::uint64_t{histogram[bin]} * kSide / highest), 1);
        fill(left, kMargin + kSide - shown, 2, shown, kBar);
    }
    fill(kBarsLeft, kMargin + kSide, kSide, 1, kInk);

    std::string bytes;
    const auto append = [](void* to, void* data, int size) {
        static_cast<std::string*>(to)->append(static_cast<const char*>(data),
                                              static_cast<std::size_t>(size));
    };
    if (stbi_write_png_to_func(append, &bytes, kWidth, kHeight, 3, rgb.data(), 3 * kWidth) == 0)
        throw std::bad_alloc();
    return bytes;
}

}  // namespace common
