#include "05-launch-tuning/tuning/tuning.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stb_image.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <thread>

#include "05-launch-tuning/tuning/run.hpp"
#include "common/histogram/histogram.hpp"
#include "common/tests/support.hpp"

namespace {

namespace fs = std::filesystem;

using tests::bad_input;
using tests::has;
using tuning::Choice;
using tuning::Facts;
using tuning::Measure;
using tuning::Outcome;
using tuning::Trial;
using tuning::Tuning;
using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = 1024 * kKi;

Facts gpu() {
    return {"CUDA",     "Test GPU 9000",
            "driver 1", false,
            100,        1024,
            227 * kKi,  {"local", "lane-bins", "byte-bins"}};
}

Facts cpu() {
    return {"OpenCL", "Test CPU", "driver 2", true,
            8,        4096,       512 * kKi,  {"local", "lane-bins", "byte-bins", "item-bins"}};
}

// What a call writes to standard error, which is no terminal then.
std::string said(const std::function<void()>& call) {
    testing::internal::CaptureStderr();
    call();
    return testing::internal::GetCapturedStderr();
}

Tuning tune_quietly(const Facts& facts, double budget_s, const Measure& measure) {
    Tuning result;
    said([&] { result = tuning::tune(facts, budget_s, measure); });
    return result;
}

Trial measured(const Choice& choice, std::uint64_t pixels, double ms) {
    return {choice, pixels, Outcome::kMeasured, ms, ""};
}

Trial failed(const Choice& choice, std::uint64_t pixels, Outcome outcome,
             const std::string& reason) {
    return {choice, pixels, outcome, 0, reason};
}

// A row of lane-bins with everything that can happen, and one of byte-bins with other groups.
Tuning small_tuning() {
    Tuning result;
    result.api = "CUDA";
    result.device = "Test GPU 9000";
    result.driver = "driver 1";
    result.date = "2025-01-31T12:00:00Z";
    result.seconds = 21;
    const std::uint64_t pixels = 16 * kMi;
    result.trials = {
        measured({"local", 1, 1, 128, 1}, pixels, 0.08),  // 5 %
        measured({"local", 1, 2, 128, 1}, pixels, 0.04),  // 10 %, the better of the two loads
        measured({"local", 1, 1, 128, 8}, pixels, 0.0134),
        measured({"local", 1, 1, 1024, 1}, pixels, 0.01),
        failed({"local", 1, 1, 1024, 8}, pixels, Outcome::kNotTried, ""),
        measured({"lane-bins", 8, 4, 128, 1}, pixels, 0.008),
        measured({"lane-bins", 8, 4, 128, 8}, pixels, 0.005),
        measured({"lane-bins", 8, 4, 1024, 1}, pixels, 0.004),
        failed({"lane-bins", 8, 4, 1024, 8}, pixels, Outcome::kRefused, "too large"),
        measured({"byte-bins", 1, 1, 32, 1}, pixels, 0.4),
        failed({"byte-bins", 1, 1, 64, 1}, pixels, Outcome::kWrong, "3 of 256 bins wrong"),
        measured({"local", 1, 1, 64, 1}, 1000, 0.001),
        failed({"lane-bins", 1, 1, 64, 1}, 1000, Outcome::kRefused, "too large"),
    };
    return result;
}

void expect_equal(const Tuning& a, const Tuning& b) {
    EXPECT_EQ(a.api, b.api);
    EXPECT_EQ(a.device, b.device);
    EXPECT_EQ(a.driver, b.driver);
    EXPECT_EQ(a.date, b.date);
    EXPECT_EQ(a.seconds, b.seconds);
    ASSERT_EQ(a.trials.size(), b.trials.size());
    for (std::size_t i = 0; i < a.trials.size(); ++i) {
        SCOPED_TRACE(i);
        EXPECT_EQ(a.trials[i].choice, b.trials[i].choice);
        EXPECT_EQ(a.trials[i].pixels, b.trials[i].pixels);
        EXPECT_EQ(a.trials[i].outcome, b.trials[i].outcome);
        EXPECT_EQ(a.trials[i].worst_ms, b.trials[i].worst_ms);
        EXPECT_EQ(a.trials[i].reason, b.trials[i].reason);
    }
}

// ---- choices ------------------------------------------------------------------------------------

TEST(Choice, IsSaidInWords) {
    EXPECT_EQ(tuning::to_string(Choice{"lane-bins", 32, 4, 1024, 1}),
              "lane-bins, 32 copies, 4 loads, groups of 1024, 1 for each unit");
    EXPECT_EQ(tuning::to_string(Choice{"lane-bins", 1, 1, 64, 8}),
              "lane-bins, 1 copy, 1 load, groups of 64, 8 for each unit");
    EXPECT_EQ(tuning::to_string(Choice{"local", 1, 2, 256, 2}),
              "local, 2 loads, groups of 256, 2 for each unit");
    EXPECT_EQ(tuning::kernel_text({"lane-bins", 8, 1, 1, 1}), "lane-bins, 8 copies");
    EXPECT_EQ(tuning::kernel_text({"item-bins", 1, 1, 1, 1}), "item-bins");
}

TEST(Choice, SizesAreNeverRounded) {
    EXPECT_EQ(tuning::size_text(16 * kMi), "16 Mi pixels");
    EXPECT_EQ(tuning::size_text(256 * kKi), "256 Ki pixels");
    EXPECT_EQ(tuning::size_text(kMi + kKi), "1025 Ki pixels");
    EXPECT_EQ(tuning::size_text(1025), "1025 pixels");
    EXPECT_EQ(tuning::size_text(0), "0 pixels");
}

TEST(Choice, NeedsLocalMemory) {
    EXPECT_EQ(tuning::local_bytes_of({"local", 1, 8, 1024, 8}), 1024U);
    EXPECT_EQ(tuning::local_bytes_of({"lane-bins", 1, 8, 1024, 8}), 1024U);
    EXPECT_EQ(tuning::local_bytes_of({"lane-bins", 32, 8, 1024, 8}), 32 * kKi);
    EXPECT_EQ(tuning::local_bytes_of({"byte-bins", 1, 8, 128, 8}), 33 * kKi);
    EXPECT_EQ(tuning::local_bytes_of({"item-bins", 1, 8, 1, 8}), 8 * kKi);
    EXPECT_EQ(tuning::local_bytes_of({"item-bins", 1, 8, 3, 8}), 24 * kKi);
}

TEST(Choice, ObjectionsAreToWhatTheFactsRuleOut) {
    Facts facts = gpu();
    const Choice choice{"lane-bins", 32, 1, 1024, 1};
    EXPECT_EQ(tuning::objection(choice, facts), "");
    facts.local_bytes = 32 * kKi;  // just enough
    EXPECT_EQ(tuning::objection(choice, facts), "");
    facts.local_bytes = 32 * kKi - 1;
    EXPECT_EQ(tuning::objection(choice, facts),
              "32768 bytes of local memory for a group, and the device has 32767");
    facts.most_items = 1023;
    EXPECT_EQ(tuning::objection(choice, facts),
              "groups of 1024 work-items, and the device takes at most 1023");
    facts.kernels = {"local"};
    EXPECT_EQ(tuning::objection(choice, facts), "this program has no kernel 'lane-bins'");
}

std::map<std::string, int> count_by_kernel(const std::vector<Choice>& choices) {
    std::map<std::string, int> counts;
    for (const Choice& choice : choices)
        ++counts[choice.kernel];
    return counts;
}

TEST(Candidates, AreEveryKernelInEveryLaunch) {
    using Counts = std::map<std::string, int>;
    EXPECT_EQ(count_by_kernel(tuning::candidates(gpu())),
              (Counts{{"local", 64}, {"lane-bins", 6 * 64}, {"byte-bins", 12}}));
    EXPECT_EQ(count_by_kernel(tuning::candidates(cpu())),
              (Counts{{"local", 16}, {"lane-bins", 6 * 16}, {"byte-bins", 6}, {"item-bins", 16}}));
    EXPECT_EQ(tuning::kernel_names(), (Texts{"local", "lane-bins", "byte-bins", "item-bins"}));
}

TEST(Candidates, AreOnlyTheKernelsOfTheProgram) {
    Facts facts = cpu();
    facts.kernels = {"item-bins", "local", "unheard-of"};
    EXPECT_EQ(count_by_kernel(tuning::candidates(facts)),
              (std::map<std::string, int>{{"local", 16}, {"item-bins", 16}}));
    facts.kernels = {};
    EXPECT_TRUE(tuning::candidates(facts).empty());
    facts = gpu();
    facts.kernels = {"item-bins"};  // for CPUs only
    EXPECT_TRUE(tuning::candidates(facts).empty());
}

TEST(Candidates, AreEachThereOnceAndOfTheShapeThatTheJsonTakes) {
    for (const Facts& facts : {gpu(), cpu()}) {
        std::set<std::string> seen;
        std::set<std::string> kernels;
        std::string last;
        Tuning all;
        for (const Choice& choice : tuning::candidates(facts)) {
            EXPECT_TRUE(seen.insert(tuning::to_string(choice)).second)
                << tuning::to_string(choice) << " is there twice";
            // Those of one kernel and number of copies are one after the other.
            const std::string kernel = tuning::kernel_text(choice);
            if (kernel != last) {
                EXPECT_TRUE(kernels.insert(kernel).second) << kernel;
            }
            last = kernel;
            all.trials.push_back(measured(choice, 1, 1));
        }
        EXPECT_NO_THROW(tuning::from_json_text(tuning::to_json_text(all)));
    }
}

// A device that takes less does not have fewer candidates: the search counts them as refused.
TEST(Candidates, AreThereThoughTheDeviceRefusesThem) {
    Facts small = gpu();
    small.most_items = 64;
    small.local_bytes = 1024;
    EXPECT_EQ(tuning::candidates(small), tuning::candidates(gpu()));
}

TEST(TunedSizes, Ascend) {
    EXPECT_EQ(tuning::tuned_sizes(gpu()),
              (std::vector<std::uint64_t>{1U << 18, 1U << 24, 1U << 27, 1U << 30}));
    Facts small = gpu();
    small.picture_bytes = 1U << 27;
    EXPECT_EQ(tuning::tuned_sizes(small),
              (std::vector<std::uint64_t>{1U << 18, 1U << 24, 1U << 27}));
    small.picture_bytes = 1;  // there is always one
    EXPECT_EQ(tuning::tuned_sizes(small), (std::vector<std::uint64_t>{1U << 18}));
    EXPECT_EQ(tuning::tuned_sizes(cpu()), (std::vector<std::uint64_t>{1U << 18, 1U << 23}));
}

TEST(DefaultChoice, OnAGpuIsOneLargeGroupForEachUnit) {
    Facts facts = gpu();
    EXPECT_EQ(tuning::default_choice(facts, 4 * kMi), (Choice{"lane-bins", 32, 3, 1024, 1}));
    facts.local_bytes = 48 * kKi;
    EXPECT_EQ(tuning::default_choice(facts, 256 * kMi), (Choice{"lane-bins", 32, 3, 1024, 1}));
    facts.local_bytes = 31 * kKi;
    EXPECT_EQ(tuning::default_choice(facts, 256 * kMi), (Choice{"lane-bins", 16, 3, 1024, 1}));
    facts.local_bytes = kKi;
    facts.most_items = 256;
    EXPECT_EQ(tuning::default_choice(facts, 256 * kMi), (Choice{"lane-bins", 1, 3, 256, 1}));
}

TEST(DefaultChoice, ForSmallPicturesIsSmaller) {
    Facts facts = gpu();
    EXPECT_EQ(tuning::default_choice(facts, 4 * kMi - 1), (Choice{"lane-bins", 8, 1, 512, 2}));
    EXPECT_EQ(tuning::default_choice(facts, 0), (Choice{"lane-bins", 8, 1, 512, 2}));
    facts.local_bytes = 2 * kKi;
    facts.most_items = 128;
    EXPECT_EQ(tuning::default_choice(facts, 1), (Choice{"lane-bins", 2, 1, 128, 2}));
}

TEST(DefaultChoice, OnACpuIsATableForEachWorkItem) {
    Facts facts = cpu();
    EXPECT_EQ(tuning::default_choice(facts, 1), (Choice{"item-bins", 1, 4, 1, 1}));
    EXPECT_EQ(tuning::default_choice(facts, 256 * kMi), (Choice{"item-bins", 1, 4, 1, 1}));
    facts.local_bytes = 8 * kKi - 1;
    EXPECT_EQ(tuning::default_choice(facts, 1), (Choice{"lane-bins", 1, 4, 256, 1}));
    facts = cpu();
    facts.kernels = {"local", "lane-bins"};
    facts.most_items = 1;
    EXPECT_EQ(tuning::default_choice(facts, 1), (Choice{"lane-bins", 1, 4, 1, 1}));
}

TEST(DefaultChoice, IsTheFirstThatFitsWhereNothingElseDoes) {
    Facts facts = gpu();
    facts.kernels = {"local", "byte-bins"};
    facts.most_items = 32;  // too few for any candidate of local
    EXPECT_EQ(tuning::default_choice(facts, kMi), (Choice{"byte-bins", 1, 1, 32, 1}));
    facts.local_bytes = 0;  // for none: to launch it will say why
    EXPECT_NE(tuning::objection(tuning::default_choice(facts, kMi), facts), "");
}

TEST(DefaultChoice, IsAmongTheCandidates) {
    for (const Facts& facts : {gpu(), cpu()}) {
        const std::vector<Choice> all = tuning::candidates(facts);
        for (const std::uint64_t pixels : tuning::tuned_sizes(facts)) {
            EXPECT_EQ(std::count(all.begin(), all.end(), tuning::default_choice(facts, pixels)), 1);
        }
    }
}

TEST(Choose, TakesTheBestOfTheNearestSize) {
    Tuning known;
    const Choice small{"local", 1, 1, 128, 1};
    const Choice large{"lane-bins", 8, 2, 512, 2};
    known.trials = {measured({"lane-bins", 1, 1, 128, 1}, kMi, 2), measured(small, kMi, 1),
                    measured(large, 16 * kMi, 1)};
    EXPECT_EQ(tuning::choose(known, gpu(), 0), small);
    EXPECT_EQ(tuning::choose(known, gpu(), 1), small);
    EXPECT_EQ(tuning::choose(known, gpu(), 4 * kMi - 1), small);  // nearer by ratio, to 4 Mi
    EXPECT_EQ(tuning::choose(known, gpu(), 4 * kMi + 1), large);
    EXPECT_EQ(tuning::choose(known, gpu(), std::uint64_t{1} << 32), large);
}

TEST(Choose, TakesTheDefaultWhereNothingIsKnown) {
    const Choice sound = tuning::default_choice(gpu(), 16 * kMi);
    EXPECT_EQ(tuning::choose(std::nullopt, gpu(), 16 * kMi), sound);
    EXPECT_EQ(tuning::choose(Tuning{}, gpu(), 16 * kMi), sound);
    Tuning nothing_measured;
    nothing_measured.trials = {failed({"local", 1, 1, 128, 1}, 16 * kMi, Outcome::kWrong, "x")};
    EXPECT_EQ(tuning::choose(nothing_measured, gpu(), 16 * kMi), sound);
}

TEST(Choose, PassesOverWhatTheFactsDoNotAllow) {
    Tuning known;
    const Choice small{"local", 1, 1, 128, 1};
    known.trials = {measured(small, kMi, 1), measured({"lane-bins", 32, 4, 1024, 1}, 256 * kMi, 1)};
    Facts less = gpu();
    less.most_items = 512;
    EXPECT_EQ(tuning::choose(known, less, 256 * kMi), small);  // the next nearest
    less.most_items = 64;
    EXPECT_EQ(tuning::choose(known, less, 256 * kMi), tuning::default_choice(less, 256 * kMi));
}

// ---- the search ---------------------------------------------------------------------------------

// A device on which a launch takes the longer the more it differs from the one that is planted.
class Device {
 public:
    void plant(std::uint64_t pixels, const Choice& best) { best_[pixels] = best; }

