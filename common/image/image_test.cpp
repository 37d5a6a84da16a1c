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
#include <numeric>
#include <thread>

#include "common/process/status.hpp"
#include "common/tests/support.hpp"

namespace {

namespace fs = std::filesystem;

using common::Picture;
using namespace std::string_literals;
using tests::Bmp;
using tests::bmp_file;
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

std::string png_of(const Pixels& pixels, int width, int channels = 1) {
    std::string png;
    const int height = static_cast<int>(pixels.size()) / channels / width;
    EXPECT_NE(stbi_write_png_to_func(append, &png, width, height, channels, pixels.data(),
                                     width * channels),
              0);
    return png;
}

std::string jpeg_of(const Pixels& grey, int width, int quality = 90) {
    std::string jpeg;
    const int height = static_cast<int>(grey.size()) / width;
    EXPECT_NE(stbi_write_jpg_to_func(append, &jpeg, width, height, 1, grey.data(), quality), 0);
    return jpeg;
}

Picture load(const std::string& bytes) {
    return common::decode_picture(bytes);
}

// Decodes what must be refused, and gives the reason.
std::string reason_of(const std::string& bytes) {
    return tests::bad_input([&] { common::decode_picture(bytes); });
}

constexpr const char* kNotRead =
    "not a picture of a format that is read here: BMP, PNG, JPEG, PGM, PPM";
constexpr const char* kTruncated = "truncated: the file ends before the picture does";

struct Read {
    std::string bytes;
    Pixels pixels;
};
void expect_read(const std::vector<Read>& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_EQ(load(all[i].bytes).pixels, all[i].pixels) << "number " << i;
}

struct Refused {
    std::string bytes;
    std::string reason;  ///< or the part of it that matters
};
void expect_refused(const std::vector<Refused>& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_TRUE(tests::has(reason_of(all[i].bytes), all[i].reason)) << "number " << i;
}

// Every shorter file must be refused, or, where only bytes that hold no pixel are missing, give
// the very same picture, never another one.
void expect_no_cut_goes_unseen(const std::string& whole, std::size_t harmless_at_the_end = 0) {
    const Pixels expected = load(whole).pixels;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        SCOPED_TRACE("cut to " + std::to_string(size) + " of " + std::to_string(whole.size()));
        if (size + harmless_at_the_end >= whole.size()) {
            EXPECT_EQ(load(whole.substr(0, size)).pixels, expected);
        } else {
            reason_of(whole.substr(0, size));
        }
    }
    EXPECT_EQ(reason_of(whole.substr(0, whole.size() - harmless_at_the_end - 1)), kTruncated);
}

// No two neighbours of the test pictures are equal, nor two rows.
Bmp patterned(unsigned bits, std::size_t width, std::size_t height) {
    Bmp bmp{.bits = bits};
    const std::size_t values = bits >= 8 ? 256 : 1U << bits;
    for (std::size_t y = 0; y < height; ++y) {
        bmp.rows.emplace_back();
        for (std::size_t x = 0; x < width; ++x) {
            const auto value = static_cast<std::uint32_t>((x * 7 + y * 31 + 5) % values);
            bmp.rows[y].push_back(bits == 24 ? value * 0x01'01'01 : value);
        }
    }
    if (bits == 8) bmp.palette = tests::grey_palette();
    for (unsigned i = 0; bits < 8 && i < values; ++i) {
        const auto grey = static_cast<std::uint8_t>(10 + 15 * i);
        bmp.palette.push_back({grey, grey, grey});
    }
    return bmp;
}

Pixels greys_of(const Bmp& bmp) {
    Pixels pixels;
    for (const auto& row : bmp.rows) {
        for (const std::uint32_t pixel : row)
            pixels.push_back(bmp.bits > 8 ? pixel & 0xFF : bmp.palette[pixel].r);
    }
    return pixels;
}

Bmp masked(unsigned bits, std::vector<std::uint32_t> masks, std::vector<std::uint32_t> row) {
    return {.bits = bits, .rows = {std::move(row)}, .compression = 3, .masks = std::move(masks)};
}

