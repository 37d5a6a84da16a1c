#include "common/histogram/histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
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

namespace {

std::int64_t difference(const WrongBin& wrong) {
    return static_cast<std::int64_t>(wrong.actual) - static_cast<std::int64_t>(wrong.expected);
}

void add_signs(const Comparison& comparison, std::vector<std::string>& sentences) {
    const auto over = std::count_if(comparison.wrong.begin(), comparison.wrong.end(),
                                    [](const WrongBin& w) { return w.actual > w.expected; });
    if (comparison.wrong.size() < 2) return;
    if (over == 0) sentences.push_back("no bin has too many");
    if (over == std::ssize(comparison.wrong)) sentences.push_back("no bin has too few");
    if (comparison.actual_total == comparison.expected_total)
        sentences.push_back("the total is right: what one bin lacks another has too many");
}

void add_poison(const Comparison& comparison, std::vector<std::string>& sentences) {
    const auto number_of = [&](const auto& is_so) {
        return std::count_if(comparison.wrong.begin(), comparison.wrong.end(), is_so);
    };
    const auto bins = [](std::ptrdiff_t number) {
        return number == 1 ? std::string("1 bin") : fmt::format("{} bins", number);
    };
    const auto is_bare = [](const WrongBin& w) { return w.actual == kPoison; };
    if (number_of([&](const WrongBin& w) { return is_bare(w) && w.expected > 0; }) > 0) {
        const auto bare = number_of(is_bare);
        sentences.push_back(fmt::format("{} {} {}, the poison that was there before: never written",
                                        bins(bare), bare == 1 ? "holds" : "hold", kPoison));
    } else if (const auto counted_on =
                   number_of([](const WrongBin& w) { return w.actual == w.expected + kPoison; })) {
        sentences.push_back(fmt::format(
            "{} {} the right count and {}, the poison that was there before: never zeroed",
            bins(counted_on), counted_on == 1 ? "holds" : "hold", kPoison));
    }
}

void add_zeros(const Comparison& comparison, std::vector<std::string>& sentences) {
    const auto empty = std::count_if(comparison.wrong.begin(), comparison.wrong.end(),
                                     [](const WrongBin& w) { return w.actual == 0; });
    if (empty > 1) sentences.push_back(fmt::format("{} bins are 0 and should not be", empty));
}

}  // namespace

std::vector<std::string> relations(const Comparison& comparison) {
    std::vector<std::string> sentences;
    if (comparison.wrong.empty()) return sentences;
    add_signs(comparison, sentences);
    add_poison(comparison, sentences);
    add_zeros(comparison, sentences);
    return sentences;
}

std::string failure_report(const Comparison& comparison) {
    if (comparison.match()) return {};
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
    for (std::size_t i = 0; i < std::min(kShown, by_size.size()); ++i) {
        text += fmt::format("  bin {:3}: expected {}, got {} ({:+})\n", by_size[i].bin,
                            by_size[i].expected, by_size[i].actual, difference(by_size[i]));
    }
    if (by_size.size() > kShown) {
        text += fmt::format("  and {} more, with smaller differences or the same\n",
                            by_size.size() - kShown);
    }
    for (const std::string& sentence : relations(comparison))
        text += fmt::format("  {}\n", sentence);
    return text;
}

}  // namespace common
