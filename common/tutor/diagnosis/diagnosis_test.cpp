#include "common/tutor/diagnosis/diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <set>

#include "common/inputs/inputs.hpp"
#include "common/tests/support.hpp"
#include "common/tutor/diagnosis/model.hpp"
#include "common/tutor/diagnosis/probes.hpp"

namespace {

using common::Histogram;
using common::kBins;
using common::Launch;
using common::PixelBuffer;
using common::diagnosis::Case;
using common::diagnosis::Change;
using common::diagnosis::Finding;
using common::diagnosis::Prediction;
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

std::vector<Finding> diagnose(const Cases& cases, const RunContext& context = kOnPocl) {
    return common::diagnosis::diagnose(cases.all, context).findings;
}

std::string text_of(const Cases& cases, const RunContext& context = kOnPocl) {
    return common::diagnosis::text_of(common::diagnosis::diagnose(cases.all, context));
}

std::string first_name(const std::vector<Finding>& findings) {
    return findings.empty() ? "unclear" : findings.front().name;
}

std::string first_name(const Cases& cases, const RunContext& context = kOnPocl) {
    return first_name(diagnose(cases, context));
}

Histogram counts_of(const Prediction& prediction) {
    Histogram counts{};
    std::copy(prediction.low.begin(), prediction.low.end(), counts.begin());
    return counts;
}

// What a kernel with a mistake of this name counts, run by run: the first such mistake that shows.
std::function<Histogram(const Case&)> with(const std::string& strategy, const std::string& name) {
    const RunContext context{"chapter", strategy, true};
    const Cases cases = strategy == "subhist" ? over_rows() : several();
    for (const Change& change : common::diagnosis::changes(context)) {
        if (change.name != name) continue;
        const auto play = [=](const Case& run) {
            return counts_of(predict(change.strategy, &change.changed, run, context));
        };
        if (std::any_of(cases.all.begin(), cases.all.end(),
                        [&](const Case& run) { return play(run) != run.expected; }))
            return play;
    }
    throw std::invalid_argument(name);
}

constexpr const char* kStrategies[] = {
    "global",     "subhist",           "local",         "two-per-sm", "local-buckets", "private",
    "uchar-bins", "uchar-bins-banked", "local-subhist", "lane-bins",  "vector",        "tuned"};

// ---- strategies and changes ---------------------------------------------------------------------

TEST(Diagnosis, WithoutAChangeTheStrategiesAreRight) {
    for (const char* const name : kStrategies) {
        for (const Cases& cases : {several(), over_rows()}) {
            for (const Case& run : cases.all) {
                if ((run.launch.across > 0) != (std::string(name) == "subhist")) continue;
                for (const bool one_by_one : {true, false}) {
                    const RunContext context{"chapter", name, one_by_one};
                    for (const auto& played : strategies_of(context)) {
                        const Prediction counts = predict(played, nullptr, run, context);
                        EXPECT_EQ(counts_of(counts), run.expected) << name;
                        EXPECT_TRUE(counts.is_certain) << name;
                        EXPECT_FALSE(counts.is_divergent || counts.is_outside) << name;
                    }
                }
            }
        }
    }
}

// A row of the table that no strategy asks for would be no mistake at all.
TEST(Diagnosis, EveryStrategyHasChangesAndSentences) {
    for (const char* const name : kStrategies) {
        const std::vector<Change> all = common::diagnosis::changes({"chapter", name, true});
        EXPECT_GT(all.size(), 100U) << name;
        for (const Change& change : all) {
            const std::string sentence = sentence_of(change, false);
            EXPECT_TRUE(sentence.ends_with(".")) << sentence;
            EXPECT_FALSE(tests::has(sentence, "{") || tests::has(sentence, "X")) << sentence;
        }
    }
}

TEST(Diagnosis, ARightKernelHasNone) {
    EXPECT_TRUE(diagnose(several()).empty());
    EXPECT_TRUE(diagnose(over_rows()).empty());
}

// Some changes of two strategies: what is named predicts every count.
TEST(Diagnosis, AChangeIsFoundByWhatItCounts) {
    Cases cases = several();
    int tried = 0;
    for (const char* const strategy : {"local", "global"}) {
        const RunContext context{"chapter", strategy, true};
        const std::vector<Change> all = common::diagnosis::changes(context);
        for (std::size_t i = 0; i < all.size(); i += 331) {
            const auto play = [&](const Case& run) {
                return predict(all[i].strategy, &all[i].changed, run, context);
            };
            const bool certain =
                std::all_of(cases.all.begin(), cases.all.end(), [&](const Case& run) {
                    const Prediction counts = play(run);
                    return counts.is_certain && !counts.is_divergent && !counts.is_outside;
                });
            cases.counted_by([&](const Case& run) { return counts_of(play(run)); });
            const bool right_all = std::all_of(cases.all.begin(), cases.all.end(),
                                               [](const Case& run) { return run.matches(); });
            if (!certain || right_all) continue;
            ++tried;
            const std::vector<Finding> findings = diagnose(cases, context);
            ASSERT_FALSE(findings.empty()) << all[i].name << ": " << sentence_of(all[i], false);
            EXPECT_TRUE(tests::has(findings.front().evidence, "it predicts all 256 counts"))
                << all[i].name << ": " << sentence_of(all[i], false) << "\n"
                << text_of(cases, context);
        }
    }
    EXPECT_GT(tried, 12) << tried;
}

TEST(Diagnosis, TheNamesOfTheGallery) {
    for (const char* const name :
         {"not-zeroed", "wrong-start", "merge-strided-globally", "merge-without-a-loop",
          "no-barrier-after-zeroing", "no-barrier-before-merge", "last-bin-missing", "bins-shifted",
          "tail-dropped", "only-a-part", "counted-several-times"})
        EXPECT_EQ(first_name(several().counted_by(with("local", name))), name);
    for (const char* const name :
         {"padding-counted", "pitch-not-used", "cropped", "last-table-skipped",
          "only-the-first-group", "last-row-taken-as-full"})
        EXPECT_EQ(first_name(over_rows().counted_by(with("subhist", name)),
                             {"02-global-atomics", "subhist", true}),
                  name);
}

TEST(Diagnosis, OneRunThatContradictsIsEnough) {
    Cases cases = several();
    cases.counted_by(with("local", "tail-dropped"));
    EXPECT_EQ(first_name(cases), "tail-dropped");
    // One more wrong count in any run contradicts the mistake.
    for (Case& run : cases.all) {
        const Case kept = run;
        run.actual[0][run.pixels[run.pixels.size() / 2]] += 3;
        EXPECT_EQ(first_name(cases), "unclear") << text_of(cases);
        run = kept;
    }
    // So does a run that matches where the mistake predicts that it would not.
    Case& large = cases.all.front();
    large.actual = {large.expected};
    EXPECT_NE(first_name(cases), "tail-dropped") << text_of(cases);
}

TEST(Diagnosis, WhatABarrierKeepsApartIsNotCertainOnAGpu) {
    Cases cases = several();
    cases.counted_by(with("local", "no-barrier-after-zeroing"));
    EXPECT_EQ(diagnose(cases).front().certainty, Finding::Certainty::kPredicted);
    for (const Finding& finding : diagnose(cases, {"03-local-atomics", "local", false}))
        EXPECT_EQ(finding.certainty, Finding::Certainty::kPattern) << finding.name;
}

TEST(Diagnosis, TheEvidenceCountsTheRuns) {
    Cases cases = several();
    std::vector<Finding> findings = diagnose(cases.counted_by(with("local", "not-zeroed")));
    ASSERT_EQ(first_name(findings), "not-zeroed");
    EXPECT_EQ(findings[0].certainty, Finding::Certainty::kPredicted);
    EXPECT_TRUE(tests::has(findings[0].evidence, "runs that differ (the smallest: run "));
    EXPECT_EQ(findings[0].read, "03-local-atomics/README.md#what-went-wrong-in-published-code");
    EXPECT_TRUE(tests::has(text_of(cases), "  why: "));
    cases.all.resize(2);  // which are no ground for certainty
    EXPECT_EQ(diagnose(cases).front().certainty, Finding::Certainty::kPattern);
    EXPECT_TRUE(tests::has(text_of(cases), "  why, most likely: "));
}

// ---- what no single prediction says
// --------------------------------------------------------------

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
    EXPECT_EQ(diagnose(cases, global)[0].certainty, Finding::Certainty::kPattern);
    // A bin with too many counts contradicts lost updates.
    cases.all[1].actual[1][9] += cases.all[1].expected[9] + 1;
    EXPECT_EQ(first_name(cases, global), "unclear");
}