std::string changed(std::string bytes, std::size_t at, std::uint32_t value) {
    tests::put_32_at(bytes, at, value);
    return bytes;
}

// 16 x 16, grey, a slope across and down; from libjpeg's encoder.
std::string progressive_jpeg() {
    return tests::bytes_of(CORPUS "/progressive.jpg");
}

// ---- BMP ------------------------------------------------------------------------------------

TEST(Bmp, OfEveryDepthAndShapeGivesExactlyItsPixels) {
    for (const unsigned bits : {1U, 4U, 8U, 24U}) {
        for (const bool top_down : {false, true}) {
            for (std::size_t width = 1; width <= 18; ++width) {
                for (const std::size_t height : {1U, 2U, 5U}) {
                    SCOPED_TRACE(testing::Message() << bits << " bits, " << width << " x " << height
                                                    << (top_down ? ", top-down" : ""));
                    Bmp bmp = patterned(bits, width, height);
                    bmp.top_down = top_down;
                    const Picture picture = load(bmp_file(bmp));
                    EXPECT_EQ(picture.width, width);
                    EXPECT_EQ(picture.height, height);
                    EXPECT_EQ(picture.pixels, greys_of(bmp));
                }
            }
        }
    }
}

TEST(Bmp, WithEveryHeaderOfWindows) {
    for (const std::uint32_t header_size : {40U, 108U, 124U}) {
        for (const unsigned bits : {1U, 4U, 8U, 24U}) {
            SCOPED_TRACE(testing::Message() << header_size << ", " << bits << " bits");
            Bmp bmp = patterned(bits, 64, 9);  // large enough to have every index and every grey
            bmp.header_size = header_size;
            EXPECT_EQ(load(bmp_file(bmp)).pixels, greys_of(bmp));
        }
        Bmp bmp = masked(16, {0xF800, 0x07E0, 0x001F}, {0xFFFF, 0xF800, 0x07E0, 0x001F, 0});
        bmp.header_size = header_size;
        EXPECT_EQ(load(bmp_file(bmp)).pixels, (Pixels{255, 76, 149, 28, 0})) << header_size;
    }
}

