#include "common/report/canvas.hpp"

#include <gtest/gtest.h>
#include <stb_image.h>

#include <memory>

namespace {

using common::Canvas;
using common::Colour;

constexpr int kWidth = 40;
constexpr int kHeight = 20;
constexpr Colour kRed{200, 10, 20};

class Shown {
 public:
    explicit Shown(const Canvas& canvas) {
        const std::string png = canvas.png();
        int width = 0;
        int height = 0;
        int channels = 0;
        pixels_.reset(stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()),
                                            static_cast<int>(png.size()), &width, &height,
                                            &channels, 3));
        EXPECT_EQ(width, kWidth);
        EXPECT_EQ(height, kHeight);
    }
    [[nodiscard]] bool is(int x, int y, Colour colour) const {
        const stbi_uc* at = pixels_.get() + (std::ptrdiff_t{y} * kWidth + x) * 3;
        return at[0] == colour.r && at[1] == colour.g && at[2] == colour.b;
    }
    [[nodiscard]] int count(Colour colour) const {
        int found = 0;
        for (int y = 0; y < kHeight; ++y) {
            for (int x = 0; x < kWidth; ++x)
                found += is(x, y, colour) ? 1 : 0;
        }
        return found;
    }

 private:
    std::unique_ptr<stbi_uc, void (*)(void*)> pixels_{nullptr, stbi_image_free};
};

TEST(Canvas, IsPaperAtFirst) {
    EXPECT_EQ(Shown(Canvas(kWidth, kHeight)).count(common::kPaper), kWidth * kHeight);
}

TEST(Canvas, FillsARectangle) {
    Canvas canvas(kWidth, kHeight);
    canvas.fill(3, 5, 10, 2, kRed);
    const Shown shown(canvas);
    EXPECT_EQ(shown.count(kRed), 20);
    EXPECT_TRUE(shown.is(3, 5, kRed));
    EXPECT_TRUE(shown.is(12, 6, kRed));
}

TEST(Canvas, LeavesOutWhatLiesOutside) {
    Canvas canvas(kWidth, kHeight);
    canvas.fill(-5, -5, 6, 6, kRed);
    canvas.fill(kWidth - 1, kHeight - 1, 100, 100, kRed);
    canvas.fill(kWidth, 0, 10, 10, kRed);
    canvas.fill(0, -10, 10, 10, kRed);
    canvas.text(kWidth - 4, kHeight - 4, "outside", kRed);
    canvas.text(-1000, -1000, "outside", kRed);
    const Shown shown(canvas);
    EXPECT_TRUE(shown.is(0, 0, kRed));
    EXPECT_TRUE(shown.is(kWidth - 1, kHeight - 1, kRed));
    EXPECT_LE(shown.count(kRed), 2 + 16);
}

TEST(Canvas, WritesInTheColourThatItIsGiven) {
    Canvas canvas(kWidth, kHeight);
    canvas.text(2, 2, "I", kRed);
    EXPECT_GT(Shown(canvas).count(kRed), 20);
    EXPECT_EQ(Shown(canvas).count(common::kInk), 0);
    canvas.text(20, 2, "I");
    EXPECT_GT(Shown(canvas).count(common::kInk), 20);
    EXPECT_LE(Canvas::text_width("II"), kWidth);
    EXPECT_EQ(Canvas::text_width("IIII"), 2 * Canvas::text_width("II"));
    EXPECT_EQ(Canvas::text_width(""), 0);
}

// The font looks other characters up outside its table.
TEST(Canvas, WritesAQuestionMarkForWhatTheFontHasNot) {
    const auto written = [](const std::string& line) {
        Canvas canvas(kWidth, kHeight);
        canvas.text(2, 2, line);
        return canvas.png();
    };
    EXPECT_NE(written("?"), written("!"));
    EXPECT_EQ(written("\xFF"), written("?"));
    EXPECT_EQ(written("\n"), written("?"));
    EXPECT_EQ(written("\x7F"), written("?"));
    EXPECT_EQ(written("\u00E9"), written("??"));
    EXPECT_EQ(Canvas::text_width("\xFF"), Canvas::text_width("?"));
}

TEST(Shortened, EndsInThreeDots) {
    EXPECT_EQ(common::shortened("", 3), "");
    EXPECT_EQ(common::shortened("abcdef", 6), "abcdef");
    EXPECT_EQ(common::shortened("abcdefg", 6), "abc...");
    EXPECT_EQ(common::shortened("abcd", 3), "...");
}

}  // namespace