    [[nodiscard]] double ms(const Choice& choice, std::uint64_t pixels) const {
        const Choice& best = best_.at(pixels);
        const auto apart = [](auto a, auto b) {
            return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
        };
        return 1 + (choice.kernel == best.kernel ? 0 : 3) + apart(choice.copies, best.copies) +
               apart(choice.loads, best.loads) + apart(choice.group_size, best.group_size) +
               apart(choice.groups_per_unit, best.groups_per_unit);
    }

 private:
    std::map<std::uint64_t, Choice> best_;
};

TEST(Search, FindsWhatIsPlanted) {
    const Choice small{"byte-bins", 1, 1, 64, 8};
    const Choice middle{"lane-bins", 8, 4, 512, 2};
    const Choice large{"local", 1, 3, 256, 1};
    Device device;
    device.plant(1U << 18, small);
    device.plant(1U << 24, middle);
    device.plant(1U << 27, middle);
    device.plant(1U << 30, large);
    const Tuning result =
        tune_quietly(gpu(), 60, [&](const Choice& choice, std::uint64_t pixels, double) {
            return device.ms(choice, pixels);
        });
    EXPECT_EQ(result.api, "CUDA");
    EXPECT_EQ(result.device, "Test GPU 9000");
    EXPECT_EQ(result.driver, "driver 1");
    EXPECT_EQ(result.sizes(), tuning::tuned_sizes(gpu()));
    EXPECT_EQ(result.count(Outcome::kMeasured), result.trials.size());
    EXPECT_EQ(result.trials.size(), 4 * tuning::candidates(gpu()).size());
    ASSERT_NE(result.best(1U << 18), nullptr);
    EXPECT_EQ(result.best(1U << 18)->choice, small);
    EXPECT_EQ(result.best(1U << 18)->worst_ms, 1);
    EXPECT_EQ(result.best(1U << 24)->choice, middle);
    EXPECT_EQ(result.best(1U << 30)->choice, large);
    std::string shape = result.date;
    std::replace_if(
        shape.begin(), shape.end(), [](char c) { return c >= '0' && c <= '9'; }, '0');
    EXPECT_EQ(shape, "0000-00-00T00:00:00Z") << result.date;
    EXPECT_GT(result.seconds, 0);
    EXPECT_LT(result.seconds, 60);
}

TEST(Search, KeepsTheOrderOfTheCandidatesAndMeasuresTheBestAgain) {
    std::map<std::string, int> calls;
    const auto name = [](const Choice& choice, std::uint64_t pixels) {
        return tuning::to_string(choice) + tuning::size_text(pixels);
    };
    const Tuning result =
        tune_quietly(cpu(), 60, [&](const Choice& choice, std::uint64_t pixels, double) {
            ++calls[name(choice, pixels)];
            return choice.kernel == "local" && choice.loads <= 3 ? 1.0 : 2.0;
        });
    const std::vector<Choice> all = tuning::candidates(cpu());
    ASSERT_EQ(result.trials.size(), 2 * all.size());
    EXPECT_EQ(calls.size(), 2 * all.size());
    for (std::size_t i = 0; i < result.trials.size(); ++i) {
        const Trial& trial = result.trials[i];
        EXPECT_EQ(trial.choice, all[i % all.size()]);
        EXPECT_EQ(trial.pixels, tuning::tuned_sizes(cpu())[i / all.size()]);
        // Twelve are the best of each size.
        EXPECT_EQ(calls[name(trial.choice, trial.pixels)], trial.worst_ms == 1 ? 1 + 9 : 1);
    }
}

TEST(Search, LuckDoesNotDecide) {
    const Choice lucky{"local", 1, 1, 64, 1};
    const Choice steady{"local", 1, 2, 64, 1};
    std::map<std::uint64_t, int> calls;
    const Tuning result =
        tune_quietly(cpu(), 60, [&](const Choice& choice, std::uint64_t pixels, double) {
            if (choice == lucky) return ++calls[pixels] == 1 ? 0.5 : 3;
            return choice == steady ? 1.0 : 2;
        });
    for (const std::uint64_t pixels : result.sizes())
        EXPECT_EQ(result.best(pixels)->choice, steady);
}

TEST(Search, BeginsWithTheDefaultOfEachSizeAndSaysWhatIsHopeless) {
    const std::vector<std::uint64_t> sizes = tuning::tuned_sizes(gpu());
    std::map<std::uint64_t, double> best;
    std::size_t calls = 0;
    std::size_t with_a_limit = 0;
    tune_quietly(gpu(), 60, [&](const Choice& choice, std::uint64_t pixels, double hopeless_ms) {
        const double ms = 10 + static_cast<double>((choice.loads * 7 + choice.group_size) % 5) -
                          (choice.copies == 8 ? 6 : 0);
        if (calls < sizes.size()) {
            EXPECT_EQ(pixels, sizes[calls]);
            EXPECT_EQ(choice, tuning::default_choice(gpu(), pixels));
            EXPECT_EQ(hopeless_ms, std::numeric_limits<double>::infinity());
            best[pixels] = ms;
        } else if (hopeless_ms < std::numeric_limits<double>::infinity()) {
            ++with_a_limit;
            EXPECT_EQ(hopeless_ms, 4 * best[pixels]);
            best[pixels] = std::min(best[pixels], ms);
        }
        ++calls;
        return ms;
    });
    // All but the defaults and the finals.
    EXPECT_EQ(with_a_limit, sizes.size() * (tuning::candidates(gpu()).size() - 1));
    EXPECT_EQ(calls, with_a_limit + sizes.size() * (1 + 12 * 9));
}

// Whatever part of a kernel's launches there is time for, it must not be one corner of them.
TEST(Search, SoonHasSeenEveryKindOfLaunch) {
    std::vector<Choice> order;
    tune_quietly(gpu(), 60, [&](const Choice& choice, std::uint64_t pixels, double) {
        if (choice.kernel == "local" && pixels == 1U << 24) order.push_back(choice);
        return 1.0;
    });
    ASSERT_GE(order.size(), 64U);
    std::set<std::size_t> group_sizes, groups, loads;
    for (std::size_t i = 0; i < 20; ++i) {
        group_sizes.insert(order[i].group_size);
        groups.insert(order[i].groups_per_unit);
        loads.insert(order[i].loads);
    }
    EXPECT_EQ(group_sizes.size(), 4U);
    EXPECT_EQ(groups.size(), 4U);
    EXPECT_EQ(loads.size(), 4U);
}

TEST(Search, CountsWhatIsRefusedAndGoesOn) {
    const Tuning result =
        tune_quietly(cpu(), 60, [](const Choice& choice, std::uint64_t, double) -> double {
            if (choice.kernel == "lane-bins") throw tuning::Refused("not\ntoday");
            return 1;
        });
    EXPECT_EQ(result.count(Outcome::kRefused), 2U * 96);
    EXPECT_EQ(result.count(Outcome::kMeasured), 2U * (16 + 6 + 16));
    for (const Trial& trial : result.trials) {
        EXPECT_EQ(trial.reason, trial.choice.kernel == "lane-bins" ? "not today" : "");
    }
}

TEST(Search, DoesNotMeasureWhatTheFactsRuleOut) {
    Facts small = gpu();
    small.most_items = 256;
    small.local_bytes = 16 * kKi;
    for (const double budget_s : {60.0, 0.0}) {
        const Tuning result =
            tune_quietly(small, budget_s, [&](const Choice& choice, std::uint64_t, double) {
                EXPECT_EQ(tuning::objection(choice, small), "");
                return 1.0;
            });
        std::size_t ruled_out = 0;
        for (const Trial& trial : result.trials) {
            EXPECT_EQ(trial.reason, tuning::objection(trial.choice, small));
            if (trial.reason.empty()) continue;
            ++ruled_out;
            EXPECT_EQ(trial.outcome, Outcome::kRefused);
        }
        EXPECT_GT(ruled_out, 0U);
        EXPECT_EQ(result.count(Outcome::kRefused), ruled_out);
        EXPECT_EQ(result.count(budget_s > 0 ? Outcome::kMeasured : Outcome::kNotTried),
                  result.trials.size() - ruled_out);
    }
}

TEST(Search, NeverTakesAWrongOneForTheBest) {
    Tuning result;
    const std::string text = said([&] {
        result = tuning::tune(cpu(), 60, [](const Choice& choice, std::uint64_t, double) -> double {
            if (choice == Choice{"local", 1, 4, 64, 1}) throw tuning::Wrong("3 bins\nwrong");
            return choice.kernel == "byte-bins" ? 1 : 2;
        });
    });
    EXPECT_EQ(result.count(Outcome::kWrong), 2U);
    for (const std::uint64_t pixels : result.sizes()) {
        EXPECT_EQ(result.best(pixels)->choice.kernel, "byte-bins");
        EXPECT_TRUE(has(text, "  WRONG: local, 4 loads, groups of 64, 1 for each unit, at " +
                                  tuning::size_text(pixels) + ": 3 bins wrong\n"));
    }
}

TEST(Search, TakesNoTimeForTheBestThatIsNone) {
    for (const double none : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity()}) {
        const Tuning result =
            tune_quietly(cpu(), 60, [&](const Choice& choice, std::uint64_t, double) {
                return choice.kernel == "local" ? none : 5;
            });
        EXPECT_EQ(result.count(Outcome::kRefused), 2U * 16);
        EXPECT_EQ(result.best(1U << 18)->worst_ms, 5);
    }
}

