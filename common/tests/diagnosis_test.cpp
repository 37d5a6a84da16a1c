#include "common/tutor/diagnosis/diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <set>

#include "common/inputs/inputs.hpp"
#include "common/tests/support.hpp"
#include "common/tutor/diagnosis/hypotheses.hpp"
#include "common/tutor/diagnosis/probes.hpp"

namespace {

using common::Histogram;
using common::kBins;
using common::Launch;
using common::PixelBuffer;
using common::diagnosis::Case;
using common::diagnosis::Finding;
using common::diagnosis::RunContext;

const RunContext kOnPocl{"03-local-atomics", "local", true};

// Runs like those of the checker, and what a kernel counts in each.
class Cases {
 public:
    void add(PixelBuffer pixels, std::size_t width, const Launch& launch) {
        pixels_.push_back(std::move(pixels));
        Case run;
        run.words = "run " + std::to_string(all.size());
        run.pixels = pixels_.back();
        run.width = width;
        run.launch = launch;
        run.expected = common::reference_histogram(pixels_.back());
        run.actual = {run.expected};
        all.push_back(std::move(run));
    }

    Cases& counted_by(const std::function<Histogram(const Case&)>& kernel) {
        for (Case& run : all)
            run.actual = {kernel(run)};
        return *this;
    }

    std::vector<Case> all;

