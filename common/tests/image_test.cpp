#include "common/image/image.hpp"

#include <gtest/gtest.h>
#include <stb_image.h>
#include <stb_image_write.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <numeric>
#include <thread>

#include "common/histogram/histogram.hpp"
#include "common/status/status.hpp"
#include "common/tests/support.hpp"

namespace {

namespace fs = std::filesystem;

using common::Picture;
using namespace std::string_literals;
using tests::Bmp;
using Pixels = common::PixelBuffer;

std::uint8_t luma(unsigned r, unsigned g, unsigned b) {
    return static_cast<std::uint8_t>((77 * r + 150 * g + 29 * b) / 256);
}

std::uint8_t luma16(unsigned r, unsigned g, unsigned b) {
    return static_cast<std::uint8_t>((77 * r + 150 * g + 29 * b) / 256 / 256);
}

void append(void* to, void* bytes, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes),
                                          static_cast<std::size_t>(size));
}

constexpr const char* kNotRead =
    "not a picture of a format that is read here: BMP, PNG, JPEG, PGM, PPM";

class Image : public testing::Test {
 protected:
    static Picture load(const std::string& bytes) { return common::decode_picture(bytes); }

    // Decodes what must be refused, and gives the reason.
    static std::string refusal(const std::string& bytes) {
        return tests::bad_input([&] { common::decode_picture(bytes); });
    }
    // The same for a file: the message begins with its name.
    static std::string refusal_of(const fs::path& path) {
        const std::string text = tests::bad_input([&] { common::load_picture(path); });
        const std::string name = path.string() + ": ";
        EXPECT_TRUE(text.starts_with(name)) << text;
        return text.size() < name.size() ? "" : text.substr(name.size());
    }
    std::string refusal_of_file(const std::string& bytes) const {
        tests::write_bytes(path_, bytes);
        return refusal_of(path_);
    }

    // Every shorter file must be refused, or, where only bytes that hold no pixel are missing, give
    // the very same picture, never another one.
    static void expect_no_cut_goes_unseen(const std::string& whole,
                                          std::size_t harmless_at_the_end) {
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
    if (bits == 2) bmp.palette = {{0, 0, 0}, {50, 50, 50}, {100, 100, 100}, {150, 150, 150}};
    if (bits == 1) bmp.palette = {{10, 10, 10}, {200, 200, 200}};
    return bmp;
}

Pixels expected_of(unsigned bits, std::size_t width, std::size_t height) {
    Pixels pixels;
    for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = 0; x < width; ++x) {
            const std::uint32_t value = pattern(x, y, bits >= 8 ? 256 : 1U << bits);
            pixels.push_back(static_cast<std::uint8_t>(bits == 1   ? (value != 0 ? 200 : 10)
                                                       : bits == 2 ? value * 50
                                                       : bits == 4 ? value * 17
                                                                   : value));
        }
    }
    return pixels;
}