TEST(Search, OtherErrorsEndIt) {
    const auto search = [] {
        tuning::tune(cpu(), 60, [](const Choice&, std::uint64_t, double) -> double {
            throw std::runtime_error("the device is gone");
        });
    };
    said([&] { EXPECT_THROW(search(), std::runtime_error); });
}

TEST(Search, WithoutTimeTriesNothing) {
    for (const double budget_s : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        const Tuning result =
            tune_quietly(gpu(), budget_s, [](const Choice&, std::uint64_t, double) {
                ADD_FAILURE() << "measured without time";
                return 1.0;
            });
        EXPECT_EQ(result.count(Outcome::kNotTried), result.trials.size());
        EXPECT_EQ(result.best(1U << 18), nullptr);
    }
}

class SlowKernel {
 public:
    using Clock = std::chrono::steady_clock;

    SlowKernel(std::string kernel, std::uint64_t pixels)
        : kernel_(std::move(kernel)), pixels_(pixels) {}

    double operator()(const Choice& choice, std::uint64_t pixels, double) {
        last_s_ = std::chrono::duration<double>(Clock::now() - start_).count();
        if (choice.kernel == kernel_ && (pixels_ == 0 || pixels == pixels_)) {
            ++calls_;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return 1;
    }
    [[nodiscard]] double last_s() const { return last_s_; }
    [[nodiscard]] std::size_t calls() const { return calls_; }

 private:
    std::string kernel_;
    std::uint64_t pixels_;  // none is all
    Clock::time_point start_ = Clock::now();
    double last_s_ = 0;
    std::size_t calls_ = 0;
};

TEST(Search, BeginsNothingAfterItsTime) {
    constexpr double kBudget = 0.2;
    SlowKernel slow("lane-bins", 0);  // three quarters of all, so that the time ends early
    const Tuning result = tune_quietly(gpu(), kBudget, std::ref(slow));
    EXPECT_LT(slow.last_s(), kBudget + 0.02);
    EXPECT_GT(result.count(Outcome::kNotTried), 900U);
    EXPECT_LT(slow.calls(), 40U);
    EXPECT_EQ(result.count(Outcome::kMeasured) + result.count(Outcome::kNotTried),
              result.trials.size());
}

TEST(Search, ASlowKernelDoesNotTakeTheTimeOfOthers) {
    SlowKernel slow("local", 0);  // the first of each size; it alone would need two seconds
    const Tuning result = tune_quietly(gpu(), 0.6, std::ref(slow));
    for (const Trial& trial : result.trials) {
        if (trial.choice.kernel == "local") continue;
        ASSERT_EQ(trial.outcome, Outcome::kMeasured) << tuning::to_string(trial.choice);
    }
    EXPECT_GT(slow.calls(), 0U);
    EXPECT_LT(slow.calls(), 4U * 64);
    // The later a size, the more of the others' time is left to it: none of them goes without.
    for (const std::uint64_t pixels : result.sizes()) {
        EXPECT_TRUE(std::any_of(result.trials.begin(), result.trials.end(),
                                [&](const Trial& trial) {
                                    return trial.pixels == pixels &&
                                           trial.choice.kernel == "local" &&
                                           trial.outcome == Outcome::kMeasured;
                                }))
            << pixels;
    }
}

TEST(Search, TimeThatIsLeftGoesToThoseAfterIt) {
    SlowKernel slow("byte-bins", 1U << 30);  // the last of all; its share alone is enough for one
    const Tuning result = tune_quietly(gpu(), 0.1, std::ref(slow));
    EXPECT_GE(slow.calls(), 3U);
    EXPECT_LT(slow.calls(), 12U);
    EXPECT_EQ(result.count(Outcome::kNotTried), 4 * (12 - slow.calls()));
}

TEST(Search, SaysALineForEachKernel) {
    Facts facts = cpu();
    facts.most_items = 64;
    const std::string text = said([&] {
        tuning::tune(facts, 60, [](const Choice& choice, std::uint64_t pixels, double) -> double {
            if (choice.kernel == "byte-bins") throw tuning::Refused("no");
            return static_cast<double>(pixels) / 4e9 * choice.loads;
        });
    });
    const auto lines = std::count(text.begin(), text.end(), '\n');
    EXPECT_EQ(lines, 1 + 1 + 6 + 1 + 1) << text;
    EXPECT_EQ(text.find('\r'), std::string::npos);
    EXPECT_TRUE(has(text, "  lane-bins, 8 copies: 4000, 4000 GB/s (16 of 32 launches)\n"));
    EXPECT_TRUE(has(text, "  byte-bins: -, - GB/s (0 of 12 launches)\n"));
    EXPECT_TRUE(
        text.starts_with("  the best of each kernel for 256 Ki pixels, 8 Mi pixels:\n"
                         "  local: 4000, 4000 GB/s (16 of 32 launches)\n"))
        << text;
}

TEST(Search, OnATerminalRewritesOneLine) {
    const int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        GTEST_SKIP() << "this system gives no terminal";
    const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    ASSERT_GE(terminal, 0);
    const int before = dup(STDERR_FILENO);
    dup2(terminal, STDERR_FILENO);
    // Read while it is written: a terminal holds few bytes.
    std::string text;
    const auto read_all = [&] {
        std::array<char, 4096> buffer{};
        for (ssize_t got = 0; (got = read(master, buffer.data(), buffer.size())) > 0;)
            text.append(buffer.data(), static_cast<std::size_t>(got));
    };
    Facts facts = cpu();
    facts.kernels = {"local"};
    tuning::tune(facts, 60, [&](const Choice& choice, std::uint64_t, double) -> double {
        read_all();
        if (choice.loads == 4 && choice.group_size == 64) throw tuning::Wrong("mistake");
        return 1;
    });
    dup2(before, STDERR_FILENO);
    close(before);
    read_all();
    close(terminal);
    close(master);
    EXPECT_TRUE(has(text, "\r  local: 0.262, 8.39 GB/s "));
    // A mistake has a line of its own, from the left edge on, and is all that stays.
    EXPECT_TRUE(has(text, "\r  WRONG: local, 4 loads, groups of 64, 1 for each unit, at 256 Ki"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 4) << text;
    EXPECT_TRUE(text.ends_with(" \r")) << text;
}

// A GPU whose pictures are small enough to be made for a test: 256 Ki and 16 Mi pixels.
Facts small_gpu() {
    Facts facts = gpu();
    facts.picture_bytes = 16 * kMi;
    return facts;
}

// Counts on the CPU, and says which part of which picture it was given.
struct CountingDevice {
    const tuning::TestPictures& pictures;
    std::vector<std::pair<std::size_t, std::uint64_t>>& runs;
    std::vector<double> times_ms;  // of a launch, by picture
    std::vector<std::size_t>* in_a_row = nullptr;

    double operator()(const Choice&, std::size_t which, std::span<const Picture> parts,
                      common::Histogram& result) {
        for (const Picture& part : parts) {
            runs.emplace_back(which, part.first);
            EXPECT_EQ(part.width, part.count);
            EXPECT_EQ(part.pitch, part.count);
        }
        if (in_a_row != nullptr) in_a_row->push_back(parts.size());
        const Picture& last = parts.back();
        result = common::reference_histogram({&pictures[which].pixels[last.first], last.count});
        return times_ms[which] * static_cast<double>(parts.size());
    }
};

TEST(MeasureOn, TheSlowestPictureCounts) {
    const tuning::TestPictures pictures = tuning::test_pictures(small_gpu());
    std::vector<std::pair<std::size_t, std::uint64_t>> runs;
    for (const std::vector<double>& times_ms :
         {std::vector<double>{3.0, 1.0, 2.0}, std::vector<double>{1.0, 3.0, 2.0},
          std::vector<double>{1.0, 2.0, 3.0}}) {
        const Measure measure =
            tuning::measure_on(pictures, CountingDevice{pictures, runs, times_ms});
        EXPECT_EQ(measure({}, 256 * kKi, 100), 3.0);
    }
}

TEST(MeasureOn, NoRunCountsWhatTheOneBeforeHasCounted) {
    const tuning::TestPictures pictures = tuning::test_pictures(small_gpu());
    std::vector<std::pair<std::size_t, std::uint64_t>> runs;
    const Measure measure = tuning::measure_on(pictures, CountingDevice{pictures, runs, {1, 1, 1}});
    const Measure in_a_row =
        tuning::measure_on(pictures, CountingDevice{pictures, runs, {0.001, 0.001, 0.001}});
    for (const Measure& one : {measure, in_a_row}) {
        runs.clear();
        // Also from one choice to the next, of which the pictures hold 64 parts.
        for (int choice = 0; choice < 4; ++choice)
            one({}, 256 * kKi, 100);
        ASSERT_GE(runs.size(), 64U);
        for (std::size_t i = 0; i + 32 <= runs.size(); ++i) {
            std::set<std::uint64_t> parts;
            for (std::size_t j = i; j < i + 32; ++j)
                parts.insert(runs[j].second);
            EXPECT_EQ(parts.size(), 32U) << i;
        }
    }
    runs.clear();
    measure({}, 16 * kMi, 100);  // all of it is one part
    for (const auto& [which, first] : runs)
        EXPECT_EQ(first, 0U);
}

TEST(MeasureOn, WhatIsHopelessIsTimedOnceAndOnOnePicture) {
    const tuning::TestPictures pictures = tuning::test_pictures(small_gpu());
    std::vector<std::pair<std::size_t, std::uint64_t>> runs;
    const Measure measure = tuning::measure_on(pictures, CountingDevice{pictures, runs, {5, 5, 5}});
    measure({}, 256 * kKi, 4);
    EXPECT_EQ(runs.size(), 2U);  // to warm up, and once
    runs.clear();
    measure({}, 256 * kKi, 6);
    EXPECT_EQ(runs.size(), 3U * 6);
}

TEST(MeasureOn, ShortLaunchesFollowEachOther) {
    const tuning::TestPictures pictures = tuning::test_pictures(small_gpu());
    std::vector<std::pair<std::size_t, std::uint64_t>> runs;
    // 10, 0.1, 0.02 and 0.001 milliseconds: one, one, five, and never more than 16.
    for (const auto& [one_ms, launches] :
         {std::pair<double, std::size_t>{10, 1}, {0.1, 1}, {0.02, 5}, {0.001, 16}}) {
        std::vector<std::size_t> in_a_row;
        const Measure measure = tuning::measure_on(
            pictures, CountingDevice{pictures, runs, {one_ms, one_ms, one_ms}, &in_a_row});
        EXPECT_DOUBLE_EQ(measure({}, 256 * kKi, 100), one_ms);  // of one of them
        std::vector<std::size_t> on_a_picture{1, 1};  // to warm up, and to see how long it takes
        // Five runs are timed; a single launch has been one of them.
        on_a_picture.insert(on_a_picture.end(), launches == 1 ? 4 : 5, launches);
        ASSERT_EQ(in_a_row.size(), 3 * on_a_picture.size()) << one_ms;
        for (std::size_t i = 0; i < in_a_row.size(); ++i)
            EXPECT_EQ(in_a_row[i], on_a_picture[i % on_a_picture.size()]) << one_ms << ", " << i;
    }
}

TEST(MeasureOn, WhatIsHopelessInARowIsNotRepeated) {
    const tuning::TestPictures pictures = tuning::test_pictures(small_gpu());
    std::vector<std::pair<std::size_t, std::uint64_t>> runs;
    std::vector<std::size_t> in_a_row;
    const Measure measure =
        tuning::measure_on(pictures, CountingDevice{pictures, runs, {0.02, 0.02, 0.02}, &in_a_row});
    EXPECT_DOUBLE_EQ(measure({}, 256 * kKi, 0.015), 0.02);
    EXPECT_EQ(in_a_row, (std::vector<std::size_t>{1, 1, 5}));
}

TEST(MeasureOn, AClockThatTicksSeldomLosesNoPicture) {
    const tuning::TestPictures pictures = tuning::test_pictures(small_gpu());
    // Ticks of 16 microseconds: a launch of 5 takes no time at all, a row of 16 takes 80.
    const Measure measure = tuning::measure_on(
        pictures, [&](const Choice&, std::size_t which, std::span<const Picture> parts,
                      common::Histogram& result) {
            result = pictures[which].expected(parts.back().count);
            return 0.016 * std::floor(0.005 * static_cast<double>(parts.size()) / 0.016);
        });
    EXPECT_DOUBLE_EQ(measure({}, 256 * kKi, 100), 0.005);
    std::vector<std::pair<std::size_t, std::uint64_t>> runs;
    const Measure stands = tuning::measure_on(pictures, CountingDevice{pictures, runs, {0, 0, 0}});
    EXPECT_EQ(stands({}, 256 * kKi, 100), 0);  // which the search refuses
}

TEST(MeasureOn, AWrongCountIsWrongOnAnyPicture) {
    const tuning::TestPictures pictures = tuning::test_pictures(small_gpu());
    for (std::size_t bad = 0; bad < pictures.size(); ++bad) {
        const Measure measure = tuning::measure_on(
            pictures, [&](const Choice&, std::size_t which, std::span<const Picture> parts,
                          common::Histogram& result) {
                result = pictures[which].expected(parts.back().count);
                if (which == bad) ++result[127];
                return 1.0;
            });
        EXPECT_THROW(measure({}, 256 * kKi, 100), tuning::Wrong) << bad;
    }
}

TEST(Results, AreCountedAndCompared) {
    const Tuning result = small_tuning();
    EXPECT_EQ(result.sizes(), (std::vector<std::uint64_t>{1000, 16 * kMi}));
    EXPECT_EQ(result.count(Outcome::kMeasured), 9U);
    EXPECT_EQ(result.count(Outcome::kRefused), 2U);
    EXPECT_EQ(result.count(Outcome::kWrong), 1U);
    EXPECT_EQ(result.count(Outcome::kNotTried), 1U);
    EXPECT_EQ(result.best(16 * kMi)->choice, (Choice{"lane-bins", 8, 4, 1024, 1}));
    EXPECT_EQ(result.best(1000)->choice, (Choice{"local", 1, 1, 64, 1}));
    EXPECT_EQ(result.best(1001), nullptr);
    EXPECT_DOUBLE_EQ(result.best(16 * kMi)->gb_s(), 16.777216 / 0.004);
    EXPECT_EQ(result.trials[4].gb_s(), 0);  // was not measured
    EXPECT_EQ(tuning::to_string(Outcome::kMeasured), "measured");
    EXPECT_EQ(tuning::to_string(Outcome::kRefused), "refused");
    EXPECT_EQ(tuning::to_string(Outcome::kWrong), "wrong");
    EXPECT_EQ(tuning::to_string(Outcome::kNotTried), "not tried");
}

// ---- the heat map -------------------------------------------------------------------------------

TEST(HeatMap, AsText) {
    EXPECT_EQ(
        tuning::heat_map_text(small_tuning()),
        "Each cell is the best of all loads, in percent of the best of its size; - was not "
        "measured.\n"
        "\n"
        "1000 pixels\n"
        "\n"
        "group size       64\n"
        "groups per unit   1\n"
        "local           100█\n"
        "lane-bins x 1     -\n"
        "\n"
        "best: local, 1 load, groups of 64, 1 for each unit, 1.00 GB/s\n"
        "\n"
        "16 Mi pixels\n"
        "\n"
        "group size      128       1024\n"
        "groups per unit   1    8     1    8\n"
        "local            10░  30░   40▒   -\n"
        "lane-bins x 8    50▒  80▓  100█   -\n"
        "\n"
        "group size       32    64\n"
        "groups per unit   1     1\n"
        "byte-bins         1     -\n"
        "\n"
        "best: lane-bins, 8 copies, 4 loads, groups of 1024, 1 for each unit, 4194 GB/s\n"
        "\n"
        "9 measured, 2 refused, 1 wrong, 1 not tried in 21.0 s\n"
        "  WRONG: byte-bins, 1 load, groups of 64, 1 for each unit, at 16 Mi pixels: 3 of 256 bins "
        "wrong\n"
        "  2 refused: too large\n");
}

// The text of a cell beside one of 100 percent, when the launches of its loads take so much longer.
std::string cell_text(const std::vector<double>& times_ms) {
    Tuning two;
    two.trials = {measured({"local", 1, 1, 64, 2}, 1000, 1)};
    unsigned loads = 1;
    for (const double ms : times_ms)
        two.trials.push_back(measured({"local", 1, loads *= 2, 64, 1}, 1000, ms));
    const std::string text = tuning::heat_map_text(two);
    const std::string label = "\nlocal ";
    const std::size_t from = text.find_first_not_of(' ', text.find(label) + label.size());
    return text.substr(from, text.find(" 100█\n", from) - from);
}

TEST(HeatMap, ACellIsTheBestOfItsLoads) {
    EXPECT_EQ(cell_text({4, 2, 3}), "50▒");
    EXPECT_EQ(cell_text({2, 3, 4}), "50▒");
    EXPECT_EQ(cell_text({4, 3, 2}), "50▒");
}

TEST(HeatMap, ShadesAreDarkerTheNearerToTheBest) {
    const std::vector<std::pair<double, std::string>> cells = {
        {0.1, "0 "},   {9.9, "10 "},  {10.1, "10░"}, {29.9, "30░"}, {30.1, "30▒"},
        {59.9, "60▒"}, {60.1, "60▓"}, {89.9, "90▓"}, {90.1, "90█"}, {99.9, "100█"}};
    for (const auto& [percent, text] : cells)
        EXPECT_EQ(cell_text({100 / percent}), text) << percent;
}

TEST(HeatMap, WithoutResultsSaysSo) {
    EXPECT_TRUE(has(tuning::heat_map_text(Tuning{}), "\n0 measured in 0.000 s\n"));
    Tuning nothing;
    nothing.trials = {failed({"local", 1, 1, 64, 1}, 1000, Outcome::kRefused, "too large")};
    EXPECT_TRUE(has(tuning::heat_map_text(nothing), "best: none, since nothing was measured\n"));
}

TEST(HeatMap, GivesAFewReasonsOnly) {
    Tuning many;
    for (int i = 0; i < 20; ++i)
        many.trials.push_back(failed({"local", 1, 1, 64, 1}, 1000, Outcome::kRefused,
                                     "reason " + std::to_string(i / 2)));
    const std::string text = tuning::heat_map_text(many);
    EXPECT_TRUE(has(text, "  2 refused: reason 5\n  and for 4 more reasons\n"));
    EXPECT_EQ(text.find("reason 6"), std::string::npos);
}

TEST(HeatMap, FitsATerminal) {
    const Tuning result = tune_quietly(gpu(), 60, [](const Choice& choice, std::uint64_t, double) {
        return static_cast<double>(choice.loads);
    });
    const std::string text = tuning::heat_map_text(result);
    std::size_t width = 0;
    for (const char c : text) {
        width = c == '\n' ? 0 : width + ((c & 0xC0) == 0x80 ? 0 : 1);
        ASSERT_LE(width, 100U) << text;
    }
}

class Shown {
 public:
    explicit Shown(const Tuning& tuning) {
        const std::string png = tuning::heat_map_png(tuning);
        int channels = 0;
        pixels_.reset(stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()),
                                            static_cast<int>(png.size()), &width_, &height_,
                                            &channels, 3));
        EXPECT_NE(pixels_, nullptr) << "the PNG does not decode";
    }
    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] int height() const { return height_; }
    /// How many pixels of this colour there are in a rectangle.
    [[nodiscard]] int count(int left, int top, int width, int height, tests::Rgb colour) const {
        EXPECT_LE(left + width, width_);
        EXPECT_LE(top + height, height_);
        int found = 0;
        for (int y = top; y < top + height; ++y) {
            for (int x = left; x < left + width; ++x) {
                const stbi_uc* at = pixels_.get() + (std::ptrdiff_t{y} * width_ + x) * 3;
                found += at[0] == colour.r && at[1] == colour.g && at[2] == colour.b ? 1 : 0;
            }
        }
        return found;
    }

 private:
    int width_ = 0;
    int height_ = 0;
    std::unique_ptr<stbi_uc, void (*)(void*)> pixels_{nullptr, stbi_image_free};
};

