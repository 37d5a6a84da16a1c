#include "common/image/image.hpp"

#include <gtest/gtest.h>
#include <stb_image_write.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>
#include <thread>

#include "common/histogram/histogram.hpp"
#include "common/tests/support.hpp"

namespace {

namespace fs = std::filesystem;

using common::Picture;
using tests::Bmp;
using Pixels = common::PixelBuffer;

std::uint8_t luma(unsigned r, unsigned g, unsigned b) {
    return static_cast<std::uint8_t>((77 * r + 150 * g + 29 * b) / 256);
}

void append(void* to, void* bytes, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes),
                                          static_cast<std::size_t>(size));
}

class Image : public testing::Test {
 protected:
    Picture load(const std::string& bytes) const {
        tests::write_bytes(path_, bytes);
        return common::load_picture(path_);
    }

    // Loads what must be refused, and gives the reason: the message begins with the file's name.
    std::string refusal(const std::string& bytes) const {
        tests::write_bytes(path_, bytes);
        return refusal_of(path_);
    }
    static std::string refusal_of(const fs::path& path) {
        const std::string text = tests::bad_input([&] { common::load_picture(path); });
        const std::string name = path.string() + ": ";
        EXPECT_TRUE(text.starts_with(name)) << text;
        return text.size() < name.size() ? "" : text.substr(name.size());
    }

    // Every shorter file must be refused, or, where only bytes that hold no pixel are missing, give
    // the very same picture. Never other pixels.
    void expect_no_cut_goes_unseen(const std::string& whole,
                                   std::size_t harmless_at_the_end) const {
        const Pixels expected = load(whole).pixels;
        for (std::size_t size = 0; size < whole.size(); ++size) {
            SCOPED_TRACE("cut to " + std::to_string(size) + " of " + std::to_string(whole.size()));
            if (size + harmless_at_the_end >= whole.size()) {
                EXPECT_EQ(load(whole.substr(0, size)).pixels, expected);
            } else {
                refusal(whole.substr(0, size));
            }
        }
    }

    tests::TemporaryFolder folder_;
    fs::path path_ = folder_ / "picture.bmp";
};

// The pixel at (x, y) of the test pictures: no two neighbours are equal, nor two rows.
std::uint32_t pattern(std::size_t x, std::size_t y, std::uint32_t values) {
    return static_cast<std::uint32_t>(x * 7 + y * 31 + 5) % values;
}

Bmp patterned(unsigned bits, std::size_t width, std::size_t height) {
    Bmp bmp;
    bmp.bits = bits;
    const std::uint32_t values = bits >= 8 ? 256 : 1U << bits;
    for (std::size_t y = 0; y < height; ++y) {
        bmp.rows.emplace_back();
        for (std::size_t x = 0; x < width; ++x) {
            const std::uint32_t value = pattern(x, y, values);
            bmp.rows[y].push_back(bits == 24 ? value * 0x01'01'01 : value);
        }
    }
    if (bits == 8) bmp.palette = tests::grey_palette();
    if (bits == 4) {
        for (int i = 0; i < 16; ++i) {
            const auto grey = static_cast<std::uint8_t>(i * 17);
            bmp.palette.push_back({grey, grey, grey});
        }
    }
    if (bits == 1) bmp.palette = {{10, 10, 10}, {200, 200, 200}};
    return bmp;
}

Pixels expected_of(unsigned bits, std::size_t width, std::size_t height) {
    Pixels pixels;
    for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = 0; x < width; ++x) {
            const std::uint32_t value = pattern(x, y, bits >= 8 ? 256 : 1U << bits);
            pixels.push_back(static_cast<std::uint8_t>(bits == 1   ? (value != 0 ? 200 : 10)
                                                       : bits == 4 ? value * 17
                                                                   : value));
        }
    }
    return pixels;
}

// ---- BMP: every depth, either way up, every width of padding --------------------------------

TEST_F(Image, BmpOfEveryDepthAndShapeGivesExactlyItsPixels) {
    for (const unsigned bits : {1U, 4U, 8U, 24U}) {
        for (const bool top_down : {false, true}) {
            for (std::size_t width = 1; width <= 18; ++width) {
                for (const std::size_t height : {1U, 2U, 5U}) {
                    SCOPED_TRACE(testing::Message() << bits << " bits, " << width << " x " << height
                                                    << (top_down ? ", top-down" : ""));
                    Bmp bmp = patterned(bits, width, height);
                    bmp.top_down = top_down;
                    const Picture picture = load(tests::bmp_file(bmp));
                    EXPECT_EQ(picture.width, width);
                    EXPECT_EQ(picture.height, height);
                    EXPECT_EQ(picture.pixels, expected_of(bits, width, height));
                }
            }
        }
    }
}

