#include <gtest/gtest.h>
#include <stb_image.h>

#include <memory>

#include "common/report/report.hpp"

namespace {

using common::Histogram;
using common::Input;

constexpr int kSide = 512;  // of the picture and of the bars

// Reads the PNG again.
class Shown {
 public:
    Shown(const Input& input, const Histogram& histogram) {
        const std::string png = common::histogram_png(input, histogram);
        int height = 0;
        rgb_.reset(stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()),
                                         static_cast<int>(png.size()), &width_, &height, nullptr,
                                         3));
        EXPECT_TRUE(width_ == 1128 && height == 568) << width_ << " x " << height;
    }

    [[nodiscard]] int bar_height(int bin) const {
        int height = 0;
        while (height < kSide && at(588 + 2 * bin, 28 + kSide - 1 - height)[0] == 38)  // it is blue
            ++height;
        return height;
    }
    // The grey of the picture there, or -1 where it is paper.
    [[nodiscard]] int grey_at(int x, int y) const {
        const stbi_uc* const rgb = at(28 + x, 28 + y);
        return rgb[0] == rgb[2] ? rgb[0] : -1;
    }

 private:
    [[nodiscard]] const stbi_uc* at(int x, int y) const {
        return rgb_.get() + 3 * (y * width_ + x);
    }

    int width_ = 0;
    std::unique_ptr<stbi_uc, void (*)(void*)> rgb_{nullptr, stbi_image_free};
};

Shown show(std::size_t width, std::size_t height, common::PixelBuffer pixels) {
    Input input;
    input.width = width;
    input.height = height;
    input.pixels = std::move(pixels);
    return {input, common::reference_histogram(input.pixels)};
}

TEST(HistogramPng, BarsAreAsHighAsTheCounts) {
    // Counts of 32 bits do not overflow; and one is too few for a pixel of height, and seen all the
    // same.
    const std::map<int, std::pair<std::uint32_t, int>> bars{{0, {0xFFFF'FFFF, kSide}},
                                                            {1, {0x8000'0000, kSide / 2}},
                                                            {2, {0, 0}},
                                                            {99, {0, 0}},
                                                            {100, {1U << 30, kSide / 4}},
                                                            {253, {0, 0}},
                                                            {254, {1, 1}},
                                                            {255, {0xFFFF'FFFF, kSide}}};
    Histogram histogram{};
    for (const auto& [bin, bar] : bars)
        histogram[static_cast<std::size_t>(bin)] = bar.first;
    const Shown shown({}, histogram);
    for (const auto& [bin, bar] : bars)
        EXPECT_EQ(shown.bar_height(bin), bar.second) << bin;
    const Shown empty = show(1, 0, {});
    EXPECT_EQ(empty.bar_height(0), 0);
    EXPECT_EQ(empty.grey_at(256, 256), -1);
}

TEST(HistogramPng, ThePictureIsMadeToFit) {
    common::PixelBuffer pixels(std::size_t{2048} * 1024, 100);
    for (std::size_t i = 2044; i < pixels.size(); i += 2048)
        pixels[i] = 200;
    const Shown large = show(2048, 1024, pixels);
    // Half as high as wide, so there is paper above and below.
    for (const auto& [x, y, grey] :
         {std::array{0, 127, -1}, {0, 128, 100}, {511, 383, 200}, {511, 384, -1}})
        EXPECT_EQ(large.grey_at(x, y), grey) << x << ", " << y;
    const Shown small = show(2, 2, {10, 20, 30});  // its last row is short
    for (const auto& [x, y, grey] :
         {std::array{255, 255, 10}, {256, 255, 20}, {255, 256, 30}, {511, 511, -1}})
        EXPECT_EQ(small.grey_at(x, y), grey) << x << ", " << y;
}

}  // namespace