constexpr tests::Rgb kInk{32, 34, 38};
constexpr tests::Rgb kFaint{216, 218, 222};

TEST(HeatMap, AsAPicture) {
    const Shown shown(small_tuning());
    // As wide as the line of the best choice, as high as two maps, one of them of two blocks.
    ASSERT_EQ(shown.width(), 1080);
    ASSERT_EQ(shown.height(), 706);
    EXPECT_GT(shown.count(28, 28, 300, 16, kInk), 300);  // the title
    EXPECT_EQ(shown.count(0, 0, 28, 706, kInk), 0);      // the margins
    EXPECT_EQ(shown.count(1052, 0, 28, 706, kInk), 0);
}

// Wherever they stand: each cell is 52 x 30, less its number.
TEST(HeatMap, CellsHaveTheColoursOfTheirPercentages) {
    const auto cells_of = [](double slower, tests::Rgb colour) {
        Tuning two;
        two.trials = {measured({"local", 1, 1, 64, 1}, 1000, 1),
                      measured({"local", 1, 1, 128, 1}, 1000, slower)};
        const Shown shown(two);
        return shown.count(0, 110, shown.width(), 130, colour);  // above the legend
    };
    constexpr tests::Rgb kYellow{253, 231, 37};
    EXPECT_GT(cells_of(2, kYellow), 1200);
    EXPECT_LT(cells_of(2, kYellow), 1560);
    EXPECT_GT(cells_of(1, kYellow), 2400);
    EXPECT_GT(cells_of(2, {33, 144, 141}), 1200);  // the middle of viridis
    EXPECT_EQ(cells_of(4, {33, 144, 141}), 0);
    EXPECT_GT(cells_of(4, {59, 81, 139}), 1200);
    EXPECT_GT(cells_of(1e9, {68, 1, 84}), 1200);
    EXPECT_EQ(cells_of(1, {68, 1, 84}), 0);
}