TEST_F(Image, BmpLargerThanAnyReadBuffer) {
    const Picture picture = load(tests::bmp_file(patterned(8, 1021, 517)));
    EXPECT_EQ(picture.pixels, expected_of(8, 1021, 517));
}

TEST_F(Image, ColourBecomesGreyByTheWeightsOfBt601) {
    const std::vector<std::uint32_t> colours{0xFF'00'00, 0x00'FF'00, 0x00'00'FF, 0xFF'FF'FF,
                                             0x00'00'00, 0x12'34'56, 0xFE'01'80};
    Bmp bmp;
    bmp.bits = 24;
    bmp.rows = {colours};
    const Picture picture = load(tests::bmp_file(bmp));
    ASSERT_EQ(picture.pixels.size(), colours.size());
    for (std::size_t i = 0; i < colours.size(); ++i) {
        EXPECT_EQ(picture.pixels[i],
                  luma(colours[i] >> 16, colours[i] >> 8 & 0xFF, colours[i] & 0xFF));
    }
    // In numbers too, so that a mistake in `luma` above does not agree with one in the loader.
    EXPECT_EQ(picture.pixels[0], 76);
    EXPECT_EQ(picture.pixels[1], 149);
    EXPECT_EQ(picture.pixels[2], 28);
    EXPECT_EQ(picture.pixels[3], 255);
}

TEST_F(Image, GreyKeepsItsValue) {
    Bmp bmp;
    bmp.bits = 24;
    bmp.rows.emplace_back();
    for (std::uint32_t value = 0; value < 256; ++value)
        bmp.rows[0].push_back(value * 0x01'01'01);
    Pixels all(256);
    std::iota(all.begin(), all.end(), std::uint8_t{0});
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, all);
}

TEST_F(Image, AColourPaletteIsLookedUp) {
    Bmp bmp;
    bmp.bits = 8;
    bmp.palette = {{255, 0, 0}, {0, 255, 0}, {1, 2, 3}};
    bmp.rows = {{2, 0, 1}, {1, 1, 0}};
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, (Pixels{luma(1, 2, 3), 76, 149, 149, 149, 76}));
}

TEST_F(Image, Bmp16BitWithoutMasksIs555) {
    Bmp bmp;
    bmp.bits = 16;
    bmp.rows = {{0x7FFF, 0x7C00, 0x03E0}, {0x001F, 0x0000, 0x4210}};
    const unsigned half = 0x10 << 3 | 0x10 >> 2;  // 5 bits to 8: the high bits again below
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels,
              (Pixels{255, luma(255, 0, 0), luma(0, 255, 0), luma(0, 0, 255), 0,
                      luma(half, half, half)}));
}

TEST_F(Image, Bmp16BitByMasksIs565) {
    Bmp bmp;
    bmp.bits = 16;
    bmp.compression = 3;
    bmp.masks = {0xF800, 0x07E0, 0x001F};
    bmp.rows = {{0xFFFF, 0xF800, 0x07E0, 0x001F, 0x0400}};
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels,
              (Pixels{255, luma(255, 0, 0), luma(0, 255, 0), luma(0, 0, 255),
                      luma(0, 0x20 << 2 | 0x20 >> 4, 0)}));
}

TEST_F(Image, Bmp32BitIgnoresTransparency) {
    Bmp bmp;
    bmp.bits = 32;
    bmp.rows = {{0xFF'00'FF'00, 0x00'FF'00'00, 0x80'01'02'03}};
    const Pixels expected{149, 76, luma(1, 2, 3)};
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, expected);
    bmp.compression = 3;
    bmp.masks = {0xFF'00'00, 0x00'FF'00, 0x00'00'FF};
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, expected);
    bmp.masks = {0x00'00'FF, 0x00'FF'00, 0xFF'00'00};  // the other order
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, (Pixels{149, 28, luma(3, 2, 1)}));
}

TEST_F(Image, BmpWithTheLongerHeaders) {
    for (const std::uint32_t header_size : {56U, 108U, 124U}) {
        for (const unsigned bits : {4U, 8U, 24U}) {
            SCOPED_TRACE(testing::Message() << header_size << ", " << bits << " bits");
            Bmp bmp = patterned(bits, 5, 3);
            bmp.header_size = header_size;
            EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, expected_of(bits, 5, 3));
        }
    }
}

