#include "common/tutor/diagnosis/diagnosis.hpp"

#include <fmt/format.h>

#include <tuple>

#include "common/tutor/diagnosis/model.hpp"

namespace common::diagnosis {
namespace {

// What all changes may take, in steps. On each run they may take so many whatever is left, and the
// likeliest of them are tried always.
constexpr std::size_t kMaxSteps = 100'000'000, kAtLeast = 20'000'000, kAlways = 8;
constexpr std::size_t kMaxPixels = std::size_t{32} << 20;
constexpr std::size_t kFewChanges = 20;
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
    std::string said = text;
    for (const auto& [opencl, cuda] : {std::pair<std::string, std::string>{"work-item", "thread"},
                                       {"work-group", "block"},
                                       {"group", "block"}})
        for (std::size_t at; (at = said.find(opencl)) != std::string::npos;)
            said.replace(at, opencl.size(), cuda);
    return said;
}

struct Runs {
    std::vector<const Case*> wrong, right, all;
    std::map<const Case*, std::size_t> effort;  // the steps that it takes to work it out
    bool change = false;
    bool leftovers = false;
};

// Whether something was there before: a count that no miscounting of so few pixels can reach; or
// counts that change or belong to no pixel, and no bin that has too few.
bool has_leftovers(const Runs& runs) {
    bool some = runs.change;
    bool none_short = true;
    for (const Case* const run : runs.wrong) {
        const auto most = static_cast<Number>(run->pixels.size() *
                                              std::max(run->launch.groups, run->launch.group_size));
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            const Number over =
                static_cast<std::int32_t>(run->actual.front()[bin] - run->expected[bin]);
            if (std::abs(over) > most) return true;
            some = some || (run->expected[bin] == 0 && over != 0);
            none_short = none_short && over >= 0;
        }
    }
    return some && none_short;
}

Runs runs_of(const std::vector<Case>& cases, const RunContext& context) {
    Runs runs;
    runs.change = context.changes;
    for (const Case& run : cases) {
        if (run.pixels.size() > kMaxPixels) continue;  // to play it takes too long
        (run.matches() ? runs.right : runs.wrong).push_back(&run);
        runs.all.push_back(&run);
        runs.change = runs.change || run.changes();
        runs.effort[&run] = is_known(context)
                                ? static_cast<std::size_t>(predict(nullptr, run, context).steps) + 1
                                : run.pixels.size();
    }
    for (auto* const part : {&runs.wrong, &runs.all})  // what is worked out soonest comes first
        std::stable_sort(part->begin(), part->end(), [&](const Case* a, const Case* b) {
            return runs.effort[a] < runs.effort[b];
        });
    runs.leftovers = has_leftovers(runs);
    return runs;
}

// A change that no run contradicts.
struct Fit {
    Change change;
    std::size_t number = 0;  // among all changes
    double bits = 0;         // of the change, and of what it leaves open
    bool is_certain = true;
    bool is_exact = true;  // in all runs, if the groups ran in order where that matters
    bool predicts_a_wrong_one = false;
    bool is_unwritten = false;

    [[nodiscard]] const Decision& choice() const { return change.changed.choice; }
    [[nodiscard]] bool is_loss() const {
        return choice().part == kHow && (*change.changed.becomes)({}, 0) == kPlain;
    }
    [[nodiscard]] bool is_race() const {
        return is_loss() || choice().label == kZeroed || choice().label == kCounted ||
               choice().label == kAgain;
    }
    // A change that predicts a wrong result comes first; then those that small runs may hide.
    [[nodiscard]] auto cost() const {
        if (predicts_a_wrong_one) return std::tuple(0, !is_exact, bits);
        return std::tuple(1, is_certain || (choice().part != kWidth && !is_loss()), bits);
    }
};

// Whether it fits this run, too. It takes its steps from those that are left.
bool fits(Fit& fit, const Case& run, const Runs& runs, const RunContext& context,
          std::size_t& left) {
    const Change& change = fit.change;
    const auto play = [&](bool in_order) {
        const Prediction counts = predict(&change.changed, run, context, in_order);
        left -= std::min(left, static_cast<std::size_t>(counts.steps));
        return counts;
    };
    const Prediction predicted = play(false);
    fit.is_certain = fit.is_certain && predicted.is_certain && !predicted.is_divergent;
    if (predicted.is_endless) return false;
    if (predicted.is_too_long) return true;  // the other runs have to say it
    if (fit.is_exact && !predicted.is_certain) {
        const Prediction in_order = play(true);
        fit.is_exact = std::all_of(
            run.actual.begin(), run.actual.end(),
            [&](const Histogram& actual) { return in_order.unexplained_bits(actual) == 0.0; });
    }
    const bool misses_a_barrier =
        fit.choice().part == kReturn && predicted.is_divergent && !run.matches();
    for (const Histogram& actual : run.actual) {
        std::optional<double> bits = predicted.unexplained_bits(actual);
        if (!bits && misses_a_barrier) {  // what a device does then is its own affair
            fit.is_exact = false;
            bits = kHowever;
        }
        if (!bits) return false;
        if (!fit.is_exact) fit.bits += *bits;
    }
    fit.is_unwritten = fit.is_unwritten || predicted.is_unwritten;
    // Nothing is known of what lies outside of memory: only a few such counts explain something.
    if (predicted.stray > static_cast<Number>(3 * run.pixels.size() / 4 +
                                              run.launch.groups * run.launch.group_size) ||
        (predicted.is_outside && !fit.is_exact && fit.bits > kLittle) ||
        (fit.is_unwritten && !runs.leftovers))
        return false;
    if (!run.matches() && predicted.unexplained_bits(run.expected) != 0.0)
        fit.predicts_a_wrong_one = true;
    return true;
}