TEST(Bmp, OfEveryKindOfColour) {
    const unsigned half = 0x10 << 3 | 0x10 >> 2;  // 5 bits to 8: the high bits again below
    const Bmp colours{.bits = 24,
                      .rows = {{0xFF'00'00, 0x00'FF'00, 0x00'00'FF, 0xFF'FF'FF, 0, 0x12'34'56}}};
    const Bmp bits_555{.bits = 16, .rows = {{0x7FFF, 0x7C00, 0x03E0}, {0x001F, 0x0000, 0x4210}}};
    // Transparency is ignored.
    const std::vector<std::uint32_t> pixels_32{0xFF'00'FF'00, 0x00'FF'00'00, 0x80'01'02'03};
    expect_read({
        {bmp_file(colours), {76, 149, 28, 255, 0, luma(0x12, 0x34, 0x56)}},
        {bmp_file(
             {.rows = {{2, 0, 1}, {1, 1, 0}}, .palette = {{255, 0, 0}, {0, 255, 0}, {1, 2, 3}}}),
         {luma(1, 2, 3), 76, 149, 149, 149, 76}},
        {bmp_file(bits_555), {255, 76, 149, 28, 0, luma(half, half, half)}},
        {bmp_file({.bits = 32, .rows = {pixels_32}}), {149, 76, luma(1, 2, 3)}},
        {bmp_file(masked(32, {0x00'00'FF, 0x00'FF'00, 0xFF'00'00}, pixels_32)),
         {149, 28, luma(3, 2, 1)}},
    });
}

TEST(Bmp, ThatIsOfNoKindThatIsRead) {
    using tests::kBmpHeightAt;
    using tests::kBmpWidthAt;
    const std::string fine = bmp_file(patterned(8, 5, 3));
    std::vector<Refused> all{
        {changed(fine, 14, 12), "unsupported or damaged: a BMP of OS/2"},
        {changed(fine, 14, 66), "unsupported or damaged"},
        {changed(fine, 10, 20), "in its header"},  // where its pixels are
        {changed(fine, kBmpHeightAt, 0x8000'0000), ""},
        // Such a picture has no pixels to count and none to repeat.
        {changed(fine, kBmpWidthAt, 0), ""},
        {changed(fine, kBmpHeightAt, 0), ""},
        {changed(fine, kBmpWidthAt, (1U << 24) + 1), "too large a picture"},
        {changed(fine, kBmpHeightAt, (1U << 24) + 1), "too large a picture"},
    };
    // stb_image decodes to three bytes a pixel and wants those to fit 31 bits.
    for (const std::uint32_t side : {100'000U, 40'000U, 27'000U})
        all.push_back(
            {changed(changed(fine, kBmpWidthAt, side), kBmpHeightAt, side), "too large a picture"});
    for (const std::uint32_t bits : {0U, 2U, 3U})
        all.push_back({changed(fine, 28, bits), "unsupported or damaged"});
    for (const std::uint32_t compression : {1U, 2U, 3U, 4U, 5U, 6U, 7U})
        all.push_back({changed(fine, 30, compression), "unsupported or damaged"});
    expect_refused(all);
}

// ---- other formats --------------------------------------------------------------------------

TEST(Png, OfEveryDepthGivesExactlyItsPixels) {
    Pixels grey(std::size_t{37} * 11);
    for (std::size_t i = 0; i < grey.size(); ++i)
        grey[i] = static_cast<std::uint8_t>(i * 13);
    const Picture picture = load(png_of(grey, 37));
    EXPECT_EQ(picture.width, 37U);
    EXPECT_EQ(picture.height, 11U);

    const std::string s16("\x00\x00\x00\xFF\x01\x00\x7F\xFF\x80\x00\xFF\xFF", 12);
    std::string with_an_empty_chunk = tests::png_file({4, 8, 0, "", {"abcd"}});
    with_an_empty_chunk.insert(with_an_empty_chunk.find("IDAT") - 4, tests::png_chunk("IDAT", ""));
    expect_read({
        {png_of(grey, 37), grey},
        {png_of({255, 0, 0, 0, 255, 0, 1, 2, 3}, 3, 3), {76, 149, luma(1, 2, 3)}},
        // The lower 8 of 16 bits are left out, after colour has become grey.
        {tests::png_file({6, 16, 0, "", {s16}}), {0, 0, 1, 127, 128, 255}},
        {tests::png_file({2, 16, 2, "", {s16}}),
         {luma16(0, 0x00FF, 0x0100), luma16(0x7FFF, 0x8000, 0xFFFF)}},
        {tests::png_file({3, 16, 4, "", {s16}}), {0, 1, 128}},
        {tests::png_file({4, 2, 0, "", {"\x1B"}}), {0, 85, 170, 255}},
        {tests::png_file({3, 8, 3, "\xFF\x00\x00\x00\xFF\x00"s, {"\x01\x00\x01"s}}),
         {149, 76, 149}},
        // Interlaced: the first pass holds the first, the sixth the second, the seventh the rest.
        {tests::png_file({2, 8, 0, "", {"a", "b", "cd"}, 2}), {'a', 'b', 'c', 'd'}},
        // stb_image copies no bytes to no place, which the sanitizer builds would notice.
        {with_an_empty_chunk, {'a', 'b', 'c', 'd'}},
    });
}

TEST(Pgm, OfEveryLargestValueGivesExactlyItsPixels) {
    const std::string s16("\x00\x00\x00\xFF\x01\x00\x7F\xFF\x80\x00\xFF\xFF", 12);
    Pixels colours(std::size_t{3} * 256);
    std::iota(colours.begin(), colours.end(), std::uint8_t{7});
    expect_read({
        {"P5 3 2 255\n\x01\x02\x03\xFD\xFE\xFF"s, {1, 2, 3, 253, 254, 255}},
        {"P6\n# with a comment\n1#\r 1\n255\n\xFF\x00\x00"s, {76}},
        {"P5 1 1 255\n\n"s, {10}},  // one space ends the header
        {"P6 16 16 255\n" + std::string(colours.begin(), colours.end()),
         load(png_of(colours, 16, 3)).pixels},
        // 16 bits are read as in a PNG of 16 bits.
        {"P5 6 1 65535\n" + s16, {0, 0, 1, 127, 128, 255}},
        {"P6 2 1 65535\n" + s16, load(tests::png_file({2, 16, 2, "", {s16}})).pixels},
        // Other largest values are scaled.
        {"P5 4 1 15\n\x00\x01\x07\x0F"s, {0, 17, 119, 255}},
        {"P5 2 1 1\n\x00\x01"s, {0, 255}},
        {"P5 3 1 100\n\x01\x32\x63"s, {3, 128, 252}},  // 2.55 127.5 252.45
        {"P5 3 1 4095\n\x00\x08\x08\x00\x0F\xFF"s, {0, 128, 255}},
        {"P5 2 1 256\n\x00\x80\x01\x00"s, {128, 255}},
        {"P6 1 1 15\n\x0F\x00\x00"s, {68}},  // 77 * 15 / 256 = 4 of 15
    });
    for (const std::string header :
         {"P5x1 1 255\n", "P51 1 1 255\n", "P5 -1 1 255\n", "P5 1 1 65536\n", "P5 1 1 255x",
          "P5 99999999999 1 255\n", "P5 1 1.5 255\n", "P5 1 1 0\n", "P5 a 1 255\n"}) {
        EXPECT_TRUE(tests::has(reason_of(header + std::string(30, '\0')), "damaged")) << header;
    }
    expect_refused({{"P5 1 1 15\n\x10"s, "above the largest"},
                    {"P5 16777217 1 255\n", "too large a picture"},
                    {"P5 100000 100000 255\n", "too large a picture"},
                    {"P5 0 3 255\n", ""},
                    {"P5 3 0 255\n", ""}});
}

TEST(Jpeg, KeepsItsLuma) {
    for (const std::uint8_t pixel : load(jpeg_of(Pixels(std::size_t{32} * 16, 200), 32)).pixels)
        EXPECT_NEAR(pixel, 200, 2);
    const Picture progressive = load(progressive_jpeg());
    ASSERT_EQ(progressive.pixels.size(), 256U);
    for (std::size_t i = 0; i < 256; ++i)
        EXPECT_NEAR(progressive.pixels[i], static_cast<int>(i % 16 * 8 + i / 16 * 7), 8);
}

// ---- colours ---------------------------------------------------------------------------------

TEST(Colours, AreKeptWhereTheyAreAskedFor) {
    const std::string s16("\x00\x00\x00\xFF\x01\x00\x7F\xFF\x80\x00\xFF\xFF", 12);
    const Bmp bits_24{.bits = 24, .rows = {{0xFF'80'01, 0x12'34'56}}};
    const Bmp palette{.rows = {{2, 0, 1}}, .palette = {{255, 0, 0}, {0, 255, 0}, {1, 2, 3}}};
    const std::vector<Read> all{
        {bmp_file(bits_24), {255, 128, 1, 0x12, 0x34, 0x56}},
        {bmp_file(palette), {1, 2, 3, 255, 0, 0, 0, 255, 0}},
        {png_of({255, 0, 0, 0, 255, 0, 1, 2, 3}, 3, 3), {255, 0, 0, 0, 255, 0, 1, 2, 3}},
        {tests::png_file({2, 16, 2, "", {s16}}), {0, 0, 1, 127, 128, 255}},
        {png_of({7, 9}, 2), {7, 7, 7, 9, 9, 9}},
        {"P6 2 1 65535\n" + s16, {0, 0, 1, 127, 128, 255}},
        {"P6 1 1 15\n\x0F\x07\x01"s, {255, 119, 17}},
        {"P5 1 1 255\n\x09"s, {9, 9, 9}},
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(common::decode_picture(all[i].bytes, 3).pixels, all[i].pixels) << "number " << i;
        Pixels four;
        for (std::size_t p = 0; p < all[i].pixels.size(); ++p) {
            four.push_back(all[i].pixels[p]);
            if (p % 3 == 2) four.push_back(255);
        }
        EXPECT_EQ(common::decode_picture(all[i].bytes, 4).pixels, four) << "number " << i;
    }
}

// ---- where the bytes come from ----------------------------------------------------------------

TEST(PictureFile, IsReadWholeAlsoThroughAPipe) {
    const tests::TemporaryFolder folder;
    const Bmp bmp = patterned(8, 1021, 517);  // larger than any read buffer
    const std::string bytes = bmp_file(bmp);
    tests::write_bytes(folder / "picture.bmp", bytes);
    EXPECT_EQ(common::load_picture(folder / "picture.bmp").pixels, greys_of(bmp));

    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    std::jthread writer([&] {
        EXPECT_EQ(write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        close(ends[1]);
    });
    // As a shell hands it over: <(program).
    const fs::path name = "/dev/fd/" + std::to_string(ends[0]);
    EXPECT_EQ(common::load_picture(name).pixels, greys_of(bmp));
    close(ends[0]);
}

TEST(PictureFile, ThatCannotBeUsedIsRefusedByNameWithTheReason) {
    const tests::TemporaryFolder folder;
    tests::write_bytes(folder / "empty", "");
    tests::write_bytes(folder / "text.bmp", "This is no picture, whatever its name says.\n");
    tests::write_bytes(folder / "closed", bmp_file(patterned(8, 5, 3)));
    fs::permissions(folder / "closed", fs::perms::none);
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    std::vector<std::pair<fs::path, std::string>> all{
        {folder / "nosuch.bmp", "No such file or directory"},
        {folder.path(), "a folder, not a file"},
        // Without a writer, opening it would wait for one.
        {folder / "pipe", "a named pipe, not a file (/dev/stdin reads from a pipe)"},
        {folder / "empty", "an empty file"},
        {folder / "text.bmp", kNotRead},
        {"/dev/zero", kNotRead},
    };
    if (geteuid() != 0) all.emplace_back(folder / "closed", "Permission denied");
    for (const auto& [path, reason] : all)
        EXPECT_EQ(tests::bad_input([&] { common::load_picture(path); }),
                  path.string() + ": " + reason);
    // The terminal is not to obey a name.
    const std::string text =
        tests::bad_input([&] { common::load_picture(folder / "a\nb\x1b[2J\xFF.bmp"); });
    EXPECT_TRUE(text.ends_with("/a\\nb\\x1b[2J\\xff.bmp: No such file or directory")) << text;
}

// ---- what cannot be used is refused with the reason -------------------------------------------

// stb_image could read these. On a truncated HDR it never ends, on a truncated PIC it crashes, and
// a TGA cannot be told from other files.
TEST(RefusedPicture, AFormatThatIsNotRead) {
    const std::string tga =
        "\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01\x00\x08\x00X"s;
    const std::string pic = "\x53\x80\xF6\x34"s + std::string(84, '\0') + "PICT";
    for (const std::string& bytes :
         {tga, pic, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 64 +X 64\n"s,
          "GIF89a\x01\x00\x01\x00"s, "8BPS"s, "P2 1 1 255\n7\n"s, "B"s}) {
        EXPECT_EQ(reason_of(bytes), kNotRead);
    }
}

// stb_image gives no reason for some failures, and for others that of the one before.
TEST(RefusedPicture, AFailureWithoutAReasonHasNoOldOne) {
    const std::string no_such_block = tests::png_file({1, 8, 0, "", {"x"}}, "\x78\x01\x07");
    EXPECT_EQ(reason_of(no_such_block), "unsupported or damaged");
    EXPECT_EQ(reason_of(tests::png_file({1, 3, 0, "", {"x"}})),
              "unsupported or damaged: PNG not supported: 1/2/4/8/16-bit only");
    EXPECT_EQ(reason_of(no_such_block), "unsupported or damaged");
}

TEST(RefusedPicture, AFileCutAnywhere) {
    // Rows of 5 pixels end in 3 bytes of padding with 8 bits, and in 1 with 24.
    expect_no_cut_goes_unseen(bmp_file(patterned(8, 5, 3)), 3);
    expect_no_cut_goes_unseen(bmp_file(patterned(24, 5, 3)), 1);
    expect_no_cut_goes_unseen(bmp_file(patterned(4, 9, 3)), 3);
    expect_no_cut_goes_unseen(bmp_file(patterned(1, 17, 3)), 1);
    Bmp wide = patterned(24, 4, 3);  // no padding
    wide.header_size = 124;
    wide.top_down = true;
    expect_no_cut_goes_unseen(bmp_file(wide));

    Pixels grey(std::size_t{24} * 16);
    for (std::size_t i = 0; i < grey.size(); ++i)
        grey[i] = static_cast<std::uint8_t>(i * i);
    expect_no_cut_goes_unseen(png_of(grey, 24));
    expect_no_cut_goes_unseen(jpeg_of(grey, 24));
    expect_no_cut_goes_unseen(progressive_jpeg());
    expect_no_cut_goes_unseen("P5 30 10 255\n" + std::string(300, 'x'));
}

// Whether so few bytes can hold so many pixels is known before anything is set aside for them: the
// decoders would have given other reasons, after seconds and gigabytes.
TEST(RefusedPicture, AHugePictureInAFewBytes) {
    const std::string big("\x00\x00\x4E\x20", 4);  // 20000
    for (const int depth : {1, 8}) {
        const tests::Png header{1, depth, 0, "", {"x"}};
        std::string png = tests::png_file(header);
        std::string ihdr = png.substr(16, 13);
        ihdr.replace(0, 8, big + big);
        png.replace(8, 25, tests::png_chunk("IHDR", ihdr));
        EXPECT_EQ(reason_of(png), kTruncated) << depth;
    }
    for (std::string jpeg : {progressive_jpeg(), jpeg_of(Pixels(64, 10), 8)}) {
        const std::size_t frame = std::min(jpeg.find("\xFF\xC0"), jpeg.find("\xFF\xC2"));
        jpeg.replace(frame + 5, 4, "\x4E\x20\x4E\x20");  // 20000
        EXPECT_EQ(reason_of(jpeg), kTruncated);
        jpeg.insert(jpeg.find("\xFF\xDA"), "\xFF\xC0\x00\x0B\x08\x00\x08\x00\x08\x01\x01\x11\x00"s);
        EXPECT_EQ(reason_of(jpeg), "damaged: a JPEG with two headers");
    }
    EXPECT_EQ(reason_of("P5 20000 20000 255\n" + std::string(100, 'x')), kTruncated);
    for (const Bmp& bmp : {patterned(1, 5, 3), patterned(8, 5, 3)}) {
        const std::string wide = changed(bmp_file(bmp), tests::kBmpWidthAt, 20'000);
        EXPECT_EQ(reason_of(changed(wide, tests::kBmpHeightAt, 20'000)), kTruncated);
    }
}

// The same bounds must let pass what they can hold at best.
TEST(RefusedPicture, NotAPictureThatIsCompressedAsWellAsCanBe) {
    const std::size_t side = 2048;
    const Pixels black(side * side, 0);
    // Of zlib at its best: all rows in 4088 bytes, 1026 to one.
    const std::string deflated =
        "\x78\xDA\xED\xC1\x01\x01\x00\x00\x00\x82\x20\xFF\xAF\x6E\x48\x40\x01"s +
        std::string(4063, '\0') + "\x00\x00\x7C\x19\x0B\xC0\x00\x01"s;
    const tests::Png png{side, 8, 0, "", std::vector<std::string>(side)};
    EXPECT_EQ(load(tests::png_file(png, deflated)).pixels, black);
    EXPECT_EQ(load(jpeg_of(black, side)).pixels.size(), black.size());
}

TEST(RefusedPicture, APngThatIsDamaged) {
    std::string png = tests::png_file({4, 8, 0, "", {"abcd"}});
    const std::size_t at = png.find("abcd");
    png[at] = 'x';
    EXPECT_EQ(reason_of(png), "damaged: the checksum of its chunk IDAT does not match");
    png[at] = 'a';
    png[png.find("IDAT")] = '\n';  // the message stays one line
    EXPECT_EQ(reason_of(png), "damaged: the checksum of its chunk without a name does not match");
    // An iPhone's, with bare deflate data: stb_image would take blue for red.
    png = tests::png_file({1, 8, 2, "", {"abc"}}, "\x01\x04\x00\xFB\xFF\x00"s + "abc");
    png.insert(8, tests::png_chunk("CgBI", "\x50\x00\x20\x02"s));
    EXPECT_EQ(reason_of(png), "unsupported: a PNG that does not begin with IHDR");
}

TEST(RefusedPicture, AJpegThatIsDamaged) {
    const std::string whole = jpeg_of(Pixels(64, 10), 8);
    EXPECT_EQ(reason_of(whole.substr(0, whole.find("\xFF\xDA")) + "\xFF\xD9"),
              "damaged: a part of the picture is missing");
    // Of a code with more than 256 older versions of stb_image write past their tables. This one
    // has two, of one bit and of two.
    std::string jpeg = progressive_jpeg();
    const std::size_t code = jpeg.find("\xFF\xC4");
    const char* const too_many = "damaged: a Huffman code of too many symbols";
    jpeg[code + 5] = '\xFF';
    EXPECT_NE(reason_of(jpeg), too_many);
    ++jpeg[code + 6];
    EXPECT_EQ(reason_of(jpeg), too_many);
}

// Files that a fuzzer found, and small ones of every kind: a picture, or a reason in one line.
TEST(DamagedPicture, TheCorpus) {
    int pictures = 0;
    for (const auto& file : fs::directory_iterator(CORPUS)) {
        SCOPED_TRACE(file.path());
        const std::string bytes = tests::bytes_of(file.path());
        for (const unsigned channels : {1U, 4U}) {
            try {
                const Picture picture = common::decode_picture(bytes, channels);
                EXPECT_EQ(picture.pixels.size(), picture.width * picture.height * channels);
                EXPECT_FALSE(picture.pixels.empty());
                ++pictures;
            } catch (const common::BadInput& error) {
                EXPECT_STRNE(error.what(), "");
            }
        }
    }
    EXPECT_GT(pictures, 50);
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

// Any one byte may be wrong, and the file may end anywhere: a refusal in one line or a picture of
// some kind, the same each time, and no memory touched that is not ours (the sanitizer builds watch
// that). Never another picture from a PNG, which has checksums.
TEST(DamagedPicture, AnyDamage) {
    std::vector<std::string> files{progressive_jpeg(),
                                   tests::bytes_of(CORPUS "/restart.jpg"),
                                   tests::png_file({4, 8, 0, "", {"abcd", "efgh"}}),
                                   tests::png_file({2, 8, 2, "", {"abcdef", "ghijkl"}}),
                                   tests::png_file({2, 8, 3, "abcdef", {"\x00\x01"s, "\x01\x00"s}}),
                                   "P5 5 3 255\n" + std::string(15, 'x'),
                                   "P5 2 3 4095\n" + std::string(12, '\x07'),
                                   "P6 2 2 255\n" + std::string(12, 'y')};
    for (const unsigned bits : {8U, 24U})
        files.push_back(bmp_file(patterned(bits, 5, 3)));
    files.push_back(bmp_file(masked(16, {0xF800, 0x07E0, 0x001F}, {0xFFFF, 0xF800})));
    // Indices beyond the palette, which stb_image looks up all the same.
    files.push_back(tests::png_file({64, 8, 3, std::string(48, 'x'), {std::string(64, '\x77')}}));
    // The last code of 16 bits asks for 10 more, where there are none: older versions of stb_image
    // then shift by more than a number has bits, which the sanitizer builds would notice.
    const std::string jpeg = jpeg_of(Pixels(64, 10), 8, 95);
    files.push_back(jpeg.substr(0, jpeg.find("\xFF\xDA") + 14) + "\x09\x77\xFF\x00\xFE\xFF\xD9"s);

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
            survives(whole.substr(0, at + 1));
            survives(whole.substr(0, at) + "\xFF\xD9");  // the end marker of a JPEG
        }
    }
}

}  // namespace
