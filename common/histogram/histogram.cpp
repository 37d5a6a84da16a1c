#include "common/histogram/histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace common {

Histogram reference_histogram(std::span<const std::uint8_t> pixels) {
    Histogram histogram{};
    for (const std::uint8_t pixel : pixels) {
        ++histogram[pixel];
    }
    return histogram;
}

std::uint64_t total(const Histogram& histogram) {
    return std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0});
}

void add_rows(const std::uint32_t* rows, std::size_t row_count, Histogram& sum) {
    sum.fill(0);
    for (std::size_t row = 0; row < row_count; ++row) {
        for (std::size_t bin = 0; bin < kBins; ++bin)
            sum[bin] += rows[row * kBins + bin];
    }
}

Comparison compare(const Histogram& expected, const Histogram& actual) {
    Comparison comparison{total(expected), total(actual), {}};
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        if (expected[bin] != actual[bin]) {
            comparison.wrong.push_back({bin, expected[bin], actual[bin]});
        }
    }
    return comparison;
}

std::string failure_report(const Comparison& comparison) {
    if (comparison.match()) return {};
    const auto signed_difference = [](std::uint64_t expected, std::uint64_t actual) {
        return static_cast<std::int64_t>(actual) - static_cast<std::int64_t>(expected);
    };
    std::string text = fmt::format(
        "  total: expected {}, got {} ({:+})\n"
        "  wrong bins: {} of {}\n",
        comparison.expected_total, comparison.actual_total,
        signed_difference(comparison.expected_total, comparison.actual_total),
        comparison.wrong.size(), kBins);
    constexpr std::size_t kShown = 5;
    for (std::size_t i = 0; i < std::min(kShown, comparison.wrong.size()); ++i) {
        const WrongBin& wrong = comparison.wrong[i];
        text += fmt::format("  bin {:3}: expected {}, got {} ({:+})\n", wrong.bin, wrong.expected,
                            wrong.actual, signed_difference(wrong.expected, wrong.actual));
    }
    if (comparison.wrong.size() > kShown) {
        text += fmt::format("  and {} more\n", comparison.wrong.size() - kShown);
    }
    // The place for a diagnosis: what the pattern of `comparison.wrong` says about the mistake.
    return text;
}

}  // namespace common