// The changes that are what is right wherever this run asks for them, by choice.
using Quiet = std::map<std::uint32_t, std::vector<Becomes>>;
Quiet quiet_in(const Case& run, const std::vector<Fit>& changes, const RunContext& context) {
    Quiet quiet;
    for (const Fit& each : changes)
        quiet[each.choice().key()].push_back(each.change.changed.becomes);
    ask(run, context,
        [&](const ItemState& place, const Decision& choice, const NamedNumber& right) {
            const auto found = quiet.find(choice.key());
            if (found == quiet.end() || right.value < kNowhere) return;
            std::erase_if(found->second,
                          [&](Becomes each) { return (*each)(place, right.value) != right.value; });
        });
    return quiet;
}

// The changes that no run contradicts, the likeliest first: of all, or of those that fitted before.
std::vector<Fit> fitting(const Runs& runs, const RunContext& context, const Diagnosis* before) {
    std::size_t left = kMaxSteps;
    std::vector<Fit> found;
    const std::vector<Change> all = changes(context);
    for (std::size_t number = 0; number < all.size(); ++number) {
        Fit fit{all[number], number, all[number].bits};
        if (before != nullptr) {
            const auto its = before->fitting.find(number);
            if (its == before->fitting.end()) continue;
            fit.is_certain = its->second;
        }
        if (!(fit.is_loss() && !runs.change) && !(fit.is_race() && context.race_free))
            found.push_back(std::move(fit));
    }
    // Where all runs are large, the first few alone are played: what changes may well be a race.
    if (runs.change)
        std::stable_partition(found.begin(), found.end(),
                              [](const Fit& each) { return each.is_loss(); });
    for (const Case* const run : runs.all) {
        const std::size_t steps = runs.effort.at(run);
        const std::size_t at_most = std::max({left / steps, kAtLeast / steps, kAlways});
        if (found.size() > at_most) {  // there may be others
            // A step that is missing altogether also explains what a part of it does: it stays.
            const auto others =
                std::stable_partition(found.begin(), found.end(), [](const Fit& each) {
                    return each.choice().part == kTimes &&
                           (*each.change.changed.becomes)({}, 1) == 0;
                });
            found.erase(std::max(others, found.begin() + static_cast<std::ptrdiff_t>(at_most)),
                        found.end());
            for (Fit& each : found)
                each.is_certain = false;
        }
        // Most change nothing in most runs, which is soon known of many at once.
        Quiet quiet = found.size() > kFewChanges ? quiet_in(*run, found, context) : Quiet();
        std::erase_if(found, [&](Fit& each) {
            const std::vector<Becomes>& its = quiet[each.choice().key()];
            const bool is_quiet =
                std::count(its.begin(), its.end(), each.change.changed.becomes) > 0;
            if (is_quiet) return !run->matches();
            return !fits(each, *run, runs, context, left);
        });
        std::stable_sort(found.begin(), found.end(),
                         [](const Fit& a, const Fit& b) { return a.cost() < b.cost(); });
    }
    return found;
}

