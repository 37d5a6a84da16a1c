// The search and what it leaves, without a device. No test looks at the real clock.
#include <gtest/gtest.h>

#include <cmath>

#include "05-launch-tuning/workshops/tune/search.hpp"
#include "common/process/status.hpp"
#include "common/tests/support.hpp"

namespace {

using namespace tuning;
using tests::has;
using tests::said;

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = 1024 * kKi;
const std::vector<std::uint64_t> kSizes{256 * kKi, 8 * kMi};

DeviceLimits gpu(std::uint64_t local_bytes = 227 * kKi, std::size_t max_group_size = 1024) {
    return {"CUDA", "Test GPU 9000", "driver 1", false, 100, max_group_size, local_bytes};
}

DeviceLimits cpu() {
    return {"OpenCL", "Test CPU", "driver 2", true, 8, 4096, 512 * kKi};
}

Trial measured(const TunedLaunch& launch, std::uint64_t pixels, double ms) {
    return {launch, pixels, Outcome::kMeasured, ms, ""};
}

// Everything that can happen.
Tuning small_tuning() {
    const std::uint64_t pixels = 16 * kMi;
    return {gpu(),
            "2025-01-31T12:00:00Z",
            21,
            {{{1, 1, 1024, 1}, pixels, Outcome::kNotTried, 0, ""},
             measured({32, 3, 1024, 1}, pixels, 0.005),  // the rule of thumb's
             measured({8, 4, 128, 8}, pixels, 0.004),
             {{8, 4, 1024, 1}, pixels, Outcome::kRefused, 0, "too large"},
             {{16, 1, 128, 1}, pixels, Outcome::kWrong, 0, "3 of 256 bins wrong"},
             {{1, 1, 64, 1}, 256 * kKi, Outcome::kRefused, 0, "too large"}}};
}

// ---- the search ---------------------------------------------------------------------------------

// The clock: the test moves it on, and it did not begin at zero.
struct Time {
    double now_s = 1000;
};

Tuning found_with(const DeviceLimits& device, const Measure& measure, double budget_s = 60,
                  const Time& time = {}) {
    Tuning found;
    said([&] { found = search(device, kSizes, budget_s, measure, [&] { return time.now_s; }); });
    return found;
}

TEST(Search, FindsWhatIsPlanted) {
    const TunedLaunch small{4, 1, 128, 8}, large{32, 3, 256, 1};
    // A launch takes the longer the more it differs from the one that is planted.
    const Tuning found = found_with(gpu(), [&](const TunedLaunch& launch, std::uint64_t pixels) {
        const TunedLaunch& best = pixels == kSizes[0] ? small : large;
        const auto apart = [](auto a, auto b) {
            return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
        };
        return 1 + apart(launch.copies, best.copies) + apart(launch.loads, best.loads) +
               apart(launch.group_size, best.group_size) +
               apart(launch.groups_per_unit, best.groups_per_unit);
    });
    EXPECT_EQ(found.sizes(), kSizes);
    EXPECT_EQ(found.count(Outcome::kMeasured), 2 * 6 * 4 * 16U);
    EXPECT_EQ(found.best(kSizes[0])->launch, small);
    EXPECT_EQ(found.best(kSizes[1])->launch, large);
}

// Of many short measurements the fastest is the luckiest.
TEST(Search, MeasuresTheBestAgainAndTheirMediansDecide) {
    const TunedLaunch lucky{1, 1, 64, 1}, steady{1, 2, 64, 1};
    std::map<std::uint64_t, int> calls, lucky_calls, steady_calls;
    const Tuning found =
        found_with(cpu(), [&](const TunedLaunch& launch, std::uint64_t pixels) -> double {
            ++calls[pixels];
            if (launch == lucky) return lucky_calls[pixels]++ % 5 == 0 ? 0.5 : 3;
            if (launch == steady) return steady_calls[pixels]++ % 4 == 1 ? 50 : 1;
            return 2;
        });
    for (const std::uint64_t pixels : found.sizes()) {
        EXPECT_EQ(found.best(pixels)->launch, steady);
        EXPECT_EQ(found.best(pixels)->worst_ms, 1);
        EXPECT_EQ(calls[pixels], static_cast<int>(candidates(cpu()).size()) + 12 * 9);
        EXPECT_EQ(steady_calls[pixels], 1 + 9);
    }
}

// Whatever part of the launches there is time for, it must not be one corner of them.
TEST(Search, BeginsWithTheRuleOfThumbAndGoesOnWithAFairSample) {
    std::vector<TunedLaunch> order;
    found_with(gpu(), [&](const TunedLaunch& launch, std::uint64_t pixels) {
        if (pixels == kSizes[0]) order.push_back(launch);
        return 1.0;
    });
    EXPECT_EQ(order.front(), rule_of_thumb(gpu(), kSizes[0]));
    const std::size_t quarter = candidates(gpu()).size() / 4;
    std::map<std::size_t, double> shares;
    for (const TunedLaunch& launch : std::span(order).subspan(1, quarter)) {
        shares[launch.copies] += 6.0 / static_cast<double>(quarter);  // each of six
        shares[launch.group_size] += 4.0 / static_cast<double>(quarter);
    }
    for (const std::size_t of : {1U, 2U, 4U, 8U, 16U, 32U, 128U, 256U, 512U, 1024U})
        EXPECT_NEAR(shares[of], 1, 0.5) << of;
}

TEST(Search, CountsWhatIsRefusedOrTakesNoTimeAndGoesOn) {
    for (const double none : {0.0, std::nan(""), 7.0}) {
        const Tuning found =
            found_with(cpu(), [&](const TunedLaunch& launch, std::uint64_t) -> double {
                if (launch.copies > 2) return 5;
                if (none == 7) throw common::Unsupported("not today");
                return none;
            });
        EXPECT_EQ(found.count(Outcome::kRefused), 2U * 2 * 16);
        EXPECT_EQ(found.count(Outcome::kMeasured), 2U * 4 * 16);
        EXPECT_EQ(found.best(256 * kKi)->worst_ms, 5);
    }
    const auto gone = [](const TunedLaunch&, std::uint64_t) -> double {
        throw std::runtime_error("the device is gone");
    };
    EXPECT_THROW(found_with(cpu(), gone), std::runtime_error);
}

TEST(Search, DoesNotTryWhatTheDeviceCannot) {
    for (const TunedLaunch& launch : candidates(gpu(16 * kKi, 256)))
        EXPECT_TRUE(launch.copies <= 16 && launch.group_size <= 256);
    EXPECT_EQ(candidates(gpu(16 * kKi, 256)).size(), 5U * 2 * 16);
    EXPECT_EQ(candidates(gpu(16 * kKi, 100)).front().group_size, 100U);
}

TEST(Search, NeverTakesAWrongOneForTheBest) {
    // At once, and when it has been the fastest for a while.
    for (const int wrong_call : {1, 4}) {
        const TunedLaunch wrong{1, 4, 64, 1};
        std::map<std::uint64_t, int> calls;
        const auto measure = [&](const TunedLaunch& launch, std::uint64_t pixels) -> double {
            if (launch != wrong) return launch.copies == 8 ? 1 : 2;
            if (++calls[pixels] == wrong_call) throw Wrong("3 bins wrong");
            return 0.5;
        };
        const Tuning found = found_with(cpu(), measure);
        EXPECT_EQ(found.count(Outcome::kWrong), 2U);
        for (const std::uint64_t pixels : found.sizes()) {
            EXPECT_EQ(calls[pixels], wrong_call);
            EXPECT_EQ(found.best(pixels)->launch.copies, 8U);
        }
    }
}

TEST(Search, BeginsNothingAfterItsTimeAndLeavesSomeForTheFinals) {
    Time time;
    std::size_t calls = 0;
    const auto measure = [&](const TunedLaunch&, std::uint64_t) {
        ++calls;
        time.now_s += 1;
        return 1.0;
    };
    const Tuning found = found_with(gpu(), measure, 100, time);
    EXPECT_EQ(calls, 100U);
    EXPECT_EQ(found.count(Outcome::kMeasured), 90U);
    EXPECT_EQ(found.count(Outcome::kNotTried), found.trials.size() - 90);
    EXPECT_EQ(found.seconds, 100);
}

// ---- one launch on the test pictures ------------------------------------------------------------

const TestPictures& pictures() {
    static const TestPictures all = test_pictures(16 * kMi);
    return all;
}

// Counts on the CPU in a time of its own, and notes what it was given.
class Device {
 public:
    explicit Device(std::vector<double> times_ms, std::size_t wrong_picture = 9)
        : times_ms_(std::move(times_ms)), wrong_picture_(wrong_picture) {}