// 16 x 16, grey, a slope across and down; from libjpeg's encoder.
std::string progressive_jpeg() {
    const std::string hex =
        "FFD8FFDB0043000302020302020303030304030304050805050404050A070706080C0A0C0C0B0A0B0B0D0E1210"
        "0D0E110E0B0B1016101113141515150C0F171816141812141514FFC2000B080010001001011100FFC400150001"
        "0100000000000000000000000000000704FFDA00080101000000011A559557FFC4001510010100000000000000"
        "000000000000000500FFDA000801010001050234F8D3E34F8D3EFFC40016100003000000000000000000000000"
        "0000000121FFDA0008010100063F0250505050FFC40014100100000000000000000000000000000020FFDA0008"
        "010100013F2100001FFFDA0008010100000010DFFFC4001610000300000000000000000000000000000041A1FF"
        "DA0008010100013F10948948948948FFD9";
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

// A row of blocks of 8 x 8 pixels, each of one grey and with a restart marker between each two.
// What a picture of one such block holds is just what stands between two restart markers.
std::string jpeg_with_restarts(const std::vector<int>& greys) {
    std::string result;
    std::string data;
    int restarts = 0;
    for (const int grey : greys) {
        const Pixels block(64, static_cast<std::uint8_t>(grey));
        std::string one;
        EXPECT_NE(stbi_write_jpg_to_func(append, &one, 8, 8, 1, block.data(), 95), 0);
        const std::size_t scan = one.find("\xFF\xDA");
        const std::size_t begin = scan + 2 + static_cast<std::uint8_t>(one[scan + 3]);
        if (result.empty()) {
            const std::string interval("\xFF\xDD\x00\x04\x00\x01", 6);  // of one block
            result = one.substr(0, scan) + interval + one.substr(scan, begin - scan);
            const std::size_t frame = result.find("\xFF\xC0");
            result[frame + 8] = static_cast<char>(8 * greys.size());
        } else {
            data += {'\xFF', static_cast<char>(0xD0 + restarts++ % 8)};
        }
        data += one.substr(begin, one.size() - 2 - begin);
    }
    return result + data + "\xFF\xD9";
}

// ---- BMP: every depth, either way up, every width of padding --------------------------------

TEST_F(Image, BmpOfEveryDepthAndShapeGivesExactlyItsPixels) {
    for (const unsigned bits : {1U, 2U, 4U, 8U, 24U}) {
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

TEST_F(Image, AFileLargerThanAnyReadBuffer) {
    tests::write_bytes(path_, tests::bmp_file(patterned(8, 1021, 517)));
    EXPECT_EQ(common::load_picture(path_).pixels, expected_of(8, 1021, 517));
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

TEST_F(Image, BmpWithEveryHeader) {
    for (const std::uint32_t header_size : {12U, 16U, 40U, 52U, 56U, 64U, 108U, 124U}) {
        for (const unsigned bits : {1U, 2U, 4U, 8U, 24U}) {
            SCOPED_TRACE(testing::Message() << header_size << ", " << bits << " bits");
            Bmp bmp = patterned(bits, 64, 9);  // large enough to have every index
            bmp.header_size = header_size;
            EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, expected_of(bits, 64, 9));
        }
    }
}

TEST_F(Image, BmpWithMasksInEveryHeader) {
    for (const std::uint32_t header_size : {40U, 52U, 56U, 108U, 124U}) {
        for (const std::uint32_t compression : {3U, 6U}) {  // with a mask of transparency
            SCOPED_TRACE(testing::Message() << header_size << ", " << compression);
            Bmp bmp;
            bmp.bits = 16;
            bmp.header_size = header_size;
            bmp.compression = compression;
            bmp.masks = {0xF800, 0x07E0, 0x001F};
            if (compression == 6) bmp.masks.push_back(0);
            bmp.rows = {{0xFFFF, 0xF800, 0x07E0}, {0x001F, 0, 0}};
            if (header_size == 52) bmp.masks.resize(3);
            EXPECT_EQ(load(tests::bmp_file(bmp)).pixels,
                      (Pixels{255, luma(255, 0, 0), luma(0, 255, 0), luma(0, 0, 255), 0, 0}));
        }
    }
}

// A palette may stand before pixels that have colours of their own, for old screens to use.
TEST_F(Image, BmpWithAPaletteThatItDoesNotNeed) {
    Bmp bmp = patterned(24, 5, 3);
    bmp.palette = tests::grey_palette();
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, expected_of(24, 5, 3));
    bmp.bits = 16;
    bmp.compression = 3;
    bmp.masks = {0xF800, 0x07E0, 0x001F};
    bmp.rows = {{0xFFFF, 0x001F}};
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, (Pixels{255, luma(0, 0, 255)}));
    bmp.bits = 32;
    bmp.compression = 0;
    bmp.masks = {};
    bmp.rows = {{0x01'02'03, 0xFF'00'00}};
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, (Pixels{luma(1, 2, 3), 76}));
}

TEST_F(Image, BmpWithAGapBeforeItsPixels) {
    for (const unsigned bits : {1U, 4U, 8U, 24U}) {
        Bmp bmp = patterned(bits, 64, 9);
        for (bmp.gap = 1; bmp.gap < 2000; bmp.gap *= 3)
            EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, expected_of(bits, 64, 9)) << bmp.gap;
    }
}

TEST_F(Image, BmpWithAPaletteOfAnyLength) {
    Bmp bmp = patterned(8, 64, 9);
    bmp.palette.resize(300, {1, 2, 3});  // longer than any index
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, expected_of(8, 64, 9));
    bmp.colours = 0x1234'5678;
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, expected_of(8, 64, 9));
    bmp.palette.resize(3);  // so that what is behind it is no palette, whatever the header says
    bmp.rows = {{0, 1, 2, 2, 1}};
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, (Pixels{0, 1, 2, 2, 1}));
    bmp.rows[0][3] = 3;
    EXPECT_EQ(refusal(tests::bmp_file(bmp)), "damaged: a pixel beyond the palette");
}

