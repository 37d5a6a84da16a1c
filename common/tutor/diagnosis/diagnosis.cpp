#include "common/tutor/diagnosis/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <tuple>

#include "common/inputs/inputs.hpp"
#include "common/tutor/diagnosis/model.hpp"

namespace common::diagnosis {
namespace {

// What all changes may take together, in steps; so many are tried on every run; and 17 million
// pixels take less than the third.
constexpr Number kMaxSteps = 200'000'000, kAlways = 6, kTooManySteps = 40'000'000;
constexpr std::size_t kMaxPixels = std::size_t{32} << 20;
constexpr std::size_t kFewRuns = 4;  // fewer are no ground for certainty
constexpr double kLittle = 100;      // bits that are left open
constexpr double kHowever = 2000;    // bits that say nothing about a run
constexpr std::size_t kMaxOthers = 2;

std::string plural(std::size_t number, const std::string& one, const std::string& many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
}

// The sentences speak OpenCL.
std::string in_words_of(const RunContext& context, const std::string& text) {
    if (!context.in_cuda) return text;
    const std::string threads = std::regex_replace(text, std::regex("work-item"), "thread");
    return std::regex_replace(threads, std::regex("(work-)?group"), "block");
}

struct Runs {  // what is worked out soonest comes first; wrong ones say more
    std::vector<const Case*> wrong, right, all;
    std::map<const Case*, Number> steps;  // that it takes to work it out
    bool all_looked_at = true;
    bool change = false;
    bool leftovers = false;
};

Runs sorted(const std::vector<Case>& cases, const RunContext& context) {
    Runs runs;
    runs.change = context.changes;
    const std::vector<Played> strategies = strategies_of(context);
    for (const Case& run : cases) {
        if (run.launch.groups == 0 || run.launch.group_size == 0 || strategies.empty()) {
            runs.all_looked_at = false;
            continue;
        }
        (run.matches() ? runs.right : runs.wrong).push_back(&run);
        runs.all.push_back(&run);
        runs.change = runs.change || run.changes();
        runs.steps[&run] = run.pixels.size() > kMaxPixels
                               ? 2 * kTooManySteps
                               : predict(strategies.front(), nullptr, run, context).steps + 1;
    }
    for (auto* const part : {&runs.wrong, &runs.right, &runs.all}) {
        std::stable_sort(part->begin(), part->end(), [&](const Case* a, const Case* b) {
            const auto late = [&](const Case* run) {
                return runs.steps[run] * (run->matches() ? 8 : 1);
            };
            return late(a) < late(b);
        });
    }
    return runs;
}

// Whether something was there before: a count that no miscounting of so few pixels can reach; or
// counts that change or belong to no pixel, and no bin that has too few.
bool has_leftovers(const Runs& runs) {
    bool some = runs.change;
    bool none_short = true;
    for (const Case* const run : runs.wrong) {
        if (run->actual.empty()) continue;
        const auto most = static_cast<Number>(run->pixels.size()) *
                          static_cast<Number>(std::max(run->launch.groups, run->launch.group_size));
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            const std::uint32_t over = run->actual.front()[bin] - run->expected[bin];
            const auto is_near = [&](std::size_t tables) {  // as if nobody had written so many
                const auto rest = over - static_cast<std::uint32_t>(tables) * kPoison;
                return std::abs(Number{static_cast<std::int32_t>(rest)}) <= most;
            };
            std::size_t tables = 0;
            while (tables <= std::min<std::size_t>(run->launch.groups, 64) && !is_near(tables))
                ++tables;
            if (tables > std::min<std::size_t>(run->launch.groups, 64)) return true;
            if (tables > 0) continue;
            some = some || (run->expected[bin] == 0 && over != 0);
            none_short = none_short && static_cast<std::int32_t>(over) >= 0;
        }
    }
    return some && none_short;
}

// What it is that changes.
using OfChoice = std::tuple<std::size_t, Way, std::uint32_t>;
OfChoice of_choice(const Change& change) {
    return {change.strategy.strategy, change.strategy.way, change.changed.choice.key()};
}

// What changes count in a run. Of those that come to the same in it, half and more, one is played.
class Plays {
 public:
    Plays(const std::vector<Change>& all, const Case& run, const RunContext& context)
        : run_(run), context_(context) {
        for (const Change& each : all)
            becomes_[of_choice(each)].push_back(each.changed.becomes);
    }