    Measure measure() {
        return measure_on(pictures(),
                          [this](const TunedLaunch&, std::size_t which,
                                 std::span<const Stretch> parts, common::Histogram& result) {
                              for (const Stretch& part : parts)
                                  firsts.push_back(part.first);
                              in_a_row.push_back(parts.size());
                              result = pictures()[which].expected(parts.back());
                              if (which == wrong_picture_) ++result[127];
                              return times_ms_[which] * static_cast<double>(parts.size());
                          });
    }

    std::vector<std::uint64_t> firsts;  // the first pixel of each launch
    std::vector<std::size_t> in_a_row;  // launches of each run

 private:
    std::vector<double> times_ms_;  // of a launch, by picture
    std::size_t wrong_picture_;
};

TEST(MeasureOn, TheSlowestPictureCountsAndAWrongOneIsWrong) {
    for (const std::vector<double>& times_ms : {std::vector<double>{3, 1, 2}, {1, 3, 2}, {1, 2, 3}})
        EXPECT_EQ(Device(times_ms).measure()({}, 256 * kKi), 3.0);
    for (const std::size_t bad : {0U, 1U, 2U})
        EXPECT_THROW(Device({1, 1, 1}, bad).measure()({}, 256 * kKi), Wrong);
}

TEST(MeasureOn, NoRunCountsWhatTheOneBeforeHasCounted) {
    for (const double each_ms : {1.0, 0.001}) {
        Device device({each_ms, each_ms, each_ms});
        const Measure measure = device.measure();
        for (int launch = 0; launch < 4; ++launch)  // also from one launch to the next
            measure({}, 256 * kKi);
        std::erase(device.firsts, 3U);  // of the runs that warm up
        ASSERT_GE(device.firsts.size(), 60U);
        for (std::size_t i = 1; i < device.firsts.size(); ++i)
            EXPECT_EQ(device.firsts[i], (device.firsts[i - 1] + 256 * kKi) % (16 * kMi));
    }
}

TEST(MeasureOn, ShortLaunchesFollowEachOther) {
    // To warm up, to see how long it takes, and timed.
    const std::map<double, std::vector<std::size_t>> cases = {
        {10, {1, 1, 1, 1, 1, 1}}, {0.02, {1, 1, 5, 5, 5, 5, 5}}, {0, {1, 1, 16, 16, 16, 16, 16}}};
    for (const auto& [one_ms, of_a_picture] : cases) {
        SCOPED_TRACE(one_ms);
        Device device({one_ms, one_ms, one_ms});
        EXPECT_DOUBLE_EQ(device.measure()({}, 256 * kKi), one_ms);
        std::vector<std::size_t> expected;
        for (int picture = 0; picture < 3; ++picture)
            expected.insert(expected.end(), of_a_picture.begin(), of_a_picture.end());
        EXPECT_EQ(device.in_a_row, expected);
        EXPECT_EQ(device.firsts.front(), 3U);  // begins at no round number
    }
}

// ---- what is shown and kept ---------------------------------------------------------------------

class Program : public testing::Test {
 protected:
    Program() { xdg_.set(folder_.path().string()); }

