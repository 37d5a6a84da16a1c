#include "common/tutor/diagnosis/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "common/tutor/diagnosis/hypotheses.hpp"

namespace common::diagnosis {
namespace {

// A hypothesis walks over all pixels of a run: those of a larger one are left to the smaller runs.
constexpr std::size_t kMaxPixelsLookedAt = std::size_t{32} << 20;

std::string plural(std::size_t number, const std::string& one, const std::string& many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
}

// The sentences speak OpenCL.
std::string in_cuda_words(std::string text) {
    constexpr std::array<std::pair<const char*, const char*>, 10> words{{
        {"get_global_id(0)", "blockIdx.x * blockDim.x + threadIdx.x"},
        {"get_global_size(0)", "gridDim.x * blockDim.x"},
        {"get_local_id(0)", "threadIdx.x"},
        {"get_local_size(0)", "blockDim.x"},
        {"get_group_id(0)", "blockIdx.x"},
        {"get_num_groups(0)", "gridDim.x"},
        {"work-item", "thread"},
        {"work-group", "block"},
        {"group", "block"},
        {"local memory", "shared memory"},
    }};
    for (const auto& [opencl, cuda] : words) {
        const std::size_t length = std::string(opencl).size();
        for (std::size_t at = text.find(opencl); at != std::string::npos;
             at = text.find(opencl, at + 1)) {
            text.replace(at, length, cuda);
        }
    }
    return text;
}

// Fewer runs than these are no ground for certainty.
constexpr std::size_t kFewRuns = 4;

struct Runs {  // each the smallest first
    std::vector<const Case*> wrong;
    std::vector<const Case*> right;
    std::vector<const Case*> all;
};

Runs sorted(const std::vector<Case>& cases) {
    Runs runs;
    for (const Case& run : cases) {
        if (run.pixels.size() > kMaxPixelsLookedAt) continue;
        (run.matches() ? runs.right : runs.wrong).push_back(&run);
        runs.all.push_back(&run);
    }
    for (auto* const part : {&runs.wrong, &runs.right, &runs.all}) {
        std::stable_sort(part->begin(), part->end(), [](const Case* a, const Case* b) {
            return a->pixels.size() < b->pixels.size();
        });
    }
    return runs;
}

// How many of the wrong runs it predicts; 0 where a run contradicts it. The smallest runs speak
// first, right or wrong: most hypotheses are contradicted there. A large one may be beyond what is
// worked out.
std::size_t fits(const Hypothesis& hypothesis, const Runs& runs, const RunContext& context) {
    std::size_t predicted_wrong = 0;
    std::size_t beyond_prediction = 0;  // what lies behind the tables, say
    for (const Case* const run : runs.all) {
        if (run->changes()) return 0;  // no prediction is two histograms
        const std::optional<Histogram> predicted = hypothesis.predict(*run, context);
        if (predicted && *predicted != run->actual.front()) return 0;
        if (!predicted && !run->matches() && run->pixels.size() <= kManyPixels) ++beyond_prediction;
        if (predicted && !run->matches()) ++predicted_wrong;
    }
    return predicted_wrong > beyond_prediction ? predicted_wrong : 0;
}

std::string as_predicted(const Runs& runs, std::size_t predicted) {
    std::string text = predicted == 1
                           ? fmt::format("it predicts all 256 counts of the run that differs ({})",
                                         runs.wrong.front()->words)
                           : fmt::format(
                                 "it predicts all 256 counts of each of the {} runs that "
                                 "differ (the smallest: {})",
                                 predicted, runs.wrong.front()->words);
    if (!runs.right.empty()) {
        text +=
            fmt::format(", and that {} not", plural(runs.right.size(), "other does", "others do"));
    }
    return text;
}

// ---- mistakes that leave a pattern, and not one histogram ---------------------------------------

using Matches = std::function<bool(const Histogram& expected, const Histogram& actual)>;

bool in_each_wrong_run(const Runs& runs, const Matches& matches) {
    return std::all_of(runs.wrong.begin(), runs.wrong.end(), [&](const Case* run) {
        return std::all_of(run->actual.begin(), run->actual.end(), [&](const Histogram& actual) {
            return actual == run->expected || matches(run->expected, actual);
        });
    });
}

bool one_more_in_one_bin(const Histogram& expected, const Histogram& actual) {
    const std::vector<WrongBin> wrong = compare(expected, actual).wrong;
    return wrong.size() == 1 && wrong[0].actual == wrong[0].expected + 1;
}

bool none_over(const Histogram& expected, const Histogram& actual) {
    return std::equal(actual.begin(), actual.end(), expected.begin(), std::less_equal<>());
}

// Something on top of the right counts; the poison alone is what nobody wrote.
bool none_short(const Histogram& expected, const Histogram& actual) {
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        if (actual[bin] < expected[bin] || actual[bin] == kPoison) return false;
    }
    return true;
}

// Whether each count is the sum of some of the groups' counts; with `one_alone`, of one of them.
bool made_of_tables(const std::vector<Histogram>& tables, const Histogram& actual, bool one_alone) {
    if (tables.size() < 2) return false;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        bool found = false;
        for (unsigned chosen = 1; chosen < 1U << tables.size() && !found; ++chosen) {
            if (one_alone && (chosen & (chosen - 1)) != 0) continue;
            std::uint32_t sum = 0;
            for (std::size_t group = 0; group < tables.size(); ++group)
                sum += (chosen >> group & 1U) != 0 ? tables[group][bin] : 0;
            found = sum == actual[bin];
        }
        if (!found) return false;
    }
    return true;
}

