#include "common/inputs/inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/tests/support.hpp"

namespace {

using common::contended_pixels;
using common::Input;
using common::Options;
using common::ramp_pixels;
using common::uniform_pixels;
using Pixels = common::PixelBuffer;

// More than two of the blocks that the generators work in, and not a whole number of them.
constexpr std::size_t kMany = (std::size_t{2} << 20) + 77;

// FNV-1a, to hold a million pixels against one number.
std::uint64_t fingerprint(const Pixels& pixels) {
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    for (const std::uint8_t pixel : pixels)
        hash = (hash ^ pixel) * 0x100'0000'01B3;
    return hash;
}

Pixels first(const Pixels& pixels, std::size_t count) {
    return {pixels.begin(), pixels.begin() + static_cast<std::ptrdiff_t>(count)};
}

// ---- the same pixels everywhere and always ----------------------------------------------------
//
// The numbers come from a second implementation, in another language, of what inputs.hpp says.

TEST(Generators, UniformPixelsAreThoseOfTheRecordedRuns) {
    const Pixels pixels = uniform_pixels(kMany, 256, 1);
    EXPECT_EQ(first(pixels, 12), (Pixels{30, 97, 57, 116, 8, 171, 65, 94, 238, 241, 108, 61}));
    EXPECT_EQ(fingerprint(pixels), 0xA567'23F6'D52D'14C0);
    EXPECT_EQ(fingerprint(uniform_pixels(kMany, 256, 2)), 0x362D'541F'77BB'8100);
    // Over fewer values.
    EXPECT_EQ(first(uniform_pixels(100, 4, 3), 12), (Pixels{2, 2, 2, 2, 0, 2, 3, 3, 1, 3, 2, 2}));
    EXPECT_EQ(fingerprint(uniform_pixels(kMany, 4, 3)), 0x8AD7'4116'F2E9'2CFD);
    EXPECT_EQ(fingerprint(uniform_pixels(kMany, 3, 1)), 0xE73D'04D8'3CF8'D841);
    const Pixels all_but_one = uniform_pixels(kMany, 255, 1);
    EXPECT_EQ(*std::max_element(all_but_one.begin(), all_but_one.end()), 254);
    EXPECT_NE(uniform_pixels(100, 256, 1), uniform_pixels(100, 256, 1 + (std::uint64_t{1} << 32)));
}

TEST(Generators, ContendedPixelsAreThoseOfTheRecordedRuns) {
    EXPECT_EQ(first(contended_pixels(100, 40, 1), 12),
              (Pixels{30, 33, 33, 233, 33, 33, 169, 27, 81, 33, 33, 44}));
    EXPECT_EQ(fingerprint(contended_pixels(kMany, 40, 1)), 0x74F2'52C1'78B3'A876);
    EXPECT_EQ(fingerprint(contended_pixels(kMany, 90, 7)), 0x48CB'9551'D52F'2D2F);
    EXPECT_TRUE(contended_pixels(kMany, 100, 1) == common::constant_pixels(kMany, 33));
    EXPECT_EQ(common::hot_value(0), 32);
    EXPECT_EQ(common::hot_value(1), 33);
    EXPECT_EQ(common::hot_value(7), 18);
}

TEST(Generators, ARampGoesOnAcrossBlocks) {
    const Pixels ramp = ramp_pixels(kMany);
    ASSERT_EQ(ramp.size(), kMany);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < ramp.size(); ++i)
        wrong += ramp[i] != i % 256 ? 1 : 0;
    EXPECT_EQ(wrong, 0U);
}

// ---- what the command line asks for -----------------------------------------------------------

// Whether a stream gives the input's pixels, whatever the parts that it is read in.
void expect_in_parts(const Input& input, const Options& options) {
    const common::PixelStream stream(options);
    EXPECT_EQ(stream.name, input.name);
    EXPECT_EQ(stream.seed, input.seed);
    for (const std::size_t size : {kMany, std::size_t{1} << 20, std::size_t{300'007}}) {
        Pixels pixels(stream.size);
        for (std::size_t at = 0; at < pixels.size(); at += size)
            stream.read(at, std::span(pixels).subspan(at, std::min(size, pixels.size() - at)));
        EXPECT_TRUE(pixels == input.pixels) << input.name << ", " << size;
    }
}

TEST(LoadInput, EveryKindWholeAndInParts) {
    struct Kind {
        std::string name;
        std::function<void(Options&)> ask;
        Pixels pixels;
        bool has_seed;
    };
    const Kind kinds[] = {
        {"uniform, seed 11", [](Options&) {}, uniform_pixels(kMany, 256, 11), true},
        {"uniform over 5 values, seed 11", [](Options& o) { o.values = 5; },
         uniform_pixels(kMany, 5, 11), true},
        {"contention 40 % on value " + std::to_string(common::hot_value(11)) + ", seed 11",
         [](Options& o) { o.contention = 40; }, contended_pixels(kMany, 40, 11), true},
        {"constant 127", [](Options& o) { o.constant = 127; }, Pixels(kMany, 127), false},
        {"ramp", [](Options& o) { o.ramp = true; }, ramp_pixels(kMany), false},
        {"ramp", [](Options& o) { o.ramp = true, o.random.reset(), o.tile = 777; },
         ramp_pixels(777), false},
        // As many as a small picture's.
        {"ramp", [](Options& o) { o.ramp = true, o.random.reset(); },
         ramp_pixels(std::size_t{512} * 512), false},
    };
    for (const Kind& kind : kinds) {
        SCOPED_TRACE(kind.name);
        Options options;
        options.random = kMany;
        options.seed = 11;
        kind.ask(options);
        const Input input = common::load_input(options);
        EXPECT_EQ(input.name, kind.name);
        EXPECT_EQ(input.seed, kind.has_seed ? std::optional<std::uint64_t>(11) : std::nullopt);
        EXPECT_TRUE(input.pixels == kind.pixels);
        expect_in_parts(input, options);
    }
    const Input sample = common::load_input({});
    EXPECT_TRUE(tests::has(sample.name, "landscape.bmp, "));
    EXPECT_EQ(sample.pixels.size(), sample.width * sample.height);
    EXPECT_FALSE(sample.seed);
}

class TiledInput : public testing::Test {
 protected:
    TiledInput() {
        options_.image = folder_ / "six.pgm";
        tests::write_bytes(*options_.image, "P5 3 2 255\n\1\2\3\4\5\6");
    }

    tests::TemporaryFolder folder_;
    Options options_;
};

// Tiles are laid in blocks of a million pixels, by several threads; six does not divide those.
TEST_F(TiledInput, RepeatsToExactlyTheNumber) {
    for (const std::uint64_t count : {std::size_t{6}, std::size_t{7}, std::size_t{40}, kMany}) {
        options_.tile = count;
        const Input input = common::load_input(options_);
        ASSERT_EQ(input.pixels.size(), count);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < count; ++i)
            wrong += input.pixels[i] != 1 + i % 6 ? 1 : 0;
        EXPECT_EQ(wrong, 0U);
        EXPECT_EQ(input.name, "six.pgm, 3 x 2, tiled");
        expect_in_parts(input, options_);
    }
}

TEST_F(TiledInput, GoesOnBehind32Bits) {
    Pixels pixels(8);
    common::PixelStream(options_).read(std::uint64_t{1} << 32, pixels);
    EXPECT_EQ(pixels, (Pixels{5, 6, 1, 2, 3, 4, 5, 6}));
}

TEST_F(TiledInput, NeverCrops) {
    for (const std::uint64_t count : {0U, 1U, 5U}) {
        options_.tile = count;
        EXPECT_TRUE(
            tests::has(tests::bad_input([&] { common::load_input(options_); }),
                       "--tile " + std::to_string(count) + ": the picture alone has 6 pixels"));
    }
}

}  // namespace