// A run that crashes contradicts whatever stays inside of its memory.
// The kernel's loops stand in the order in which the strategy goes through them.
TEST(Diagnosis, NamesTheLineOfTheChoice) {
    const std::string right =
        "// ---- another: for (;;) ----\n"
        "// ---- local: the five steps ----\n"
        "for (bin = item; bin < 256; bin += size) {\n"
        "    table[bin] = 0;\n"
        "}\n"
        "barrier();\n"
        "for (i = id; i < count; i += all)  // not a while (1)\n"
        "    atomic_inc(&table[pixels[i]]);\n"
        "barrier();\n"
        "for (bin = item; bin < 256; bin += size) {\n"
        "    atomic_add(&histogram[bin], table[bin]);\n"
        "}\n";
    const auto at = [&](const std::string& name, const std::string& kernel) {
        RunContext context = kOnPocl;
        context.kernel = kernel;
        context.file = "my.cl";
        const std::vector<Finding> findings =
            diagnose(several().counted_by(with("local", name)), context);
        return findings.front().name == name ? findings.front().at : findings.front().name;
    };
    EXPECT_EQ(at("tail-dropped", right), "my.cl:7");
    EXPECT_EQ(at("merge-strided-globally", right), "my.cl:10");
    EXPECT_EQ(at("bins-shifted", right), "my.cl:8");
    EXPECT_EQ(at("no-barrier-before-merge", right), "my.cl:10");
    EXPECT_EQ(at("tail-dropped", right + "for (;;) {}"), "");  // another kernel
    EXPECT_EQ(at("tail-dropped", ""), "");
    // An exercise has no heading for it.
    std::string exercise = right;
    exercise.replace(exercise.find("local: the five steps"), 21, "your part");
    EXPECT_EQ(at("tail-dropped", exercise), "my.cl:7");
}

