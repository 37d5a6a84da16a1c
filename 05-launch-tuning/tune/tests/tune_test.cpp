// The search and what is kept of it, without a device. No test looks at the real clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "05-launch-tuning/tune/choice.hpp"
#include "05-launch-tuning/tune/found.hpp"
#include "05-launch-tuning/tune/heat_map.hpp"
#include "05-launch-tuning/tune/program.hpp"
#include "05-launch-tuning/tune/search.hpp"
#include "common/histogram/histogram.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"
#include "common/tests/support.hpp"

namespace {

namespace fs = std::filesystem;

using namespace tuning;
using tests::bad_input;
using tests::bytes_of;
using tests::has;
using tests::said;
using Json = nlohmann::ordered_json;
using Kernels = std::vector<const Kernel*>;

const Kernel *const local = &kLocal, *const lane = &kLaneBins;
const Kernel *const uchar = &kUcharBins, *const item = &kItemBins;

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = 1024 * kKi;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Facts gpu(std::uint64_t local_bytes = 227 * kKi, std::size_t max_group_size = 1024,
          const Kernels& kernels = {local, lane, uchar}) {
    return {"CUDA", "Test GPU 9000", "driver 1", false, 100, max_group_size, local_bytes, kernels};
}

Facts cpu(std::uint64_t local_bytes = 512 * kKi, std::size_t max_group_size = 4096,
          const Kernels& kernels = all_kernels()) {
    return {"OpenCL", "Test CPU", "driver 2", true, 8, max_group_size, local_bytes, kernels};
}

// The GPU with one thing changed.
template <typename T>
Facts gpu_with(T Facts::*fact, const T& value) {
    Facts facts = gpu();
    facts.*fact = value;
    return facts;
}

Trial measured(const Choice& choice, std::uint64_t pixels, double ms) {
    return {choice, pixels, Outcome::kMeasured, ms, ""};
}

Trial failed(const Choice& choice, std::uint64_t pixels, Outcome outcome,
             const std::string& reason) {
    return {choice, pixels, outcome, 0, reason};
}

// Everything that can happen, and a kernel in other groups than the rest.
Tuning small_tuning() {
    const std::uint64_t pixels = 16 * kMi;
    return {"CUDA",
            "Test GPU 9000",
            "driver 1",
            "2025-01-31T12:00:00Z",
            21,
            {measured({local, 1, 1, 128, 1}, pixels, 0.08),  // 5 %
             measured({local, 1, 2, 128, 1}, pixels, 0.04),  // 10 %, the better of the two loads
             measured({local, 1, 1, 128, 8}, pixels, 0.0134),
             measured({local, 1, 1, 1024, 1}, pixels, 0.01),
             failed({local, 1, 1, 1024, 8}, pixels, Outcome::kNotTried, ""),
             measured({lane, 8, 4, 128, 1}, pixels, 0.008),
             measured({lane, 8, 4, 128, 8}, pixels, 0.005),
             measured({lane, 8, 4, 1024, 1}, pixels, 0.004),
             failed({lane, 8, 4, 1024, 8}, pixels, Outcome::kRefused, "too large"),
             measured({uchar, 1, 1, 32, 1}, pixels, 0.4),
             failed({uchar, 1, 1, 64, 1}, pixels, Outcome::kWrong, "3 of 256 bins wrong"),
             measured({local, 1, 1, 64, 1}, 1000, 0.001),
             failed({lane, 1, 1, 64, 1}, 1000, Outcome::kRefused, "too large")}};
}

// Of these trials, on the same device.
Tuning tuning_of(const std::vector<Trial>& trials) {
    Tuning tuning = small_tuning();
    tuning.trials = trials;
    return tuning;
}

// ---- choices ------------------------------------------------------------------------------------

TEST(Kernels, AreEachKnownByTheirName) {
    std::vector<std::string> names;
    for (const Kernel* kernel : all_kernels()) {
        names.push_back(kernel->name);
        EXPECT_EQ(kernel_named(kernel->name), kernel);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"local", "lane-bins", "uchar-bins", "item-bins"}));
    EXPECT_EQ(kernel_named("serial"), nullptr);
    EXPECT_EQ(kernel_named(""), nullptr);
}

TEST(Choices, AreSaidInWordsNeedLocalMemoryAndHaveWork) {
    struct Case {
        Choice choice;
        std::string kernel, launch;
        std::uint64_t local_bytes;
        std::uint64_t pixels;  // for two groups
    };
    const std::vector<Case> cases = {
        {{lane, 32, 4, 1024, 8},
         "lane-bins, 32 copies",
         "4 loads, groups of 1024",
         32 * kKi,
         65536},
        {{lane, 1, 1, 64, 8}, "lane-bins, 1 copy", "1 load, groups of 64", kKi, 1024},
        {{local, 1, 2, 256, 8}, "local", "2 loads, groups of 256", kKi, 512},
        {{uchar, 1, 1, 128, 8}, "uchar-bins", "1 load, groups of 128", 33 * kKi, 32640},
        {{item, 1, 3, 1, 8}, "item-bins", "3 loads, groups of 1", 8448, 12288},
        {{item, 1, 1, 3, 8}, "item-bins", "1 load, groups of 3", 25344, 12288}};
    for (const Case& c : cases) {
        EXPECT_EQ(c.choice.kernel_text(), c.kernel);
        EXPECT_EQ(c.choice.text(), c.kernel + ", " + c.launch + ", 8 for each unit");
        EXPECT_EQ(c.choice.local_bytes(), c.local_bytes);
        EXPECT_EQ(groups_of(c.choice, gpu(), c.pixels), 1U);
        EXPECT_EQ(groups_of(c.choice, gpu(), c.pixels + 1), 2U);
        EXPECT_EQ(groups_of(c.choice, gpu(), 0), 1U);
        EXPECT_EQ(groups_of(c.choice, gpu(), std::uint64_t{1} << 40), 800U);
    }
    EXPECT_EQ((Choice{lane, 32, 4, 512, 2}.launch_text(264)),
              "lane-bins, 32 copies, 4 loads, 264 groups of 512");
    EXPECT_EQ((Choice{local, 1, 1, 64, 8}.launch_text(1)), "local, 1 load, 1 group of 64");
}

TEST(Choices, SizesAreNeverRounded) {
    EXPECT_EQ(size_text(16 * kMi), "16 Mi pixels");
    EXPECT_EQ(size_text(256 * kKi), "256 Ki pixels");
    EXPECT_EQ(size_text(kMi + kKi), "1025 Ki pixels");
    EXPECT_EQ(size_text(1025), "1025 pixels");
    EXPECT_EQ(size_text(0), "0 pixels");
}

TEST(Choices, ObjectionsAreToWhatTheFactsRuleOut) {
    const Choice choice{lane, 32, 1, 1024, 1};
    const std::vector<std::pair<Facts, std::string>> cases = {
        {gpu(32 * kKi), ""},  // just enough
        {gpu(32 * kKi - 1), "32768 bytes of local memory: this device has 32767"},
        {gpu(1, 1023), "groups of 1024: this device runs at most 1023"},
        {gpu(1, 1, {local}), "this program has no kernel 'lane-bins'"}};
    for (const auto& [facts, text] : cases)
        EXPECT_EQ(objection(choice, facts), text);
    EXPECT_EQ(objection({item, 1, 1, 2, 1}, cpu()), "groups of 2: item-bins takes at most 1");
    EXPECT_EQ(objection({item, 1, 1, 1, 1}, cpu()), "");
}