    const Prediction& of(const Change& change, bool in_order) {
        std::vector<Play>& plays = plays_[in_order][of_choice(change)];
        for (const Play& each : plays)
            if (std::count(each.same.begin(), each.same.end(), change.changed.becomes) > 0)
                return each.counts;
        std::vector<Becomes> same = becomes_.at(of_choice(change));
        Prediction counts =
            predict(change.strategy, &change.changed, run_, context_, in_order, &same);
        return plays.emplace_back(Play{std::move(same), counts}).counts;
    }

 private:
    struct Play {
        std::vector<Becomes> same;
        Prediction counts;
    };
    const Case& run_;
    const RunContext& context_;
    std::map<OfChoice, std::vector<Becomes>> becomes_;
    std::map<OfChoice, std::vector<Play>> plays_[2];
};

// A change that no run contradicts.
struct Fit {
    const Change* change;
    bool is_certain = true;
    bool is_exact = true;  // in all runs, if the groups ran in order where that matters
    double bits = 0;       // of the change, and of what it leaves open
    bool predicts_a_wrong_one = false;
    bool is_unwritten = false;
    bool takes_too_long = false;

    [[nodiscard]] bool is_loss() const {
        return change->changed.choice.part == kHow && (*change->changed.becomes)({}, 0) == kPlain;
    }
    [[nodiscard]] bool is_race() const {
        const Label label = change->changed.choice.label;
        return is_loss() || label == kZeroed || label == kCounted || label == kAgain;
    }
    // What has said something comes first; then what small runs may hide.
    [[nodiscard]] auto cost() const {
        if (predicts_a_wrong_one) return std::tuple(0, !is_exact, bits);
        return std::tuple(1, is_certain || (change->changed.choice.part != kWidth && !is_loss()),
                          bits);
    }
};

// Whether it fits this run, too. It takes its steps from those that are left.
bool fits(Fit& found, const Case& run, const Runs& runs, Plays& plays, Number& left) {
    if (runs.steps.at(&run) > kTooManySteps) {  // only what leaves much open anyway is asked
        found.is_certain = found.is_exact = false;
        found.predicts_a_wrong_one = found.predicts_a_wrong_one || !run.matches();
        return (found.is_unwritten && runs.leftovers) ||
               (found.is_loss() && runs.change &&
                std::all_of(run.actual.begin(), run.actual.end(), [&](const Histogram& counts) {
                    return std::equal(counts.begin(), counts.end(), run.expected.begin(),
                                      std::less_equal<>());
                }));
    }
    const auto play = [&](bool in_order) {
        const Prediction& counts = plays.of(*found.change, in_order);
        left -= counts.steps;
        return counts;
    };
    const Prediction predicted = play(false);
    const bool ends = run.ended == Case::Ended::kItself;
    found.is_certain = found.is_certain && ends && predicted.is_certain && !predicted.is_divergent;
    if (!ends || predicted.is_endless) {  // what a device does then is its own affair
        found.takes_too_long = predicted.is_endless;
        found.is_exact = false;
        const bool is_said = run.ended == Case::Ended::kCrashed
                                 ? predicted.is_outside
                                 : predicted.is_divergent || predicted.is_endless;
        found.predicts_a_wrong_one = found.predicts_a_wrong_one || (!ends && is_said);
        return ends ? run.pixels.size() > 1'000 : is_said;
    }
    if (found.is_exact && !predicted.is_certain) {
        const Prediction in_order = play(true);
        found.is_exact =
            std::all_of(run.actual.begin(), run.actual.end(),
                        [&](const Histogram& actual) { return in_order.open_bits(actual) == 0.0; });
    }
    const bool returns = found.change->changed.choice.part == kReturn;
    for (const Histogram& actual : run.actual) {
        std::optional<double> bits = predicted.open_bits(actual);
        // What a device does that misses work-items at a barrier is its own affair.
        if (!bits && returns && predicted.is_divergent && !run.matches()) {
            found.is_exact = false;
            bits = kHowever;
        }
        if (!bits) return false;
        if (!found.is_exact) found.bits += *bits;
    }
    found.is_unwritten = found.is_unwritten || predicted.is_unwritten;
    // Who knows what is outside of memory? Only a little of it explains something.
    const auto pixels = static_cast<Number>(run.pixels.size());
    if (predicted.stray >
        3 * pixels / 4 + static_cast<Number>(run.launch.groups * run.launch.group_size))
        return false;
    if ((predicted.is_outside && !found.is_exact && found.bits > kLittle) ||
        (found.is_unwritten && !runs.leftovers))
        return false;
    if (!run.matches() && predicted.open_bits(run.expected) != 0.0)
        found.predicts_a_wrong_one = true;
    return true;
}

// The changes that no run contradicts, the likeliest first.
std::vector<Fit> fitting(const std::vector<Change>& all, const Runs& runs,
                         const RunContext& context) {
    std::vector<Fit> found;
    for (const Change& change : all) {
        found.push_back({&change, runs.all_looked_at, true, change.bits});
        if ((found.back().is_loss() && !runs.change) ||
            (found.back().is_race() && context.race_free))
            found.pop_back();
    }
    Number left = kMaxSteps;
    for (const Case* const run : runs.all) {
        const auto at_most = static_cast<std::size_t>(std::max(left / runs.steps.at(run), kAlways));
        if (found.size() > at_most) {  // there may be others
            found.resize(at_most);
            for (Fit& each : found)
                each.is_certain = false;
        }
        Plays plays(all, *run, context);
        std::erase_if(found, [&](Fit& each) { return !fits(each, *run, runs, plays, left); });
        std::stable_sort(found.begin(), found.end(),
                         [](const Fit& a, const Fit& b) { return a.cost() < b.cost(); });
    }
    std::erase_if(found, [&](const Fit& each) {
        return !each.predicts_a_wrong_one ||
               (each.is_exact != found.front().is_exact && !each.takes_too_long);
    });
    return found;
}

std::string evidence_of(const Fit& fit, const Runs& runs) {
    if (!fit.is_certain)
        return fmt::format("no run contradicts it: {}, and {} right",
                           plural(runs.wrong.size(), "differs as it may", "differ as they may"),
                           plural(runs.right.size(), "is", "are"));
    return fmt::format("it predicts all 256 counts of {} (the smallest: {}), and that {} not",
                       plural(runs.wrong.size(), "run that differs", "runs that differ"),
                       runs.wrong.front()->words,
                       plural(runs.right.size(), "other does", "others do"));
}

Finding finding_of(const RunContext& context, const std::string& name, const std::string& sentence,
                   const std::string& evidence) {
    return {name,
            in_words_of(context, sentence),
            in_words_of(context, evidence),
            fmt::format("{}/README.md#{}", context.chapter, section_about(name)),
            "",
            Finding::Certainty::kPattern};
}

// What the runs say where no change explains them.
std::vector<std::string> ruled_out(const Runs& runs) {
    std::vector<std::string> facts;
    const auto is_alone = [](const Case* run) { return run->launch.groups == 1; };
    const bool wrong_alone = std::any_of(runs.wrong.begin(), runs.wrong.end(), is_alone);
    if (!wrong_alone && std::any_of(runs.right.begin(), runs.right.end(), is_alone))
        facts.emplace_back("it is right with one group: look at what the groups share");
    if (wrong_alone && !runs.change)
        facts.emplace_back("it is wrong with one group, too: it is not between the groups");
    const auto of_one_value = [](const Case* run) {
        return *std::max_element(run->expected.begin(), run->expected.end());
    };
    std::uint32_t most_right = 0;
    std::uint32_t least_wrong = ~0U;
    for (const Case* const run : runs.right)
        most_right = std::max(most_right, of_one_value(run));
    bool same_total = true;
    bool none_above = true;
    bool none_below = true;
    for (const Case* const run : runs.wrong) {
        least_wrong = std::min(least_wrong, of_one_value(run));
        for (const Histogram& counts : run->actual) {
            same_total = same_total && total(counts) == run->pixels.size();
            for (std::size_t bin = 0; bin < kBins; ++bin) {
                none_above = none_above && counts[bin] <= run->expected[bin];
                none_below = none_below && counts[bin] >= run->expected[bin];
            }
        }
    }
    if (most_right > 0 && most_right < least_wrong)
        facts.push_back(
            fmt::format("it is right up to {} pixels of one value, and wrong from {} on",
                        most_right, least_wrong));
    if (same_total)
        facts.emplace_back("the total is right in every run: look at which bin is counted");
    else if (none_above)
        facts.emplace_back("no bin ever has too many: pixels or counts are left out or lost");
    else if (none_below)
        facts.emplace_back(
            "no bin ever has too few: something is counted that is no pixel, or pixels more than "
            "once");
    facts.emplace_back(runs.change
                           ? "the same run gives other counts when it is repeated: a race, or "
                             "memory that nobody wrote"
                           : "the same run gives the same counts when it is repeated: no "
                             "updates are lost by chance");
    return facts;
}

bool is_no_other_place(const Change& one, const Change& other) {
    return other.changed.choice.label == kLayout || of_choice(one) == of_choice(other);
}

// A small run that two mistakes count differently.
std::string telling_run(const Change& one, const Change& other, const RunContext& context) {
    constexpr std::size_t runs[][3] = {{100, 3, 64},     {5'003, 1, 64},    {5'003, 7, 96},
                                       {20'011, 2, 128}, {100'003, 3, 256}, {300'007, 2, 32}};
    for (const auto& [pixels, groups, size] : runs) {
        const PixelBuffer random = uniform_pixels(pixels, kBins, 1);
        Case run;
        run.pixels = random;
        run.width = std::min<std::size_t>(pixels, 4096);
        run.launch = {groups, size, context.variant == "subhist" ? std::size_t{1} : 0};
        const Prediction first = predict(one.strategy, &one.changed, run, context);
        const Prediction second = predict(other.strategy, &other.changed, run, context);
        if (first.low != second.low)
            return fmt::format("--random {} --groups {} --group-size {}", pixels, groups, size);
    }
    return "";
}

}  // namespace

bool Case::matches() const {
    return ended == Ended::kItself &&
           std::all_of(actual.begin(), actual.end(),
                       [&](const Histogram& counts) { return counts == expected; });
}

bool Case::changes() const {
    return std::any_of(actual.begin(), actual.end(),
                       [&](const Histogram& counts) { return counts != actual.front(); });
}

Diagnosis diagnose(const std::vector<Case>& cases, const RunContext& context) {
    Runs runs = sorted(cases, context);
    if (runs.wrong.empty()) return {};
    runs.leftovers = has_leftovers(runs);
    const std::vector<Change> all = changes(context);
    const std::vector<Fit> found = fitting(all, runs, context);
    // Of those of one name in one place the likeliest. And nothing that says the same in other
    // words, such as all work-items for the groups times the work-items of one; or that says of all
    // loops what shows in one.
    std::set<std::pair<std::string, Label>> names;
    std::vector<const Fit*> others;
    for (const Fit& each : found) {
        if (others.size() > kMaxOthers) break;
        const Change& first = *found.front().change;
        if (!names.emplace(each.change->name, each.change->changed.choice.label).second) continue;
        const bool says_the_same = !others.empty() && is_no_other_place(first, *each.change) &&
                                   telling_run(first, *each.change, context).empty();
        if (!says_the_same) others.push_back(&each);
    }
    Diagnosis diagnosis;
    std::vector<Finding>& findings = diagnosis.findings;
    for (const Fit* const each : others) {
        const Change& change = *each->change;
        std::string evidence = evidence_of(*each, runs);
        if (!findings.empty()) {
            const std::string run = telling_run(*found.front().change, change, context);
            if (!run.empty()) evidence = fmt::format("{} tells them apart", run);
        }
        findings.push_back(
            finding_of(context, change.name, sentence_of(change, context.in_cuda), evidence));
        if (const std::size_t line = line_of(change, context); line > 0)
            findings.back().at = fmt::format("{}:{}", context.file, line);
        // Few runs prove little: many mistakes would explain them.
        if (each->is_certain && cases.size() >= kFewRuns && others.size() == 1)
            findings.back().certainty = Finding::Certainty::kPredicted;
    }
    // What holds for every count is better than what no run contradicts.
    if (found.empty() || !found.front().is_exact) {
        if (const std::optional<Overflow> said = overflow(runs.all))
            findings = {finding_of(context, said->name, said->sentence, said->evidence)};
    }
    if (findings.empty())
        for (const std::string& fact : ruled_out(runs))
            diagnosis.ruled_out.push_back(in_words_of(context, fact));
    return diagnosis;
}

std::string text_of(const Diagnosis& diagnosis) {
    const std::vector<Finding>& findings = diagnosis.findings;
    if (findings.empty()) {
        std::string text = "  why: unclear; no single change of a right kernel explains all runs\n";
        for (const std::string& fact : diagnosis.ruled_out)
            text += fmt::format("  but {}\n", fact);
        return text;
    }
    const Finding& first = findings.front();
    const char* const how = first.certainty == Finding::Certainty::kPredicted ? "why"
                            : findings.size() > 1                             ? "why, one of these"
                                                                              : "why, most likely";
    std::string text = fmt::format("  {}: {} ({})\n  because {}\n", how, first.sentence, first.name,
                                   first.evidence);
    if (!first.at.empty()) text += fmt::format("  look at {}\n", first.at);
    text += fmt::format("  read on in {}\n", first.read);
    for (std::size_t i = 1; i < findings.size(); ++i) {
        text += fmt::format("  this fits also: {} ({})\n", findings[i].sentence, findings[i].name);
        if (findings[i].evidence.starts_with("--"))
            text += fmt::format("    {}\n", findings[i].evidence);
    }
    return text;
}

}  // namespace common::diagnosis
