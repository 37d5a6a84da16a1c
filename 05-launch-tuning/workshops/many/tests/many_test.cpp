// What the programs of many pictures share, without a device.
#include <gtest/gtest.h>

#include <stdexcept>

#include "05-launch-tuning/workshops/many/pictures.hpp"
#include "common/tests/support.hpp"

namespace {

using common::kBins;
using namespace many;

Batch of_pixels(std::uint64_t pixels, std::uint64_t side) {
    Batch batch;
    batch.side = side;
    common::Options options;
    options.ramp = true;
    options.random = pixels;
    batch.load(options);
    return batch;
}

TEST(Batch, HasAllPixels) {
    EXPECT_EQ(of_pixels(40, 4).first, (std::vector<std::uint64_t>{0, 16, 32, 40}));
    EXPECT_EQ(of_pixels(32, 4).first, (std::vector<std::uint64_t>{0, 16, 32}));
    EXPECT_EQ(of_pixels(0, 4).first, (std::vector<std::uint64_t>{0, 0}));
    EXPECT_EQ(of_pixels(512 * 512 + 1, 0).size(), 2U);
    const Batch batch = of_pixels(40, 4);
    EXPECT_EQ(batch.expected[1][16], 1U);  // of a ramp
    EXPECT_EQ(batch.expected[1][15], 0U);
}

TEST(Launches, SmallPicturesHaveSmallTables) {
    const auto of = [](std::uint64_t side) {
        return launches(of_pixels(10 * side * side, side), {}, 100).each.text();
    };
    EXPECT_EQ(of(64), "4 copies, 1 load, 10 groups of 256");
    EXPECT_EQ(of(128), "32 copies, 1 load, 10 groups of 256");
    EXPECT_EQ(of(256), "32 copies, 2 loads, 10 groups of 512");
}

TEST(Totals, MustBeLeftAtZero) {
    std::vector<unsigned long long> totals(100);
    EXPECT_NO_THROW(require_zeros(totals));
    totals.back() = 1;
    EXPECT_THROW(require_zeros(totals), std::runtime_error);
}

TEST(Batch, SaysWhichPictureIsWrong) {
    const Batch batch = of_pixels(5 * 9, 3);
    std::vector<std::uint32_t> rows;
    for (const common::Histogram& histogram : batch.expected)
        rows.insert(rows.end(), histogram.begin(), histogram.end());
    EXPECT_EQ(batch.what_is_wrong(rows.data()), "");
    // Two that are each in the other's row: the sum of all would be right.
    std::swap_ranges(rows.begin() + kBins, rows.begin() + 2 * kBins, rows.begin() + 3 * kBins);
    EXPECT_EQ(batch.what_is_wrong(rows.data()),
              "2 of 5 pictures are wrong; the first is number 1: 9 pixels from byte 9 on");
    for (const std::size_t p : {0U, 4U}) {
        rows.assign(batch.expected[0].begin(), batch.expected[0].end());
        for (std::size_t other = 1; other < batch.size(); ++other)
            rows.insert(rows.end(), batch.expected[other].begin(), batch.expected[other].end());
        ++rows[p * kBins + kBins - 1];
        EXPECT_TRUE(
            tests::has(batch.what_is_wrong(rows.data()),
                       "1 of 5 pictures is wrong; the first is number " + std::to_string(p)));
    }
}

}  // namespace