// Few enough to try all choices of them.
constexpr std::size_t kFewGroups = 8;

// Whether all runs that differ are explained by the tables of their groups.
using OfTables = std::function<bool(const std::vector<Histogram>& tables, const Histogram& expected,
                                    const Histogram& actual)>;

bool explained_by_tables(const Runs& runs, const OfTables& explains) {
    // With few pixels for each bin every count is some sum, and says nothing.
    const bool any = std::any_of(runs.wrong.begin(), runs.wrong.end(), [](const Case* run) {
        return run->launch.groups <= kFewGroups &&
               run->pixels.size() >= 4 * kBins * run->launch.groups;
    });
    const auto is_explained = [&](const Case& run) {
        if (run.launch.groups > kFewGroups || run.pixels.size() > kManyPixels) return true;
        const auto ways = tables_of_groups(run);
        return std::any_of(ways.begin(), ways.end(), [&](const std::vector<Histogram>& tables) {
            return std::all_of(run.actual.begin(), run.actual.end(), [&](const Histogram& actual) {
                return actual == run.expected || explains(tables, run.expected, actual);
            });
        });
    };
    return any && std::all_of(runs.wrong.begin(), runs.wrong.end(),
                              [&](const Case* run) { return is_explained(*run); });
}

bool made_of_tables(const Runs& runs, bool one_alone) {
    return explained_by_tables(
        runs, [=](const std::vector<Histogram>& tables, const Histogram&, const Histogram& actual) {
            return made_of_tables(tables, actual, one_alone);
        });
}

// Whether each count is that of all groups but one, not the same one in all bins.
bool without_one_table(const std::vector<Histogram>& tables, const Histogram& expected,
                       const Histogram& actual) {
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        const bool found = std::any_of(tables.begin(), tables.end(), [&](const Histogram& table) {
            return actual[bin] == expected[bin] - table[bin];
        });
        if (!found) return false;
    }
    return true;
}

// Whether a count is a sum of one choice for each of these positions.
bool is_sum(const std::vector<std::vector<std::uint32_t>>& choices, std::size_t at,
            std::uint32_t rest) {
    if (at == choices.size()) return rest == 0;
    return std::any_of(choices[at].begin(), choices[at].end(), [&](std::uint32_t choice) {
        return is_sum(choices, at + 1, rest - choice);
    });
}

// Whether the counts come from rows that lie `step` bins apart and not 256, and overwrite each
// other in any order; where nobody writes, the poison is.
bool made_of_overlapping(const std::vector<Histogram>& tables, std::size_t step,
                         const Histogram& actual) {
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        std::vector<std::vector<std::uint32_t>> choices(tables.size());
        for (std::size_t row = 0; row < tables.size(); ++row) {
            for (std::size_t group = 0; group < tables.size(); ++group) {
                const std::size_t position = row * kBins + bin;
                if (position < group * step || position >= group * step + kBins) continue;
                choices[row].push_back(tables[group][position - group * step]);
            }
            if (choices[row].empty()) choices[row].push_back(kPoison);
        }
        if (!is_sum(choices, 0, actual[bin])) return false;
    }
    return true;
}