TEST(Candidates, AreEveryKernelOfTheProgramInEveryLaunch) {
    using Counts = std::map<const Kernel*, int>;
    const std::vector<std::pair<Facts, Counts>> cases = {
        {gpu(), {{local, 64}, {lane, 6 * 64}, {uchar, 12}}},
        {cpu(), {{local, 16}, {lane, 6 * 16}, {uchar, 6}, {item, 16}}},
        {cpu(kMi, 4096, {item, local}), {{local, 16}, {item, 16}}},
        {gpu(kMi, 1024, {item}), {}},  // for CPUs only
        {gpu(kMi, 1024, {}), {}},
        // A device that takes less has no fewer: the search counts them as refused.
        {gpu(kKi, 64), {{local, 64}, {lane, 6 * 64}, {uchar, 12}}}};
    for (const auto& [facts, expected] : cases) {
        Counts counts;
        std::set<std::string> seen, kernels;
        std::string last;
        Tuning all;
        for (const Choice& choice : candidates(facts)) {
            ++counts[choice.kernel];
            EXPECT_TRUE(seen.insert(choice.text()).second) << choice.text() << " is there twice";
            // Those of one kernel and number of copies are one after the other.
            const std::string kernel = choice.kernel_text();
            EXPECT_TRUE(kernel == last || kernels.insert(kernel).second) << kernel;
            last = kernel;
            all.trials.push_back(measured(choice, 1, 1));
        }
        EXPECT_EQ(counts, expected);
        EXPECT_NO_THROW(from_json_text(to_json_text(all)));
    }
}

TEST(TunedSizes, AscendAndFitThePicture) {
    using Sizes = std::vector<std::uint64_t>;
    const Sizes all{256 * kKi, kMi, 2 * kMi, 4 * kMi, 16 * kMi, 128 * kMi, 1024 * kMi};
    EXPECT_EQ(tuned_sizes(gpu()), all);
    EXPECT_EQ(tuned_sizes(gpu_with(&Facts::picture_bytes, 128 * kMi)),
              Sizes(all.begin(), all.end() - 1));
    EXPECT_EQ(tuned_sizes(gpu_with(&Facts::picture_bytes, std::uint64_t{1})),
              Sizes{256 * kKi});  // always one
    EXPECT_EQ(tuned_sizes(cpu()), (Sizes{256 * kKi, 8 * kMi}));
}

TEST(DefaultChoice, IsSoundWithoutMeasuring) {
    struct Case {
        Facts facts;
        std::uint64_t pixels;
        Choice choice;
    };
    const std::vector<Case> cases = {{gpu(), 8 * kMi, {lane, 32, 3, 1024, 1}},
                                     {gpu(), 8 * kMi - 1, {lane, 32, 1, 1024, 1}},
                                     {gpu(), 0, {lane, 32, 1, 1024, 1}},
                                     {gpu(31 * kKi), 256 * kMi, {lane, 16, 3, 1024, 1}},
                                     {gpu(kKi, 300), 256 * kMi, {lane, 1, 3, 300, 1}},
                                     {cpu(), 1, {item, 1, 3, 1, 1}},
                                     {cpu(), 256 * kMi, {item, 1, 3, 1, 1}},
                                     {cpu(8 * kKi - 1), 1, {lane, 4, 3, 256, 1}},
                                     {cpu(kMi, 1, {local, lane}), 1, {lane, 32, 3, 1, 1}},
                                     // The first that fits, where nothing else does.
                                     {gpu(kMi, 32, {local, uchar}), kMi, {uchar, 1, 1, 32, 1}},
                                     // None: to launch it will say why.
                                     {gpu(0, 32), kMi, {lane, 1, 1, 1, 1}}};
    for (const Case& c : cases) {
        const Choice choice = default_choice(c.facts, c.pixels);
        EXPECT_EQ(choice, c.choice) << &c - &cases[0] << ": " << choice.text();
    }
    EXPECT_EQ(usual_choice(kUcharBins, gpu()), (Choice{uchar, 1, 1, 128, 1}));
    EXPECT_EQ(usual_choice(kLocal, cpu()), (Choice{local, 1, 3, 256, 1}));
    for (const Facts& facts : {gpu(), cpu()}) {
        const std::vector<Choice> all = candidates(facts);
        for (const std::uint64_t pixels : tuned_sizes(facts))
            EXPECT_EQ(std::count(all.begin(), all.end(), default_choice(facts, pixels)), 1);
    }
}

TEST(Choose, TakesTheBestOfTheNearestSizeThatTheProgramAndTheDeviceHave) {
    const Choice small{local, 1, 1, 128, 1}, slower{lane, 1, 1, 128, 1}, large{lane, 32, 2, 512, 2};
    const Tuning known = tuning_of(
        {measured(slower, kMi, 2), measured(small, kMi, 1), measured(large, 16 * kMi, 1)});
    const Tuning nothing = tuning_of({failed(small, 16 * kMi, Outcome::kWrong, "x")});
    const std::uint64_t gi = 1024 * kMi;
    struct Case {
        std::optional<Tuning> known;
        Facts facts;
        std::uint64_t pixels;
        Choice choice;
    };
    const std::vector<Case> cases = {
        {known, gpu(), 0, small},
        {known, gpu(), 1, small},
        {known, gpu(), 4 * kMi - 1, small},  // nearer by ratio, to 4 Mi
        {known, gpu(), 4 * kMi + 1, large},
        {known, gpu(), 4 * gi, large},
        {known, gpu(kMi, 1024, {lane}), 1, slower},
        {known, gpu(kMi, 256), gi, small},                // the next nearest
        {known, gpu(kMi, 64), gi, {lane, 32, 3, 64, 1}},  // the default
        {std::nullopt, gpu(), gi, default_choice(gpu(), gi)},
        {Tuning{}, gpu(), gi, default_choice(gpu(), gi)},
        {nothing, gpu(), gi, default_choice(gpu(), gi)}};
    for (const Case& c : cases)
        EXPECT_EQ(choose(c.known, c.facts, c.pixels), c.choice) << &c - &cases[0];
}

// ---- the search ---------------------------------------------------------------------------------

// The clock: the test moves it on, and it did not begin at zero.
struct Time {
    double now_s = 1000;
};

Tuning quiet(const Facts& facts, const Measure& measure, double budget_s = 60,
             const Time& time = {}, std::string* said = nullptr) {
    Tuning found;
    const std::string text =
        tests::said([&] { found = search(facts, budget_s, measure, [&] { return time.now_s; }); });
    if (said != nullptr) *said = text;
    return found;
}