TEST_F(Image, BmpOfOs2With24Bits) {
    Bmp bmp = patterned(24, 5, 3);
    bmp.header_size = 12;
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, expected_of(24, 5, 3));
}

// stb_image works the palette's size out wrongly here. Right pixels or an error, never others.
TEST_F(Image, BmpOfOs2WithAPaletteIsExactOrRefused) {
    for (const unsigned bits : {1U, 4U, 8U}) {
        SCOPED_TRACE(bits);
        Bmp bmp = patterned(bits, 64, 9);  // large enough to have every index
        bmp.header_size = 12;
        tests::write_bytes(path_, tests::bmp_file(bmp));
        Pixels pixels = expected_of(bits, 64, 9);
        try {
            pixels = common::load_picture(path_).pixels;
        } catch (const std::exception& error) {
            EXPECT_TRUE(tests::has(error.what(), path_.string()));
        }
        EXPECT_TRUE(pixels == expected_of(bits, 64, 9)) << "other pixels than the file's";
    }
}

// ---- other formats --------------------------------------------------------------------------

TEST_F(Image, Png) {
    Pixels grey(37 * 11);
    for (std::size_t i = 0; i < grey.size(); ++i)
        grey[i] = static_cast<std::uint8_t>(i * 13);
    std::string png;
    ASSERT_NE(stbi_write_png_to_func(append, &png, 37, 11, 1, grey.data(), 37), 0);
    const Picture picture = load(png);
    EXPECT_EQ(picture.width, 37U);
    EXPECT_EQ(picture.height, 11U);
    EXPECT_EQ(picture.pixels, grey);

    const Pixels colour{255, 0, 0, 0, 255, 0, 1, 2, 3};
    png.clear();
    ASSERT_NE(stbi_write_png_to_func(append, &png, 3, 1, 3, colour.data(), 9), 0);
    EXPECT_EQ(load(png).pixels, (Pixels{76, 149, luma(1, 2, 3)}));
}

TEST_F(Image, PgmAndPpm) {
    EXPECT_EQ(load("P5 3 2 255\n" + std::string("\x01\x02\x03\xFD\xFE\xFF")).pixels,
              (Pixels{1, 2, 3, 253, 254, 255}));
    EXPECT_EQ(load("P6\n# with a comment\n1 1\n255\n" + std::string("\xFF\x00\x00", 3)).pixels,
              (Pixels{76}));
}

TEST_F(Image, JpegKeepsItsLuma) {
    const Pixels grey(32 * 16, 200);
    std::string jpeg;
    ASSERT_NE(stbi_write_jpg_to_func(append, &jpeg, 32, 16, 1, grey.data(), 100), 0);
    const Picture picture = load(jpeg);
    EXPECT_EQ(picture.width, 32U);
    ASSERT_EQ(picture.pixels.size(), grey.size());
    for (const std::uint8_t pixel : picture.pixels)
        EXPECT_NEAR(pixel, 200, 2);
}

TEST_F(Image, APictureComesThroughAPipeToo) {
    const fs::path pipe = folder_ / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const std::string bytes = tests::bmp_file(patterned(8, 61, 13));
    std::jthread writer([&] { tests::write_bytes(pipe, bytes); });
    EXPECT_EQ(common::load_picture(pipe).pixels, expected_of(8, 61, 13));
}

// ---- what cannot be used is refused, by name and with the reason ------------------------------

TEST_F(Image, MissingFile) {
    EXPECT_EQ(refusal_of(folder_ / "nosuch.bmp"), "No such file or directory");
}

TEST_F(Image, AFolder) {
    EXPECT_EQ(refusal_of(folder_.path()), "a folder, not a picture");
}

TEST_F(Image, AnEmptyFile) {
    EXPECT_EQ(refusal(""), "an empty file");
}

TEST_F(Image, AFileWithoutPermission) {
    if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
    tests::write_bytes(path_, tests::bmp_file(patterned(8, 5, 3)));
    fs::permissions(path_, fs::perms::none);
    EXPECT_EQ(refusal_of(path_), "Permission denied");
}

TEST_F(Image, ATextFile) {
    EXPECT_EQ(refusal("This is no picture, whatever its name says.\n"),
              "not a picture of a format that stb_image reads");
}