TEST_F(Image, BmpWithBitFieldsOfAnyWidth) {
    Bmp bmp;
    bmp.bits = 32;
    bmp.compression = 3;
    bmp.masks = {0x3FF0'0000, 0x000F'FE00, 0x0000'0001};  // 10, 11 and 1 bits
    bmp.rows = {{0x3FF0'0000, 0x000F'FE00, 1, 0xFFFF'FFFF, 0x2000'0000, 0x0008'0000, 0xC000'01FE}};
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels,
              (Pixels{76, 149, 28, 255, luma(128, 0, 0), luma(0, 128, 0), 0}));
    bmp.masks = {0xFFFF'FFFF, 0, 0};
    bmp.rows = {{0x8000'0000}};
    EXPECT_EQ(load(tests::bmp_file(bmp)).pixels, (Pixels{luma(128, 0, 0)}));
    bmp.masks = {0xF0F0'0000, 0xFF00, 0xFF};
    EXPECT_EQ(refusal(tests::bmp_file(bmp)), "unsupported: a BMP whose bit fields have gaps");
}

// ---- BMP: run-length encoded ----------------------------------------------------------------

Bmp rle(unsigned bits, std::size_t width, std::size_t height, const std::string& packed) {
    Bmp bmp = patterned(bits, width, height);  // for its palette
    bmp.compression = bits == 8 ? 1 : 2;
    bmp.packed = packed;
    return bmp;
}

TEST_F(Image, BmpOfRle8) {
    // The lower row: a run of three, then two and a padded three as they are.
    const std::string lower = "\3\7\2\1\0\3abc\0"s;
    const std::string upper = "\0\3xyz\0\1\4\4\5"s;
    const Pixels pixels{'x', 'y', 'z', 4, 5, 5, 5, 5, 7, 7, 7, 1, 1, 'a', 'b', 'c'};
    EXPECT_EQ(load(tests::bmp_file(rle(8, 8, 2, lower + "\0\0"s + upper + "\0\1"s))).pixels,
              pixels);
    // The ends of the last row and of the picture hold no pixel, and may follow each other.
    EXPECT_EQ(load(tests::bmp_file(rle(8, 8, 2, lower + "\0\0"s + upper))).pixels, pixels);
    EXPECT_EQ(load(tests::bmp_file(rle(8, 8, 2, lower + "\0\0"s + upper + "\0\0\0\1"s))).pixels,
              pixels);
    // A jump of no pixels in x and one in y is the end of a row, too, if the row is at its end.
    EXPECT_EQ(load(tests::bmp_file(rle(8, 1, 2, "\1a\0\0\0\2\0\0\1b"s))).pixels,
              (Pixels{'b', 'a'}));
    EXPECT_EQ(load(tests::bmp_file(rle(8, 255, 2, "\xFF\6\0\0\xFF\7"s))).pixels.size(), 510U);
}

TEST_F(Image, BmpOfRle4) {
    // Of two that alternate, an odd number of them; as they are, in whole pairs of bytes.
    const std::string lower = "\5\x12\0\3\x34\x50"s;
    const std::string upper = "\0\5\x9A\xBC\xD0\0\3\xEF"s;
    Pixels pixels{9, 10, 11, 12, 13, 14, 15, 14, 1, 2, 1, 2, 1, 3, 4, 5};
    for (std::uint8_t& pixel : pixels)
        pixel = static_cast<std::uint8_t>(pixel * 17);
    EXPECT_EQ(load(tests::bmp_file(rle(4, 8, 2, lower + "\0\0"s + upper + "\0\1"s))).pixels,
              pixels);
}

TEST_F(Image, RunsThatDoNotFit) {
    for (const std::string& packed : {"\6\1"s, "\3\1\3\1"s, "\0\6abcdef"s, "\0\2\xFF\0\1\1"s,
                                      "\0\2\0\xFF\1\1"s, "\0\0\0\0\0\0\0\0\0\0\1\1"s}) {
        // As many bytes as could hold all pixels, so that it is read.
        EXPECT_TRUE(tests::has(refusal(tests::bmp_file(rle(8, 5, 4, packed))), "beyond the end"))
            << testing::PrintToString(packed);
    }
}

TEST_F(Image, ARunLengthEncodedBmpThatLeavesPixelsOut) {
    for (const std::string& packed : {"\5\1\0\1"s, "\1\1\0\2\3\0\1\1\0\0\5\1\0\1"s})
        EXPECT_EQ(refusal(tests::bmp_file(rle(8, 5, 2, packed))),
                  "unsupported: a run-length encoded BMP that leaves pixels out");
}

TEST_F(Image, ARunLengthEncodedBmpThatCannotBe) {
    Bmp bmp = rle(8, 5, 2, "\5\1\0\0\5\1"s);
    bmp.top_down = true;
    EXPECT_TRUE(tests::has(refusal(tests::bmp_file(bmp)), "from the top down, RLE8"));
    bmp = rle(4, 5, 2, "\5\1\0\0\5\1"s);
    bmp.compression = 1;
    EXPECT_TRUE(tests::has(refusal(tests::bmp_file(bmp)), "4 bits a pixel, RLE8"));
}

// ---- other formats --------------------------------------------------------------------------

TEST_F(Image, Png) {
    Pixels grey(std::size_t{37} * 11);
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

TEST_F(Image, PngOfEveryDepthGivesExactlyItsPixels) {
    const std::string s16("\x00\x00\x00\xFF\x01\x00\x7F\xFF\x80\x00\xFF\xFF", 12);
    // The lower 8 of 16 bits are left out, after colour has become grey.
    EXPECT_EQ(load(tests::png_file({6, 16, 0, "", {s16}})).pixels,
              (Pixels{0, 0, 1, 127, 128, 255}));
    EXPECT_EQ(load(tests::png_file({2, 16, 2, "", {s16}})).pixels,
              (Pixels{luma16(0, 0x00FF, 0x0100), luma16(0x7FFF, 0x8000, 0xFFFF)}));
    EXPECT_EQ(load(tests::png_file({3, 16, 4, "", {s16}})).pixels, (Pixels{0, 1, 128}));
    EXPECT_EQ(load(tests::png_file({4, 2, 0, "", {"\x1B"}})).pixels, (Pixels{0, 85, 170, 255}));
    EXPECT_EQ(
        load(tests::png_file({3, 8, 3, "\xFF\x00\x00\x00\xFF\x00"s, {"\x01\x00\x01"s}})).pixels,
        (Pixels{149, 76, 149}));
}

TEST_F(Image, PngThatIsInterlaced) {
    // Of 2 x 2 pixels the first pass holds the first, the sixth the second, the seventh the rest.
    EXPECT_EQ(load(tests::png_file({2, 8, 0, "", {"a", "b", "cd"}, 2})).pixels,
              (Pixels{'a', 'b', 'c', 'd'}));
}

// stb_image copies its no bytes to no place, which the sanitizer builds would notice.
TEST_F(Image, PngWithAChunkOfNoData) {
    std::string png = tests::png_file({4, 8, 0, "", {"abcd"}});
    png.insert(png.find("IDAT") - 4, tests::png_chunk("IDAT", ""));
    EXPECT_EQ(load(png).pixels, (Pixels{'a', 'b', 'c', 'd'}));
}

TEST_F(Image, PgmAndPpm) {
    EXPECT_EQ(load("P5 3 2 255\n\x01\x02\x03\xFD\xFE\xFF"s).pixels,
              (Pixels{1, 2, 3, 253, 254, 255}));
    EXPECT_EQ(load("P6\n# with a comment\n1#\r 1\n255\n\xFF\x00\x00"s).pixels, (Pixels{76}));
    EXPECT_EQ(load("P5 1 1 255\n\n"s).pixels, (Pixels{10}));  // one space ends the header
    Pixels colours(std::size_t{3} * 256);
    std::iota(colours.begin(), colours.end(), std::uint8_t{7});
    const std::string bytes(colours.begin(), colours.end());
    std::string png;
    ASSERT_NE(stbi_write_png_to_func(append, &png, 16, 16, 3, colours.data(), 48), 0);
    EXPECT_EQ(load("P6 16 16 255\n" + bytes).pixels, load(png).pixels);
}

TEST_F(Image, PgmOf16BitsIsReadAsAPngOf16BitsIs) {
    const std::string samples("\x00\x00\x00\xFF\x01\x00\x7F\xFF\x80\x00\xFF\xFF", 12);
    EXPECT_EQ(load("P5 6 1 65535\n" + samples).pixels, (Pixels{0, 0, 1, 127, 128, 255}));
    EXPECT_EQ(load("P6 2 1 65535\n" + samples).pixels,
              load(tests::png_file({2, 16, 2, "", {samples}})).pixels);
}

TEST_F(Image, PgmWithAnotherLargestValueIsScaled) {
    EXPECT_EQ(load("P5 4 1 15\n\x00\x01\x07\x0F"s).pixels, (Pixels{0, 17, 119, 255}));
    EXPECT_EQ(load("P5 2 1 1\n\x00\x01"s).pixels, (Pixels{0, 255}));
    EXPECT_EQ(load("P5 3 1 100\n\x01\x32\x63"s).pixels,
              (Pixels{3, 128, 252}));  // 2.55 127.5 252.45
    EXPECT_EQ(load("P5 3 1 4095\n\x00\x08\x08\x00\x0F\xFF"s).pixels, (Pixels{0, 128, 255}));
    EXPECT_EQ(load("P5 2 1 256\n\x00\x80\x01\x00"s).pixels, (Pixels{128, 255}));
    EXPECT_EQ(load("P6 1 1 15\n\x0F\x00\x00"s).pixels, (Pixels{68}));  // 77 * 15 / 256 = 4 of 15
    EXPECT_TRUE(tests::has(refusal("P5 1 1 15\n\x10"), "above the largest"));
}

TEST_F(Image, PgmWithAHeaderThatIsNone) {
    for (const std::string header :
         {"P5x1 1 255\n", "P51 1 1 255\n", "P5 -1 1 255\n", "P5 1 1 65536\n", "P5 1 1 255x",
          "P5 99999999999 1 255\n", "P5 1 1.5 255\n", "P5 1 1 0\n", "P5 a 1 255\n"}) {
        EXPECT_TRUE(tests::has(refusal(header + std::string(30, '\0')), "damaged")) << header;
    }
    EXPECT_TRUE(tests::has(refusal("P5 16777217 1 255\n"), "too large a picture"));
    EXPECT_TRUE(tests::has(refusal("P5 100000 100000 255\n"), "too large a picture"));
}

TEST_F(Image, JpegKeepsItsLuma) {
    const Pixels grey(std::size_t{32} * 16, 200);
    std::string jpeg;
    ASSERT_NE(stbi_write_jpg_to_func(append, &jpeg, 32, 16, 1, grey.data(), 100), 0);
    const Picture picture = load(jpeg);
    EXPECT_EQ(picture.width, 32U);
    ASSERT_EQ(picture.pixels.size(), grey.size());
    for (const std::uint8_t pixel : picture.pixels)
        EXPECT_NEAR(pixel, 200, 2);
}

TEST_F(Image, JpegThatIsProgressive) {
    const Picture picture = load(progressive_jpeg());
    ASSERT_EQ(picture.pixels.size(), 256U);
    for (int i = 0; i < 256; ++i) {
        const int expected = i % 16 * 8 + i / 16 * 7;
        EXPECT_NEAR(picture.pixels[static_cast<std::size_t>(i)], expected, 8);
    }
}

TEST_F(Image, JpegWithRestartMarkers) {
    const Picture picture = load(jpeg_with_restarts({10, 90, 170, 250}));
    ASSERT_EQ(picture.width, 32U);
    ASSERT_EQ(picture.height, 8U);
    for (std::size_t i = 0; i < 256; ++i)
        EXPECT_NEAR(picture.pixels[i], 10 + static_cast<int>(i % 32 / 8 * 80), 2);
}

TEST_F(Image, APictureComesThroughAPipeToo) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const std::string bytes = tests::bmp_file(patterned(8, 61, 13));
    std::jthread writer([&] {
        EXPECT_EQ(write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        close(ends[1]);
    });
    // As a shell hands it over: <(program).
    const fs::path name = "/dev/fd/" + std::to_string(ends[0]);
    EXPECT_EQ(common::load_picture(name).pixels, expected_of(8, 61, 13));
    close(ends[0]);
}

// ---- what cannot be used is refused, by name and with the reason ------------------------------

TEST_F(Image, MissingFile) {
    EXPECT_EQ(refusal_of(folder_ / "nosuch.bmp"), "No such file or directory");
}

TEST_F(Image, AFolder) {
    EXPECT_EQ(refusal_of(folder_.path()), "a folder, not a file");
}

// Without a writer, opening it would wait for one.
TEST_F(Image, ANamedPipe) {
    const fs::path pipe = folder_ / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(refusal_of(pipe), "a named pipe, not a file (/dev/stdin reads from a pipe)");
}

TEST_F(Image, ANameThatWouldControlTheTerminal) {
    const fs::path path = folder_ / "a\nb\x1b[2J\xFF.bmp";
    const std::string text = tests::bad_input([&] { common::load_picture(path); });
    EXPECT_TRUE(text.ends_with("/a\\nb\\x1b[2J\\xff.bmp: No such file or directory")) << text;
}

TEST_F(Image, AnEmptyFile) {
    EXPECT_EQ(refusal_of_file(""), "an empty file");
}

TEST_F(Image, AFileWithoutPermission) {
    if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
    tests::write_bytes(path_, tests::bmp_file(patterned(8, 5, 3)));
    fs::permissions(path_, fs::perms::none);
    EXPECT_EQ(refusal_of(path_), "Permission denied");
}

TEST_F(Image, ATextFile) {
    EXPECT_EQ(refusal_of_file("This is no picture, whatever its name says.\n"), kNotRead);
}

// stb_image could read these. On a truncated HDR it never ends, on a truncated PIC it crashes, and
// a TGA cannot be told from other files.
TEST_F(Image, AFormatThatIsNotRead) {
    const std::string hdr = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 64 +X 64\n";
    std::string gif("GIF89a\x01\x00\x01\x00\x80\x00\x00", 13);
    gif +=
        "\x00\x00\x00\xFF\xFF\xFF\x2C\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3B"s;
    const std::string tga =
        "\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01\x00\x08\x00X"s;
    const std::string pic =
        "\x53\x80\xF6\x34"s + std::string(84, '\0') + "PICT" + std::string(16, 1);
    for (const std::string& bytes : {hdr, gif, tga, pic, "8BPS"s, "P2 1 1 255\n7\n"s, "B"s}) {
        EXPECT_EQ(refusal(bytes), kNotRead);
        EXPECT_EQ(refusal_of_file(bytes), kNotRead);
    }
}

TEST_F(Image, AnEndlessFileThatIsNoPicture) {
    EXPECT_EQ(refusal_of("/dev/zero"), kNotRead);
}

// stb_image gives no reason for some failures, and for others that of the one before.
TEST_F(Image, AFailureWithoutAReasonHasNoOldOne) {
    const std::string no_such_block = tests::png_file({1, 8, 0, "", {"x"}}, "\x78\x01\x07");
    EXPECT_EQ(refusal(no_such_block), "unsupported or damaged");
    EXPECT_EQ(refusal(tests::png_file({1, 3, 0, "", {"x"}})),
              "unsupported or damaged: PNG not supported: 1/2/4/8/16-bit only");
    EXPECT_EQ(refusal(no_such_block), "unsupported or damaged");
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
    // The ends of a row and of the picture hold no pixel.
    expect_no_cut_goes_unseen(tests::bmp_file(rle(8, 5, 2, "\5\1\0\0\0\5abcde\0\0\0\0\1"s)), 5);
    expect_no_cut_goes_unseen(tests::bmp_file(rle(4, 5, 2, "\5\1\0\0\5\1\0\1"s)), 2);
    Bmp os2 = patterned(4, 8, 3);
    os2.header_size = 12;
    expect_no_cut_goes_unseen(tests::bmp_file(os2), 0);
}

TEST_F(Image, ATruncatedBmpIsCalledSo) {
    const std::string whole = tests::bmp_file(patterned(24, 50, 30));
    for (const std::size_t size : {std::size_t{60}, whole.size() / 2, whole.size() - 4}) {
        EXPECT_EQ(refusal(whole.substr(0, size)),
                  "truncated: the file ends before the picture does");
    }
}

TEST_F(Image, APngCutAnywhere) {
    Pixels grey(std::size_t{30} * 10);
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

TEST_F(Image, AJpegCutAnywhere) {
    Pixels grey(std::size_t{24} * 16);
    for (std::size_t i = 0; i < grey.size(); ++i)
        grey[i] = static_cast<std::uint8_t>(i * i);
    std::string jpeg;
    ASSERT_NE(stbi_write_jpg_to_func(append, &jpeg, 24, 16, 1, grey.data(), 90), 0);
    expect_no_cut_goes_unseen(jpeg, 0);
    expect_no_cut_goes_unseen(progressive_jpeg(), 0);
    for (const std::size_t size : {std::size_t{100}, jpeg.size() / 2, jpeg.size() - 1}) {
        EXPECT_EQ(refusal(jpeg.substr(0, size)),
                  "truncated: the file ends before the picture does");
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

// Whether so few bytes can hold so many pixels is known before anything is set aside for them: the
// decoders would have given other reasons, after seconds and gigabytes.
TEST_F(Image, AHugePictureInAFewBytes) {
    const std::string too_short = "truncated: the file ends before the picture does";
    const std::string big("\x00\x00\x4E\x20", 4);  // 20000
    for (const int depth : {1, 8}) {
        const tests::Png header{1, depth, 0, "", {"x"}};
        std::string png = tests::png_file(header);
        std::string ihdr = png.substr(16, 13);
        ihdr.replace(0, 8, big + big);
        png.replace(8, 25, tests::png_chunk("IHDR", ihdr));
        EXPECT_EQ(refusal(png), too_short) << depth;
    }
    for (std::string jpeg : {progressive_jpeg(), jpeg_with_restarts({10})}) {
        const std::size_t frame = std::min(jpeg.find("\xFF\xC0"), jpeg.find("\xFF\xC2"));
        if (const std::size_t dri = jpeg.find("\xFF\xDD"); dri != std::string::npos)
            jpeg.replace(dri + 4, 2, 2, '\0');           // no restarts, which would be missing
        jpeg.replace(frame + 5, 4, "\xEA\x60\xEA\x60");  // 60000
        EXPECT_EQ(refusal(jpeg), too_short);
        jpeg.insert(jpeg.find("\xFF\xDA"), "\xFF\xC0\x00\x0B\x08\x00\x08\x00\x08\x01\x01\x11\x00"s);
        EXPECT_EQ(refusal(jpeg), "damaged: a JPEG with two headers");
    }
    EXPECT_EQ(refusal("P5 20000 20000 255\n" + std::string(100, 'x')), too_short);
    for (const Bmp& bmp : {patterned(1, 5, 3), patterned(8, 5, 3), rle(8, 5, 1, "\5\1\0\1"s)}) {
        std::string bytes = tests::bmp_file(bmp);
        tests::put_32_at(bytes, tests::kBmpWidthAt, 20'000);
        tests::put_32_at(bytes, tests::kBmpHeightAt, 20'000);
        EXPECT_EQ(refusal(bytes), too_short);
    }
}

// The same bounds must let pass what they can hold at best.
TEST_F(Image, APictureThatIsCompressedAsWellAsCanBe) {
    const std::size_t side = 2048;
    Pixels black(side * side);
    std::fill(black.begin(), black.end(), std::uint8_t{0});
    // Of zlib at its best: all rows in 4088 bytes, 1026 to one.
    const std::string deflated =
        "\x78\xDA\xED\xC1\x01\x01\x00\x00\x00\x82\x20\xFF\xAF\x6E\x48\x40\x01"s +
        std::string(4063, '\0') + "\x00\x00\x7C\x19\x0B\xC0\x00\x01"s;
    const tests::Png png{side, 8, 0, "", std::vector<std::string>(side)};
    EXPECT_EQ(load(tests::png_file(png, deflated)).pixels, black);
    std::string packed;
    for (int row = 0; row < 100; ++row)
        packed += "\xFF\0\0\0"s;
    EXPECT_EQ(load(tests::bmp_file(rle(8, 255, 100, packed))).pixels.size(), 25'500U);
    std::string jpeg;
    ASSERT_NE(stbi_write_jpg_to_func(append, &jpeg, static_cast<int>(side), static_cast<int>(side),
                                     1, black.data(), 90),
              0);
    EXPECT_EQ(load(jpeg).pixels.size(), black.size());
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

TEST_F(Image, OtherCompressions) {
    for (const std::uint32_t compression : {1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
        Bmp bmp = patterned(24, 5, 3);
        bmp.compression = compression;
        EXPECT_TRUE(tests::has(refusal(tests::bmp_file(bmp)), "unsupported or damaged"));
    }
    Bmp bmp = patterned(1, 5, 3);
    bmp.header_size = 64;
    bmp.compression = 3;  // to OS/2 another than to Windows
    EXPECT_EQ(
        refusal(tests::bmp_file(bmp)),
        "unsupported or damaged: a BMP with a header of 64 bytes, 1 bits a pixel, bit fields");
}

TEST_F(Image, DepthsThatDoNotExist) {
    for (const int bits : {0, 3, 15, 17, 48, 64}) {
        SCOPED_TRACE(bits);
        std::string bytes = tests::bmp_file(patterned(8, 5, 3));
        bytes[28] = static_cast<char>(bits);
        EXPECT_TRUE(tests::has(refusal(bytes), "unsupported or damaged"));
    }
}

TEST_F(Image, AHeaderThatIsNotKnown) {
    Bmp bmp = patterned(24, 5, 3);
    bmp.header_size = 66;
    EXPECT_EQ(refusal(tests::bmp_file(bmp)),
              "unsupported or damaged: a BMP with a header of 66 bytes, 24 bits a pixel, "
              "no compression");
}

TEST_F(Image, PixelsInTheHeader) {
    std::string bytes = tests::bmp_file(patterned(8, 5, 3));
    tests::put_32_at(bytes, 10, 20);
    EXPECT_TRUE(tests::has(refusal(bytes), "in its header"));
}

TEST_F(Image, AChecksumOfAPngThatDoesNotMatch) {
    std::string png = tests::png_file({4, 8, 0, "", {"abcd"}});
    const std::size_t at = png.find("abcd");
    png[at] = 'x';
    EXPECT_EQ(refusal(png), "damaged: the checksum of its chunk IDAT does not match");
    png[at] = 'a';
    png[png.find("IDAT")] = '\n';  // the message stays one line
    EXPECT_EQ(refusal(png), "damaged: the checksum of its chunk without a name does not match");
}

// An iPhone's, with bare deflate data: stb_image would take blue for red.
TEST_F(Image, APngThatDoesNotBeginWithItsHeader) {
    std::string png = tests::png_file({1, 8, 2, "", {"abc"}}, "\x01\x04\x00\xFB\xFF\x00"s + "abc");
    png.insert(8, tests::png_chunk("CgBI", "\x50\x00\x20\x02"s));
    EXPECT_EQ(refusal(png), "unsupported: a PNG that does not begin with IHDR");
}

TEST_F(Image, AJpegWithoutAllOfItsScans) {
    std::string jpeg = jpeg_with_restarts({10, 90});
    const std::size_t scan = jpeg.find("\xFF\xDA");
    EXPECT_EQ(refusal(jpeg.substr(0, scan) + "\xFF\xD9"),
              "damaged: a part of the picture is missing");
    jpeg[scan + 5] = 9;  // a component that is none
    EXPECT_EQ(refusal(jpeg), "damaged: a part of the picture is missing");
}

TEST_F(Image, AJpegThatEndsWhereItShouldRestart) {
    std::string jpeg = jpeg_with_restarts({10, 90, 170});
    jpeg[jpeg.find("\xFF\xD1") + 1] = '\xD9';
    EXPECT_EQ(refusal(jpeg), "damaged: a part of the picture is missing");
}

// Of the JPEG that older versions of stb_image write past their tables for.
TEST_F(Image, AHuffmanCodeOfTooManySymbols) {
    std::string jpeg = jpeg_with_restarts({10});
    jpeg[jpeg.find("\xFF\xC4") + 5] = '\xFF';
    jpeg[jpeg.find("\xFF\xC4") + 6] = '\xFF';
    EXPECT_EQ(refusal(jpeg), "damaged: a Huffman code of too many symbols");
}

// ---- the same file, the same histogram --------------------------------------------------------

// Leaves `value` all over the part of the stack that the next calls use.
// In its own frame, below the caller's, or it would dirty the wrong place.
[[gnu::noinline]] void dirty_stack(std::uint8_t value) {
    volatile std::uint8_t rubbish[32 * 1024];
    for (volatile std::uint8_t& byte : rubbish)
        byte = value;
}

// And over the memory that the next allocations get. Only the GNU C library can.
void dirty_heap(int value) {
#ifdef M_PERTURB
    mallopt(M_PERTURB, value);
#else
    static_cast<void>(value);
#endif
}

// The palette of a PNG, which stb_image looks the indices up in.
TEST_F(Image, AnIndexBeyondThePaletteCountsTheSameEveryTime) {
    const std::string bytes =
        tests::png_file({64, 8, 3, std::string(48, 'x'), {std::string(64, '\x77')}});
    const common::Histogram first = common::reference_histogram(load(bytes).pixels);
    for (int round = 0; round < 50; ++round) {
        dirty_stack(static_cast<std::uint8_t>(37 * round + 1));
        EXPECT_EQ(common::reference_histogram(load(bytes).pixels), first);
    }
}

// stb_image itself, since the loader refuses these. It leaves the missing blocks as they were.
TEST_F(Image, WhatStbImageDoesNotWriteIsZero) {
    std::string no_scan = jpeg_with_restarts({10, 90, 170});
    no_scan = no_scan.substr(0, no_scan.find("\xFF\xDA")) + "\xFF\xD9";
    std::string early_end = jpeg_with_restarts({10, 90, 170});
    early_end[early_end.find("\xFF\xD1") + 1] = '\xD9';
    for (const std::string& jpeg : {no_scan, early_end}) {
        std::array<Pixels, 2> loaded;
        for (Pixels& pixels : loaded) {
            dirty_heap(&pixels == loaded.data() ? 0x55 : 0xAA);
            int width = 0;
            int height = 0;
            int channels = 0;
            const std::unique_ptr<stbi_uc, void (*)(void*)> grey(
                stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(jpeg.data()),
                                      static_cast<int>(jpeg.size()), &width, &height, &channels, 1),
                stbi_image_free);
            if (grey) pixels.assign(grey.get(), grey.get() + std::ptrdiff_t{width} * height);
        }
        dirty_heap(0);
        EXPECT_TRUE(loaded[0] == loaded[1]) << "another picture the second time";
    }
}

// Its last code of 16 bits asks for 10 more, where there are none: older versions of stb_image then
// shift by more than a number has bits, which the sanitizer builds would notice.
TEST_F(Image, AJpegWhoseDataEndInTheMiddleOfANumber) {
    const std::string jpeg = jpeg_with_restarts({10});
    const std::size_t data = jpeg.find("\xFF\xDA") + 2 + 12;
    const std::string cut = jpeg.substr(0, data) + "\x09\x77\xFF\x00\xFE\xFF\xD9"s;
    try {
        EXPECT_EQ(load(cut).pixels.size(), 64U);
    } catch (const common::BadInput&) {
    }
}

// Any one byte may be wrong, and the file may end anywhere: a refusal in one line or a picture of
// some kind, the same each time, and no memory touched that is not ours (the sanitizer builds watch
// that). Never another picture from a PNG, which has checksums.
TEST_F(Image, AnyDamageIsSurvived) {
    std::vector<std::string> files{progressive_jpeg(),
                                   jpeg_with_restarts({10, 90, 170}),
                                   tests::png_file({4, 8, 0, "", {"abcd", "efgh"}}),
                                   tests::png_file({2, 8, 2, "", {"abcdef", "ghijkl"}}),
                                   tests::png_file({2, 8, 3, "abcdef", {"\x00\x01"s, "\x01\x00"s}}),
                                   "P5 5 3 255\n" + std::string(15, 'x'),
                                   "P5 2 3 4095\n" + std::string(12, '\x07'),
                                   "P6 2 2 255\n" + std::string(12, 'y')};
    for (const unsigned bits : {8U, 24U})
        files.push_back(tests::bmp_file(patterned(bits, 5, 3)));
    Bmp masked;
    masked.bits = 16;
    masked.compression = 3;
    masked.masks = {0xF800, 0x07E0, 0x001F};
    masked.rows = {{0xFFFF, 0xF800}};
    files.push_back(tests::bmp_file(masked));
    files.push_back(tests::bmp_file(rle(8, 5, 2, "\5\1\0\0\0\5abcde\0\0\1"s)));
    files.push_back(tests::bmp_file(rle(4, 5, 3, "\5\1\0\2\0\1\0\0\5\1\0\1"s)));
    Bmp os2 = patterned(4, 5, 3);
    os2.header_size = 12;
    files.push_back(tests::bmp_file(os2));

    for (std::size_t file = 0; file < files.size(); ++file) {
        const std::string& whole = files[file];
        const auto survives = [&](const std::string& damaged) {
            std::array<Picture, 2> loaded;
            for (Picture& picture : loaded) {
                const int rubbish = &picture == loaded.data() ? 0x55 : 0xAA;
                dirty_stack(static_cast<std::uint8_t>(rubbish));
                dirty_heap(rubbish);
                try {
                    picture = load(damaged);
                    EXPECT_EQ(picture.pixels.size(), picture.width * picture.height);
                    EXPECT_FALSE(picture.pixels.empty());
                } catch (const common::BadInput& error) {
                    const std::string text = error.what();
                    EXPECT_FALSE(text.empty());
                    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
                        return c >= ' ' && c <= '~';
                    })) << text;
                }
            }
            dirty_heap(0);
            EXPECT_TRUE(loaded[0].pixels == loaded[1].pixels) << "another picture the second time";
            const bool is_png = whole.starts_with("\x89PNG");
            EXPECT_TRUE(!is_png || damaged == whole || loaded[0].pixels.empty());
        };
        for (std::size_t at = 0; at < whole.size(); ++at) {
            SCOPED_TRACE(testing::Message() << "file " << file << ", byte " << at);
            for (const int value : {0x00, 0xFF, whole[at] ^ 0x01}) {
                std::string damaged = whole;
                damaged[at] = static_cast<char>(value);
                survives(damaged);
            }
            survives(whole.substr(0, at));
            survives(whole.substr(0, at) + "\xFF\xD9");  // the end marker of a JPEG
        }
    }
}

}  // namespace