TEST(Search, FindsWhatIsPlanted) {
    const Choice small{uchar, 1, 1, 64, 8}, middle{lane, 8, 4, 512, 2}, large{local, 1, 3, 256, 1};
    const auto planted = [&](std::uint64_t pixels) {
        return pixels == 256 * kKi ? small : pixels == 1024 * kMi ? large : middle;
    };
    // A launch takes the longer the more it differs from the one that is planted.
    const Tuning found = quiet(gpu(), [&](const Choice& choice, std::uint64_t pixels, double) {
        const Choice best = planted(pixels);
        const auto apart = [](auto a, auto b) {
            return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
        };
        return 1 + (choice.kernel == best.kernel ? 0 : 3) + apart(choice.copies, best.copies) +
               apart(choice.loads, best.loads) + apart(choice.group_size, best.group_size) +
               apart(choice.groups_per_unit, best.groups_per_unit);
    });
    EXPECT_EQ(found.api + found.device + found.driver, "CUDATest GPU 9000driver 1");
    EXPECT_EQ(found.sizes(), tuned_sizes(gpu()));
    EXPECT_EQ(found.trials.size(), 7 * candidates(gpu()).size());
    EXPECT_EQ(found.count(Outcome::kMeasured), found.trials.size());
    for (const std::uint64_t pixels : found.sizes()) {
        ASSERT_NE(found.best(pixels), nullptr);
        EXPECT_EQ(found.best(pixels)->choice, planted(pixels));
        EXPECT_EQ(found.best(pixels)->worst_ms, 1);
    }
    std::string shape = found.date;
    std::replace_if(
        shape.begin(), shape.end(), [](char c) { return c >= '0' && c <= '9'; }, '0');
    EXPECT_EQ(shape, "0000-00-00T00:00:00Z") << found.date;
}

TEST(Search, KeepsTheOrderOfTheCandidatesAndMeasuresTheBestAgainInTurns) {
    std::vector<std::pair<std::uint64_t, Choice>> calls;
    const auto is_best = [](const Choice& c) { return c.kernel == local && c.loads <= 3; };
    const Tuning found = quiet(cpu(), [&](const Choice& choice, std::uint64_t pixels, double) {
        calls.emplace_back(pixels, choice);
        return is_best(choice) ? 1.0 : 2.0;
    });
    const std::vector<Choice> all = candidates(cpu());
    ASSERT_EQ(found.trials.size(), 2 * all.size());
    for (std::size_t i = 0; i < found.trials.size(); ++i) {
        EXPECT_EQ(found.trials[i].choice, all[i % all.size()]);
        EXPECT_EQ(found.trials[i].pixels, tuned_sizes(cpu())[i / all.size()]);
    }
    // Twelve are the best of each size, and each has nine turns.
    constexpr std::size_t kOfEachSize = std::size_t{9} * 12;
    ASSERT_EQ(calls.size(), found.trials.size() + 2 * kOfEachSize);
    for (std::size_t i = found.trials.size(); i < calls.size(); ++i) {
        const std::size_t final = i - found.trials.size();
        EXPECT_EQ(calls[i].first, tuned_sizes(cpu())[final / kOfEachSize]);
        EXPECT_TRUE(is_best(calls[i].second));
        EXPECT_TRUE(final % kOfEachSize < 12 || calls[i] == calls[i - 12]) << final;
    }
}

TEST(Search, NeitherGoodNorBadLuckDecides) {
    const Choice lucky{local, 1, 1, 64, 1}, steady{local, 1, 2, 64, 1};
    std::map<std::pair<std::uint64_t, unsigned>, int> calls;
    const Tuning found =
        quiet(cpu(), [&](const Choice& choice, std::uint64_t pixels, double) -> double {
            const int call = ++calls[{pixels, choice.loads}];
            if (choice == lucky) return calls[{pixels, 100}]++ % 5 == 0 ? 0.5 : 3;
            if (choice == steady) return calls[{pixels, 200}]++ % 4 == 1 ? 50 : 1;
            return call > 0 ? 2 : 0;
        });
    for (const std::uint64_t pixels : found.sizes()) {
        EXPECT_EQ(found.best(pixels)->choice, steady);
        EXPECT_EQ(found.best(pixels)->worst_ms, 1);
    }
}

TEST(Search, BeginsWithTheDefaultOfEachSizeAndSaysWhatIsHopeless) {
    const std::vector<std::uint64_t> sizes = tuned_sizes(gpu());
    std::map<std::uint64_t, double> best;
    std::size_t calls = 0, with_a_limit = 0;
    quiet(gpu(), [&](const Choice& choice, std::uint64_t pixels, double hopeless_ms) {
        const double ms =
            10 + static_cast<double>((choice.loads * std::size_t{7} + choice.group_size) % 5) -
            (choice.copies == 8 ? 6 : 0);
        if (calls < sizes.size()) {
            EXPECT_EQ(pixels, sizes[calls]);
            EXPECT_EQ(choice, default_choice(gpu(), pixels));
            EXPECT_EQ(hopeless_ms, kNever);
            best[pixels] = ms;
        } else if (hopeless_ms < kNever) {
            ++with_a_limit;
            EXPECT_EQ(hopeless_ms, 4 * best[pixels]);
            best[pixels] = std::min(best[pixels], ms);
        }
        ++calls;
        return ms;
    });
    // All but the defaults and the finals.
    EXPECT_EQ(with_a_limit, sizes.size() * (candidates(gpu()).size() - 1));
    EXPECT_EQ(calls, with_a_limit + sizes.size() * (1 + 12 * 9));
}

// Whatever part of the launches there is time for, it must not be one corner of them; and what is
// compiled once is run one after the other.
TEST(Search, WhateverItHasTimeForIsAFairSample) {
    std::vector<Choice> order;
    quiet(gpu(), [&](const Choice& choice, std::uint64_t pixels, double) {
        if (pixels == 16 * kMi) order.push_back(choice);
        return 1.0;
    });
    const std::vector<Choice> all = candidates(gpu());
    const auto shares_of = [](std::span<const Choice> choices) {
        std::map<std::string, double> shares;
        for (const Choice& choice : choices) {
            for (const std::string& kind :
                 {choice.kernel_text(), "loads " + std::to_string(choice.loads),
                  "groups of " + std::to_string(choice.group_size),
                  "groups " + std::to_string(choice.groups_per_unit)})
                shares[kind] += 1 / static_cast<double>(choices.size());
        }
        return shares;
    };
    for (const std::size_t part : {all.size() / 4, all.size() / 2}) {
        std::map<std::string, double> sample = shares_of(std::span(order).subspan(1, part));
        for (const auto& [kind, share] : shares_of(all)) {
            if (share < 0.05) continue;  // a kernel with few launches
            EXPECT_GT(sample[kind], 0.5 * share) << kind << " of " << part;
            EXPECT_LT(sample[kind], 1.5 * share) << kind << " of " << part;
        }
    }
    std::set<std::string> builds;
    std::string last;
    for (Choice choice : std::span(order).subspan(1, all.size() - 1)) {
        choice.groups_per_unit = 1;
        EXPECT_TRUE(choice.text() == last || builds.insert(choice.text()).second);
        last = choice.text();
    }
}