bool made_of_overlapping(const Runs& runs) {
    const auto fits = [&](const Case& run, std::size_t step) {
        if (run.launch.groups > 4) return true;  // too many orders to try
        const auto ways = tables_of_groups(run);
        return std::any_of(ways.begin(), ways.end(), [&](const std::vector<Histogram>& tables) {
            return std::all_of(run.actual.begin(), run.actual.end(), [&](const Histogram& actual) {
                return actual == run.expected || made_of_overlapping(tables, step, actual);
            });
        });
    };
    const auto steps = [](const Case& run) {
        return std::vector<std::size_t>{0, 1, 64, 128, 254, 255, run.launch.group_size};
    };
    const bool any = std::any_of(runs.wrong.begin(), runs.wrong.end(), [](const Case* run) {
        return run->launch.groups > 1 && run->launch.groups <= 4;
    });
    for (std::size_t s = 0; any && s < steps(*runs.wrong.front()).size(); ++s) {
        if (std::all_of(runs.wrong.begin(), runs.wrong.end(),
                        [&](const Case* run) { return fits(*run, steps(*run)[s]); }))
            return true;
    }
    return false;
}

// A count that no miscounting of so few pixels can reach.
bool has_garbage(const Runs& runs) {
    return std::any_of(runs.wrong.begin(), runs.wrong.end(), [](const Case* run) {
        const std::uint64_t most =
            run->pixels.size() * std::max(run->launch.groups, run->launch.group_size);
        return std::any_of(run->actual.front().begin(), run->actual.front().end(),
                           [&](std::uint32_t count) { return count > most && count != kPoison; });
    });
}

// Something in a bin that no pixel has: to count pixels more than once does not do that.
bool counts_of_no_pixel(const Runs& runs) {
    return std::any_of(runs.wrong.begin(), runs.wrong.end(), [](const Case* run) {
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            if (run->expected[bin] == 0 && run->actual.front()[bin] > 0) return true;
        }
        return false;
    });
}

const Case* one_that_changes(const Runs& runs) {
    const auto found = std::find_if(runs.wrong.begin(), runs.wrong.end(),
                                    [](const Case* run) { return run->changes(); });
    return found == runs.wrong.end() ? nullptr : *found;
}

std::string totals_of(const Case& run) {
    const std::uint64_t first = total(run.actual.front());
    const auto other = std::find_if(run.actual.begin(), run.actual.end(),
                                    [&](const Histogram& h) { return h != run.actual.front(); });
    if (total(*other) == first) return "the same bins again get other counts";
    return fmt::format("{} pixels are counted as {}, and again as {}", total(run.expected), first,
                       total(*other));
}

