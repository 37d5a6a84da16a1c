#include "common/histogram/histogram.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <utility>

namespace {

using common::Histogram;
using common::kBins;

// A right answer with a different count in every bin, so that no mix-up goes unseen.
Histogram distinct() {
    Histogram histogram{};
    std::iota(histogram.begin(), histogram.end(), 1000U);
    return histogram;
}

TEST(Histogram, ReferenceCountsByHand) {
    EXPECT_EQ(common::reference_histogram({}), Histogram{});
    const std::vector<std::uint8_t> pixels{0, 255, 7, 7, 0, 7, 128};
    Histogram expected{};
    expected[0] = 2;
    expected[7] = 3;
    expected[128] = 1;
    expected[255] = 1;
    EXPECT_EQ(common::reference_histogram(pixels), expected);
    std::vector<std::uint8_t> every_value(kBins);
    std::iota(every_value.begin(), every_value.end(), std::uint8_t{0});
    expected.fill(1);
    EXPECT_EQ(common::reference_histogram(every_value), expected);
}

TEST(Histogram, ReferenceCountsBeyondWhatAFloatHolds) {
    const std::vector<std::uint8_t> pixels((1U << 24) + 3, 9);
    EXPECT_EQ(common::reference_histogram(pixels)[9], (1U << 24) + 3);
}

TEST(Histogram, TotalDoesNotWrapAt32Bits) {
    Histogram histogram;
    histogram.fill(0xFFFF'FFFF);
    EXPECT_EQ(common::total(histogram), 256 * std::uint64_t{0xFFFF'FFFF});
}

TEST(Histogram, RowsAreAddedBinByBin) {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < 3; ++row) {
        for (std::uint32_t bin = 0; bin < kBins; ++bin)
            rows.push_back(row * 1000 + bin);
    }
    Histogram sum;
    sum.fill(common::kPoison);
    common::add_rows(rows.data(), 3, sum);
    for (std::uint32_t bin = 0; bin < kBins; ++bin)
        EXPECT_EQ(sum[bin], 3000 + 3 * bin);
    common::add_rows(rows.data(), 0, sum);
    EXPECT_EQ(sum, Histogram{});
    constexpr std::uint32_t kMoreThan16Bits = (1U << 16) + 1;
    rows.assign(std::size_t{kMoreThan16Bits} * kBins, 1);
    common::add_rows(rows.data(), kMoreThan16Bits, sum);
    EXPECT_EQ(sum[kBins - 1], kMoreThan16Bits);
}

TEST(Compare, ADifferenceOfOneInAnySingleBinIsSeen) {
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        Histogram actual = distinct();
        ++actual[bin];
        const common::Comparison comparison = common::compare(distinct(), actual);
        EXPECT_FALSE(comparison.match());
        ASSERT_EQ(comparison.wrong.size(), 1U);
        EXPECT_EQ(comparison.wrong[0].bin, bin);
        EXPECT_EQ(comparison.wrong[0].expected + 1, comparison.wrong[0].actual);
    }
}

TEST(Compare, TheTotalAloneIsEnoughForAMismatch) {
    EXPECT_FALSE((common::Comparison{10, 9, {}}.match()));
}

std::string report(const Histogram& actual) {
    return common::failure_report(common::compare(distinct(), actual));
}

TEST(FailureReport, TheLargestDifferencesComeFirstAndTheRestIsCounted) {
    Histogram actual = distinct();
    for (std::size_t bin = 10; bin < 17; ++bin)
        actual[bin] = bin == 12 ? 2000 : 0;
    EXPECT_EQ(report(actual),
              "  total: expected 288640, got 283549 (-5091)\n"
              "  wrong bins: 7 of 256\n"
              "  bin  16: expected 1016, got 0 (-1016)\n"
              "  bin  15: expected 1015, got 0 (-1015)\n"
              "  bin  14: expected 1014, got 0 (-1014)\n"
              "  bin  13: expected 1013, got 0 (-1013)\n"
              "  bin  11: expected 1011, got 0 (-1011)\n"
              "  and 2 more, with smaller differences or the same\n");
}

TEST(FailureReport, DifferencesBeyond31BitsKeepTheirSign) {
    Histogram expected{};
    Histogram actual{};
    expected[0] = 0xFFFF'FFFF;
    actual[255] = 0xFFFF'FFFF;
    EXPECT_EQ(common::failure_report(common::compare(expected, actual)),
              "  total: expected 4294967295, got 4294967295 (+0)\n"
              "  wrong bins: 2 of 256\n"
              "  bin   0: expected 4294967295, got 0 (-4294967295)\n"
              "  bin 255: expected 0, got 4294967295 (+4294967295)\n");
}

TEST(FailureReport, ThePoisonHasItsName) {
    const auto last_line = [](const std::function<std::uint32_t(std::size_t bin)>& count) {
        Histogram actual{};
        for (std::size_t bin = 0; bin < kBins; ++bin)
            actual[bin] = count(bin);
        const std::string text = report(actual);
        return text.substr(text.rfind('\n', text.size() - 2) + 1);
    };
    EXPECT_EQ(last_line([](std::size_t) { return common::kPoison; }),
              "  256 bins hold 2779096485, the poison that was there before: never written\n");
    EXPECT_EQ(
        last_line([](std::size_t bin) { return bin < 255 ? distinct()[bin] : common::kPoison; }),
        "  1 bin holds 2779096485, the poison that was there before: never written\n");
    EXPECT_EQ(last_line([](std::size_t bin) { return distinct()[bin] + common::kPoison; }),
              "  256 bins hold the right count and 2779096485, the poison that was there before: "
              "never zeroed\n");
}

}  // namespace
