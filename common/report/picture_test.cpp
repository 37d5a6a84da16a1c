#include "common/report/picture.hpp"

#include <gtest/gtest.h>

#include "common/image/image.hpp"
#include "common/inputs/inputs.hpp"
#include "common/report/canvas.hpp"
#include "common/tests/support.hpp"

namespace {

using common::Canvas;
using common::Colour;
using common::Histogram;
using common::Input;

// A PNG of this size, decoded.
class Decoded {
 public:
    Decoded(const std::string& png, std::size_t width, std::size_t height)
        : picture_(common::decode_picture(png, 3)) {
        EXPECT_EQ(picture_.width, width);
        EXPECT_EQ(picture_.height, height);
    }
    [[nodiscard]] Colour at(int x, int y) const {
        const std::uint8_t* pixel = &picture_.pixels[(static_cast<std::size_t>(y) * picture_.width +
                                                      static_cast<std::size_t>(x)) *
                                                     3];
        return {pixel[0], pixel[1], pixel[2]};
    }
    [[nodiscard]] bool is(int x, int y, Colour colour) const {
        const Colour found = at(x, y);
        return found.r == colour.r && found.g == colour.g && found.b == colour.b;
    }
    [[nodiscard]] int count(Colour colour) const {
        int found = 0;
        for (int y = 0; y < static_cast<int>(picture_.height); ++y) {
            for (int x = 0; x < static_cast<int>(picture_.width); ++x)
                found += is(x, y, colour) ? 1 : 0;
        }
        return found;
    }

 private:
    common::Picture picture_;
};

// ---- what is drawn on ---------------------------------------------------------------------------

constexpr int kCanvasWidth = 40;
constexpr int kCanvasHeight = 20;
constexpr Colour kRed{200, 10, 20};

TEST(Canvas, LeavesOutWhatLiesOutside) {
    Canvas beyond(kCanvasWidth, kCanvasHeight);
    beyond.text(kCanvasWidth - 4, kCanvasHeight - 4, "outside");
    beyond.text(-1000, -1000, "outside");
    beyond.fill(-5, -5, 6, 6, kRed);
    beyond.fill(kCanvasWidth - 1, kCanvasHeight - 1, 100, 100, kRed);
    beyond.fill(kCanvasWidth, 0, 10, 10, kRed);
    beyond.fill(0, -10, 10, 10, kRed);
    const Decoded shown(beyond.png(), kCanvasWidth, kCanvasHeight);
    EXPECT_TRUE(shown.is(0, 0, kRed));
    EXPECT_TRUE(shown.is(kCanvasWidth - 1, kCanvasHeight - 1, kRed));
    EXPECT_EQ(shown.count(kRed), 2);
    EXPECT_LE(shown.count(common::kInk), 16);
}

// The font looks characters that it has not up outside its table: they become question marks.
TEST(Canvas, WritesWhatTheFontHas) {
    const auto written = [](const std::string& line) {
        Canvas canvas(kCanvasWidth, kCanvasHeight);
        canvas.text(2, 2, line);
        return canvas.png();
    };
    EXPECT_GT(Decoded(written("I"), kCanvasWidth, kCanvasHeight).count(common::kInk), 20);
    EXPECT_NE(written("?"), written("!"));
    for (const char* other : {"\xFF", "\n", "\x7F"})
        EXPECT_EQ(written(other), written("?"));
    EXPECT_EQ(written("\u00E9"), written("??"));
    EXPECT_EQ(Canvas::text_width(""), 0);
    EXPECT_EQ(Canvas::text_width("\xFF"), Canvas::text_width("?"));
    EXPECT_EQ(Canvas::text_width("IIII"), 2 * Canvas::text_width("II"));
}

TEST(Shortened, EndsInThreeDots) {
    EXPECT_EQ(common::shortened("", 3), "");
    EXPECT_EQ(common::shortened("abcdef", 6), "abcdef");
    EXPECT_EQ(common::shortened("abcdefg", 6), "abc...");
    EXPECT_EQ(common::shortened("abcd", 3), "...");
}

// ---- the picture beside its histogram -----------------------------------------------------------

// Where things stand in the PNG.
constexpr int kSide = 512;  // of the picture and of the bars
constexpr int kTop = 48;    // of both
constexpr int kPictureLeft = 28;
constexpr int kBarsLeft = 588;  // two pixels for each bin
constexpr int kBottom = kTop + kSide;

class Shown : public Decoded {
 public:
    Shown(const Input& input, const Histogram& histogram)
        : Decoded(common::histogram_png(input, histogram), 1128, 624) {}

    [[nodiscard]] bool bar_at(std::size_t bin, int y) const {
        constexpr Colour kBar{38, 98, 158};
        const int left = kBarsLeft + 2 * static_cast<int>(bin);
        EXPECT_EQ(is(left, y, kBar), is(left + 1, y, kBar)) << "a bar is two pixels wide";
        return is(left, y, kBar);
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
        const Colour rgb = at(kPictureLeft + x, kTop + y);
        return rgb.r == rgb.g && rgb.g == rgb.b ? rgb.r : -1;
    }
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
        EXPECT_EQ(shown.bar_height(static_cast<std::size_t>(bin)), height) << bin;
    // Counts of 32 bits do not overflow.
    histogram[10] = 0xFFFF'FFFF;
    histogram[20] = 0x8000'0000;
    const Shown large(input_of(1, 1, 0), histogram);
    EXPECT_EQ(large.bar_height(10), kSide);
    EXPECT_EQ(large.bar_height(20), kSide / 2);
    const Shown empty = show(input_of(1, 0, 0));
    for (std::size_t bin = 0; bin < 256; ++bin)
        EXPECT_EQ(empty.bar_height(bin), 0);
    EXPECT_EQ(empty.grey_at(256, 256), -1);
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
    EXPECT_EQ(shown.grey_at(511, 511), 250);  // white as paper
}

TEST(HistogramPng, ATiledInputShowsThePictureItself) {
    Input input = input_of(2, 1, 50);
    input.pixels.assign(1001, 50);  // goes on below the picture's own rows
    EXPECT_EQ(show(input).grey_at(0, 256), 50);
}

// A file may be called anything, and the name stands in the picture.
TEST(HistogramPng, AnyNameCanBeWritten) {
    Input input = input_of(4, 4, 9);
    std::string all;
    for (int c = 0; c < 256; ++c)
        all += static_cast<char>(c);
    for (const std::string& name : {std::string(5000, 'W'), std::string(), all, all.substr(128)}) {
        input.name = name;
        show(input);
    }
}

}  // namespace
