#include "common/timing/timing.hpp"

#include <gtest/gtest.h>

namespace {

using common::are_enough;
using common::summarize;
using common::Timing;

void expect_timing(const Timing& timing, double median, double min, double max, int runs) {
    EXPECT_EQ(timing.median_ms, median);
    EXPECT_EQ(timing.min_ms, min);
    EXPECT_EQ(timing.max_ms, max);
    EXPECT_EQ(timing.runs, runs);
}

TEST(Summarize, MedianLeastAndMost) {
    expect_timing(summarize({2.5}), 2.5, 2.5, 2.5, 1);
    expect_timing(summarize({9, 1, 4}), 4, 1, 9, 3);
    // Of an even count it is the mean of the middle two.
    expect_timing(summarize({100, 1, 2, 4}), 3, 1, 100, 4);
}

// How many runs there are whose times are these, and each of which is waited for so long.
std::size_t runs_of(const std::function<double(int run)>& time_of, double waiting_ms = 0,
                    std::optional<int> repeat = std::nullopt) {
    std::vector<double> times_ms;
    while (!are_enough(times_ms, waiting_ms * static_cast<double>(times_ms.size()), repeat))
        times_ms.push_back(time_of(static_cast<int>(times_ms.size())));
    return times_ms.size();
}

TEST(AreEnough, AFixedNumberIsKeptExactly) {
    for (const std::size_t repeat : {1U, 2U, 3U, 10U, 300U})
        EXPECT_EQ(runs_of([](int) { return 1.0; }, 510, static_cast<int>(repeat)), repeat);
}

TEST(AreEnough, WhenTheTimesAreStable) {
    EXPECT_EQ(runs_of([](int) { return 5.0; }), 7U);
    // One outlier does not make them unstable.
    EXPECT_EQ(runs_of([](int run) { return run == 0 ? 500.0 : 5.0; }), 7U);
    const std::size_t settled = runs_of([](int run) { return run < 6 ? 100.0 - 10 * run : 5.0; });
    EXPECT_GT(settled, 7U);
    EXPECT_LT(settled, 40U);
    EXPECT_EQ(runs_of([](int run) { return 1.0 + run % 10; }), 200U);  // they never settle
    // A middle half just beyond two percent, and just within.
    EXPECT_EQ(runs_of([](int run) { return run % 2 == 0 ? 100.0 : 102.5; }), 200U);
    EXPECT_EQ(runs_of([](int run) { return run % 2 == 0 ? 100.0 : 101.5; }), 7U);
}

// The budget is of waiting, whatever the run's own clock says.
TEST(AreEnough, SlowRunsStopAfterASecondButNotBeforeThree) {
    const auto unstable = [](int run) { return 1.0 + run; };
    EXPECT_EQ(runs_of(unstable, 510), 3U);
    EXPECT_EQ(runs_of(unstable, 210), 5U);
}

TEST(ReadCeilingBytes, FitNoCache) {
    constexpr std::uint64_t kMi = std::uint64_t{1} << 20;
    EXPECT_EQ(common::read_ceiling_bytes(1), 256 * kMi);
    EXPECT_EQ(common::read_ceiling_bytes(300 * kMi), 300 * kMi);
    EXPECT_EQ(common::read_ceiling_bytes(2048 * kMi), 1024 * kMi);
}

}  // namespace