TEST(HeatMap, WhatWasNotMeasuredIsFaint) {
    Tuning two;
    two.trials = {measured({"local", 1, 1, 64, 1}, 1000, 1),
                  failed({"local", 1, 1, 128, 1}, 1000, Outcome::kRefused, "no")};
    const Shown shown(two);
    EXPECT_GT(shown.count(0, 110, shown.width(), 130, kFaint), 1400);
    two.trials[1] = measured({"local", 1, 1, 128, 1}, 1000, 1);
    EXPECT_LT(Shown(two).count(0, 110, shown.width(), 130, kFaint), 100);
}

TEST(HeatMap, OfNothingOrOfAnyNameIsAPicture) {
    EXPECT_GT(Shown(Tuning{}).width(), 0);
    Tuning odd = small_tuning();
    odd.device = std::string(5000, 'W') + "\xFF\n";
    EXPECT_LT(Shown(odd).width(), 2000);
    odd.device = "caf\u00E9 \x01\n\xFF";
    EXPECT_EQ(Shown(odd).width(), 1080);
}

// ---- as JSON ------------------------------------------------------------------------------------

TEST(TuningJson, HasEveryFieldOfTheDescription) {
    const Json json = Json::parse(tuning::to_json_text(small_tuning()));
    EXPECT_EQ(json.at("format"), "histogram-tutorials tuning 1");
    EXPECT_EQ(json.at("api"), "CUDA");
    EXPECT_EQ(json.at("device"), "Test GPU 9000");
    EXPECT_EQ(json.at("driver"), "driver 1");
    EXPECT_EQ(json.at("date"), "2025-01-31T12:00:00Z");
    EXPECT_EQ(json.at("seconds"), 21);
    EXPECT_EQ(json.size(), 8U);

    ASSERT_EQ(json.at("best").size(), 2U);
    EXPECT_EQ(json.at("best")[0].at("pixels"), 1000);
    const Json& best = json.at("best")[1];
    EXPECT_EQ(best.at("pixels"), 16 * kMi);
    EXPECT_EQ(best.at("kernel"), "lane-bins");
    EXPECT_EQ(best.at("copies"), 8);
    EXPECT_EQ(best.at("loads"), 4);
    EXPECT_EQ(best.at("group_size"), 1024);
    EXPECT_EQ(best.at("groups_per_unit"), 1);
    EXPECT_EQ(best.at("worst_ms"), 0.004);
    EXPECT_DOUBLE_EQ(best.at("gb_s").get<double>(), 16.777216 / 0.004);
    EXPECT_EQ(best.size(), 8U);

    ASSERT_EQ(json.at("trials").size(), 13U);
    const Json& trial = json.at("trials")[6];
    EXPECT_EQ(trial.at("pixels"), 16 * kMi);
    EXPECT_EQ(trial.at("kernel"), "lane-bins");
    EXPECT_EQ(trial.at("copies"), 8);
    EXPECT_EQ(trial.at("loads"), 4);
    EXPECT_EQ(trial.at("group_size"), 128);
    EXPECT_EQ(trial.at("groups_per_unit"), 8);
    EXPECT_EQ(trial.at("outcome"), "measured");
    EXPECT_EQ(trial.at("worst_ms"), 0.005);
    EXPECT_DOUBLE_EQ(trial.at("gb_s").get<double>(), 16.777216 / 0.005);
    EXPECT_EQ(trial.at("reason"), "");
    EXPECT_EQ(trial.size(), 10U);

    const Json& wrong = json.at("trials")[10];
    EXPECT_EQ(wrong.at("outcome"), "wrong");
    EXPECT_EQ(wrong.at("reason"), "3 of 256 bins wrong");
    EXPECT_TRUE(wrong.at("worst_ms").is_null());
    EXPECT_TRUE(wrong.at("gb_s").is_null());
    EXPECT_EQ(json.at("trials")[4].at("outcome"), "not tried");
    EXPECT_EQ(json.at("trials")[8].at("outcome"), "refused");
}

