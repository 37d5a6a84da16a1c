#include "common/image/image.hpp"

#include <gtest/gtest.h>
#include <stb_image_write.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "common/process/status.hpp"
#include "common/tests/support.hpp"

namespace {

namespace fs = std::filesystem;

using namespace std::string_literals;
using Pixels = common::PixelBuffer;

constexpr const char* kNotRead =
    "not a picture of a format that is read here: BMP, PNG, JPEG, PGM (P5), PPM (P6)";
constexpr const char* kTruncated = "truncated: the file ends before the picture does";

std::uint8_t luma(unsigned r, unsigned g, unsigned b) {
    return static_cast<std::uint8_t>((77 * r + 150 * g + 29 * b) / 256);
}

Pixels read(const std::string& bytes) {
    return common::decode_picture(bytes).pixels;
}

// Decodes what must be refused, and gives the reason.
std::string reason_of(const std::string& bytes) {
    return tests::bad_input([&] { read(bytes); });
}

// Files of every kind: small ones by other programs' encoders, and damaged ones that a fuzzer
// found.
std::string corpus(const std::string& name) {
    return tests::bytes_of(fs::path(CORPUS) / name);
}

void append(void* to, void* bytes, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes),
                                          static_cast<std::size_t>(size));
}

std::string png_of(const Pixels& grey, int width) {
    std::string png;
    stbi_write_png_to_func(append, &png, width, static_cast<int>(grey.size()) / width, 1,
                           grey.data(), width);
    return png;
}

std::string jpeg_of(const Pixels& grey, int width) {
    std::string jpeg;
    stbi_write_jpg_to_func(append, &jpeg, width, static_cast<int>(grey.size()) / width, 1,
                           grey.data(), 90);
    return jpeg;
}

void put(std::string& to, std::size_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
        to += static_cast<char>(value >> (8 * i));
}

// A BMP as most programs write it, of 8 or 24 bits, in which no two neighbours are equal, nor two
// rows.
struct Bmp {
    Bmp(unsigned bits, std::size_t width, std::size_t height, bool top_down = false) {
        const std::size_t colours = bits == 8 ? 256 : 0;
        const std::size_t pixels_at = 54 + 4 * colours;
        bytes = "BM";
        for (const std::size_t number :
             {std::size_t{0}, std::size_t{0}, pixels_at, std::size_t{40}, width,
              top_down ? 0 - height : height, std::size_t{1 + (bits << 16)}, std::size_t{0},
              std::size_t{0}, std::size_t{0}, std::size_t{0}, colours, std::size_t{0}})
            put(bytes, number, 4);
        for (std::size_t i = 0; i < colours; ++i)
            put(bytes, i * 0x01'01'01, 4);
        for (std::size_t i = 0; i < width * height; ++i)
            greys.push_back(static_cast<std::uint8_t>(i % width * 7 + i / width * 31 + 5));
        for (std::size_t row = 0; row < height; ++row) {
            const std::size_t y = top_down ? row : height - 1 - row;
            for (std::size_t x = 0; x < width; ++x)
                bytes.append(bits / 8, static_cast<char>(greys[y * width + x]));
            // Padding that is not zero shows where it is taken for pixels.
            bytes.append((4 - width * bits / 8 % 4) % 4, '\x99');
        }
    }
    std::string bytes;
    Pixels greys;
};

// Offsets in it.
constexpr std::size_t kHeaderAt = 14, kWidthAt = 18, kHeightAt = 22, kBitsAt = 28,
                      kCompressionAt = 30;

std::string changed(std::string bytes, std::size_t at, std::uint32_t value) {
    std::string field;
    put(field, value, 4);
    return bytes.replace(at, 4, field);
}

// ---- what is read -----------------------------------------------------------------------------

TEST(Picture, ABmpOfEveryShapeGivesExactlyItsPixels) {
    for (const unsigned bits : {8U, 24U}) {
        for (const bool top_down : {false, true}) {
            for (std::size_t width = 1; width <= 18; ++width) {
                for (const std::size_t height : {1U, 2U, 5U}) {
                    SCOPED_TRACE(testing::Message() << bits << " bits, " << width << " x " << height
                                                    << (top_down ? ", top-down" : ""));
                    const Bmp bmp(bits, width, height, top_down);
                    const common::Picture picture = common::decode_picture(bmp.bytes);
                    EXPECT_TRUE(picture.width == width && picture.height == height);
                    EXPECT_EQ(picture.pixels, bmp.greys);
                }
            }
        }
    }
}