TEST(Search, CountsWhatIsRefusedOrTakesNoTimeAndGoesOn) {
    for (const double none : {0.0, -1.0, kNaN, kNever, 7.0}) {
        const Tuning found =
            quiet(cpu(), [&](const Choice& choice, std::uint64_t, double) -> double {
                if (choice.kernel != lane) return 5;
                if (none == 7) throw Refused("not\ntoday");
                return none;
            });
        EXPECT_EQ(found.count(Outcome::kRefused), 2U * 96);
        EXPECT_EQ(found.count(Outcome::kMeasured), 2U * (16 + 6 + 16));
        EXPECT_EQ(found.best(256 * kKi)->worst_ms, 5);
        for (const Trial& trial : found.trials) {
            const bool refused = trial.choice.kernel == lane;
            EXPECT_TRUE(none != 7 || trial.reason == (refused ? "not" : "")) << trial.reason;
            EXPECT_EQ(trial.gb_s() > 0, !refused);
        }
    }
}

TEST(Search, DoesNotMeasureWhatTheFactsRuleOut) {
    const Facts small = gpu(16 * kKi, 256);
    for (const double budget_s : {60.0, 0.0, -1.0, kNaN}) {
        const Tuning found = quiet(
            small,
            [&](const Choice& choice, std::uint64_t, double) {
                EXPECT_GT(budget_s, 0) << "measured without time";
                EXPECT_EQ(objection(choice, small), "");
                return 1.0;
            },
            budget_s);
        const Outcome others = budget_s > 0 ? Outcome::kMeasured : Outcome::kNotTried;
        for (const Trial& trial : found.trials) {
            EXPECT_EQ(trial.reason, objection(trial.choice, small));
            EXPECT_EQ(trial.outcome, trial.reason.empty() ? others : Outcome::kRefused);
        }
        EXPECT_GT(found.count(Outcome::kRefused), 0U);
        EXPECT_GT(found.count(others), 0U);
        EXPECT_EQ(found.best(256 * kKi) == nullptr, others == Outcome::kNotTried);
    }
}

TEST(Search, NeverTakesAWrongOneForTheBest) {
    // At once, and when it has been the fastest for a while: whatever comes later.
    for (const int wrong_call : {1, 4}) {
        const Choice wrong{local, 1, 4, 64, 1};
        std::map<std::uint64_t, int> calls;
        std::string text;
        const auto measure = [&](const Choice& choice, std::uint64_t pixels, double) -> double {
            if (choice != wrong) return choice.kernel == uchar ? 1 : 2;
            if (++calls[pixels] == wrong_call) throw Wrong("3 bins\nwrong");
            return 0.5;
        };
        const Tuning found = quiet(cpu(), measure, 60, {}, &text);
        EXPECT_EQ(found.count(Outcome::kWrong), 2U);
        for (const std::uint64_t pixels : found.sizes()) {
            EXPECT_EQ(calls[pixels], wrong_call);
            EXPECT_EQ(found.best(pixels)->choice.kernel, uchar);
            EXPECT_TRUE(has(text, "  WRONG: local, 4 loads, groups of 64, 1 for each unit, at " +
                                      size_text(pixels) + ": 3 bins\n"));
        }
        for (const Trial& trial : found.trials)
            EXPECT_EQ(trial.gb_s() > 0, trial.choice != wrong);
    }
}

TEST(Search, OtherErrorsEndIt) {
    const auto gone = [](const Choice&, std::uint64_t, double) -> double {
        throw std::runtime_error("the device is gone");
    };
    EXPECT_THROW(quiet(cpu(), gone), std::runtime_error);
}

TEST(Search, BeginsNothingAfterItsTimeAndLeavesSomeForTheFinals) {
    Time time;
    std::size_t calls = 0;
    const auto measure = [&](const Choice&, std::uint64_t, double) {
        ++calls;
        time.now_s += 1;
        return 1.0;
    };
    const Tuning found = quiet(gpu(), measure, 100, time);
    EXPECT_EQ(calls, 100U);
    EXPECT_EQ(found.count(Outcome::kMeasured), 90U);
    EXPECT_EQ(found.count(Outcome::kNotTried), found.trials.size() - 90);
    EXPECT_EQ(found.seconds, 100);
}

TEST(Search, SaysHowFarItIsEveryTwoSeconds) {
    const auto lines = [&](double each_s) {
        Time time;
        std::string text;
        const auto measure = [&](const Choice&, std::uint64_t pixels, double) -> double {
            time.now_s += each_s;
            if (pixels > kMi) throw Refused("no");
            return static_cast<double>(pixels) / 4e6;
        };
        quiet(cpu(kMi, 4096, {uchar}), measure, 1000, time, &text);
        return text;
    };
    const std::string rates = " of 6 launches; the best of each size so far: 4.00, - GB/s\n";
    EXPECT_EQ(lines(0), "  2" + rates);
    EXPECT_EQ(lines(0.25), "  2" + rates + "  6" + rates);
    EXPECT_EQ(lines(1), "  2" + rates + "  4" + rates + "  6" + rates);
}

// ---- one choice on the test pictures ------------------------------------------------------------

// Those of a GPU with pictures small enough for a test: up to 16 Mi pixels.
const TestPictures& pictures() {
    static const TestPictures all = test_pictures(gpu_with(&Facts::picture_bytes, 16 * kMi));
    return all;
}

TEST(TestPictures, AreThreeWhosePartsAreKnown) {
    constexpr std::uint64_t kPeriod = TestPicture::kPeriod;
    for (const TestPicture& picture : pictures()) {
        EXPECT_EQ(picture.pixels.size(), 16 * kMi);
        const std::vector<Stretch> stretches = {
            {0, 0}, {0, kPeriod},       {3, kPeriod - 8},  {3, kPeriod},     {kPeriod - 1, 2},
            {5, 1}, {2 * kPeriod, kMi}, {16 * kMi - 7, 7}, {3, 16 * kMi - 8}};
        for (const auto& [first, count] : stretches)
            EXPECT_EQ(picture.expected({first, count}),
                      common::reference_histogram({&picture.pixels[first], count}))
                << first << ", " << count;
    }
    const auto& [random, equal, ramp] = pictures();
    EXPECT_EQ(equal.of_a_period[127], kPeriod);
    for (const std::uint32_t bin : ramp.of_a_period)
        EXPECT_EQ(bin, kPeriod / 256);
    EXPECT_EQ(ramp.pixels[1], ramp.pixels[0] + 1);
    EXPECT_GT(*std::min_element(random.of_a_period.begin(), random.of_a_period.end()), 0U);
    EXPECT_NE(random.of_a_period, ramp.of_a_period);
}

// Counts on the CPU in a time of its own, and notes what it was given.
class Device {
 public:
    explicit Device(std::vector<double> times_ms, std::size_t wrong_picture = 9)
        : times_ms_(std::move(times_ms)), wrong_picture_(wrong_picture) {}

    Measure measure() {
        return measure_on(pictures(),
                          [this](const Choice&, std::size_t which, std::span<const Stretch> parts,
                                 common::Histogram& result) {
                              for (const Stretch& part : parts)
                                  stretches.emplace_back(which, part.first);
                              in_a_row.push_back(parts.size());
                              result = pictures()[which].expected(parts.back());
                              if (which == wrong_picture_) ++result[127];
                              return times_ms_[which] * static_cast<double>(parts.size());
                          });
    }

