#include "common/report/picture.hpp"

#include <gtest/gtest.h>
#include <stb_image.h>

#include <memory>

#include "common/inputs/inputs.hpp"
#include "common/tests/support.hpp"

namespace {

using common::Histogram;
using common::Input;
using tests::Rgb;

// Where things stand in the PNG.
constexpr int kWidth = 1128;
constexpr int kHeight = 624;
constexpr int kSide = 512;  // of the picture and of the bars
constexpr int kTop = 48;    // of both
constexpr int kPictureLeft = 28;
constexpr int kBarsLeft = 588;  // two pixels for each bin
constexpr int kBottom = kTop + kSide;

class Shown {
 public:
    Shown(const Input& input, const Histogram& histogram) {
        const std::string png = common::histogram_png(input, histogram);
        EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1A\n");
        int channels = 0;
        pixels_.reset(stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()),
                                            static_cast<int>(png.size()), &width_, &height_,
                                            &channels, 3));
        EXPECT_NE(pixels_, nullptr) << "the PNG does not decode";
        EXPECT_EQ(width_, kWidth);
        EXPECT_EQ(height_, kHeight);
    }

    [[nodiscard]] Rgb at(int x, int y) const {
        const stbi_uc* pixel = pixels_.get() + (std::ptrdiff_t{y} * width_ + x) * 3;
        return {pixel[0], pixel[1], pixel[2]};
    }
    [[nodiscard]] bool bar_at(std::size_t bin, int y) const {
        const Rgb left = at(kBarsLeft + 2 * static_cast<int>(bin), y);
        const Rgb right = at(kBarsLeft + 2 * static_cast<int>(bin) + 1, y);
        EXPECT_EQ(left.b, right.b) << "a bar is two pixels wide";
        return left.r == 38 && left.g == 98 && left.b == 158;
    }
    [[nodiscard]] int bar_height(std::size_t bin) const {
        int height = 0;
        while (height < kSide && bar_at(bin, kBottom - 1 - height))
            ++height;
        for (int y = kTop; y < kBottom - height; ++y)
            EXPECT_FALSE(bar_at(bin, y)) << "a bar has no gaps";
        return height;
    }
    // The grey of the picture there, or -1 where it is paper.
    [[nodiscard]] int grey_at(int x, int y) const {
        const Rgb rgb = at(kPictureLeft + x, kTop + y);
        return rgb.r == rgb.g && rgb.g == rgb.b ? rgb.r : -1;
    }

 private:
    int width_ = 0;
    int height_ = 0;
    std::unique_ptr<stbi_uc, void (*)(void*)> pixels_{nullptr, stbi_image_free};
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
    EXPECT_EQ(shown.bar_height(0), kSide);
    EXPECT_EQ(shown.bar_height(1), kSide / 2);
    EXPECT_EQ(shown.bar_height(2), 0);
    EXPECT_EQ(shown.bar_height(99), 0);
    EXPECT_EQ(shown.bar_height(100), kSide / 4);
    EXPECT_EQ(shown.bar_height(101), 0);
    EXPECT_EQ(shown.bar_height(253), 0);
    EXPECT_EQ(shown.bar_height(254), 1);
    EXPECT_EQ(shown.bar_height(255), kSide);
}

TEST(HistogramPng, CountsOf32BitsDoNotOverflow) {
    Histogram histogram{};
    histogram[10] = 0xFFFF'FFFF;
    histogram[20] = 0x8000'0000;
    const Shown shown(input_of(1, 1, 0), histogram);
    EXPECT_EQ(shown.bar_height(10), kSide);
    EXPECT_EQ(shown.bar_height(20), kSide / 2);
}

TEST(HistogramPng, NoPixels) {
    Input input = input_of(1, 0, 0);
    const Shown shown = show(input);
    for (std::size_t bin = 0; bin < 256; ++bin)
        EXPECT_EQ(shown.bar_height(bin), 0);
    EXPECT_EQ(shown.grey_at(256, 256), -1);
}

