#include "common/verify/runs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>
#include <tuple>

#include "common/inputs/inputs.hpp"
#include "common/process/status.hpp"
#include "common/tests/support.hpp"

namespace {

using common::Check;
using common::Histogram;
using common::Result;

const common::PixelBuffer kPixels = common::contended_pixels(10'000, 40, 1);
const Histogram kExpected = common::reference_histogram(kPixels);
constexpr int kRepeat = 3;  // so each strategy runs four times: once to check, three times timed

struct Examined {
    Result result;
    std::string said;  ///< on standard error
};

// The runs of a strategy that is told which of them this is, 0 first: one before timing, the timed
// ones, and on a device as many with copies. Each takes longer than the one before; those of a
// device so little that the host's are longer.
constexpr double kShort = 1.1e-4;  // ms
Examined examine(const std::function<void(Histogram&, int run)>& strategy, bool on_device = false) {
    Examined examined;
    Histogram poisoned;
    poisoned.fill(common::kPoison);
    int run = 0, copied = 0;
    testing::internal::CaptureStderr();
    common::Runs runs({"planted", on_device, {6, 64}}, kExpected, kRepeat,
                      [&](Result row) { examined.result = row; });
    while (runs.next()) {
        EXPECT_EQ(runs.counts, poisoned) << "in run " << run;
        runs.begin();
        if (on_device && runs.copies_in()) {
            ++copied;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        strategy(runs.counts, run++);
        runs.end((on_device ? kShort : 1) * (1 + run));
    }
    EXPECT_EQ(run, 1 + kRepeat * (on_device ? 2 : 1));
    EXPECT_EQ(copied, on_device ? 1 + kRepeat : 0);
    examined.said = testing::internal::GetCapturedStderr();
    return examined;
}

void expect_caught(const Examined& examined, const std::string& when) {
    EXPECT_EQ(examined.result.check, Check::kMismatch);
    EXPECT_TRUE(tests::has(examined.result.reason, when));
    EXPECT_EQ(examined.result.reason.find('\n'), std::string::npos);
    EXPECT_TRUE(tests::has(examined.said, "planted: does not match the CPU, " + when + "\n"));
    EXPECT_EQ(examined.result.only_later, when != "before timing");
    EXPECT_TRUE(tests::has(examined.said, "  total: expected 10000, got "));
    EXPECT_TRUE(tests::has(examined.said, "  wrong bins: "));
    // A wrong answer is timed all the same.
    EXPECT_EQ(examined.result.kernel.runs, kRepeat);
}

constexpr const char* kBefore = "before timing";
constexpr const char* kAfter = "after the last timed run";

TEST(Verify, ARightStrategyPassesWithTheTimesOfItsTimedRuns) {
    const Examined examined = examine([](Histogram& out, int) { out = kExpected; });
    EXPECT_EQ(examined.result.variant, "planted");
    EXPECT_EQ(examined.result.check, Check::kMatch);
    EXPECT_EQ(examined.result.reason, "");
    EXPECT_EQ(examined.said, "  planted ... match\n");
    EXPECT_EQ(examined.result.kernel.runs, 3);
    EXPECT_EQ(examined.result.kernel.min_ms, 3);  // the untimed run took 2
    EXPECT_EQ(examined.result.kernel.median_ms, 4);
    EXPECT_EQ(examined.result.kernel.max_ms, 5);
    EXPECT_FALSE(examined.result.end_to_end_ms);
}

// ---- planted mistakes: each must be caught ----------------------------------------------------

TEST(Verify, CatchesEveryMistake) {
    struct Mistake {
        const char* name;
        std::function<void(Histogram& out, int run)> strategy;
        const char* when;
    };
    const Mistake mistakes[] = {
        {"an output that is not zeroed",
         [](Histogram& out, int) {
             for (const std::uint8_t pixel : kPixels)
                 ++out[pixel];
         },
         kBefore},
        {"only the first run is wrong",
         [](Histogram& out, int run) { out = kExpected, out[7] += run == 0 ? 1 : 0; }, kBefore},
        {"the last run is wrong",
         [](Histogram& out, int run) { out = kExpected, out[7] -= run == kRepeat ? 1 : 0; },
         kAfter},
        {"written once and then no more",
         [](Histogram& out, int run) {
             if (run == 0) out = kExpected;
         },
         kAfter},
    };
    for (const Mistake& mistake : mistakes) {
        SCOPED_TRACE(mistake.name);
        expect_caught(examine(mistake.strategy), mistake.when);
    }

    const Examined swapped =
        examine([](Histogram& out, int) { out = kExpected, std::swap(out[32], out[33]); });
    expect_caught(swapped, kBefore);
    EXPECT_EQ(swapped.result.reason,
              "2 of 256 bins wrong, total 10000 instead of 10000, before timing");
    const Examined unwritten = examine([](Histogram&, int) {});
    expect_caught(unwritten, kBefore);
    EXPECT_TRUE(tests::has(unwritten.said, "  wrong bins: 256 of 256\n"));
    EXPECT_TRUE(tests::has(unwritten.said, "got 2779096485 "));  // the poison
}

TEST(Verify, SaysWhetherAWrongResultChanges) {
    for (const bool changes : {false, true}) {
        const Examined examined = examine([&](Histogram& out, int run) {
            out = kExpected;
            out[32] += changes ? static_cast<std::uint32_t>(run) + 1 : 1;
        });
        expect_caught(examined, kBefore);
        EXPECT_EQ(examined.result.changes, changes);
    }
    const auto at_last = [](Histogram& out, int run) { out[32] = run == kRepeat ? 2 : 1; };
    EXPECT_TRUE(examine(at_last, true).result.changes);  // but as at first with copies
}

// ---- a strategy on a device ---------------------------------------------------------------------

TEST(VerifyOnDevice, WhatTheDeviceCannotDoNeverRuns) {
    Result result;
    EXPECT_EQ(tests::said([&] {
                  common::Runs runs({"local", true, {6, 64}, "groups too large"}, Histogram{}, 2,
                                    [&](Result row) { result = row; });
                  EXPECT_FALSE(runs.next());
              }),
              "  local: skipped, groups too large\n");
    EXPECT_EQ(result.check, common::Check::kSkipped);
    EXPECT_EQ(result.reason, "groups too large");
    EXPECT_EQ(result.kernel.runs, 0);
}

TEST(VerifyOnDevice, ARightStrategyPasses) {
    const Examined examined = examine([](Histogram& out, int) { out = kExpected; }, true);
    EXPECT_EQ(examined.result.check, Check::kMatch);
    EXPECT_EQ(examined.result.kernel.runs, kRepeat);
    // Of 3, 4 and 5: the first was not timed.
    EXPECT_DOUBLE_EQ(examined.result.kernel.median_ms, 4 * kShort);
    EXPECT_FALSE(examined.result.timed_by_host);
    EXPECT_GE(examined.result.end_to_end_ms, 5);  // with the copy
}

TEST(VerifyOnDevice, WhatIsWrongInAnyRunIsCaught) {
    expect_caught(examine([](Histogram&, int) {}, true), kBefore);
    for (const auto& [wrong_run, when] :
         {std::pair{kRepeat, kAfter}, std::pair{2 * kRepeat, "after the runs with copies"}}) {
        const auto strategy = [wrong = wrong_run](Histogram& out, int run) {
            out = kExpected, out[7] -= run == wrong ? 1 : 0;
        };
        expect_caught(examine(strategy, true), when);
    }
}

TEST(VerifyOnDevice, ALoopThatDoesNotAskForCopiesIsNotTimedWithThem) {
    Result result;
    tests::said([&] {
        common::Runs runs({"planted", true}, kExpected, kRepeat, [&](Result row) { result = row; });
        while (runs.next()) {
            runs.begin();
            runs.counts = kExpected;
            runs.end(kShort);
        }
    });
    EXPECT_EQ(result.check, Check::kMatch);
    EXPECT_FALSE(result.end_to_end_ms);
}

TEST(Verify, AClockThatStandsStillTimesNothing) {
    Result result;
    const std::string said = tests::said([&] {
        common::Runs runs({"planted"}, kExpected, kRepeat, [&](Result row) { result = row; });
        while (runs.next()) {
            runs.begin();
            runs.counts = kExpected;
            runs.end(0);
        }
    });
    EXPECT_EQ(result.check, Check::kMatch);
    EXPECT_EQ(result.kernel.runs, 0);
    EXPECT_TRUE(tests::has(said, "the clock stood still or went back, so nothing was timed\n"));
}

TEST(Verify, ARunThatJudgesItselfSaysWhatIsWrong) {
    for (const int wrong_run : {0, kRepeat, kRepeat + 1}) {
        Result result;
        const std::string said = tests::said([&] {
            int run = 0;
            common::Runs runs({"planted"}, kExpected, kRepeat, [&](Result row) { result = row; });
            while (runs.next()) {
                runs.begin();
                runs.end(1);
                runs.wrong = run++ == wrong_run ? "picture 3 is wrong" : "";
            }
        });
        EXPECT_EQ(result.reason, wrong_run == 0 ? "picture 3 is wrong, before timing"
                                 : wrong_run == kRepeat
                                     ? "picture 3 is wrong, after the last timed run"
                                     : "");
        EXPECT_EQ(tests::has(said, "planted: does not match the CPU"), wrong_run <= kRepeat);
        EXPECT_FALSE(result.counts);  // there is nothing that could be explained
    }
}

// Where one of the two calls is missing or comes twice, the line names the strategy.
TEST(Verify, EachRunBeginsAndEndsOnce) {
    const auto refused = [](int begins, int ends) {
        common::Runs runs({"planted"}, kExpected, kRepeat, [](const Result&) {});
        tests::said([&] { runs.next(); });
        for (int i = 0; i < begins; ++i)
            runs.begin();
        for (int i = 0; i < ends; ++i)
            runs.end(1);
        try {
            runs.next();
        } catch (const std::logic_error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(refused(1, 1), "");
    EXPECT_EQ(refused(0, 1), "planted: runs.begin() was not called in a turn of its loop");
    EXPECT_EQ(refused(2, 1), "planted: runs.begin() was called twice in a turn of its loop");
    EXPECT_EQ(refused(1, 0), "planted: runs.end() was not called in a turn of its loop");
    EXPECT_EQ(refused(1, 2), "planted: runs.end() was called twice in a turn of its loop");
}

// ---- what hangs, and clocks that cannot be true: each in a process of its own -------------------

TEST(DeadlineDeathTest, EndsWhatTakesLongerWithALine) {
    const auto sleep_for = [](std::chrono::milliseconds time) {
        const common::Deadline deadline("compiling x.cl", 1);
        std::this_thread::sleep_for(time);
    };
    EXPECT_EXIT(sleep_for(std::chrono::minutes(1)), testing::ExitedWithCode(2),
                "^compiling x.cl: not done after 1 s: the device or its driver hangs\n$");
    sleep_for(std::chrono::milliseconds(1));
}

// @param which of its runs
void run_for_ever(const common::Launch& launch, int which = 0) {
    common::set_time_limit(1);
    common::Runs runs({"planted", true, launch}, kExpected, kRepeat, [](const Result&) {});
    while (runs.next()) {
        runs.begin();
        static_cast<void>(runs.copies_in());
        if (which-- == 0) std::this_thread::sleep_for(std::chrono::minutes(1));
        runs.end(kShort);
    }
}

TEST(Watchdog, WaitsASecondLongerForEachFourMiPixels) {
    EXPECT_EQ(common::usual_time_limit(0), 60U);
    EXPECT_EQ(common::usual_time_limit(std::size_t{40} << 20), 70U);
}

TEST(WatchdogDeathTest, EndsALoopWithoutEnd) {
    for (const int which : {0, kRepeat, kRepeat + 1})  // to check, timed, with copies
        EXPECT_EXIT(run_for_ever({6, 64}, which), testing::ExitedWithCode(2),
                    "6 groups of 64.: a run has not ended after 1 s: a loop without end");
}

// Nobody would wait for its end, and it says nothing of the kernel: it is not even begun.
TEST(Verify, ALaunchThatIsFarTooLargeIsRefused) {
    EXPECT_THROW(run_for_ever({std::size_t{1} << 31, 64}), common::BadInput);
    constexpr std::size_t kGroups = std::size_t{1} << 22;
    const std::tuple<common::Launch, std::uint64_t, bool> all[] = {
        {{kGroups, 1}, kGroups / 16, true}, {{kGroups, 1}, kGroups / 16 + 1, false},
        {{kGroups - 1, 1}, 10, false},      {{kGroups - 1, 17}, 10, true},
        {{65535, 1024}, 10, false},         {{65536, 1024}, 10, true},
        {{65536, 1024}, kGroups, true},     {{65536, 1024}, kGroups + 1, false},
    };
    for (const auto& [launch, pixels, is_refused] : all) {
        const auto ask = [&launch = launch, &pixels = pixels] {
            common::require_sensible(launch, pixels);
        };
        if (is_refused)
            EXPECT_TRUE(tests::has(tests::bad_input(ask), "groups are far too many"));
        else
            EXPECT_NO_THROW(ask());
    }
}

// What is said, and the exit status: 1 where the device's clock is believed, 2 where the host's is.
void by_which_clock(const std::function<double()>& run) {
    double device_ms = 0;
    const double ms = common::plausible_ms([&] { return device_ms = run(); });
    std::exit(ms == device_ms && !common::is_timed_by_host() ? 1
              : ms >= 0 && common::is_timed_by_host()        ? 2
                                                             : 3);
}

// Nor where so many bytes cannot be read in it: by any memory, or by one whose ceiling is known.
TEST(PlausibleDeathTest, ATimeIsNoShorterThanWhatIsRead) {
    const auto read = [](double bytes, double ceiling_gb_s) {
        if (ceiling_gb_s > 0) common::note_read_ceiling(ceiling_gb_s);
        std::exit(common::plausible_ms(1e-3, 1, bytes) == 1e-3 ? 1 : 2);
    };
    EXPECT_EXIT(read(0.99e8, 0), testing::ExitedWithCode(1), "^$");
    EXPECT_EXIT(read(1.01e8, 0), testing::ExitedWithCode(2), "the device's clock");
    EXPECT_EXIT(read(3.1e5, 10), testing::ExitedWithCode(1), "^$");
    EXPECT_EXIT(read(3.3e5, 10), testing::ExitedWithCode(2), "the device's clock");
}

TEST(PlausibleDeathTest, OnlyATimeThatCanBeTrueIsTheDevices) {
    // The device's clock may run a little faster than the host's, but not by half.
    const auto so_many_times_the_hosts = [](double factor) {
        by_which_clock([&] {
            constexpr auto kLong = std::chrono::milliseconds(200);
            return factor * common::wall_ms([&] { std::this_thread::sleep_for(kLong); });
        });
    };
    EXPECT_EXIT(so_many_times_the_hosts(1.04), testing::ExitedWithCode(1), "^$");
    EXPECT_EXIT(so_many_times_the_hosts(1.5), testing::ExitedWithCode(2), "the device's clock");
    EXPECT_EXIT(by_which_clock([] { return kShort; }), testing::ExitedWithCode(1), "^$");
    for (const double ms :
         {0.0, kShort / 2, -1.0, 0.5, 3.6e6, std::numeric_limits<double>::infinity()})
        EXPECT_EXIT(by_which_clock([ms] { return ms; }), testing::ExitedWithCode(2),
                    "^\nthe device's clock says [^\n]*: from here on the host's clock is used\n$");
    EXPECT_EXIT(by_which_clock([] { return std::nan(""); }), testing::ExitedWithCode(2),
                "^\nthe driver tells no times: from here on the host's clock is used\n$");
}

// All times of a row come from one clock: a device whose times become nonsense in the midst of them
// is timed again.
void change_clocks() {
    int run = 0;
    Result result;
    common::Runs runs({"planted", true, {6, 64}}, kExpected, kRepeat,
                      [&](Result row) { result = row; });
    while (runs.next()) {
        runs.begin();
        runs.counts = kExpected;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        runs.end(++run == 3 ? -1 : kShort);
    }
    std::exit(result.timed_by_host && result.kernel.min_ms >= 1 ? 0 : 1);
}

TEST(PlausibleDeathTest, ARowHasOneClock) {
    EXPECT_EXIT(change_clocks(), testing::ExitedWithCode(0), "from here on");
}

}  // namespace