 private:
    std::deque<PixelBuffer> pixels_;
};

Cases several() {
    Cases cases;
    cases.add(common::uniform_pixels(9'011, 256, 1), 4096, {1, 64});
    cases.add(common::uniform_pixels(3'011, 256, 1), 4096, {2, 64});
    cases.add(common::uniform_pixels(4'011, 256, 2), 4096, {3, 256});
    cases.add(common::uniform_pixels(101, 256, 3), 101, {3, 64});
    cases.add(common::constant_pixels(150'003, 201), 4096, {2, 64});
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

std::vector<Finding> diagnose(const Cases& cases, const RunContext& context = kOnPocl) {
    return common::diagnosis::diagnose(cases.all, context);
}

bool names(const std::vector<Finding>& findings, const std::string& name) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& finding) { return finding.name == name; });
}

std::string first_name(const std::vector<Finding>& findings) {
    return findings.empty() ? "unclear" : findings.front().name;
}

std::string first_name(const Cases& cases, const RunContext& context = kOnPocl) {
    return first_name(diagnose(cases, context));
}

// A kernel that drops the pixels behind the last whole stretch of so many.
auto without_tail(std::size_t stretch) {
    return [stretch](const Case& run) {
        return common::reference_histogram(run.pixels.first(run.pixels.size() / stretch * stretch));
    };
}

// ---- predictions --------------------------------------------------------------------------------

TEST(Diagnosis, ARightKernelHasNone) {
    EXPECT_TRUE(diagnose(several()).empty());
    EXPECT_TRUE(diagnose(over_rows()).empty());
}

TEST(Diagnosis, EachMistakeIsFoundByWhatItCounts) {
    std::set<std::string> left;
    for (const auto& hypothesis : common::diagnosis::hypotheses())
        left.insert(hypothesis.name);
    for (Cases cases : {several(), over_rows()}) {
        for (const auto& hypothesis : common::diagnosis::hypotheses()) {
            if (!left.contains(hypothesis.name)) continue;  // one of its forms is enough
            const RunContext context{
                "chapter", hypothesis.name == "merges-part-of-its-own" ? "private" : "local",
                hypothesis.name != "early-return"};  // which PoCL does not survive
            cases.counted_by([&](const Case& run) {
                return hypothesis.predict(run, context).value_or(run.expected);
            });
            if (std::all_of(cases.all.begin(), cases.all.end(),
                            [](const Case& run) { return run.matches(); }))
                continue;
            EXPECT_TRUE(names(diagnose(cases, context), hypothesis.name)) << hypothesis.name;
            left.erase(hypothesis.name);
        }
    }
    // It needs more than 2^24 pixels of one value; the gallery has it.
    EXPECT_EQ(left, (std::set<std::string>{"float-counters"}));
}

TEST(Diagnosis, OneRunThatContradictsIsEnough) {
    Cases cases = several();
    cases.counted_by(without_tail(16));
    EXPECT_EQ(first_name(cases), "tail-dropped");
    // One more wrong count in any run contradicts the mistake.
    for (Case& run : cases.all) {
        Case changed = run;
        std::uint32_t& count = *std::find_if(changed.actual[0].begin(), changed.actual[0].end(),
                                             [](std::uint32_t c) { return c > 0; });
        --count;
        std::swap(changed, run);
        EXPECT_EQ(first_name(cases), "unclear");
        std::swap(changed, run);
    }
    // So does a run that matches where the mistake predicts that it would not.
    Case& large = cases.all.front();
    large.actual = {large.expected};
    EXPECT_EQ(first_name(cases), "unclear");
}

TEST(Diagnosis, WhatABarrierKeepsApartIsNotPredictedForAGpu) {
    Cases cases = several();
    cases.counted_by([](const Case& run) {
        for (const auto& hypothesis : common::diagnosis::hypotheses()) {
            if (hypothesis.name == "no-barrier-after-zeroing")
                return *hypothesis.predict(run, kOnPocl);
        }
        return run.expected;
    });
    EXPECT_EQ(first_name(cases), "no-barrier-after-zeroing");
    EXPECT_EQ(first_name(cases, {"03-local-atomics", "local", false}), "unclear");
}

TEST(Diagnosis, TheEvidenceCountsTheRuns) {
    Cases cases = several();
    std::vector<Finding> findings = diagnose(cases.counted_by(without_tail(64)));
    ASSERT_EQ(first_name(findings), "tail-dropped");
    EXPECT_EQ(findings[0].certainty, Finding::Certainty::kPredicted);
    EXPECT_TRUE(
        tests::has(findings[0].evidence, "each of the 5 runs that differ (the smallest: run 3)"));
    EXPECT_EQ(findings[0].read, "03-local-atomics/README.md#what-went-wrong-in-published-code");
    EXPECT_TRUE(tests::has(common::diagnosis::text_of(findings), "  why: The last pixels are not"));
    cases.all.resize(2);  // which are no ground for certainty
    findings = diagnose(cases);
    ASSERT_EQ(first_name(findings), "tail-dropped");
    EXPECT_EQ(findings[0].certainty, Finding::Certainty::kPattern);
}

// ---- patterns -----------------------------------------------------------------------------------

// The groups' own tables, where the pixels are taken in turn.
std::vector<Histogram> tables_of(const Case& run) {
    return common::diagnosis::tables_of_groups(run).front();
}

// In each fifth bin the first group's count is lost.
Histogram first_group_lost(const Case& run) {
    Histogram counts = run.expected;
    const std::vector<Histogram> tables = tables_of(run);
    for (std::size_t bin = 0; tables.size() > 1 && bin < kBins; bin += 5)
        counts[bin] -= tables[0][bin];
    return counts;
}

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
    const std::vector<Finding> findings = diagnose(cases);
    EXPECT_EQ(first_name(findings), "lost-updates");
    EXPECT_EQ(findings[0].certainty, Finding::Certainty::kPattern);
    EXPECT_TRUE(tests::has(common::diagnosis::text_of(findings), "why, most likely: "));
    // A bin with too many counts contradicts lost updates.
    ++cases.all[1].actual[1][9];
    cases.all[1].actual[1][9] += cases.all[1].expected[9];
    EXPECT_EQ(first_name(cases), "unclear");
}

TEST(Diagnosis, GroupsThatLoseEachOthersCounts) {
    Cases cases = several();
    EXPECT_EQ(first_name(cases.counted_by(first_group_lost)), "merge-without-atomic");
    // Who counts in one table merges nothing.
    EXPECT_EQ(first_name(cases, {"02-global-atomics", "racy", true}), "unclear");
    // Too few pixels or too many groups say nothing of a merge.
    Cases few;
    few.add(common::uniform_pixels(101, 256, 3), 101, {3, 64});
    few.add(common::uniform_pixels(30'011, 256, 3), 101, {9, 64});
    EXPECT_EQ(first_name(few.counted_by(first_group_lost)), "unclear");
    few.add(common::uniform_pixels(30'011, 256, 3), 101, {4, 64});
    EXPECT_EQ(first_name(few.counted_by(first_group_lost)), "merge-without-atomic");
}

TEST(Diagnosis, NoiseIsUnclear) {
    Cases cases = several();
    cases.counted_by([](const Case& run) {
        Histogram counts = run.expected;
        for (std::size_t bin = 0; bin < kBins; ++bin)
            counts[bin] = bin % 2 == 0 ? counts[bin] + 3 : counts[bin] / 2;
        return counts;
    });
    const std::vector<Finding> findings = diagnose(cases);
    EXPECT_EQ(first_name(findings), "unclear");
    EXPECT_TRUE(tests::has(common::diagnosis::text_of(findings), "why: unclear"));
}

TEST(Diagnosis, SpeaksOfThreadsAndBlocksInCuda) {
    Cases cases = several();
    cases.counted_by(first_group_lost);
    const std::string opencl = common::diagnosis::text_of(diagnose(cases));
    EXPECT_TRUE(tests::has(opencl, "The groups merge their tables"));
    EXPECT_TRUE(tests::has(opencl, "a group's whole count"));
    const std::string cuda =
        common::diagnosis::text_of(diagnose(cases, {"03-local-atomics", "local", false, true}));
    EXPECT_TRUE(tests::has(cuda, "The blocks merge their tables"));
    EXPECT_TRUE(tests::has(cuda, "a block's whole count"));
    EXPECT_FALSE(tests::has(cuda, "group"));
    for (const auto& hypothesis : common::diagnosis::hypotheses()) {
        cases.counted_by([&](const Case& run) {
            return hypothesis.predict(run, kOnPocl).value_or(run.expected);
        });
        const RunContext context{"03-local-atomics", "local", true, true};
        for (const Finding& finding : diagnose(cases, context)) {
            for (const char* word : {"group", "work-item", "get_", "local memory"})
                EXPECT_FALSE(tests::has(finding.sentence + finding.evidence, word)) << finding.name;
        }
    }
}

TEST(Diagnosis, TheLastToMergeLeavesItselfOut) {
    Cases cases = several();
    for (Case& run : cases.all) {
        const std::vector<Histogram> tables = tables_of(run);
        run.actual = {run.expected, run.expected};
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            run.actual[0][bin] -= tables[bin % tables.size()][bin];
            run.actual[1][bin] -= tables[bin / 3 % tables.size()][bin];
        }
    }
    EXPECT_EQ(first_name(cases), "one-table-left-out");
    // Where a single group is right somebody else has lost it.
    cases.all[0].actual = {cases.all[0].expected};
    EXPECT_EQ(first_name(cases), "merge-without-atomic");
}

// What lies in a table changes from run to run, though perhaps not in those that look into it.
TEST(Diagnosis, WhatChangedInTheRunThatWasLookedInto) {
    Cases cases = several();
    for (Case& run : cases.all) {
        run.actual = {run.expected};
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            if (run.expected[bin] > 0)
                run.actual[0][bin] += static_cast<std::uint32_t>(bin * bin % 7 + 1);
        }
    }
    RunContext context{"03-local-atomics", "local", false};
    EXPECT_EQ(first_name(cases, context), "unclear");
    context.changes = true;
    EXPECT_EQ(first_name(cases, context), "table-not-zeroed");
}

// What nobody has written is no count, however large.
TEST(Diagnosis, WhatIsNotWrittenIsNoGarbage) {
    for (const std::uint32_t found : {common::kPoison, common::kPoison + 1}) {
        Cases cases = several();
        for (Case& run : cases.all) {
            for (std::size_t bin = 0; bin < kBins; bin += run.pixels.size() % 5 + 1)
                run.actual[0][bin] = found;
        }
        EXPECT_EQ(first_name(cases), found == common::kPoison ? "unclear" : "table-not-zeroed");
    }
}

// Counted twice, but not in the first run: no walk over the pixels explains that.
TEST(Diagnosis, WhatIsLeftOverFromTheLastRun) {
    Cases cases = several();
    for (Case& run : cases.all) {
        run.actual = {run.expected, run.expected};
        for (std::uint32_t& count : run.actual[0])
            count *= 2;
    }
    const RunContext context{"04-per-thread-bins", "private", false};
    EXPECT_EQ(first_name(cases, context), "table-not-zeroed");
    for (Case& run : cases.all)
        run.actual.pop_back();
    EXPECT_EQ(first_name(cases, context), "counted-several-times");
}

// ---- the runs -----------------------------------------------------------------------------------

using common::Answer;
using common::diagnosis::observe;
using Words = std::vector<std::string>;
using std::chrono::milliseconds;

// The value behind an option.
std::string given(const Words& arguments, const std::string& option) {
    const auto at = std::find(arguments.begin(), arguments.end(), option);
    return at == arguments.end() ? "" : *(at + 1);
}

// What a run answers that was launched so: that it matches, or these counts.
Answer counted(const Launch& launch, const std::optional<Histogram>& counts = {}) {
    common::Result result;
    result.launch = launch;
    result.counts = counts;
    common::RunDocument document;
    document.results = {result};
    return {Answer::Kind::kRan, "", document};
}

TEST(Observe, AsksForInputsAndLaunches) {
    std::set<std::string> launches;
    const auto seen = observe([&](const Words& arguments, milliseconds) {
        const Launch launch{std::stoul(given(arguments, "--groups")),
                            std::stoul(given(arguments, "--group-size"))};
        launches.insert(common::to_string(launch));
        return counted(launch);
    });
    EXPECT_GE(seen.cases.size(), 7U);
    EXPECT_TRUE(launches.contains("1 group of 64"));
    EXPECT_TRUE(launches.contains("3 groups of 64"));
    EXPECT_TRUE(seen.troubles.empty());
    for (const Case& run : seen.cases) {
        EXPECT_TRUE(run.matches());
        EXPECT_EQ(common::reference_histogram(run.pixels), run.expected);
        EXPECT_NE(run.width, 0U);
    }
    EXPECT_TRUE(std::any_of(seen.cases.begin(), seen.cases.end(),
                            [](const Case& run) { return run.actual.size() > 2; }));
    EXPECT_GT(seen.cases.back().pixels.size(), std::size_t{1} << 24);  // what floats lose
    EXPECT_TRUE(common::diagnosis::diagnose(seen.cases, kOnPocl).empty());
}

TEST(Observe, KeepsWhatIsCountedAndSaysWhatGoesWrong) {
    int run = 0;
    const auto seen = observe([&](const Words&, milliseconds) -> Answer {
        switch (run++) {
            case 0:
                return {Answer::Kind::kCrashed, "it crashes", {}};
            case 1:
                return {Answer::Kind::kNotFinished, "", {}};
            case 2:
                return counted({2, 64}, Histogram{5});
            case 3: {
                Answer later = counted({6, 64}, Histogram{6});
                later.run->results.front().only_later = true;
                return later;
            }
            case 4:
                return {Answer::Kind::kBadInput, "it ended for want of memory", {}};
            default:
                return {};
        }
    });
    ASSERT_EQ(seen.cases.size(), 2U);
    EXPECT_EQ(seen.cases[0].actual, std::vector<Histogram>{Histogram{5}});
    EXPECT_EQ(seen.cases[1].actual, (std::vector<Histogram>{Histogram{6}, seen.cases[1].expected}));
    ASSERT_EQ(seen.troubles.size(), 3U);
    EXPECT_TRUE(tests::has(seen.troubles[0], "it crashes"));
    EXPECT_TRUE(tests::has(seen.troubles[1], "it is not finished after 15 s"));
    EXPECT_TRUE(tests::has(seen.troubles[2], "it ended for want of memory"));
}

TEST(Observe, DoesNoMoreThanItNeeds) {
    int runs = 0;
    // Where a smaller one is wrong it does without the largest.
    const auto wrong = observe([&](const Words&, milliseconds) {
        return runs++ == 4 ? counted({1, 64}, Histogram{}) : counted({1, 64});
    });
    EXPECT_GE(wrong.cases.size(), 7U);
    EXPECT_LT(wrong.cases.back().pixels.size(), std::size_t{1} << 24);
    // And it does not wait for ever.
    runs = 0;
    const auto hangs = observe([&](const Words&, milliseconds) -> Answer {
        ++runs;
        return {Answer::Kind::kNotFinished, "", {}};
    });
    EXPECT_EQ(runs, 2);
    EXPECT_TRUE(hangs.cases.empty());
}

}  // namespace
