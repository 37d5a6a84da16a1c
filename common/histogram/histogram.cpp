#include "common/histogram/histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace common {

Histogram reference_histogram(std::span<const std::uint8_t> pixels) {
    Histogram histogram{};
    for (const std::uint8_t pixel : pixels)
        ++histogram[pixel];
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
        if (expected[bin] != actual[bin])
            comparison.wrong.push_back({bin, expected[bin], actual[bin]});
    }
    return comparison;
}

static std::int64_t difference(const WrongBin& wrong) {
    return static_cast<std::int64_t>(wrong.actual) - static_cast<std::int64_t>(wrong.expected);
}

// What bins that hold the poison tell of the kernel, in a line; else empty.
static std::string about_poison(const Comparison& comparison) {
    const auto number_of = [&](const auto& is_so) {
        return std::count_if(comparison.wrong.begin(), comparison.wrong.end(), is_so);
    };
    const auto holding = [](std::ptrdiff_t number) {
        return fmt::format("{} bin{}", number, number == 1 ? " holds" : "s hold");
    };
    const auto is_bare = [](const WrongBin& w) { return w.actual == kPoison; };
    if (number_of([&](const WrongBin& w) { return is_bare(w) && w.expected > 0; }) > 0)
        return fmt::format("  {} {}, the poison that was there before: never written\n",
                           holding(number_of(is_bare)), kPoison);
    const auto counted_on =
        number_of([](const WrongBin& w) { return w.actual == w.expected + kPoison; });
    if (counted_on == 0) return {};
    return fmt::format(
        "  {} the right count and {}, the poison that was there before: never zeroed\n",
        holding(counted_on), kPoison);
}

std::string failure_report(const Comparison& comparison) {
    std::string text = fmt::format(
        "  total: expected {}, got {} ({:+})\n"
        "  wrong bins: {} of {}\n",
        comparison.expected_total, comparison.actual_total,
        static_cast<std::int64_t>(comparison.actual_total) -
            static_cast<std::int64_t>(comparison.expected_total),
        comparison.wrong.size(), kBins);
    // The largest tell most; among equal ones the order of the bins stays.
    std::vector<WrongBin> by_size = comparison.wrong;
    std::stable_sort(by_size.begin(), by_size.end(), [](const WrongBin& a, const WrongBin& b) {
        return std::abs(difference(a)) > std::abs(difference(b));
    });
    constexpr std::size_t kShown = 5;
    for (std::size_t i = 0; i < std::min(kShown, by_size.size()); ++i)
        text += fmt::format("  bin {:3}: expected {}, got {} ({:+})\n", by_size[i].bin,
                            by_size[i].expected, by_size[i].actual, difference(by_size[i]));
    if (by_size.size() > kShown)
        text += fmt::format("  and {} more, with smaller differences or the same\n",
                            by_size.size() - kShown);
    return text + about_poison(comparison);
}

}  // namespace common
