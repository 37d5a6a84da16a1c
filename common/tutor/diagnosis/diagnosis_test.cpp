#include "common/tutor/diagnosis/diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/inputs/inputs.hpp"
#include "common/tests/support.hpp"
#include "common/tutor/diagnosis/model.hpp"

// Whether each mistake of the gallery gets its name is tested there, with kernels that run.
namespace {

using namespace common::diagnosis;
using common::Answer;
using common::Histogram;
using common::kBins;
using common::Launch;
using common::PixelBuffer;

const RunContext kOnPocl{"03-local-atomics", "local", true};

// Runs like those of the checker, and what a kernel counts in each.
struct Cases {
    std::vector<Case> all;
    std::deque<PixelBuffer> pixels;

    Cases() = default;
    Cases(Cases&&) = default;  // a copy would look at the other's pixels

    void add(PixelBuffer its_pixels, std::size_t width, const Launch& launch) {
        pixels.push_back(std::move(its_pixels));
        const Histogram counts = common::reference_histogram(pixels.back());
        all.push_back(
            {"run " + std::to_string(all.size()), pixels.back(), width, launch, counts, {counts}});
    }
    void counted_by(const std::function<Histogram(const Case&)>& kernel) {
        for (Case& run : all)
            run.actual = {kernel(run)};
    }
};

Cases several() {
    Cases cases;
    cases.add(common::uniform_pixels(9'011, 256, 1), 4096, {1, 64});
    cases.add(common::uniform_pixels(3'011, 256, 1), 4096, {2, 64});
    cases.add(common::uniform_pixels(4'011, 256, 2), 4096, {3, 256});
    cases.add(common::uniform_pixels(101, 256, 3), 101, {3, 64});
    cases.add(common::constant_pixels(30'011, 201), 4096, {2, 64});
    return cases;
}

// The same over rows, three groups across and two down.
Cases over_rows() {
    Cases cases;
    cases.add(common::uniform_pixels(4'011, 256, 1), 301, {6, 64, 3});
    cases.add(common::uniform_pixels(3'011, 256, 2), 211, {2, 64, 2});
    cases.add(common::uniform_pixels(101, 256, 3), 101, {1, 64, 1});
    return cases;
}

std::vector<Finding> found_in(const Cases& cases, const RunContext& context = kOnPocl) {
    return diagnose(cases.all, context).findings;
}

std::string text_about(const Cases& cases, const RunContext& context = kOnPocl) {
    return text_of(diagnose(cases.all, context));
}

std::string first_name(const Cases& cases, const RunContext& context = kOnPocl) {
    const std::vector<Finding> findings = found_in(cases, context);
    return findings.empty() ? "unclear" : findings.front().name;
}

Histogram counts_of(const Prediction& prediction) {
    Histogram counts{};
    std::copy(prediction.low.begin(), prediction.low.end(), counts.begin());
    return counts;
}

std::vector<Change> usual_changes(const RunContext& context) {
    return changes(strategies_of(context).front(), context);
}

bool all_match(const Cases& cases) {
    return std::all_of(cases.all.begin(), cases.all.end(),
                       [](const Case& run) { return run.matches(); });
}

// The runs of `local` with the first mistake of this name that shows.
Cases with(const std::string& name) {
    Cases cases = several();
    for (const Change& change : usual_changes(kOnPocl)) {
        if (change.name != name) continue;
        cases.counted_by([&](const Case& run) {
            return counts_of(predict(change.strategy, &change.changed, run, kOnPocl));
        });
        if (!all_match(cases)) return cases;
    }
    throw std::invalid_argument(name);
}

constexpr const char* kStrategies[] = {
    "global",     "subhist",           "local",         "two-per-sm", "local-buckets", "private",
    "uchar-bins", "uchar-bins-banked", "local-subhist", "lane-bins",  "vector",        "tuned"};

// ---- strategies and changes ---------------------------------------------------------------------

TEST(Diagnosis, WithoutAChangeTheStrategiesAreRight) {
    for (const std::string name : kStrategies) {
        const Cases cases = name == "subhist" ? over_rows() : several();
        for (const Case& run : cases.all) {
            for (const bool one_by_one : {true, false}) {
                const RunContext context{"chapter", name, one_by_one};
                for (const Played& played : strategies_of(context)) {
                    const Prediction counts = predict(played, nullptr, run, context);
                    EXPECT_EQ(counts_of(counts), run.expected) << name;
                    EXPECT_TRUE(counts.is_certain) << name;
                    EXPECT_FALSE(counts.is_divergent || counts.is_outside) << name;
                }
            }
        }
    }
}

// A row of the table that no strategy asks for would be no mistake at all.
TEST(Diagnosis, EveryStrategyHasChangesAndSentences) {
    for (const char* const name : kStrategies) {
        const std::vector<Change> all = usual_changes({"chapter", name, true});
        EXPECT_GT(all.size(), 100U) << name;
        for (const Change& change : all) {
            const std::string sentence = sentence_of(change, false);
            EXPECT_TRUE(sentence.ends_with(".")) << sentence;
            EXPECT_FALSE(tests::has(sentence, "{") || tests::has(sentence, "X")) << sentence;
            EXPECT_FALSE(tests::has(sentence_of(change, true), "get_")) << sentence;
        }
    }
}

// The pages read the same table in JavaScript: docs/tests/test_lab_model.js has the same cases.
TEST(Diagnosis, TheTableIsReadAsThePagesReadIt) {
    std::ifstream file(CHOICES_CASES);
    PixelBuffer pixels = common::constant_pixels(4'011, 0);
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = static_cast<std::uint8_t>(7 * i + i / 100);
    const nlohmann::json table = nlohmann::json::parse(file);
    for (const auto& each : table.at("cases")) {
        const std::string strategy = each.at("strategy");
        const RunContext context{"chapter", strategy, true};
        Cases cases;
        cases.add(std::move(PixelBuffer(pixels)), 180, {6, 64});
        const std::vector<Change> all = usual_changes(context);
        const auto found = std::find_if(all.begin(), all.end(), [&](const Change& change) {
            return sentence_of(change, false) == each.at("opencl").get<std::string>();
        });
        ASSERT_NE(found, all.end()) << each;
        const Prediction predicted =
            predict(found->strategy, &found->changed, cases.all[0], context, true);
        const Histogram counts = counts_of(predicted);
        auto sum = static_cast<std::uint32_t>(predicted.stray);  // of pixels that are not there
        for (std::size_t bin = 0; bin < kBins; ++bin)
            sum += static_cast<std::uint32_t>(bin + 1) * counts[bin];
        EXPECT_EQ(found->name, each.at("name").get<std::string>()) << each;
        EXPECT_EQ(sum, each.at("sum").get<std::uint32_t>()) << each;
    }
}

TEST(Diagnosis, ALoopMayHaveNoEnd) {
    const Cases cases = several();
    const std::vector<Change> all = usual_changes(kOnPocl);
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Change& change) {
        return predict(change.strategy, &change.changed, cases.all[1], kOnPocl).is_endless;
    }));
}

TEST(Diagnosis, ARightKernelHasNone) {
    EXPECT_TRUE(found_in(several()).empty());
}

// Some changes of two strategies: what is named predicts every count.
TEST(Diagnosis, AChangeIsFoundByWhatItCounts) {
    int tried = 0;
    for (const char* const strategy : {"local", "subhist"}) {
        Cases cases = strategy == std::string("subhist") ? over_rows() : several();
        const RunContext context{"chapter", strategy, true};
        const std::vector<Change> all = usual_changes(context);
        for (std::size_t i = 0; i < all.size(); i += 97) {
            bool is_certain = true;
            cases.counted_by([&](const Case& run) {
                const Prediction counts = predict(all[i].strategy, &all[i].changed, run, context);
                is_certain =
                    is_certain && counts.is_certain && !counts.is_divergent && !counts.is_outside;
                return counts_of(counts);
            });
            if (!is_certain || all_match(cases)) continue;
            ++tried;
            EXPECT_TRUE(tests::has(text_about(cases, context), "it predicts all 256 counts"))
                << all[i].name << ": " << sentence_of(all[i], false);
        }
    }
    EXPECT_GT(tried, 12);
}

TEST(Diagnosis, OneRunThatContradictsIsEnough) {
    Cases cases = with("tail-dropped");
    EXPECT_EQ(first_name(cases), "tail-dropped");
    for (const std::size_t run : {std::size_t{0}, cases.all.size() - 1}) {
        Cases others = with("tail-dropped");
        others.all[run].actual[0][others.pixels[run][50]] += 3;
        EXPECT_EQ(first_name(others), "unclear") << text_about(others);
    }
    // So does a run that matches where the mistake predicts that it would not.
    cases.all.front().actual = {cases.all.front().expected};
    EXPECT_NE(first_name(cases), "tail-dropped") << text_about(cases);
}

TEST(Diagnosis, WhatABarrierKeepsApartIsNotCertainOnAGpu) {
    const Cases cases = with("no-barrier-after-zeroing");
    EXPECT_TRUE(found_in(cases).front().is_certain);
    for (const Finding& finding : found_in(cases, {"03-local-atomics", "local", false}))
        EXPECT_FALSE(finding.is_certain) << finding.name;
}

// A detector that finds no race contradicts a missing barrier.
TEST(Diagnosis, ADetectorIsEvidence) {
    const Cases cases = with("no-barrier-before-merge");
    RunContext context = kOnPocl;
    EXPECT_EQ(first_name(cases, context), "no-barrier-before-merge");
    context.race_free = true;
    EXPECT_NE(first_name(cases, context), "no-barrier-before-merge");
}

TEST(Diagnosis, TheEvidenceCountsTheRuns) {
    Cases cases = with("not-zeroed");
    const std::vector<Finding> findings = found_in(cases);
    ASSERT_EQ(first_name(cases), "not-zeroed");
    EXPECT_TRUE(findings[0].is_certain);
    EXPECT_TRUE(tests::has(findings[0].evidence, "runs that differ (the smallest: run "));
    EXPECT_EQ(findings[0].read, "03-local-atomics/README.md#what-went-wrong-in-published-code");
    EXPECT_TRUE(tests::has(text_about(cases), "  why: "));
    cases.all.resize(2);  // which are no ground for certainty
    EXPECT_FALSE(found_in(cases).front().is_certain);
    EXPECT_TRUE(tests::has(text_about(cases), "  why, most likely: "));
}

TEST(Diagnosis, SpeaksOfThreadsAndBlocksInCuda) {
    const Cases cases = with("merge-strided-globally");
    EXPECT_TRUE(tests::has(text_about(cases), "get_global_size(0), not by get_local_size(0)"));
    const std::string cuda = text_about(cases, {"03-local-atomics", "local", true, true});
    EXPECT_TRUE(tests::has(cuda, "gridDim.x * blockDim.x, not by blockDim.x"));
    for (const char* word : {"group ", "groups", "work-item", "local memory"})
        EXPECT_FALSE(tests::has(cuda, word)) << cuda;
}

// ---- what no single prediction says -------------------------------------------------------------

TEST(Diagnosis, LostUpdatesChangeFromRunToRun) {
    Cases cases = several();
    for (Case& run : cases.all) {
        if (run.launch.groups == 1) continue;
        run.actual = {run.expected, run.expected};
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            run.actual[0][bin] -= run.expected[bin] / 7;
            run.actual[1][bin] -= run.expected[bin] / 11;
        }
    }
    const RunContext global{"02-global-atomics", "global", true};
    EXPECT_EQ(first_name(cases, global), "lost-updates");
    EXPECT_FALSE(found_in(cases, global)[0].is_certain);
    // A bin with too many counts contradicts lost updates.
    cases.all[1].actual[1][9] += cases.all[1].expected[9] + 1;
    EXPECT_EQ(first_name(cases, global), "unclear");
}

TEST(Diagnosis, NoiseIsUnclearAndSaysWhatIsKnown) {
    Cases cases = several();
    cases.counted_by([](const Case& run) {
        Histogram counts = run.expected;
        for (std::size_t bin = 0; bin < kBins && run.launch.groups > 1; ++bin)
            counts[bin] = bin % 2 == 0 ? counts[bin] + 3 : counts[bin] / 2;
        return counts;
    });
    const std::string text = text_about(cases, {"c", "two-per-sm", true, true});
    EXPECT_TRUE(tests::has(text, "why: unclear")) << text;
    EXPECT_TRUE(tests::has(text, "right with one block")) << text;
    EXPECT_TRUE(tests::has(text, "the same run gives the same counts")) << text;
}

TEST(Diagnosis, WhatOverflows) {
    const auto lost = [](std::size_t times, std::uint32_t gained) {
        Cases cases = several();
        cases.counted_by([&](const Case& run) {
            Histogram counts = run.expected;
            if (counts[201] < 20'000) return counts;
            counts[201] -= static_cast<std::uint32_t>(256 * times);
            counts[202] += gained;
            return counts;
        });
        return first_name(cases, {"05-launch-tuning", "two-per-sm", true});
    };
    EXPECT_EQ(lost(3, 0), "8-bit-overflow");
    EXPECT_EQ(lost(3, 2), "unclear");
}

// ---- the runs -----------------------------------------------------------------------------------

// What a run answers that was launched so: that it matches, or these counts.
Answer counted(const Launch& launch, const std::optional<Histogram>& counts = {},
               bool only_later = false) {
    common::Result result;
    result.launch = launch;
    result.counts = counts;
    result.only_later = only_later;
    common::RunDocument document;
    document.results = {result};
    return {Answer::Kind::kRan, "", document};
}

TEST(Observe, AsksForInputsInGroupsOfOneSize) {
    Observations seen;
    observe(seen, 96, [&](const std::vector<std::string>& words, std::chrono::milliseconds) {
        EXPECT_EQ(*(std::find(words.begin(), words.end(), "--group-size") + 1), "96");
        return counted({std::stoul(*(std::find(words.begin(), words.end(), "--groups") + 1)), 96});
    });
    EXPECT_GE(seen.cases.size(), 7U);
    EXPECT_TRUE(seen.troubles.empty());
    for (const Case& run : seen.cases) {
        EXPECT_TRUE(run.matches());
        EXPECT_EQ(common::reference_histogram(run.pixels), run.expected);
        EXPECT_NE(run.width, 0U);
    }
    EXPECT_TRUE(std::any_of(seen.cases.begin(), seen.cases.end(),
                            [](const Case& run) { return run.actual.size() > 2; }));
}

// What did not end with counts is told, and is no evidence.
TEST(Observe, KeepsWhatIsCountedAndSaysWhatGoesWrong) {
    std::deque<Answer> answers{
        {Answer::Kind::kCrashed, "it crashes", {}},
        {Answer::Kind::kNotFinished, "", {}},
        counted({2, 64}, Histogram{5}),
        counted({6, 64}, Histogram{6}, true),
        {Answer::Kind::kBadInput, "it ended for want of memory", {}},
        {Answer::Kind::kNotFinished, "", {}}};  // and then it waits no longer
    Observations seen;
    observe(seen, 64, [&](const std::vector<std::string>&, std::chrono::milliseconds) {
        const Answer next = answers.at(0);
        answers.pop_front();
        return next;
    });
    ASSERT_EQ(seen.cases.size(), 2U);
    EXPECT_EQ(seen.cases[0].actual, std::vector<Histogram>{Histogram{5}});
    EXPECT_EQ(seen.cases[1].actual, (std::vector<Histogram>{Histogram{6}, seen.cases[1].expected}));
    ASSERT_EQ(seen.troubles.size(), 4U);
    EXPECT_TRUE(tests::has(seen.troubles[0], "it crashes"));
    EXPECT_TRUE(tests::has(seen.troubles[1], "it is not finished after 60 s"));
    EXPECT_TRUE(tests::has(seen.troubles[2], "it ended for want of memory"));
}

}  // namespace