    std::vector<std::pair<std::size_t, std::uint64_t>> stretches;  // picture, first pixel
    std::vector<std::size_t> in_a_row;                             // launches of each run

 private:
    std::vector<double> times_ms_;  // of a launch, by picture
    std::size_t wrong_picture_;
};

TEST(MeasureOn, TheSlowestPictureCountsAndAWrongOneIsWrong) {
    for (const std::vector<double>& times_ms :
         {std::vector<double>{3, 1, 2}, {1, 3, 2}, {1, 2, 3}}) {
        Device device(times_ms);
        EXPECT_EQ(device.measure()({}, 256 * kKi, 100), 3.0);
    }
    for (const std::size_t bad : {0U, 1U, 2U}) {
        Device device({1, 1, 1}, bad);
        try {
            device.measure()({}, 256 * kKi, 100);
            ADD_FAILURE() << "picture " << bad << " is not wrong";
        } catch (const Wrong& error) {
            EXPECT_STREQ(error.what(), "1 of 256 bins wrong");
        }
    }
}

TEST(MeasureOn, NoRunCountsWhatTheOneBeforeHasCounted) {
    for (const double each_ms : {1.0, 0.001}) {
        Device device({each_ms, each_ms, each_ms});
        const Measure measure = device.measure();
        // Also from one choice to the next, of which the pictures hold 64 parts.
        for (int choice = 0; choice < 4; ++choice)
            measure({}, 256 * kKi, 100);
        std::erase_if(device.stretches, [](const auto& run) { return run.second == 3; });
        ASSERT_GE(device.stretches.size(), 60U);
        for (std::size_t i = 1; i < device.stretches.size(); ++i) {
            EXPECT_EQ(device.stretches[i].second,
                      (device.stretches[i - 1].second + 256 * kKi) % (16 * kMi));
        }
        device.stretches.clear();
        measure({}, 16 * kMi, 100);  // all of it is one part
        for (const auto& [which, first] : device.stretches)
            EXPECT_TRUE(first == 0 || first == 3) << first;
    }
}

TEST(MeasureOn, ShortLaunchesFollowEachOtherAndHopelessOnesAreNotRepeated) {
    struct Case {
        double one_ms, hopeless_ms;
        std::vector<std::size_t> in_a_row;  // to warm up, to see how long it takes, and timed
    };
    const std::vector<Case> cases = {{10, 100, {1, 1, 1, 1, 1, 1}},
                                     {0.1, 100, {1, 1, 1, 1, 1, 1}},
                                     {0.02, 100, {1, 1, 5, 5, 5, 5, 5}},
                                     {0.001, 100, {1, 1, 16, 16, 16, 16, 16}},
                                     {0, 100, {1, 1, 16, 16, 16, 16, 16}},
                                     {5, 4, {1, 1}},
                                     {0.02, 0.015, {1, 1, 5}}};
    for (const Case& c : cases) {
        SCOPED_TRACE(c.one_ms);
        Device device({c.one_ms, c.one_ms, c.one_ms});
        EXPECT_DOUBLE_EQ(device.measure()({}, 256 * kKi, c.hopeless_ms), c.one_ms);
        std::vector<std::size_t> expected;
        for (int picture = 0; picture < (c.one_ms < c.hopeless_ms ? 3 : 1); ++picture)
            expected.insert(expected.end(), c.in_a_row.begin(), c.in_a_row.end());
        EXPECT_EQ(device.in_a_row, expected);
        EXPECT_EQ(device.stretches.front().second, 3U);  // begins at no round number
    }
}

TEST(Results, AreCountedAndCompared) {
    const Tuning found = small_tuning();
    EXPECT_EQ(found.sizes(), (std::vector<std::uint64_t>{1000, 16 * kMi}));
    EXPECT_EQ(found.count(Outcome::kMeasured), 9U);
    EXPECT_EQ(found.count(Outcome::kRefused), 2U);
    EXPECT_EQ(found.count(Outcome::kWrong), 1U);
    EXPECT_EQ(found.count(Outcome::kNotTried), 1U);
    EXPECT_EQ(found.best(16 * kMi)->choice, (Choice{lane, 8, 4, 1024, 1}));
    EXPECT_EQ(found.best(16 * kMi, {local, uchar})->choice, (Choice{local, 1, 1, 1024, 1}));
    EXPECT_EQ(found.best(16 * kMi, {item}), nullptr);
    EXPECT_EQ(found.best(1000)->choice, (Choice{local, 1, 1, 64, 1}));
    EXPECT_EQ(found.best(1001), nullptr);
    EXPECT_DOUBLE_EQ(found.best(16 * kMi)->gb_s(), 16.777216 / 0.004);
    EXPECT_EQ(found.trials[4].gb_s(), 0);  // was not measured
}

// ---- the heat map -------------------------------------------------------------------------------

TEST(HeatMap, ShowsEveryKernelAtEverySize) {
    EXPECT_EQ(
        heat_map_text(small_tuning()),
        "Each cell is the best of all loads, in percent of the best of its size; - was not "
        "measured.\n\n"
        "1000 pixels\n\n"
        "group size       64\n"
        "groups per unit   1\n"
        "local           100█\n"
        "lane-bins x 1     -\n\n"
        "best: local, 1 load, groups of 64, 1 for each unit, 1.00 GB/s\n\n"
        "16 Mi pixels\n\n"
        "group size      128       1024\n"
        "groups per unit   1    8     1    8\n"
        "local            10░  30░   40▒   -\n"
        "lane-bins x 8    50▒  80▓  100█   -\n\n"
        "group size       32    64\n"
        "groups per unit   1     1\n"
        "uchar-bins        1     -\n\n"
        "best: lane-bins, 8 copies, 4 loads, groups of 1024, 1 for each unit, 4194 GB/s\n\n"
        "9 measured, 2 refused, 1 wrong, 1 not tried in 21.0 s\n"
        "  WRONG: uchar-bins, 1 load, groups of 64, 1 for each unit, at 16 Mi pixels: 3 of 256 "
        "bins wrong\n"
        "  2 refused: too large\n");
    EXPECT_TRUE(has(heat_map_text(Tuning{}), "\n0 measured in 0.000 s\n"));
    const Trial refused = failed({local, 1, 1, 64, 1}, 1000, Outcome::kRefused, "too large");
    EXPECT_TRUE(
        has(heat_map_text(tuning_of({refused})), "best: none, since nothing was measured\n"));
}