TEST(Picture, OtherFormatsGiveExactlyTheirPixels) {
    Pixels grey(std::size_t{37} * 11);
    for (std::size_t i = 0; i < grey.size(); ++i)
        grey[i] = static_cast<std::uint8_t>(i * 13);
    const common::Picture picture = common::decode_picture(png_of(grey, 37));
    EXPECT_TRUE(picture.width == 37 && picture.height == 11 && picture.pixels == grey);
    EXPECT_EQ(read("P5 37 11 255\n"s.append(grey.begin(), grey.end())), grey);
    EXPECT_EQ(read("P5 1 1 255\n\n"), Pixels{10});  // one space ends the header
    EXPECT_EQ(read("P6\n# with a comment\n1#\n 1\n255\n\xFF\x80\x01"), Pixels{luma(255, 128, 1)});
    // 4 bits a pixel: numbers of colours that go up by 4 in red, green and blue.
    EXPECT_EQ(read(corpus("h40.bmp")), (Pixels{luma(2, 1, 0), luma(6, 5, 4), luma(10, 9, 8),
                                               luma(6, 5, 4), luma(10, 9, 8), luma(14, 13, 12)}));
    EXPECT_EQ(read(corpus("depth2.png")), (Pixels{0, 85, 170, 255, 0, 255, 85, 170}));
    EXPECT_EQ(read(corpus("interlaced.png")), (Pixels{'a', 'b', 'c', 'd'}));
    EXPECT_EQ(read(corpus("grey16.png")), read(corpus("grey.png")));
    EXPECT_EQ(read(corpus("la.png")), read(corpus("grey.png")));  // transparency is ignored
    EXPECT_EQ(read(corpus("rgba.png")), read(corpus("rgb.png")));
    for (const std::uint8_t pixel : read(jpeg_of(Pixels(std::size_t{32} * 16, 200), 32)))
        EXPECT_NEAR(pixel, 200, 2);
    // 16 x 16, grey, a slope across and down.
    const Pixels progressive = read(corpus("progressive.jpg"));
    ASSERT_EQ(progressive.size(), 256U);
    for (std::size_t i = 0; i < 256; ++i)
        EXPECT_NEAR(progressive[i], static_cast<int>(i % 16 * 8 + i / 16 * 7), 8);
}

TEST(Picture, ABmpMayHaveAGapBeforeItsPixels) {
    for (const unsigned bits : {8U, 24U}) {
        const Bmp bmp(bits, 5, 3);
        const std::size_t pixels_at = bits == 8 ? 1078 : 54;
        for (const std::size_t gap : {1U, 1000U, 5000U}) {
            std::string bytes = bmp.bytes;
            bytes.insert(pixels_at, gap, '\x77');
            EXPECT_EQ(read(changed(bytes, 10, static_cast<std::uint32_t>(pixels_at + gap))),
                      bmp.greys)
                << bits << " bits, " << gap << " bytes";
        }
    }
}

// ---- where the bytes come from ----------------------------------------------------------------

TEST(PictureFile, IsReadWholeAlsoThroughAPipe) {
    const tests::TemporaryFolder folder;
    const Bmp bmp(8, 1021, 517);  // larger than any read buffer
    tests::write_bytes(folder / "picture.bmp", bmp.bytes);
    EXPECT_EQ(common::load_picture(folder / "picture.bmp").pixels, bmp.greys);

    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    std::jthread writer([&] {
        EXPECT_EQ(write(ends[1], bmp.bytes.data(), bmp.bytes.size()),
                  static_cast<ssize_t>(bmp.bytes.size()));
        close(ends[1]);
    });
    // As a shell hands it over: <(program).
    const fs::path name = "/dev/fd/" + std::to_string(ends[0]);
    EXPECT_EQ(common::load_picture(name).pixels, bmp.greys);
    close(ends[0]);
}

TEST(PictureFile, ThatCannotBeUsedIsRefusedByNameWithTheReason) {
    const tests::TemporaryFolder folder;
    tests::write_bytes(folder / "empty", "");
    tests::write_bytes(folder / "text.bmp", "This is no picture, whatever its name says.\n");
    tests::write_bytes(folder / "closed", Bmp(8, 5, 3).bytes);
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
        tests::bad_input([&] { common::load_picture(folder / "a\nb\x1b[2J.bmp"); });
    EXPECT_TRUE(text.ends_with("/a\\nb\\x1b[2J.bmp: No such file or directory")) << text;
}

// ---- what cannot be used is refused with the reason -------------------------------------------

