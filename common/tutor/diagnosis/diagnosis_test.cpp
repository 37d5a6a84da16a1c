#include "common/tutor/diagnosis/diagnosis.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <stdexcept>

#include "common/report/json.hpp"
#include "common/tests/support.hpp"
#include "common/tutor/diagnosis/model.hpp"

// Whether each mistake of the gallery gets its name is tested there, with kernels that run.
namespace {

using namespace common::diagnosis;
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

    void add(PixelBuffer its_pixels, std::size_t width, const Launch& launch,
             std::size_t pitch = 0) {
        pixels.push_back(std::move(its_pixels));
        const Histogram counts = common::reference_histogram(pixels.back());
        all.push_back({"run " + std::to_string(all.size()),
                       pixels.back(),
                       width,
                       pitch,
                       launch,
                       counts,
                       {counts}});
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

// The same over rows with gaps.
Cases over_rows() {
    Cases cases;
    cases.add(common::uniform_pixels(4'011, 256, 1), 301, {6, 64}, 310);
    cases.add(common::uniform_pixels(3'011, 256, 2), 211, {2, 64}, 217);
    cases.add(common::uniform_pixels(101, 256, 3), 101, {1, 64}, 103);
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

// The runs of `local` with the first mistake of this name that shows.
Cases with(const std::string& name) {
    Cases cases = several();
    for (const Change& change : changes(kOnPocl)) {
        if (change.name != name) continue;
        cases.counted_by(
            [&](const Case& run) { return counts_of(predict(&change.changed, run, kOnPocl)); });
        if (!std::ranges::all_of(cases.all, &Case::matches)) return cases;
    }
    throw std::invalid_argument(name);
}

constexpr const char* kStrategies[] = {"global",     "subhist",       "pitched-rows",  "local",
                                       "two-per-sm", "local-buckets", "local-subhist", "uchar-bins",
                                       "lane-bins",  "occupancy",     "private",       "core-bins",
                                       "vector",     "tuned"};

// ---- strategies and changes ---------------------------------------------------------------------

TEST(Diagnosis, WithoutAChangeTheStrategiesAreRight) {
    for (const std::string name : kStrategies) {
        const bool gaps = name == "pitched-rows" || name == "occupancy" || name == "vector";
        const Cases cases = gaps ? over_rows() : several();
        for (Case run : cases.all) {
            if (name == "core-bins") run.launch = {3, 1};  // a group is a work-item
            for (const bool one_by_one : {true, false}) {
                const RunContext context{"chapter", name, one_by_one};
                const Prediction counts = predict(nullptr, run, context);
                EXPECT_EQ(counts_of(counts), run.expected) << name;
                EXPECT_TRUE(counts.is_certain) << name;
                EXPECT_FALSE(counts.is_divergent || counts.is_outside) << name;
            }
        }
    }
}

// A row of the table that no strategy asks for would be no mistake at all.
TEST(Diagnosis, EveryStrategyHasChangesAndSentences) {
    for (const char* const name : kStrategies) {
        const std::vector<Change> all = changes({"chapter", name, true});
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
    PixelBuffer pixels = common::constant_pixels(4'011, 0);
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = static_cast<std::uint8_t>(7 * i + i / 100);
    const common::Json table = common::parsed(tests::bytes_of(CHOICES_CASES));
    for (const auto& each : table.at("cases")) {
        const std::string strategy = each.at("strategy");
        const RunContext context{"chapter", strategy, true};
        Cases cases;
        cases.add(PixelBuffer(pixels), 180, {6, 64});
        const std::vector<Change> all = changes(context);
        const auto found = std::find_if(all.begin(), all.end(), [&](const Change& change) {
            return sentence_of(change, false) == each.at("opencl").get<std::string>();
        });
        ASSERT_NE(found, all.end()) << each;
        const Prediction predicted = predict(&found->changed, cases.all[0], context, true);
        const Histogram counts = counts_of(predicted);
        auto sum = static_cast<std::uint32_t>(predicted.stray);  // of pixels that are not there
        for (std::size_t bin = 0; bin < kBins; ++bin)
            sum += static_cast<std::uint32_t>(bin + 1) * counts[bin];
        EXPECT_EQ(found->name, each.at("name").get<std::string>()) << each;
        EXPECT_EQ(sum, each.at("sum").get<std::uint32_t>()) << each;
    }
}

TEST(Diagnosis, OneRunThatContradictsIsEnough) {
    EXPECT_TRUE(found_in(several()).empty());  // of a right kernel
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

// With more runs only what fitted the first is looked at; what was left open then stays so.
TEST(Diagnosis, MoreRunsGoOnWithWhatFitted) {
    const Cases cases = with("tail-dropped");
    const std::vector<Case> few(cases.all.begin(), cases.all.begin() + 2);
    Diagnosis before = diagnose(few, kOnPocl);
    EXPECT_GT(before.fitting.size(), diagnose(cases.all, kOnPocl, &before).fitting.size());
    EXPECT_EQ(text_of(diagnose(cases.all, kOnPocl, &before)), text_about(cases));
    for (auto& [number, is_certain] : before.fitting)
        is_certain = false;
    EXPECT_FALSE(diagnose(cases.all, kOnPocl, &before).findings.front().is_certain);
    before.fitting.clear();
    EXPECT_TRUE(diagnose(cases.all, kOnPocl, &before).findings.empty());
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
    EXPECT_EQ(findings[0].read, "03-local-atomics/README.md#local-the-five-steps");
    EXPECT_TRUE(tests::has(text_about(cases), "  why: "));
    const std::string cuda = text_about(with("merge-strided-globally"), {"c", "local", true, true});
    EXPECT_TRUE(tests::has(cuda, "gridDim.x * blockDim.x, not by blockDim.x"));
    EXPECT_FALSE(tests::has(cuda, "group") || tests::has(cuda, "work-item")) << cuda;
    cases.all.resize(2);  // which are no ground for certainty
    EXPECT_FALSE(found_in(cases).front().is_certain);
    EXPECT_TRUE(tests::has(text_about(cases), "  why, most likely: "));
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
    const std::string other = text_about(cases, {"c", "racy", true});
    EXPECT_TRUE(
        tests::has(other, "unclear; no mistakes of this strategy are known by name\n  but "));
    Cases of_one_value = several();
    of_one_value.all.back().actual = {Histogram{}};
    const std::string from = text_about(of_one_value, {"c", "racy", true});
    EXPECT_TRUE(tests::has(from, " pixels of one value, and wrong from 30011 on")) << from;
    of_one_value.all.back().actual.front() = of_one_value.all.back().expected;
    of_one_value.all.back().actual.front()[7] -= 3 * 256;
    const std::string wrapped = text_about(of_one_value, {"c", "racy", true});
    EXPECT_TRUE(tests::has(wrapped, "multiple of 256: counters of 8 bits begin")) << wrapped;
}

// ---- the runs -----------------------------------------------------------------------------------

// What a run answers that was launched so: that it matches, or these counts.
Answer counted(const Launch& launch, const std::optional<Histogram>& counts = {},
               bool only_later = false) {
    common::Result result;
    result.launch = launch;
    result.counts = counts;
    result.only_later = only_later;
    return {Answer::Kind::kRan, "", {result}};
}

// A run that did not end with counts is told, and is no evidence.
TEST(Observe, KeepsWhatIsCountedAndSaysWhatGoesWrong) {
    std::deque<Answer> answers{
        {Answer::Kind::kCrashed, "it crashes", {}},
        {Answer::Kind::kNotFinished, "", {}},
        counted({2, 64}, Histogram{5}),
        counted({6, 64}, Histogram{6}, true),
        {Answer::Kind::kFailed, "it ended for want of memory", {}},
        {Answer::Kind::kNotFinished, "", {}}};  // and then it waits no longer
    Observations seen;
    observe(seen, 64, 0, [&](const std::vector<std::string>& words, std::chrono::milliseconds) {
        EXPECT_EQ(*(std::find(words.begin(), words.end(), "--group-size") + 1), "64");
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