TEST(HeatMap, ACellIsTheBestOfItsLoadsAndTheDarkerTheNearerToTheBest) {
    // Percent of the loads, and the cell, which stands beside one of 100 percent.
    const std::vector<std::pair<std::vector<double>, std::string>> cells = {
        {{25, 50, 33}, "50▒"}, {{50, 33, 25}, "50▒"}, {{25, 33, 50}, "50▒"}, {{0.1}, "0 "},
        {{9.9}, "10 "},        {{10.1}, "10░"},       {{29.9}, "30░"},       {{30.1}, "30▒"},
        {{59.9}, "60▒"},       {{60.1}, "60▓"},       {{89.9}, "90▓"},       {{90.1}, "90█"},
        {{99.9}, "100█"}};
    for (const auto& [percents, cell] : cells) {
        Tuning two;
        two.trials = {measured({local, 1, 1, 64, 2}, 1000, 1)};
        unsigned loads = 0;
        for (const double percent : percents)
            two.trials.push_back(measured({local, 1, ++loads, 64, 1}, 1000, 100 / percent));
        EXPECT_TRUE(has(heat_map_text(two), ' ' + cell + " 100█\n"));
    }
}

TEST(HeatMap, GivesAFewReasonsOnly) {
    Tuning many;
    for (int i = 0; i < 20; ++i)
        many.trials.push_back(failed({local, 1, 1, 64, 1}, 1000, Outcome::kRefused,
                                     "reason " + std::to_string(i / 2)));
    EXPECT_TRUE(heat_map_text(many).ends_with("  2 refused: reason 5\n  and for 4 more reasons\n"));
}

TEST(HeatMap, FitsATerminal) {
    std::size_t width = 0;
    const std::string text = heat_map_text(quiet(
        gpu(), [](const Choice& choice, std::uint64_t, double) { return 1.0 * choice.loads; }));
    for (const char c : text) {
        width = c == '\n' ? 0 : width + ((c & 0xC0) == 0x80 ? 0 : 1);
        ASSERT_LE(width, 100U) << text;
    }
}

// ---- as JSON ------------------------------------------------------------------------------------

TEST(TuningJson, HasEveryFieldAndALineForEachTrial) {
    const auto trials = small_tuning().trials;
    EXPECT_EQ(to_json_text(tuning_of({trials[4], trials[6], trials[10], trials[12]})),
              R"({
  "format": "histogram-tutorials tuning 1",
  "api": "CUDA",
  "device": "Test GPU 9000",
  "driver": "driver 1",
  "date": "2025-01-31T12:00:00Z",
  "seconds": 21.0,
  "best": [
    {"pixels":16777216,"kernel":"lane-bins","copies":8,"loads":4,"group_size":128,"groups_per_unit":8,"worst_ms":0.005,"gb_s":3355.4432}
  ],
  "trials": [
    {"pixels":16777216,"kernel":"local","copies":1,"loads":1,"group_size":1024,"groups_per_unit":8,"outcome":"not tried","worst_ms":null,"gb_s":null,"reason":""},
    {"pixels":16777216,"kernel":"lane-bins","copies":8,"loads":4,"group_size":128,"groups_per_unit":8,"outcome":"measured","worst_ms":0.005,"gb_s":3355.4432,"reason":""},
    {"pixels":16777216,"kernel":"uchar-bins","copies":1,"loads":1,"group_size":64,"groups_per_unit":1,"outcome":"wrong","worst_ms":null,"gb_s":null,"reason":"3 of 256 bins wrong"},
    {"pixels":1000,"kernel":"lane-bins","copies":1,"loads":1,"group_size":64,"groups_per_unit":1,"outcome":"refused","worst_ms":null,"gb_s":null,"reason":"too large"}
  ]
}
)");
    EXPECT_TRUE(to_json_text(tuning_of({})).ends_with("  \"best\": [],\n  \"trials\": []\n}\n"));
}

TEST(TuningJson, IsReadAsItWasWritten) {
    Tuning odd = small_tuning();
    odd.device = "NVIDIA \"H200\"\\µ\n";
    odd.seconds = 1.0 / 3;
    odd.trials[0].worst_ms = 1.0 / 7;
    odd.trials[1].worst_ms = std::numeric_limits<double>::denorm_min();
    odd.trials[2].worst_ms = std::numeric_limits<double>::max();
    odd.trials[3].pixels = std::uint64_t{1} << 32;
    odd.trials[5].choice = {lane, 32, 4, 1U << 20, 1U << 16};
    for (const Tuning& written : {small_tuning(), odd, Tuning{}}) {
        const Tuning read = from_json_text(to_json_text(written));
        EXPECT_EQ(to_json_text(read), to_json_text(written));  // which has all of it
        EXPECT_EQ(read.device, written.device);
    }
    odd.device = "caf\xE9 \x01\n\xFF";  // a device may call itself anything
    odd.trials[8].reason = "\xFF";
    EXPECT_TRUE(from_json_text(to_json_text(odd)).device.starts_with("caf"));
}

// What reading the JSON complains about, behind the words with which every complaint begins.
std::string complaint(const std::string& text) {
    const std::string begin = "not the result of a search: ";
    const std::string message = bad_input([&] { from_json_text(text); });
    EXPECT_TRUE(message.starts_with(begin)) << message;
    return message.substr(std::min(begin.size(), message.size()));
}

