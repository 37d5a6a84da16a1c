#include "common/report/report.hpp"

#include <gtest/gtest.h>
#include <stb_image.h>

#include <memory>

namespace {

using common::Histogram;
using common::Input;

// Where things stand in the PNG.
constexpr int kWidth = 1128;
constexpr int kSide = 512;  // of the picture and of the bars
constexpr int kTop = 28;    // of both
constexpr int kPictureLeft = 28;
constexpr int kBarsLeft = 588;  // two pixels for each bin
constexpr int kBottom = kTop + kSide;

class Shown {
 public:
    Shown(const Input& input, const Histogram& histogram) {
        const std::string png = common::histogram_png(input, histogram);
        int width = 0;
        int height = 0;
        rgb_.reset(stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()),
                                         static_cast<int>(png.size()), &width, &height, nullptr,
                                         3));
        EXPECT_EQ(width, kWidth);
        EXPECT_EQ(height, 568);
    }

    [[nodiscard]] int bar_height(int bin) const {
        const Colour blue{38, 98, 158};
        int height = 0;
        while (height < kSide && at(kBarsLeft + 2 * bin, kBottom - 1 - height) == blue)
            ++height;
        return height;
    }
    // The grey of the picture there, or -1 where it is paper.
    [[nodiscard]] int grey_at(int x, int y) const {
        const auto [r, g, b] = at(kPictureLeft + x, kTop + y);
        return r == g && g == b ? r : -1;
    }

 private:
    using Colour = std::array<int, 3>;

    [[nodiscard]] Colour at(int x, int y) const {
        const stbi_uc* const pixel = rgb_.get() + 3 * (y * kWidth + x);
        return {pixel[0], pixel[1], pixel[2]};
    }

    std::unique_ptr<stbi_uc, void (*)(void*)> rgb_{nullptr, stbi_image_free};
};

Input input_of(std::size_t width, std::size_t height, std::uint8_t value) {
    Input input;
    input.name = "a test";
    input.width = width;
    input.height = height;
    input.pixels.assign(width * height, value);
    return input;
}

Shown show(const Input& input) {
    return {input, common::reference_histogram(input.pixels)};
}

TEST(HistogramPng, BarsAreAsHighAsTheCounts) {
    Histogram histogram{};
    histogram[0] = 1000;
    histogram[1] = 500;
    histogram[100] = 250;
    histogram[254] = 1;  // too few for a pixel of height, and seen all the same
    histogram[255] = 1000;
    const Shown shown(input_of(1, 1, 0), histogram);
    for (const auto& [bin, height] : {std::pair{0, kSide},
                                      {1, kSide / 2},
                                      {2, 0},
                                      {99, 0},
                                      {100, kSide / 4},
                                      {101, 0},
                                      {253, 0},
                                      {254, 1},
                                      {255, kSide}})
        EXPECT_EQ(shown.bar_height(bin), height) << bin;
    // Counts of 32 bits do not overflow.
    histogram[10] = 0xFFFF'FFFF;
    histogram[20] = 0x8000'0000;
    const Shown large(input_of(1, 1, 0), histogram);
    EXPECT_EQ(large.bar_height(10), kSide);
    EXPECT_EQ(large.bar_height(20), kSide / 2);
    const Shown empty = show(input_of(1, 0, 0));
    for (int bin = 0; bin < 256; ++bin)
        EXPECT_EQ(empty.bar_height(bin), 0);
    EXPECT_EQ(empty.grey_at(256, 256), -1);
}

TEST(HistogramPng, ALargePictureIsMadeToFit) {
    Input input = input_of(2048, 1024, 100);
    for (std::size_t i = 2044; i < input.pixels.size(); i += 2048)
        input.pixels[i] = 200;
    const Shown shown = show(input);
    EXPECT_EQ(shown.grey_at(0, 127), -1);  // half as high as wide, so paper above and below
    EXPECT_EQ(shown.grey_at(0, 128), 100);
    EXPECT_EQ(shown.grey_at(511, 383), 200);
    EXPECT_EQ(shown.grey_at(511, 384), -1);
}

TEST(HistogramPng, AShortLastRowIsShownAsFarAsItGoes) {
    Input input = input_of(2, 2, 0);
    input.pixels = {10, 20, 30};
    const Shown shown = show(input);
    EXPECT_EQ(shown.grey_at(255, 255), 10);
    EXPECT_EQ(shown.grey_at(256, 255), 20);
    EXPECT_EQ(shown.grey_at(255, 256), 30);
    EXPECT_EQ(shown.grey_at(511, 511), 250);  // white as paper
}

}  // namespace
