// count_simd on what could break it: every length around its steps, every start, and pixels that
// are all of one of its classes. The chapter's own tests run it on pictures.
#include "01-cpu/simd.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

std::vector<std::uint32_t> counts_of(const std::vector<std::uint8_t>& pixels, std::size_t first) {
    std::vector<std::uint32_t> counts(256);
    for (std::size_t i = first; i < pixels.size(); ++i)
        ++counts[pixels[i]];
    return counts;
}

void expect_right(const std::vector<std::uint8_t>& pixels, std::size_t first) {
    std::vector<std::uint32_t> counts(256, 0xa5a5a5a5);
    count_simd(pixels.data() + first, pixels.size() - first, counts.data());
    EXPECT_EQ(counts, counts_of(pixels, first)) << pixels.size() << " pixels from " << first;
}

class Simd : public testing::Test {
 protected:
    void SetUp() override {
        if (!processor_has_simd()) GTEST_SKIP() << "this processor has no such AVX-512";
    }

    std::vector<std::uint8_t> random(std::size_t count) {
        std::vector<std::uint8_t> pixels(count);
        for (std::uint8_t& pixel : pixels)
            pixel = static_cast<std::uint8_t>(random_());
        return pixels;
    }

    std::mt19937 random_{1};
};

TEST_F(Simd, CountsEveryLengthAroundItsSteps) {
    for (const std::size_t step : {0U, 64U, 128U, 1024U, 2048U, 4096U, 8192U, 10240U, 16384U}) {
        for (std::size_t length = step > 65 ? step - 65 : 0; length <= step + 65; ++length)
            expect_right(random(length), 0);
    }
}

TEST_F(Simd, BeginsAtAnyByte) {
    for (std::size_t first = 0; first < 64; ++first)
        expect_right(random(20000 + first), first);
}

TEST_F(Simd, CountsPixelsOfOneClassAndOfTwo) {
    for (const int value : {0, 63, 64, 127, 128, 191, 192, 255}) {
        std::vector<std::uint8_t> pixels(100003, static_cast<std::uint8_t>(value));
        expect_right(pixels, 0);
        for (std::size_t i = 0; i < pixels.size(); i += 2)
            pixels[i] ^= 0xc0;
        expect_right(pixels, 0);
    }
}

TEST_F(Simd, CountsMoreThanAByteOrSixteenBitsHold) {
    std::vector<std::uint8_t> pixels(1 << 22, 201);
    expect_right(pixels, 0);
    for (std::size_t i = 0; i < pixels.size(); i += 5)
        pixels[i] = static_cast<std::uint8_t>(random_());
    expect_right(pixels, 3);
}

}  // namespace
