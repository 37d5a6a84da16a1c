#include "common/timing/timing.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace {

using common::measure;
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

// Counts its calls and gives out times as told.
struct Runs {
    std::function<double(int)> time_of;
    int calls = 0;
    double operator()() { return time_of(calls++); }
};

TEST(Measure, AFixedNumberIsKeptExactly) {
    for (const int repeat : {1, 2, 3, 10, 300}) {
        Runs runs{[](int) { return 1.0; }};
        EXPECT_EQ(measure(std::ref(runs), repeat).runs, repeat);
        EXPECT_EQ(runs.calls, repeat);
    }
}

TEST(Measure, ReportsTheTimesThatTheRunsGave) {
    Runs runs{[](int call) { return 10.0 * (call + 1); }};
    expect_timing(measure(std::ref(runs), 4), 25, 10, 40, 4);
}

TEST(Measure, StopsWhenTheTimesAreStable) {
    const auto runs_of = [](const std::function<double(int)>& time_of) {
        Runs runs{time_of};
        const int reported = measure(std::ref(runs), std::nullopt).runs;
        EXPECT_EQ(runs.calls, reported);
        return reported;
    };
    EXPECT_EQ(runs_of([](int) { return 5.0; }), 7);
    // One outlier does not make them unstable.
    EXPECT_EQ(runs_of([](int call) { return call == 0 ? 500.0 : 5.0; }), 7);
    const int settled = runs_of([](int call) { return call < 6 ? 100.0 - 10 * call : 5.0; });
    EXPECT_GT(settled, 7);
    EXPECT_LT(settled, 40);
    EXPECT_EQ(runs_of([](int call) { return 1.0 + call % 10; }), 200);  // they never settle
    // A middle half just beyond two percent, and just within.
    EXPECT_EQ(runs_of([](int call) { return call % 2 == 0 ? 100.0 : 102.5; }), 200);
    EXPECT_EQ(runs_of([](int call) { return call % 2 == 0 ? 100.0 : 101.5; }), 7);
}

// The budget is of waiting, whatever the run's own clock says.
TEST(Measure, SlowRunsStopAfterASecondButNotBeforeThree) {
    Runs slow{[](int call) {
        std::this_thread::sleep_for(std::chrono::milliseconds(510));
        return 1.0 + call;
    }};
    EXPECT_EQ(measure(std::ref(slow), std::nullopt).runs, 3);
}

TEST(ReadCeilingBytes, FitNoCache) {
    constexpr std::uint64_t kMi = std::uint64_t{1} << 20;
    EXPECT_EQ(common::read_ceiling_bytes(1), 256 * kMi);
    EXPECT_EQ(common::read_ceiling_bytes(300 * kMi), 300 * kMi);
    EXPECT_EQ(common::read_ceiling_bytes(2048 * kMi), 1024 * kMi);
}

TEST(GigabytesPerSecond, AreOfTenToTheNinth) {
    EXPECT_DOUBLE_EQ(common::gigabytes_per_second(1e9, 1000), 1);
    EXPECT_DOUBLE_EQ(common::gigabytes_per_second(4e6, 2), 2);
    EXPECT_EQ(common::gigabytes_per_second(0, 5), 0);
    EXPECT_EQ(common::gigabytes_per_second(1e9, 0), 0);
}

}  // namespace