TEST_F(Image, ABmpCutAnywhere) {
    // Rows of 5 pixels end in 3 bytes of padding with 8 bits, and in 1 with 24.
    expect_no_cut_goes_unseen(tests::bmp_file(patterned(8, 5, 3)), 3);
    expect_no_cut_goes_unseen(tests::bmp_file(patterned(24, 5, 3)), 1);
    expect_no_cut_goes_unseen(tests::bmp_file(patterned(4, 9, 3)), 3);
    expect_no_cut_goes_unseen(tests::bmp_file(patterned(1, 17, 3)), 1);
    Bmp wide = patterned(24, 4, 3);  // no padding, and a header beyond one read buffer
    wide.header_size = 124;
    wide.top_down = true;
    expect_no_cut_goes_unseen(tests::bmp_file(wide), 0);
}

TEST_F(Image, ATruncatedBmpIsCalledSo) {
    const std::string whole = tests::bmp_file(patterned(24, 50, 30));
    for (const std::size_t size : {std::size_t{60}, whole.size() / 2, whole.size() - 4}) {
        EXPECT_EQ(refusal(whole.substr(0, size)),
                  "truncated: the file ends before the picture does");
    }
}

TEST_F(Image, APngCutAnywhere) {
    Pixels grey(30 * 10);
    for (std::size_t i = 0; i < grey.size(); ++i)
        grey[i] = static_cast<std::uint8_t>(i * i);
    std::string png;
    ASSERT_NE(stbi_write_png_to_func(append, &png, 30, 10, 1, grey.data(), 30), 0);
    expect_no_cut_goes_unseen(png, 0);
}

TEST_F(Image, APgmCutInItsPixels) {
    const std::string header = "P5 30 10 255\n";
    const std::string whole = header + std::string(300, 'x');
    for (std::size_t size = header.size(); size < whole.size(); ++size)
        EXPECT_EQ(refusal(whole.substr(0, size)),
                  "truncated: the file ends before the picture does");
}

TEST_F(Image, APgmCutInItsHeader) {
    expect_no_cut_goes_unseen("P5 30 10 255\n" + std::string(300, 'x'), 0);
}

// Without its closing marker a JPEG may be taken for whole, as long as the pixels are.
TEST_F(Image, AJpegCutAnywhereGivesNoOtherPixels) {
    Pixels grey(24 * 16);
    for (std::size_t i = 0; i < grey.size(); ++i)
        grey[i] = static_cast<std::uint8_t>(i * i);
    std::string jpeg;
    ASSERT_NE(stbi_write_jpg_to_func(append, &jpeg, 24, 16, 1, grey.data(), 90), 0);
    const Pixels expected = load(jpeg).pixels;
    for (std::size_t size = 1; size < jpeg.size(); ++size) {
        tests::write_bytes(path_, jpeg.substr(0, size));
        Pixels pixels = expected;
        try {
            pixels = common::load_picture(path_).pixels;
        } catch (const std::exception& error) {
            EXPECT_TRUE(tests::has(error.what(), path_.string()));
        }
        ASSERT_TRUE(pixels == expected) << "cut to " << size << " of " << jpeg.size();
    }
}

TEST_F(Image, ASideBeyondAllBounds) {
    for (const std::size_t side : {tests::kBmpWidthAt, tests::kBmpHeightAt}) {
        std::string bytes = tests::bmp_file(patterned(8, 5, 3));
        tests::put_32_at(bytes, side, (1U << 24) + 1);
        EXPECT_TRUE(tests::has(refusal(bytes), "too large a picture"));
    }
}