std::vector<Finding> patterns(const Runs& runs, const RunContext& context) {
    const auto pattern = [](const char* name, const char* sentence, std::string evidence,
                            const char* read) {
        return std::vector<Finding>{
            {name, sentence, std::move(evidence), read, Finding::Certainty::kPattern}};
    };
    const Case* const changing = one_that_changes(runs);
    const bool one_group_is_right =
        std::all_of(runs.wrong.begin(), runs.wrong.end(),
                    [](const Case* run) { return run->launch.groups != 1; });
    const bool in_several_bins =
        std::any_of(runs.wrong.begin(), runs.wrong.end(), [](const Case* run) {
            return compare(run->expected, run->actual.front()).wrong.size() > 1;
        });
    const bool garbage = has_garbage(runs);
    // With one table for everyone nothing is merged.
    const bool merges = context.variant != "global" && context.variant != "racy";
    if (in_each_wrong_run(runs, one_more_in_one_bin)) {
        return pattern(
            "one-pixel-too-many",
            "One pixel too many is counted, from behind the picture: `<=` for `<`.",
            fmt::format("in {} one bin has one too many",
                        plural(runs.wrong.size(), "run that differs", "runs that differ")),
            "what-went-wrong-in-published-code");
    }
    if (merges && !one_group_is_right && explained_by_tables(runs, without_one_table)) {
        return pattern(
            "one-table-left-out",
            "In each bin one group's count is missing, not always the same group's: who "
            "merges last takes what the others have added for the whole.",
            "each count is that of all groups but one, and a single group counts nothing",
            "the-race-conditions");
    }
    if (merges && one_group_is_right && made_of_tables(runs, true)) {
        return pattern("merge-overwrites",
                       "The groups overwrite each other's counts when they merge: an assignment "
                       "in the place of an addition.",
                       "each count is that of one group alone, and a single group is right",
                       "the-race-conditions");
    }
    if (merges && one_group_is_right && made_of_tables(runs, false)) {
        return pattern(
            "merge-without-atomic",
            "The groups merge their tables without an atomic: of two additions to one "
            "bin at the same time one is lost.",
            "what is lost is a group's whole count of a bin, and a single group is right",
            "the-race-conditions");
    }
    if (merges && one_group_is_right && made_of_overlapping(runs)) {
        return pattern("rows-overlap",
                       "The rows of the groups lie too close together, and overwrite each other.",
                       "each count is made of parts of the groups' tables, and a single group is "
                       "right",
                       "what-went-wrong-in-published-code");
    }
    if (changing != nullptr && in_each_wrong_run(runs, none_over)) {
        return pattern("lost-updates",
                       "Counts are lost between work-items that add to one counter at the same "
                       "time: the addition is not atomic.",
                       fmt::format("no bin ever has too many, and the result changes: {}",
                                   totals_of(*changing)),
                       "the-race-conditions");
    }
    const bool from_before = (has_a_table(context) && counts_of_no_pixel(runs)) ||
                             changing != nullptr || context.changes;
    if (garbage || (from_before && in_several_bins && in_each_wrong_run(runs, none_short))) {
        return pattern("table-not-zeroed",
                       "A table is not zeroed before the count: it begins with what was there "
                       "before.",
                       garbage ? "there are counts that so few pixels cannot give"
                               : "no bin has too few, and no multiple of the pixels "
                                 "explains what is too many",
                       "the-race-conditions");
    }
    return {};
}

}  // namespace

bool Case::matches() const {
    return std::all_of(actual.begin(), actual.end(),
                       [&](const Histogram& counts) { return counts == expected; });
}

bool Case::changes() const {
    return std::any_of(actual.begin(), actual.end(),
                       [&](const Histogram& counts) { return counts != actual.front(); });
}

std::vector<Finding> diagnose(const std::vector<Case>& cases, const RunContext& context) {
    const Runs runs = sorted(cases);
    if (runs.wrong.empty()) return {};
    std::vector<Finding> findings;
    for (const Hypothesis& hypothesis : hypotheses()) {
        const bool named = std::any_of(findings.begin(), findings.end(),
                                       [&](const Finding& f) { return f.name == hypothesis.name; });
        if (named) continue;
        const std::size_t predicted = fits(hypothesis, runs, context);
        if (predicted == 0) continue;
        findings.push_back({hypothesis.name, hypothesis.sentence, as_predicted(runs, predicted),
                            hypothesis.read, Finding::Certainty::kPredicted});
    }
    // What is said of a loop in general comes behind what has a name of its own.
    std::stable_partition(findings.begin(), findings.end(),
                          [](const Finding& f) { return !f.name.starts_with("wrong-"); });
    // Few runs prove little: many mistakes would explain them.
    for (Finding& finding : findings)
        if (runs.all.size() < kFewRuns) finding.certainty = Finding::Certainty::kPattern;
    if (findings.empty()) findings = patterns(runs, context);
    for (Finding& finding : findings) {
        if (context.in_cuda) {
            finding.sentence = in_cuda_words(std::move(finding.sentence));
            finding.evidence = in_cuda_words(std::move(finding.evidence));
        }
        finding.read = fmt::format("{}/README.md#{}", context.chapter, finding.read);
    }
    return findings;
}

std::string text_of(const std::vector<Finding>& findings) {
    if (findings.empty()) {
        return "  why: unclear; none of the mistakes that are known here fits all runs\n";
    }
    const Finding& first = findings.front();
    std::string text = fmt::format(
        "  {}: {} ({})\n"
        "  because {}\n"
        "  read on in {}\n",
        first.certainty == Finding::Certainty::kPredicted ? "why" : "why, most likely",
        first.sentence, first.name, first.evidence, first.read);
    for (std::size_t i = 1; i < findings.size(); ++i)
        text += fmt::format("  this fits also: {} ({})\n", findings[i].sentence, findings[i].name);
    return text;
}

}  // namespace common::diagnosis