// A detector that finds no race contradicts a missing barrier.
TEST(Diagnosis, ADetectorIsEvidence) {
    Cases cases = several();
    cases.counted_by(with("local", "no-barrier-before-merge"));
    RunContext context = kOnPocl;
    EXPECT_EQ(first_name(cases, context), "no-barrier-before-merge");
    context.race_free = true;
    EXPECT_NE(first_name(cases, context), "no-barrier-before-merge");
}

TEST(Diagnosis, ACrashIsEvidence) {
    Cases cases = several();
    cases.counted_by(with("local", "tail-dropped"));
    Case crashed = cases.all.front();
    crashed.actual.clear();
    crashed.ended = Case::Ended::kCrashed;
    cases.all.push_back(crashed);
    EXPECT_NE(first_name(cases), "tail-dropped");
    EXPECT_FALSE(text_of(cases).empty());
}

TEST(Diagnosis, NoiseIsUnclearAndSaysWhatIsKnown) {
    Cases cases = several();
    cases.counted_by([](const Case& run) {
        Histogram counts = run.expected;
        for (std::size_t bin = 0; bin < kBins && run.launch.groups > 1; ++bin)
            counts[bin] = bin % 2 == 0 ? counts[bin] + 3 : counts[bin] / 2;
        return counts;
    });
    EXPECT_EQ(first_name(cases), "unclear");
    const std::string text = text_of(cases);
    EXPECT_TRUE(tests::has(text, "why: unclear"));
    EXPECT_TRUE(tests::has(text, "right with one group"));
    EXPECT_TRUE(tests::has(text_of(cases, {"c", "local", true, true}), "right with one block"));
}

TEST(Diagnosis, SpeaksOfThreadsAndBlocksInCuda) {
    for (const char* const name : kStrategies) {
        for (const Change& change : common::diagnosis::changes({"chapter", name, false, true}))
            EXPECT_FALSE(tests::has(sentence_of(change, true), "get_")) << change.name;
    }
    Cases cases = several();
    cases.counted_by(with("local", "merge-strided-globally"));
    EXPECT_TRUE(tests::has(text_of(cases), "get_global_size(0), not by get_local_size(0)"));
    const std::string cuda = text_of(cases, {"03-local-atomics", "local", true, true});
    EXPECT_TRUE(tests::has(cuda, "gridDim.x * blockDim.x, not by blockDim.x"));
    for (const char* word : {"group ", "groups", "work-item", "local memory"})
        EXPECT_FALSE(tests::has(cuda, word)) << cuda;
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
        return first_name(cases, {"02-global-atomics", "global", true});
    };
    EXPECT_EQ(lost(3, 0), "8-bit-overflow");
    EXPECT_EQ(lost(3, 3), "packed-counters-carry");
    EXPECT_EQ(lost(3, 2), "unclear");
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
    const auto seen = observe({1, 64}, [&](const Words& arguments, milliseconds) {
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
    EXPECT_TRUE(common::diagnosis::diagnose(seen.cases, kOnPocl).findings.empty());
}

TEST(Observe, KeepsWhatIsCountedAndSaysWhatGoesWrong) {
    int run = 0;
    const auto seen = observe({1, 64}, [&](const Words&, milliseconds) -> Answer {
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
    ASSERT_EQ(seen.cases.size(), 4U);
    EXPECT_EQ(seen.cases[0].ended, Case::Ended::kCrashed);
    EXPECT_EQ(seen.cases[1].ended, Case::Ended::kNot);
    EXPECT_EQ(seen.cases[2].actual, std::vector<Histogram>{Histogram{5}});
    EXPECT_EQ(seen.cases[3].actual, (std::vector<Histogram>{Histogram{6}, seen.cases[3].expected}));
    ASSERT_EQ(seen.troubles.size(), 3U);
    EXPECT_TRUE(tests::has(seen.troubles[0], "it crashes"));
    EXPECT_TRUE(tests::has(seen.troubles[1], "it is not finished after 15 s"));
    EXPECT_TRUE(tests::has(seen.troubles[2], "it ended for want of memory"));
}

TEST(Observe, DoesNoMoreThanItNeeds) {
    int runs = 0;
    // Where a smaller one is wrong it does without the largest.
    const auto wrong = observe({1, 64}, [&](const Words&, milliseconds) {
        return runs++ == 4 ? counted({1, 64}, Histogram{}) : counted({1, 64});
    });
    EXPECT_GE(wrong.cases.size(), 7U);
    EXPECT_LT(wrong.cases.back().pixels.size(), std::size_t{1} << 24);
    // And it does not wait for ever.
    runs = 0;
    const auto hangs = observe({1, 64}, [&](const Words&, milliseconds) -> Answer {
        ++runs;
        return {Answer::Kind::kNotFinished, "", {}};
    });
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(hangs.cases.size(), 2U);
}

}  // namespace