TEST(TuningJson, IsReadAsItWasWritten) {
    Tuning odd = small_tuning();
    odd.device = "NVIDIA \"H200\"\\µ\n";
    odd.seconds = 1.0 / 3;
    odd.trials[0].worst_ms = 1.0 / 7;
    odd.trials[1].worst_ms = std::numeric_limits<double>::denorm_min();
    odd.trials[2].worst_ms = std::numeric_limits<double>::max();
    odd.trials[3].pixels = std::uint64_t{1} << 32;
    odd.trials[5].choice = {"lane-bins", 32, 4, 1U << 20, 1U << 16};
    for (const Tuning& written : {small_tuning(), odd, Tuning{}}) {
        const std::string text = tuning::to_json_text(written);
        const Tuning read = tuning::from_json_text(text);
        expect_equal(read, written);
        EXPECT_EQ(tuning::to_json_text(read), text);
    }
}

// So that a person and `diff` can read it.
TEST(TuningJson, HasALineForEachTrial) {
    const std::string text = tuning::to_json_text(small_tuning());
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), (1 + 6) + (1 + 2 + 1) + (1 + 13 + 1) + 1)
        << text;
    EXPECT_TRUE(text.ends_with("]\n}\n"));
}

TEST(TuningJson, ADeviceMayCallItselfAnything) {
    Tuning odd = small_tuning();
    odd.device = "caf\xE9 \x01\n\xFF";
    odd.trials[8].reason = "\xFF";
    const Tuning read = tuning::from_json_text(tuning::to_json_text(odd));
    EXPECT_TRUE(read.device.starts_with("caf")) << read.device;
}

