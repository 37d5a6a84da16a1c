#include "common/timing/timing.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace {

using common::measure;
using common::summarize;
using common::Timing;

TEST(Summarize, OneTime) {
    const Timing timing = summarize({2.5});
    EXPECT_EQ(timing.median_ms, 2.5);
    EXPECT_EQ(timing.min_ms, 2.5);
    EXPECT_EQ(timing.max_ms, 2.5);
    EXPECT_EQ(timing.runs, 1);
}

TEST(Summarize, AnOddCountHasAMiddle) {
    const Timing timing = summarize({9, 1, 4});
    EXPECT_EQ(timing.median_ms, 4);
    EXPECT_EQ(timing.min_ms, 1);
    EXPECT_EQ(timing.max_ms, 9);
    EXPECT_EQ(timing.runs, 3);
}

TEST(Summarize, OfAnEvenCountTheMeanOfTheMiddleTwo) {
    const Timing timing = summarize({100, 1, 2, 4});
    EXPECT_EQ(timing.median_ms, 3);
    EXPECT_EQ(timing.min_ms, 1);
    EXPECT_EQ(timing.max_ms, 100);
    EXPECT_EQ(timing.runs, 4);
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
    const Timing timing = measure(std::ref(runs), 4);
    EXPECT_EQ(timing.median_ms, 25);
    EXPECT_EQ(timing.min_ms, 10);
    EXPECT_EQ(timing.max_ms, 40);
}

TEST(Measure, StableTimesStopAtTheLeastNumber) {
    Runs runs{[](int) { return 5.0; }};
    EXPECT_EQ(measure(std::ref(runs), std::nullopt).runs, 7);
    EXPECT_EQ(runs.calls, 7);
}

TEST(Measure, OneOutlierDoesNotMakeTimesUnstable) {
    Runs runs{[](int call) { return call == 0 ? 500.0 : 5.0; }};
    EXPECT_EQ(measure(std::ref(runs), std::nullopt).runs, 7);
}

TEST(Measure, TimesThatSettleStopOnceTheyHave) {
    Runs runs{[](int call) { return call < 6 ? 100.0 - 10 * call : 5.0; }};
    const int calls = measure(std::ref(runs), std::nullopt).runs;
    EXPECT_GT(calls, 7);
    EXPECT_LT(calls, 40);
}

TEST(Measure, TimesThatNeverSettleStopAtTheMost) {
    Runs runs{[](int call) { return 1.0 + call % 10; }};
    EXPECT_EQ(measure(std::ref(runs), std::nullopt).runs, 200);
    EXPECT_EQ(runs.calls, 200);
}

TEST(Measure, AMiddleHalfJustBeyondTwoPercentIsNotStable) {
    Runs wide{[](int call) { return call % 2 == 0 ? 100.0 : 102.5; }};
    EXPECT_EQ(measure(std::ref(wide), std::nullopt).runs, 200);
    Runs narrow{[](int call) { return call % 2 == 0 ? 100.0 : 101.5; }};
    EXPECT_EQ(measure(std::ref(narrow), std::nullopt).runs, 7);
}

// The budget is of waiting, whatever the run's own clock says.
TEST(Measure, SlowRunsStopAfterASecondButNotBeforeThree) {
    Runs slow{[](int call) {
        std::this_thread::sleep_for(std::chrono::milliseconds(350));
        return 1.0 + call;
    }};
    EXPECT_EQ(measure(std::ref(slow), std::nullopt).runs, 3);
}

TEST(WallTime, IsThatOfTheCall) {
    int calls = 0;
    const double time = common::wall_ms([&] {
        ++calls;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    EXPECT_EQ(calls, 1);
    EXPECT_GE(time, 20);
    EXPECT_LT(time, 10'000);
}

TEST(GigabytesPerSecond, AreOfTenToTheNinth) {
    EXPECT_DOUBLE_EQ(common::gigabytes_per_second(1e9, 1000), 1);
    EXPECT_DOUBLE_EQ(common::gigabytes_per_second(4e6, 2), 2);
    EXPECT_EQ(common::gigabytes_per_second(0, 5), 0);
    EXPECT_EQ(common::gigabytes_per_second(1e9, 0), 0);
}

}  // namespace