TEST(RefusedPicture, OfNoKindThatIsRead) {
    const std::string bmp = Bmp(8, 5, 3).bytes;
    const std::vector<std::pair<std::string, std::string>> all{
        {"GIF89a\x01\x00\x01\x00"s, kNotRead},
        {"\x89PNG\r\n\x1A\n\x00\x00\x00\x04"s + "CgBIPo IHDR", "apps for an iPhone"},
        {"P2 1 1 255\n7\n"s, kNotRead},
        {"\xFF\xD8\xFF\xE0\x00\x04xy\xFF\xFF\xC2\x00\x14\x08\x00\x01\x00\x01\x04\x01"s,
         "four colours"},
        {"B"s, kNotRead},
        {changed(bmp, kHeaderAt, 12), "a BMP of OS/2"},
        {changed(bmp, kBitsAt, 3), "cannot be decoded: "},
        {changed(bmp, kCompressionAt, 1), "cannot be decoded: "},
        // Such a picture has no pixels to count and none to repeat.
        {changed(bmp, kWidthAt, 0), "without pixels"},
        {changed(bmp, kHeightAt, 0), "without pixels"},
        {"P5 0 3 255\n", ""},
        {changed(bmp, kHeightAt, 0x8000'0000), "too large"},
        {changed(bmp, kWidthAt, (1U << 24) + 1), "cannot be decoded: "},
        {"P5 16777217 1 255\n", "too large"},
        {"P5 16777216 1 255\n", kTruncated},
        {"P5 -1 1 255\n", "not the header of a PGM or PPM"},
        {"P5 a 1 255\n", "not the header of a PGM or PPM"},
        {"P5 1 1 65535\n\x01\x02", "whose largest value is not 255"},
    };
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_TRUE(tests::has(reason_of(all[i].first), all[i].second)) << "number " << i;
}

// Every shorter file must be refused, or, where only bytes that hold no pixel are missing, give
// the very same picture, never another one.
TEST(RefusedPicture, AFileCutAnywhere) {
    const auto expect_no_cut_goes_unseen = [](const std::string& whole, std::size_t harmless = 0) {
        const Pixels expected = read(whole);
        for (std::size_t size = 0; size < whole.size(); ++size) {
            SCOPED_TRACE("cut to " + std::to_string(size) + " of " + std::to_string(whole.size()));
            if (size + harmless >= whole.size())
                EXPECT_EQ(read(whole.substr(0, size)), expected);
            else
                reason_of(whole.substr(0, size));
        }
        EXPECT_EQ(reason_of(whole.substr(0, whole.size() - harmless - 1)), kTruncated);
    };
    // Rows of 5 pixels end in 3 bytes of padding with 8 bits, and in 1 with 24.
    expect_no_cut_goes_unseen(Bmp(8, 5, 3).bytes, 3);
    expect_no_cut_goes_unseen(Bmp(24, 5, 3).bytes, 1);
    expect_no_cut_goes_unseen(Bmp(24, 4, 3, true).bytes);
    expect_no_cut_goes_unseen(corpus("h124.bmp"), 2);  // 4 bits a pixel
    expect_no_cut_goes_unseen(png_of(Pixels(384, 7), 24));
    expect_no_cut_goes_unseen(jpeg_of(Pixels(384, 7), 24));
    expect_no_cut_goes_unseen(corpus("progressive.jpg"));
    std::string with_a_smaller_one = jpeg_of(Pixels(384, 7), 24);
    with_a_smaller_one.insert(2, "\xFF\xE1\x00\x06\xFF\xDA\xFF\xD9"s);
    expect_no_cut_goes_unseen(with_a_smaller_one);
    expect_no_cut_goes_unseen("P5 30 10 255\n" + std::string(300, 'x'));
    expect_no_cut_goes_unseen("P6 5 4 255\n" + std::string(60, 'y'));
}

// A picture, or a reason in one line, and the same each time.
TEST(DamagedPicture, TheCorpus) {
    int pictures = 0;
    for (const auto& file : fs::directory_iterator(CORPUS)) {
        SCOPED_TRACE(file.path());
        try {
            const common::Picture picture = common::load_picture(file.path());
            EXPECT_EQ(picture.pixels.size(), picture.width * picture.height);
            EXPECT_EQ(read(corpus(file.path().filename())), picture.pixels);
            ++pictures;
        } catch (const common::BadInput& error) {
            EXPECT_STRNE(error.what(), "");
        }
    }
    EXPECT_GT(pictures, 25);
}

}  // namespace