// stb_image decodes to three bytes a pixel and wants those to fit 31 bits.
TEST_F(Image, AnAreaBeyondAllBounds) {
    for (const std::uint32_t side : {100'000U, 40'000U, 27'000U}) {
        std::string bytes = tests::bmp_file(patterned(8, 5, 3));
        tests::put_32_at(bytes, tests::kBmpWidthAt, side);
        tests::put_32_at(bytes, tests::kBmpHeightAt, side);
        EXPECT_TRUE(tests::has(refusal(bytes), "too large a picture")) << side;
    }
}

TEST_F(Image, TheLowestHeightThereIs) {
    std::string bytes = tests::bmp_file(patterned(8, 5, 3));
    tests::put_32_at(bytes, tests::kBmpHeightAt, 0x8000'0000);
    refusal(bytes);
}

// Such a picture has no pixels to count and none to repeat.
TEST_F(Image, APictureWithoutPixels) {
    for (const std::size_t side : {tests::kBmpWidthAt, tests::kBmpHeightAt}) {
        std::string bytes = tests::bmp_file(patterned(8, 5, 3));
        tests::put_32_at(bytes, side, 0);
        refusal(bytes);
    }
    refusal("P5 0 3 255\n");
    refusal("P5 3 0 255\n");
    refusal("P5 3");  // cut in the header
}

TEST_F(Image, RunLengthEncoding) {
    for (const std::uint32_t compression : {1U, 2U}) {
        Bmp bmp = patterned(compression == 1 ? 8 : 4, 5, 3);
        bmp.compression = compression;
        EXPECT_TRUE(tests::has(refusal(tests::bmp_file(bmp)), "RLE"));
    }
}

TEST_F(Image, OtherCompressions) {
    for (const std::uint32_t compression : {4U, 5U, 6U}) {
        Bmp bmp = patterned(24, 5, 3);
        bmp.compression = compression;
        EXPECT_TRUE(tests::has(refusal(tests::bmp_file(bmp)), "unsupported or damaged"));
    }
}

TEST_F(Image, DepthsThatDoNotExist) {
    for (const int bits : {0, 2, 3, 15, 17, 48, 64}) {
        SCOPED_TRACE(bits);
        std::string bytes = tests::bmp_file(patterned(8, 5, 3));
        bytes[28] = static_cast<char>(bits);
        EXPECT_TRUE(tests::has(refusal(bytes), "unsupported or damaged"));
    }
}

TEST_F(Image, AHeaderThatIsNotKnown) {
    Bmp bmp = patterned(24, 5, 3);
    bmp.header_size = 64;  // of the second version of OS/2
    EXPECT_EQ(refusal(tests::bmp_file(bmp)), "not a picture of a format that stb_image reads");
}

// ---- the same file, the same histogram --------------------------------------------------------

// Leaves `value` all over the part of the stack that the next calls use.
// In its own frame, below the caller's, or it would dirty the wrong place.
[[gnu::noinline]] void dirty_stack(std::uint8_t value) {
    volatile std::uint8_t rubbish[256 * 1024];
    for (std::size_t i = 0; i < sizeof rubbish; ++i)
        rubbish[i] = value;
}

TEST_F(Image, AnIndexBeyondThePaletteCountsTheSameEveryTime) {
    Bmp bmp = patterned(8, 64, 64);
    bmp.palette.resize(16);
    tests::write_bytes(path_, tests::bmp_file(bmp));
    const common::Histogram first = common::reference_histogram(common::load_picture(path_).pixels);
    for (int round = 0; round < 50; ++round) {
        dirty_stack(static_cast<std::uint8_t>(37 * round + 1));
        EXPECT_EQ(common::reference_histogram(common::load_picture(path_).pixels), first);
    }
}

// Any one byte of the header may be wrong: an error or a picture of some kind, the same each time,
// and no memory touched that is not ours (the sanitizer builds watch that).
TEST_F(Image, AnyDamageToTheHeaderIsSurvived) {
    for (const unsigned bits : {8U, 24U}) {
        const std::string whole = tests::bmp_file(patterned(bits, 5, 3));
        for (std::size_t at = 0; at < 60; ++at) {
            for (const int value : {0x00, 0x01, 0x03, 0x10, 0x20, 0x7F, 0x80, 0xFF}) {
                // These would only make a picture of many million pixels: slow, and no other path.
                const bool large = at == tests::kBmpWidthAt + 2 || at == tests::kBmpHeightAt + 2;
                if (large && value > 1) continue;
                if (at == tests::kBmpHeightAt + 3 && value == 0xFF) continue;
                SCOPED_TRACE(testing::Message() << bits << " bits, byte " << at << " = " << value);
                std::string bytes = whole;
                bytes[at] = static_cast<char>(value);
                tests::write_bytes(path_, bytes);
                std::array<Pixels, 2> loaded;
                for (Pixels& pixels : loaded) {
                    dirty_stack(static_cast<std::uint8_t>(value + 1));
                    try {
                        const Picture picture = common::load_picture(path_);
                        EXPECT_EQ(picture.pixels.size(), picture.width * picture.height);
                        pixels = picture.pixels;
                    } catch (const std::exception& error) {
                        EXPECT_TRUE(tests::has(error.what(), path_.string()));
                    }
                }
                EXPECT_TRUE(loaded[0] == loaded[1]) << "another picture the second time";
            }
        }
    }
}

}  // namespace