Finding finding_of(const RunContext& context, const std::string& name, const std::string& sentence,
                   const std::string& evidence) {
    const auto says = [&](const char* word) { return name.find(word) != std::string::npos; };
    const bool is_race = says("barrier") || says("atomic") || says("lost-") || says("return");
    return {name, in_words_of(context, sentence), in_words_of(context, evidence),
            fmt::format("{}/README.md#{}", context.chapter,
                        is_race ? "the-race-conditions" : section_of(context))};
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

// What the runs say where no change explains them.
std::vector<std::string> ruled_out(const Runs& runs, const RunContext& context) {
    std::vector<std::string> facts;
    const auto add = [&](bool is_so, const std::string& fact) {
        if (is_so) facts.push_back(in_words_of(context, fact));
        return is_so;
    };
    const auto is_alone = [](const Case* run) { return run->launch.groups == 1; };
    const auto of_one_value = [](const Case* run) {
        return *std::max_element(run->expected.begin(), run->expected.end());
    };
    const bool wrong_alone = std::any_of(runs.wrong.begin(), runs.wrong.end(), is_alone);
    std::uint32_t most_right = 0;
    std::uint32_t least_wrong = ~0U;
    for (const Case* const run : runs.right)
        most_right = std::max(most_right, of_one_value(run));
    bool same_total = true;
    bool none_above = true;
    bool none_below = true;
    std::uint32_t apart = 0;  // the bits in which a difference is no multiple
    for (const Case* const run : runs.wrong) {
        least_wrong = std::min(least_wrong, of_one_value(run));
        for (const Histogram& counts : run->actual) {
            same_total = same_total && total(counts) == run->pixels.size();
            for (std::size_t bin = 0; bin < kBins; ++bin) {
                none_above = none_above && counts[bin] <= run->expected[bin];
                none_below = none_below && counts[bin] >= run->expected[bin];
                apart |= counts[bin] - run->expected[bin];
            }
        }
    }
    add(!wrong_alone && std::any_of(runs.right.begin(), runs.right.end(), is_alone),
        "it is right with one group: look at what the groups share");
    add(wrong_alone && !runs.change,
        "it is wrong with one group, too: it is not between the groups");
    add(most_right > 0 && most_right < least_wrong,
        fmt::format("it is right up to {} pixels of one value, and wrong from {} on", most_right,
                    least_wrong));
    add(apart % 256 == 0 && !runs.change,
        fmt::format("each difference is a multiple of {}: counters of {} bits begin at 0 again",
                    apart % 65536 == 0 ? 65536 : 256, apart % 65536 == 0 ? 16 : 8));
    add(same_total, "the total is right in every run: look at which bin is counted") ||
        add(none_above, "no bin ever has too many: pixels or counts are left out or lost") ||
        add(none_below,
            "no bin ever has too few: something is counted that is no pixel, or pixels more than "
            "once");
    add(runs.change,
        "the same run gives other counts when it is repeated: a race, or memory that nobody "
        "wrote");
    return facts;
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

Diagnosis diagnose(const std::vector<Case>& cases, const RunContext& context,
                   const Diagnosis* before) {
    const Runs runs = runs_of(cases, context);
    if (runs.wrong.empty()) return {};
    std::vector<Fit> found;
    if (is_known(context)) found = fitting(runs, context, before);
    Diagnosis diagnosis;
    for (const Fit& each : found)
        diagnosis.fitting[each.number] = each.is_certain;
    std::erase_if(found, [&](const Fit& each) {
        return !each.predicts_a_wrong_one || each.is_exact != found.front().is_exact;
    });
    std::vector<Finding>& findings = diagnosis.findings;
    // Of one choice the likeliest, and no sentence twice; and nothing that says of all loops what
    // shows in one.
    std::set<std::pair<std::string, Label>> names;
    std::set<std::uint32_t> choices;
    for (const Fit& each : found) {
        const Decision& choice = each.choice();
        const std::string sentence = sentence_of(each.change, context.in_cuda);
        diagnosis.is_settled =
            diagnosis.is_settled && each.change.name == found.front().change.name;
        const bool is_new =
            names.emplace(each.change.name, choice.label).second &&
            choices.insert(choice.key()).second &&
            (findings.empty() || (choice.label != kLayout && sentence != findings.back().sentence));
        if (!is_new || findings.size() > kMaxOthers) continue;
        findings.push_back(
            finding_of(context, each.change.name, sentence, evidence_of(each, runs)));
    }
    // Few runs prove little: many mistakes would explain them.
    if (findings.size() == 1 && found.front().is_certain && cases.size() >= kFewRuns)
        findings.front().is_certain = true;
    if (findings.empty()) {
        diagnosis.ruled_out = ruled_out(runs, context);
        diagnosis.ruled_out.insert(diagnosis.ruled_out.begin(),
                                   is_known(context)
                                       ? "no single change of a right kernel explains all runs"
                                       : "no mistakes of this strategy are known by name");
    }
    return diagnosis;
}

std::string text_of(const Diagnosis& diagnosis) {
    const std::vector<Finding>& findings = diagnosis.findings;
    if (findings.empty()) {
        std::string text = "  why: unclear";
        for (const std::string& fact : diagnosis.ruled_out)
            text += (&fact == &diagnosis.ruled_out.front() ? "; " : "  but ") + fact + '\n';
        return text;
    }
    const Finding& first = findings.front();
    const char* const how = first.is_certain      ? "why"
                            : findings.size() > 1 ? "why, one of these"
                                                  : "why, most likely";
    std::string text = fmt::format("  {}: {} ({})\n  because {}\n  read on in {}\n", how,
                                   first.sentence, first.name, first.evidence, first.read);
    for (std::size_t i = 1; i < findings.size(); ++i)
        text += fmt::format("  this fits also: {} ({})\n", findings[i].sentence, findings[i].name);
    return text;
}

}  // namespace common::diagnosis