// What reading the JSON complains about, behind the words with which every complaint begins.
std::string complaint(const std::string& text) {
    const std::string begin = "not the result of a search: ";
    const std::string message = bad_input([&] { tuning::from_json_text(text); });
    EXPECT_TRUE(message.starts_with(begin)) << message;
    return message.substr(std::min(begin.size(), message.size()));
}

TEST(TuningJson, WhatIsNoJsonIsRefused) {
    for (const char* text :
         {"", "hello\nthere", "{", "[]", "null", "42", "\"x\"", "{}", "\xFF\xFE", "[[[[[[[["})
        EXPECT_FALSE(complaint(text).empty()) << text;
    EXPECT_FALSE(complaint(std::string(100'000, '[')).empty());
    EXPECT_FALSE(complaint(std::string(1000, '\0')).empty());
}

TEST(TuningJson, EveryPartOfAFileIsRefused) {
    Tuning one = small_tuning();
    one.trials.resize(2);
    const std::string text = tuning::to_json_text(one);
    for (std::size_t size = 0; size < text.size() - 2; ++size)
        complaint(text.substr(0, size));
}

TEST(TuningJson, EveryMissingFieldIsNamed) {
    const Json whole = Json::parse(tuning::to_json_text(small_tuning()));
    for (const char* field : {"format", "api", "device", "driver", "date", "seconds", "trials"}) {
        Json json = whole;
        json.erase(field);
        EXPECT_TRUE(has(complaint(json.dump()), field));
    }
    for (const char* field : {"pixels", "kernel", "copies", "loads", "group_size",
                              "groups_per_unit", "outcome", "worst_ms", "reason"}) {
        Json json = whole;
        json["trials"][12].erase(field);
        EXPECT_TRUE(has(complaint(json.dump()), field));
    }
}

// A field of the JSON with another value, in JSON.
struct Damage {
    const char* field;
    const char* value;
};

TEST(TuningJson, AbsurdValuesAreRefused) {
    const Json whole = Json::parse(tuning::to_json_text(small_tuning()));
    const std::vector<Damage> damages = {
        {"/format", "\"histogram-tutorials tuning 2\""},
        {"/format", "1"},
        {"/api", "null"},
        {"/device", "42"},
        {"/driver", "[]"},
        {"/date", "true"},
        {"/seconds", "-1"},
        {"/seconds", "\"21\""},
        {"/seconds", "null"},
        {"/seconds", "true"},
        {"/trials", "{}"},
        {"/trials", "null"},
        {"/trials/0", "null"},
        {"/trials/0", "[1, 2]"},
        {"/trials/0/kernel", "\"serial\""},
        {"/trials/0/kernel", "\"\""},
        {"/trials/0/kernel", "7"},
        {"/trials/0/copies", "2"},  // of local there is one
        {"/trials/5/copies", "0"},
        {"/trials/5/copies", "3"},
        {"/trials/5/copies", "64"},
        {"/trials/5/copies", "-8"},
        {"/trials/5/copies", "8.0"},
        {"/trials/5/copies", "true"},
        {"/trials/5/copies", "4294967297"},
        {"/trials/0/loads", "0"},
        {"/trials/0/loads", "5"},
        {"/trials/0/loads", "-1"},
        {"/trials/0/loads", "\"1\""},
        {"/trials/0/group_size", "0"},
        {"/trials/0/group_size", "1048577"},
        {"/trials/0/group_size", "18446744073709551616"},
        {"/trials/0/group_size", "-1"},
        {"/trials/0/groups_per_unit", "0"},
        {"/trials/0/groups_per_unit", "65537"},
        {"/trials/0/pixels", "0"},
        {"/trials/0/pixels", "4294967297"},
        {"/trials/0/pixels", "1e3"},
        {"/trials/0/worst_ms", "0"},
        {"/trials/0/worst_ms", "-0.5"},
        {"/trials/0/worst_ms", "null"},
        {"/trials/0/worst_ms", "true"},
        {"/trials/0/worst_ms", "\"fast\""},
        {"/trials/0/outcome", "\"fast\""},
        {"/trials/0/outcome", "0"},
        {"/trials/0/outcome", "\"refused\""},  // and yet there is a time
        {"/trials/8/worst_ms", "1"},
        {"/trials/8/outcome", "\"measured\""},
        {"/trials/0/reason", "null"},
    };
    for (const Damage& damage : damages) {
        SCOPED_TRACE(std::string(damage.field) + " = " + damage.value);
        Json json = whole;
        json.at(Json::json_pointer(damage.field)) = Json::parse(damage.value);
        complaint(json.dump());
    }
    std::string text = whole.dump();
    text.replace(text.find("21.0"), 4, "1e999");
    EXPECT_TRUE(has(complaint(text), "number"));
}

TEST(TuningJson, MoreTrialsThanASearchHasAreRefused) {
    Tuning many = small_tuning();
    many.trials.resize(10'000, many.trials.front());
    EXPECT_NO_THROW(tuning::from_json_text(tuning::to_json_text(many)));
    many.trials.push_back(many.trials.front());
    EXPECT_TRUE(has(complaint(tuning::to_json_text(many)), "10001 trials"));
}

// ---- what is kept -------------------------------------------------------------------------------

// A variable of the environment while the test runs.
class Environment {
 public:
    explicit Environment(const char* name) : name_(name) {
        if (const char* value = std::getenv(name)) before_ = value;
    }
    ~Environment() { before_ ? set(*before_) : unset(); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    void set(const std::string& value) const { setenv(name_, value.c_str(), 1); }
    void unset() const { unsetenv(name_); }

 private:
    const char* name_;
    std::optional<std::string> before_;
};

class Memory : public testing::Test {
 protected:
    Memory() { xdg_.set(folder_.path().string()); }

    [[nodiscard]] fs::path kept_in() const { return folder_ / "histogram-tutorials"; }

    // Keeps these bytes in place of a tuning; says with what warning they are passed over.
    std::string warning_about(const std::string& bytes) const {
        const fs::path file = tuning::memory_file(gpu());
        fs::create_directories(file.parent_path());
        tests::write_bytes(file, bytes);
        return warning();
    }
    // The warning with which what is kept is passed over.
    static std::string warning() {
        std::string text = said([] { EXPECT_FALSE(tuning::recall(gpu()).has_value()); });
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
        EXPECT_TRUE(text.starts_with("warning: the tuning in " +
                                     tuning::memory_file(gpu()).string() + " is passed over: "))
            << text;
        return text;
    }

    tests::TemporaryFolder folder_;
    Environment xdg_{"XDG_CACHE_HOME"};
    Environment home_{"HOME"};
};

TEST_F(Memory, IsAFileOfItsOwnForEachDeviceAndDriver) {
    // The hash is that of FNV-1a, 64 bits, of the three with zeros between them.
    EXPECT_EQ(tuning::memory_file(gpu()), kept_in() / "CUDA-Test-GPU-9000-a9d9a56e2dbf0dea.json");
    std::set<fs::path> files = {tuning::memory_file(gpu())};
    for (const char* device : {"Test GPU 9001", "Test_GPU_9000", "Test  GPU 9000", "", "../..",
                               "a/b", "caf\xE9", "\xFF\n"}) {
        Facts facts = gpu();
        facts.device = device;
        const fs::path file = tuning::memory_file(facts);
        EXPECT_TRUE(files.insert(file).second) << file;
        EXPECT_EQ(file.parent_path(), kept_in());
        EXPECT_EQ(file.extension(), ".json");
        for (const char c : file.stem().string())
            EXPECT_TRUE(c == '-' || std::isalnum(static_cast<unsigned char>(c))) << file;
    }
    Facts facts = gpu();
    facts.driver = "driver 2";
    EXPECT_TRUE(files.insert(tuning::memory_file(facts)).second);
    facts = gpu();
    facts.api = "OpenCL";
    EXPECT_TRUE(files.insert(tuning::memory_file(facts)).second);
    facts.device = std::string(5000, 'W');
    EXPECT_LT(tuning::memory_file(facts).filename().string().size(), 128U);
}

TEST_F(Memory, IsInTheHomeFolderWhereNoOtherIsNamed) {
    home_.set("/home/somebody");
#if defined(__APPLE__)
    const fs::path expected = "/home/somebody/Library/Caches/histogram-tutorials";
#else
    const fs::path expected = "/home/somebody/.cache/histogram-tutorials";
#endif
    xdg_.unset();
    EXPECT_EQ(tuning::memory_file(gpu()).parent_path(), expected);
    xdg_.set("");
    EXPECT_EQ(tuning::memory_file(gpu()).parent_path(), expected);
    xdg_.set("not/in/full");
    EXPECT_EQ(tuning::memory_file(gpu()).parent_path(), expected);
    xdg_.set("/somewhere");
    EXPECT_EQ(tuning::memory_file(gpu()).parent_path(), "/somewhere/histogram-tutorials");
}

TEST_F(Memory, WithoutAnyFolderKeepsNothing) {
    xdg_.unset();
    home_.unset();
    EXPECT_EQ(tuning::memory_file(gpu()), fs::path());
    EXPECT_EQ(said([] { EXPECT_FALSE(tuning::recall(gpu()).has_value()); }), "");
    EXPECT_TRUE(has(bad_input([] { tuning::remember(gpu(), small_tuning()); }), "XDG_CACHE_HOME"));
}

TEST_F(Memory, GivesBackWhatItWasGiven) {
    xdg_.set((folder_ / "new").string());  // is not there yet
    EXPECT_EQ(said([] { EXPECT_FALSE(tuning::recall(gpu()).has_value()); }), "");
    const fs::path file = tuning::remember(gpu(), small_tuning());
    EXPECT_EQ(file, tuning::memory_file(gpu()));
    EXPECT_EQ(tests::bytes_of(file), tuning::to_json_text(small_tuning()));
    const std::optional<Tuning> read = tuning::recall(gpu());
    ASSERT_TRUE(read.has_value());
    expect_equal(*read, small_tuning());
    Facts other = gpu();
    other.driver = "driver 2";
    EXPECT_EQ(said([&] { EXPECT_FALSE(tuning::recall(other).has_value()); }), "");
}

// --tune with a device on which nothing takes time but waiting for `pause`.
void tune_waiting(const Facts& facts, const tuning::TestPictures& pictures, double seconds,
                  std::chrono::milliseconds pause) {
    Arguments arguments;
    arguments.tune = true;
    arguments.seconds = seconds;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = tuning::run(arguments, facts, pictures,
                                   [&](const Choice&, std::size_t which,
                                       std::span<const Picture> parts, common::Histogram& result) {
                                       std::this_thread::sleep_for(pause);
                                       result = pictures[which].expected(parts.back().count);
                                       return 1.0;
                                   });
    testing::internal::GetCapturedStderr();
    const std::string text = testing::internal::GetCapturedStdout();
    EXPECT_EQ(status, 0);
    EXPECT_EQ(has(text, "were not tried: --seconds gives"), has(text, " not tried in ")) << text;
}

TEST_F(Memory, ASearchWithoutTimeDoesNotReplaceAnother) {
    Facts facts = cpu();
    facts.kernels = {"item-bins"};
    const tuning::TestPictures pictures = tuning::test_pictures(facts);
    const auto measured_in_memory = [&] {
        const std::optional<Tuning> kept = tuning::recall(facts);
        return kept ? kept->count(Outcome::kMeasured) : 0U;
    };
    using std::chrono::milliseconds;
    tune_waiting(facts, pictures, 0.1, milliseconds(5));  // there is none: any is kept
    const std::size_t first = measured_in_memory();
    EXPECT_GT(first, 0U);
    EXPECT_LT(first, 16U);
    tune_waiting(facts, pictures, 60, milliseconds(0));
    EXPECT_EQ(measured_in_memory(), 32U);
    tune_waiting(facts, pictures, 0.1, milliseconds(5));
    EXPECT_EQ(measured_in_memory(), 32U);
    tune_waiting(facts, pictures, 60, milliseconds(0));
    EXPECT_EQ(measured_in_memory(), 32U);
}

TEST_F(Memory, KeepsTheLastOne) {
    tuning::remember(gpu(), small_tuning());
    Tuning later = small_tuning();
    later.seconds = 99;
    const fs::path file = tuning::remember(gpu(), later);
    ASSERT_TRUE(tuning::recall(gpu()).has_value());
    EXPECT_EQ(tuning::recall(gpu())->seconds, 99);
    EXPECT_EQ(std::distance(fs::directory_iterator(kept_in()), {}), 1);
    EXPECT_EQ(fs::directory_iterator(kept_in())->path(), file);
}

TEST_F(Memory, KnowsADeviceOfAnyName) {
    Facts odd = gpu();
    odd.device = "caf\xE9 \x01\n\xFF";
    Tuning result = small_tuning();
    result.device = odd.device;
    tuning::remember(odd, result);
    EXPECT_EQ(said([&] { EXPECT_TRUE(tuning::recall(odd).has_value()); }), "");
}

TEST_F(Memory, WhereItCannotBeWrittenIsSaid) {
    tests::write_bytes(kept_in(), "a file in place of the folder");
    const std::string text = bad_input([] { tuning::remember(gpu(), small_tuning()); });
    EXPECT_TRUE(has(text, "cannot create " + kept_in().string() + ": "));
    EXPECT_EQ(tests::bytes_of(kept_in()), "a file in place of the folder");
    EXPECT_EQ(said([] { EXPECT_FALSE(tuning::recall(gpu()).has_value()); }), "");
}

TEST_F(Memory, AFolderWithoutPermissionIsSaid) {
    if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    fs::create_directory(kept_in());
    fs::permissions(kept_in(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_TRUE(has(bad_input([] { tuning::remember(gpu(), small_tuning()); }),
                    "cannot write " + tuning::memory_file(gpu()).string()));
}

TEST_F(Memory, ADamagedFileIsPassedOver) {
    const std::string whole = tuning::to_json_text(small_tuning());
    warning_about("");
    warning_about("not JSON\nat all\n");
    warning_about(whole.substr(0, whole.size() / 2));
    warning_about(std::string(whole.size(), '\0'));
    Json json = Json::parse(whole);
    json["trials"][5]["group_size"] = 0;
    EXPECT_TRUE(
        has(warning_about(json.dump()), "group_size is 0, not a whole number from 1 to 1048576\n"));
    json = Json::parse(whole);
    json["trials"][0]["kernel"] = "\x1B[2J\n";  // must not reach the terminal as it is
    EXPECT_TRUE(has(warning_about(json.dump()), "\"\\u001b[2J\\n\" is no kernel\n"));
}

TEST_F(Memory, AForeignFileIsPassedOver) {
    for (std::string Tuning::*field : {&Tuning::api, &Tuning::device, &Tuning::driver}) {
        Tuning foreign = small_tuning();
        foreign.*field += "X";
        EXPECT_TRUE(has(warning_about(tuning::to_json_text(foreign)),
                        "it belongs to another device or driver\n"));
    }
}

TEST_F(Memory, WhatIsNoFileOrTooLargeIsPassedOver) {
    const fs::path file = tuning::memory_file(gpu());
    fs::create_directories(file);  // a folder of that name
    EXPECT_TRUE(has(warning(), "it is no regular file\n"));
    fs::remove(file);
    tests::write_bytes(file, "{");
    fs::resize_file(file, (16U << 20) + 1);
    EXPECT_TRUE(has(warning(), "it is too large\n"));
}

}  // namespace