    int finish(const Tuning& found, const Request& request = {}) {
        int status = -1;
        testing::internal::CaptureStdout();
        said_ = said([&] { status = tuning::finish(request, found); });
        printed_ = testing::internal::GetCapturedStdout();
        return status;
    }
    static std::string kept() { return tests::bytes_of(launches_file()); }

    tests::TemporaryFolder folder_;
    tests::Environment xdg_{"XDG_CACHE_HOME"};
    std::string printed_, said_;
};

TEST_F(Program, PrintsTheSummaryAndKeepsWhatTunedReads) {
    Request request;
    request.json = folder_ / "out.json";
    EXPECT_EQ(finish(small_tuning(), request), 1);  // there is a wrong one
    EXPECT_EQ(
        printed_,
        "05-launch-tuning, CUDA on Test GPU 9000 (driver 1)\n\n"
        "pictures of    the best launch                                    GB/s  rule of thumb, % "
        "of it\n"
        "-------------  -------------------------------------------------  ----  "
        "----------------------\n"
        "256 Ki pixels  nothing was measured                                  -                   "
        "    -\n"
        "16 Mi pixels   8 copies, 4 loads, groups of 128, 8 for each unit  4194                   "
        " 80.0\n"
        "\n6 launches in 21.0 s, 2 measured, 2 refused, 1 wrong, 1 not tried\n"
        "  WRONG: 16 copies, 1 load, groups of 128, 1 for each unit, at 16 Mi pixels: 3 of 256 "
        "bins wrong\n"
        "  refused: too large\n"
        "\nkept for `tuned` in " +
            launches_file() + "\n");
    EXPECT_TRUE(has(
        tests::bytes_of(folder_ / "out.json"),
        "\"refused\",\n   \"worst_ms\": null,\n   \"gb_s\": null,\n   \"reason\": \"too large\""));
    // Of the size where nothing was measured there is no line; and what is another device's stays.
    EXPECT_EQ(kept(),
              "CUDA\tTest GPU 9000\tdriver 1\t16777216\t8\t4\t128\t8\t2025-01-31T12:00:00Z\n");
    Tuning other = small_tuning();
    other.device.device = "Test GPU 9000 B";
    const std::string before = kept();
    EXPECT_EQ(finish(other), 1);
    EXPECT_TRUE(has(kept(), before));
    EXPECT_EQ(finish(small_tuning()), 1);
    const std::string both = kept();
    EXPECT_EQ(std::count(both.begin(), both.end(), '\n'), 2);
    TunedLaunch launch;
    EXPECT_TRUE(
        has(said([&] { launch = launch_for(gpu(), {}, 5 * kMi); }), "found by tune on 2025-01-31"));
    EXPECT_EQ(launch.text(800), "8 copies, 4 loads, 800 groups of 128");
}

TEST_F(Program, KeepsNothingOfASearchThatMeasuredNothing) {
    Tuning found = small_tuning();
    found.trials = {found.trials[1]};
    EXPECT_EQ(finish(found), 0);
    const std::string before = kept();
    found.trials[0].outcome = Outcome::kWrong;
    EXPECT_EQ(finish(found), 1);
    EXPECT_TRUE(has(said_, "no launch could be measured; nothing is kept\n"));
    EXPECT_EQ(kept(), before);
}

}  // namespace