TEST(TuningJson, WhatIsNoJsonAndEveryPartOfAFileIsRefused) {
    for (const std::string& text :
         std::vector<std::string>{"", "hello\nthere", "[]", "null", "42", "\"x\"", "{}", "\xFF\xFE",
                                  std::string(100'000, '['), std::string(1000, '\0')})
        EXPECT_FALSE(complaint(text).empty()) << text;
    Tuning one = small_tuning();
    one.trials.resize(2);
    const std::string text = to_json_text(one);
    for (std::size_t size = 0; size < text.size() - 2; ++size)
        complaint(text.substr(0, size));
    one.trials.resize(10'000, one.trials.front());
    EXPECT_NO_THROW(from_json_text(to_json_text(one)));
    one.trials.push_back(one.trials.front());
    EXPECT_TRUE(has(complaint(to_json_text(one)), "10001 trials"));
}

TEST(TuningJson, EveryMissingFieldIsNamed) {
    const Json whole = Json::parse(to_json_text(small_tuning()));
    const auto expect_named = [&](const std::string& at, const std::string& field) {
        Json json = whole;
        json.at(Json::json_pointer(at)).erase(field);
        EXPECT_TRUE(has(complaint(json.dump()), "'" + field + "'"));
    };
    for (const char* field : {"format", "api", "device", "driver", "date", "seconds", "trials"})
        expect_named("", field);
    for (const char* field : {"pixels", "kernel", "copies", "loads", "group_size",
                              "groups_per_unit", "outcome", "worst_ms", "reason"})
        expect_named("/trials/12", field);
}

TEST(TuningJson, AbsurdValuesAreRefused) {
    const Json whole = Json::parse(to_json_text(small_tuning()));
    const std::vector<std::pair<std::string, std::vector<std::string>>> damages = {
        {"/format", {"\"histogram-tutorials tuning 2\"", "1"}},
        {"/api", {"null"}},
        {"/device", {"42"}},
        {"/driver", {"[]"}},
        {"/date", {"true"}},
        {"/seconds", {"-1", "\"21\"", "null", "true"}},
        {"/trials", {"{}", "null"}},
        {"/trials/0", {"null", "[1, 2]"}},
        {"/trials/0/kernel", {"\"serial\"", "\"\"", "7"}},
        {"/trials/0/copies", {"2"}},  // of local there is one
        {"/trials/5/copies", {"0", "3", "64", "-8", "8.0", "true", "4294967297"}},
        {"/trials/0/loads", {"0", "5", "-1", "\"1\""}},
        {"/trials/9/loads", {"2"}},  // of uchar-bins there is one
        {"/trials/0/group_size", {"0", "1048577", "18446744073709551616", "-1"}},
        {"/trials/0/groups_per_unit", {"0", "65537"}},
        {"/trials/0/pixels", {"0", "4294967297", "1e3"}},
        {"/trials/0/worst_ms", {"0", "-0.5", "null", "true", "\"fast\""}},
        {"/trials/0/outcome", {"\"fast\"", "0", "\"refused\""}},  // and yet there is a time
        {"/trials/8/worst_ms", {"1"}},
        {"/trials/8/outcome", {"\"measured\""}},
        {"/trials/0/reason", {"null"}}};
    for (const auto& [field, values] : damages) {
        for (const std::string& value : values) {
            SCOPED_TRACE(testing::Message() << field << " = " << value);
            Json json = whole;
            json.at(Json::json_pointer(field)) = Json::parse(value);
            complaint(json.dump());
        }
    }
    std::string text = whole.dump();
    text.replace(text.find("21.0"), 4, "1e999");
    EXPECT_TRUE(has(complaint(text), "number"));
}

// ---- what is kept -------------------------------------------------------------------------------

class Kept : public testing::Test {
 protected:
    Kept() { xdg_.set(folder_.path().string()); }

    [[nodiscard]] fs::path kept_in() const { return folder_ / "histogram-tutorials"; }

    // Keeps these bytes in place of a tuning; says with what warning they are passed over.
    static std::string warning_about(const std::string& bytes) {
        fs::create_directories(file_of(gpu()).parent_path());
        tests::write_bytes(file_of(gpu()), bytes);
        return warning();
    }
    static std::string warning(const Facts& facts = gpu()) {
        const std::string text = said([&] { EXPECT_FALSE(recall(facts).has_value()); });
        const std::string begin =
            "warning: the tuning in " + file_of(facts).string() + " is passed over: ";
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
        EXPECT_TRUE(text.starts_with(begin)) << text;
        return text.substr(std::min(begin.size(), text.size()));
    }
    static void expect_nothing(const Facts& facts = gpu()) {
        EXPECT_EQ(said([&] { EXPECT_FALSE(recall(facts).has_value()); }), "");
    }

    tests::TemporaryFolder folder_;
    tests::Environment xdg_{"XDG_CACHE_HOME"};
    tests::Environment home_{"HOME"};
};

TEST_F(Kept, IsAFileForEachDeviceAndDriver) {
    EXPECT_EQ(file_of(gpu()), kept_in() / "CUDA-Test-GPU-9000-driver-1.json");
    std::set<fs::path> files = {file_of(gpu())};
    const std::vector<std::pair<std::string Facts::*, std::string>> others = {
        {&Facts::device, "Test GPU 9001"},
        {&Facts::device, ""},
        {&Facts::device, "../.."},
        {&Facts::device, "caf\xE9"},
        {&Facts::api, "OpenCL"},
        {&Facts::driver, "driver 2"},
        {&Facts::device, std::string(5000, 'W')}};
    for (const auto& [fact, value] : others) {
        const fs::path file = file_of(gpu_with(fact, value));
        EXPECT_TRUE(files.insert(file).second || value == "../..") << file;
        EXPECT_EQ(file.parent_path(), kept_in());
        EXPECT_EQ(file.extension(), ".json");
        EXPECT_LT(file.filename().string().size(), 240U);
        for (const char c : file.stem().string())
            EXPECT_TRUE(c == '-' || std::isalnum(static_cast<unsigned char>(c))) << file;
    }
}

TEST_F(Kept, IsInTheHomeFolderWhereNoOtherIsNamed) {
    home_.set("/home/somebody");
#if defined(__APPLE__)
    const fs::path expected = "/home/somebody/Library/Caches/histogram-tutorials";
#else
    const fs::path expected = "/home/somebody/.cache/histogram-tutorials";
#endif
    xdg_.unset();
    EXPECT_EQ(file_of(gpu()).parent_path(), expected);
    for (const char* none : {"", "not/in/full"}) {
        xdg_.set(none);
        EXPECT_EQ(file_of(gpu()).parent_path(), expected);
    }
    xdg_.set("/somewhere");
    EXPECT_EQ(file_of(gpu()).parent_path(), "/somewhere/histogram-tutorials");
    xdg_.unset();
    home_.unset();
    EXPECT_EQ(file_of(gpu()), fs::path());
    expect_nothing();
    EXPECT_TRUE(has(bad_input([] { keep(gpu(), small_tuning()); }), "XDG_CACHE_HOME"));
}

TEST_F(Kept, GivesBackTheLastThatItWasGiven) {
    xdg_.set((folder_ / "new").string());  // is not there yet
    expect_nothing();
    EXPECT_EQ(keep(gpu(), Tuning{}), file_of(gpu()));
    keep(gpu(), small_tuning());
    EXPECT_EQ(bytes_of(file_of(gpu())), to_json_text(small_tuning()));
    EXPECT_EQ(std::distance(fs::directory_iterator(file_of(gpu()).parent_path()), {}), 1);
    EXPECT_EQ(to_json_text(recall(gpu()).value()), to_json_text(small_tuning()));
    expect_nothing(gpu_with(&Facts::driver, std::string("driver 2")));
    const Facts odd = gpu_with(&Facts::device, std::string("caf\xE9 \x01\n\xFF"));
    Tuning of_odd = small_tuning();
    of_odd.device = odd.device;
    keep(odd, of_odd);
    EXPECT_EQ(said([&] { EXPECT_TRUE(recall(odd).has_value()); }), "");
}

TEST_F(Kept, WhereItCannotBeWrittenIsSaid) {
    tests::write_bytes(kept_in(), "a file in place of the folder");
    EXPECT_TRUE(has(bad_input([] { keep(gpu(), small_tuning()); }),
                    "cannot create " + kept_in().string() + ": "));
    EXPECT_EQ(bytes_of(kept_in()), "a file in place of the folder");
    expect_nothing();
    fs::remove(kept_in());
    fs::create_directories(file_of(gpu()));  // a folder of that name
    EXPECT_TRUE(has(bad_input([] { keep(gpu(), small_tuning()); }),
                    "cannot write " + file_of(gpu()).string()));
}

TEST_F(Kept, ADamagedOrForeignFileIsPassedOver) {
    const std::string whole = to_json_text(small_tuning());
    for (const std::string& bytes :
         {std::string(), std::string("not JSON\nat all\n"), whole.substr(0, whole.size() / 2),
          std::string(whole.size(), '\0')})
        EXPECT_TRUE(has(warning_about(bytes), "not the result of a search: "));
    Json json = Json::parse(whole);
    json["trials"][5]["group_size"] = 0;
    EXPECT_TRUE(
        has(warning_about(json.dump()), "group_size is 0, not a whole number from 1 to 1048576\n"));
    json = Json::parse(whole);
    json["trials"][0]["kernel"] = "\x1B[2J\n";  // must not reach the terminal as it is
    EXPECT_TRUE(has(warning_about(json.dump()), "\"\\u001b[2J\\n\" is no kernel\n"));
    for (std::string Tuning::*field : {&Tuning::api, &Tuning::device, &Tuning::driver}) {
        Tuning foreign = small_tuning();
        foreign.*field += "X";
        EXPECT_EQ(warning_about(to_json_text(foreign)), "it belongs to another device or driver\n");
    }
    // Two devices may share a file name, but not what is kept.
    const Facts alike = gpu_with(&Facts::device, std::string("Test__GPU 9000"));
    keep(gpu(), small_tuning());
    EXPECT_EQ(file_of(alike), file_of(gpu()));
    EXPECT_EQ(warning(alike), "it belongs to another device or driver\n");

    fs::resize_file(file_of(gpu()), (16U << 20) + 1);
    EXPECT_EQ(warning(), "too large: more than 16777216 bytes\n");
    fs::remove(file_of(gpu()));
    fs::create_directories(file_of(gpu()));
    EXPECT_EQ(warning(), "a folder, not a file\n");
}

// ---- the program --------------------------------------------------------------------------------

class Program : public Kept {
 protected:
    // So many launches with each outcome.
    static Tuning search_of(std::size_t measured_ones, std::size_t not_tried, std::size_t wrong = 0,
                            std::size_t refused = 0) {
        Tuning tuning = small_tuning();
        tuning.trials.assign(measured_ones, measured({lane, 1, 1, 64, 1}, 1000, 1));
        for (const auto& [count, outcome] : {std::pair{not_tried, Outcome::kNotTried},
                                             {wrong, Outcome::kWrong},
                                             {refused, Outcome::kRefused}})
            tuning.trials.insert(tuning.trials.end(), count,
                                 failed({lane, 1, 1, 128, 1}, 1000, outcome, ""));
        return tuning;
    }
    int finish(const Tuning& found, const Request& request = {}) {
        int status = -1;
        testing::internal::CaptureStdout();
        said_ = said([&] { status = tuning::finish(request, gpu(), found); });
        printed_ = testing::internal::GetCapturedStdout();
        return status;
    }
    std::string printed_, said_;
};

TEST_F(Program, PrintsTheHeatMapAndKeepsWhatWasFound) {
    Request request;
    request.json = folder_ / "out.json";
    const Tuning found = search_of(3, 0);
    EXPECT_EQ(finish(found, request), 0);
    EXPECT_EQ(printed_, "05-launch-tuning, CUDA on Test GPU 9000 (driver 1)\n\n" +
                            heat_map_text(found) + "\nkept for `tuned` in " +
                            file_of(gpu()).string() + "\n");
    EXPECT_EQ(said_, "");
    EXPECT_EQ(bytes_of(file_of(gpu())), to_json_text(found));
    EXPECT_EQ(bytes_of(folder_ / "out.json"), to_json_text(found));
}

TEST_F(Program, KeepsAnEarlierSearchThatHadMoreTime) {
    struct Case {
        Tuning found;
        bool replaces;
        int status;
    };
    const std::vector<Case> cases = {
        {search_of(9, 11), false, 0},      {search_of(9, 9), true, 0},  // half was tried
        {search_of(10, 11), true, 0},                                   // as many were measured
        {search_of(9, 11, 0, 2), true, 0}, {search_of(9, 0, 1), true, 1},
        {search_of(8, 11, 1), false, 1},   {search_of(0, 0, 0, 9), false, 1},
        {search_of(0, 0, 9), false, 1}};
    const Tuning earlier = search_of(10, 0);
    for (const Case& c : cases) {
        SCOPED_TRACE(&c - &cases[0]);
        keep(gpu(), earlier);
        EXPECT_EQ(finish(c.found), c.status);
        EXPECT_EQ(bytes_of(file_of(gpu())), to_json_text(c.replaces ? c.found : earlier));
        const std::size_t missing = c.found.count(Outcome::kNotTried);
        EXPECT_EQ(has(printed_, " launches were not tried: --seconds gives"), missing > 0);
        const bool measured = c.found.count(Outcome::kMeasured) > 0;
        EXPECT_EQ(has(printed_, "\nkept for `tuned` in "), c.replaces);
        EXPECT_EQ(has(printed_, "\nan earlier search had more time; its result stays in " +
                                    file_of(gpu()).string() + "\n"),
                  !c.replaces && measured);
        EXPECT_EQ(said_, measured ? "" : "no launch could be measured; nothing is kept\n");
    }
    finish(search_of(9, 11));
    EXPECT_TRUE(has(printed_, "\n11 of 20 launches were not tried"));
    // A damaged file was no search.
    tests::write_bytes(file_of(gpu()), "{");
    EXPECT_EQ(finish(search_of(1, 11)), 0);
    EXPECT_TRUE(has(said_, "is passed over"));
    EXPECT_EQ(bytes_of(file_of(gpu())), to_json_text(search_of(1, 11)));
}

TEST_F(Program, NotesAMistakeAlsoWhereItsOutputIsLost) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process that has seen no mistake
    const auto run = [](const Tuning& found) {
        common::require_output("tune");
        if (std::freopen("/dev/full", "w", stdout) == nullptr) std::exit(99);
        std::exit(tuning::finish({}, gpu(), found));
    };
    const std::string lost = "tune: cannot write standard output";
    EXPECT_EXIT(run(search_of(1, 0)), testing::ExitedWithCode(2), lost);
    EXPECT_EXIT(run(search_of(1, 0, 1)), testing::ExitedWithCode(1), lost);
    EXPECT_EXIT(run(search_of(0, 0, 1)), testing::ExitedWithCode(1), lost);
}

TEST_F(Program, ReadsItsCommandLine) {
    const auto parse = [](std::vector<const char*> words) {
        words.insert(words.begin(), "program");
        return parse_request(static_cast<int>(words.size()), words.data(), "tune/opencl");
    };
    const Request none = parse({});
    EXPECT_EQ(none.seconds, 50);
    EXPECT_EQ(none.device, "");
    EXPECT_FALSE(none.list_devices || none.json);
    const std::string json = (folder_ / "out.json").string();
    EXPECT_TRUE(parse({"--list-devices"}).list_devices);
    const Request all = parse({"--seconds", "0.5", "--device", "H100", "--json", json.c_str()});
    EXPECT_EQ(all.seconds, 0.5);
    EXPECT_EQ(all.device, "H100");
    EXPECT_EQ(all.json, json);
    EXPECT_FALSE(fs::exists(json));
    for (const auto& [words, text] : std::vector<std::pair<std::vector<const char*>, const char*>>{
             {{"--seconds", "0"}, "--seconds"},
             {{"--seconds", "3601"}, "--seconds"},
             {{"--seconds", "nan"}, "--seconds"},
             {{"--json", "/nosuch/folder/x"}, "/nosuch/folder"},
             {{"--json", ""}, "the name is empty"},
             {{"picture.bmp"}, "picture.bmp"}})
        EXPECT_TRUE(has(bad_input([&, &arguments = words] { parse(arguments); }), text));
}

}  // namespace