TEST(HistogramPng, OnePixelFillsThePicture) {
    const Shown shown = show(input_of(1, 1, 77));
    for (const int at : {0, 255, 511}) {
        EXPECT_EQ(shown.grey_at(at, at), 77);
        EXPECT_EQ(shown.grey_at(0, at), 77);
    }
    EXPECT_EQ(shown.bar_height(77), kSide);
    EXPECT_EQ(shown.bar_height(76), 0);
}

TEST(HistogramPng, ASmallPictureIsEnlargedTheRightWayUp) {
    Input input = input_of(2, 2, 0);
    for (std::size_t i = 0; i < 4; ++i)
        input.pixels[i] = static_cast<std::uint8_t>(10 * (i + 1));
    const Shown shown = show(input);
    EXPECT_EQ(shown.grey_at(0, 0), 10);
    EXPECT_EQ(shown.grey_at(255, 255), 10);
    EXPECT_EQ(shown.grey_at(256, 255), 20);
    EXPECT_EQ(shown.grey_at(255, 256), 30);
    EXPECT_EQ(shown.grey_at(511, 511), 40);
}

TEST(HistogramPng, ALargePictureIsAveraged) {
    Input input = input_of(2048, 1024, 0);
    for (std::size_t i = 0; i < input.pixels.size(); ++i)
        input.pixels[i] = i % 2 == 0 ? 100 : 200;
    const Shown shown = show(input);
    EXPECT_EQ(shown.grey_at(0, 127), -1);  // half as high as wide, so paper above and below
    EXPECT_EQ(shown.grey_at(0, 128), 150);
    EXPECT_EQ(shown.grey_at(511, 383), 150);
    EXPECT_EQ(shown.grey_at(511, 384), -1);
}

TEST(HistogramPng, ATallLineAndAWideOne) {
    const Shown tall = show(input_of(1, 100'000, 60));
    EXPECT_EQ(tall.bar_height(60), kSide);
    EXPECT_EQ(tall.grey_at(kSide / 2 - 1 + 1, 0), -1);
    EXPECT_EQ(tall.grey_at((kSide - 1) / 2, 0), 60);
    EXPECT_EQ(tall.grey_at((kSide - 1) / 2, 511), 60);
    const Shown wide = show(input_of(100'000, 1, 60));
    EXPECT_EQ(wide.grey_at(0, (kSide - 1) / 2), 60);
    EXPECT_EQ(wide.grey_at(511, (kSide - 1) / 2), 60);
    EXPECT_EQ(wide.grey_at(0, 0), -1);
}

TEST(HistogramPng, AShortLastRowIsShownAsFarAsItGoes) {
    Input input = input_of(2, 2, 90);
    input.pixels.pop_back();
    const Shown shown = show(input);
    EXPECT_EQ(shown.grey_at(0, 511), 90);
    EXPECT_EQ(shown.grey_at(511, 0), 90);
    EXPECT_EQ(shown.grey_at(511, 511), -1);
}

TEST(HistogramPng, ATiledInputShowsThePictureItself) {
    Input input = input_of(2, 1, 50);
    input.pixels.assign(1001, 50);  // goes on below the picture's own rows
    EXPECT_EQ(show(input).grey_at(0, 256), 50);
}

// A file may be called anything, and the name stands in the picture.
TEST(HistogramPng, AnyNameCanBeWritten) {
    Input input = input_of(4, 4, 9);
    input.name = std::string(5000, 'W');
    show(input);
    input.name = "";
    show(input);
    for (int first = 0; first < 256; first += 32) {
        input.name.clear();
        for (int c = first; c < first + 32; ++c)
            input.name += static_cast<char>(c);
        show(input);
    }
    input.name = "caf\u00E9 \u65E5\u672C.bmp, 4 x 4";
    show(input);
}

}  // namespace
