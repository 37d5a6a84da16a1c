// The search itself, and what can be asked of its result.
#include "05-launch-tuning/tuning/tuning.hpp"

#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "common/report/report.hpp"
#include "common/timing/timing.hpp"

namespace tuning {
namespace {

constexpr double kHopeless = 4;         // times the best so far: not worth a second run
constexpr double kForSearch = 0.9;      // of the time; the rest is for the finals
constexpr std::size_t kFinalists = 12;  // at each size
constexpr int kFinalTurns = 9;

bool standard_error_is_a_terminal() {
#if defined(_WIN32)
    return _isatty(_fileno(stderr)) != 0;
#else
    return isatty(STDERR_FILENO) != 0;
#endif
}

// On a terminal one line that is written again and again; else a line for each that is finished.
class Progress {
 public:
    Progress() = default;
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(const std::string& line) {
        if (!terminal_) return;
        fmt::print(stderr, "\r{:<{}}", line, shown_);  // spaces over what is left of the last
        shown_ = line.size();
    }
    void finished(const std::string& line) const {
        if (!terminal_) fmt::print(stderr, "{}\n", line);
    }
    // What must not be written over.
    void say(const std::string& line) {
        clear();
        fmt::print(stderr, "{}\n", line);
    }

 private:
    void clear() {
        if (shown_ > 0) fmt::print(stderr, "\r{:<{}}\r", "", shown_);
        shown_ = 0;
    }

    const bool terminal_ = standard_error_is_a_terminal();
    std::size_t shown_ = 0;
};

// Compilers and drivers give reasons of many lines.
std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    return text;
}

// The fastest of those that were measured; null where none was.
const Trial* fastest(std::span<const Trial> trials) {
    const Trial* best = nullptr;
    for (const Trial& trial : trials) {
        if (trial.outcome != Outcome::kMeasured) continue;
        if (best == nullptr || trial.worst_ms < best->worst_ms) best = &trial;
    }
    return best;
}

double best_ms(std::span<const Trial> trials) {
    const Trial* const best = fastest(trials);
    return best == nullptr ? std::numeric_limits<double>::infinity() : best->worst_ms;
}

void run(Trial& trial, double hopeless_ms, const Measure& measure, Progress& progress) {
    try {
        const double ms = measure(trial.choice, trial.pixels, hopeless_ms);
        if (!(ms > 0) || !std::isfinite(ms))
            throw Refused(fmt::format("its clock says that it took {} ms", ms));
        trial.outcome = Outcome::kMeasured;
        trial.worst_ms = ms;
    } catch (const Refused& error) {
        trial.outcome = Outcome::kRefused;
        trial.reason = one_line(error.what());
    } catch (const Wrong& error) {
        trial.outcome = Outcome::kWrong;
        trial.reason = one_line(error.what());
        progress.say(fmt::format("  WRONG: {}, at {}: {}", to_string(trial.choice),
                                 size_text(trial.pixels), trial.reason));
    }
}

// The golden ratio of the count, or the next number that leads through all of them: neighbours in
// the list, which are much alike, come far apart.
std::size_t stride_through(std::size_t count) {
    auto stride = static_cast<std::size_t>(0.618 * static_cast<double>(count)) + 1;
    while (std::gcd(stride, count) != 1)
        ++stride;
    return stride;
}

// One kernel with one number of copies: its choices, by what has to be compiled for them, and its
// trials at every size.
class Family {
 public:
    Family(std::vector<Trial>& trials, std::size_t first, std::size_t size, std::size_t stride)
        : trials_(trials), first_(first), size_(size), stride_(stride) {}

    // Its choices in groups that differ in nothing but the number of groups launched: those are
    // compiled once. In an order in which neighbours, which are much alike, come far apart.
    [[nodiscard]] std::vector<std::vector<std::size_t>> builds() const {
        std::map<std::pair<std::size_t, unsigned>, std::vector<std::size_t>> by_build;
        for (std::size_t i = first_; i < first_ + size_; ++i) {
            by_build[{trials_[i].choice.group_size, trials_[i].choice.loads}].push_back(i);
        }
        std::vector<std::vector<std::size_t>> in_order;
        for (auto& [build, choices] : by_build)
            in_order.push_back(std::move(choices));
        std::vector<std::vector<std::size_t>> spread;
        const std::size_t step = stride_through(in_order.size());
        for (std::size_t i = 0; i < in_order.size(); ++i)
            spread.push_back(in_order[i * step % in_order.size()]);
        return spread;
    }

    // "  lane-bins, 8 copies: 34.1, 1077, 2309 GB/s (192 of 192 launches)": the best of each size.
    [[nodiscard]] std::string progress_line() const {
        std::string rates;
        std::size_t measured = 0;
        std::size_t all = 0;
        for (std::size_t base = first_; base < trials_.size(); base += stride_) {
            const auto of_size = std::span<const Trial>(trials_).subspan(base, size_);
            all += of_size.size();
            measured += static_cast<std::size_t>(std::count_if(
                of_size.begin(), of_size.end(),
                [](const Trial& trial) { return trial.outcome == Outcome::kMeasured; }));
            const Trial* const best = fastest(of_size);
            rates += (rates.empty() ? "" : ", ") +
                     (best == nullptr ? "-" : common::number(best->gb_s()));
        }
        return fmt::format("  {}: {} GB/s ({} of {} launches)", kernel_text(trials_[first_].choice),
                           rates, measured, all);
    }

 private:
    std::vector<Trial>& trials_;
    std::size_t first_;   // its first trial at the first size
    std::size_t size_;    // its choices
    std::size_t stride_;  // from one size to the next
};

}  // namespace

std::string to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::kMeasured:
            return "measured";
        case Outcome::kRefused:
            return "refused";
        case Outcome::kWrong:
            return "wrong";
        case Outcome::kNotTried:
            return "not tried";
    }
    return {};
}

double Trial::gb_s() const {
    return common::gigabytes_per_second(static_cast<double>(pixels), worst_ms);
}

std::vector<std::uint64_t> Tuning::sizes() const {
    std::vector<std::uint64_t> all;
    for (const Trial& trial : trials)
        all.push_back(trial.pixels);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

const Trial* Tuning::best(std::uint64_t pixels) const {
    const Trial* best = nullptr;
    for (const Trial& trial : trials) {
        if (trial.pixels != pixels || trial.outcome != Outcome::kMeasured) continue;
        if (best == nullptr || trial.worst_ms < best->worst_ms) best = &trial;
    }
    return best;
}

std::size_t Tuning::count(Outcome outcome) const {
    return static_cast<std::size_t>(
        std::count_if(trials.begin(), trials.end(),
                      [=](const Trial& trial) { return trial.outcome == outcome; }));
}

Tuning tune(const Facts& facts, double budget_s, const Measure& measure) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const auto now_s = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };

    Tuning tuning;
    tuning.api = facts.api;
    tuning.device = facts.device;
    tuning.driver = facts.driver;
    tuning.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    for (const std::uint64_t pixels : tuned_sizes(facts)) {
        for (const Choice& choice : candidates(facts)) {
            // Needs no run, and so is said even of those for which there is no time.
            const std::string reason = objection(choice, facts);
            const Outcome outcome = reason.empty() ? Outcome::kNotTried : Outcome::kRefused;
            tuning.trials.push_back({choice, pixels, outcome, 0, reason});
        }
    }

    std::vector<Trial>& trials = tuning.trials;
    const std::size_t choices = candidates(facts).size();  // at each size
    const auto of_size = [&](std::size_t trial) {
        return std::span(trials).subspan(trial / choices * choices, choices);
    };
    Progress progress;
    std::string sizes;
    for (const std::uint64_t pixels : tuned_sizes(facts))
        sizes += (sizes.empty() ? "" : ", ") + size_text(pixels);
    progress.say(fmt::format("  the best of each kernel for {}:", sizes));
    const auto try_out = [&](std::size_t trial, double deadline_s) {
        if (trials[trial].outcome != Outcome::kNotTried || !(now_s() < deadline_s)) return;
        run(trials[trial], kHopeless * best_ms(of_size(trial)), measure, progress);
    };

    // What is sound without measuring comes first, so that what is hopeless is soon known to be.
    for (std::size_t trial = 0; trial < trials.size(); ++trial) {
        if (trials[trial].choice == default_choice(facts, trials[trial].pixels))
            try_out(trial, budget_s);
    }
    std::size_t first = 0;
    for (std::size_t end = 1; end <= choices; ++end) {
        if (end < choices && kernel_text(trials[end].choice) == kernel_text(trials[first].choice))
            continue;
        const Family family(trials, first, end - first, choices);
        const double begin_s = now_s();
        // Choices stand for time here: a kernel with fewer of them gets less.
        const double share_s = (kForSearch * budget_s - begin_s) *
                               static_cast<double>(end - first) /
                               static_cast<double>(choices - first);
        for (const std::vector<std::size_t>& build : family.builds()) {
            for (const std::size_t choice : build) {
                for (std::size_t trial = choice; trial < trials.size(); trial += choices)
                    try_out(trial, begin_s + share_s);
            }
            progress.show(family.progress_line());
        }
        progress.finished(family.progress_line());
        first = end;
    }

    // Of many short measurements the fastest is the luckiest. So those that came out best are
    // measured again, in turns, and their medians decide.
    for (std::size_t base = 0; base < trials.size(); base += choices) {
        std::vector<std::pair<Trial*, std::vector<double>>> finalists;
        for (Trial& trial : of_size(base)) {
            if (trial.outcome == Outcome::kMeasured) finalists.push_back({&trial, {}});
        }
        std::stable_sort(finalists.begin(), finalists.end(), [](const auto& a, const auto& b) {
            return a.first->worst_ms < b.first->worst_ms;
        });
        finalists.resize(std::min(finalists.size(), kFinalists));
        for (int turn = 0; turn < kFinalTurns; ++turn) {
            for (auto& [trial, times_ms] : finalists) {
                if (!(now_s() < budget_s)) continue;
                run(*trial, std::numeric_limits<double>::infinity(), measure, progress);
                if (trial->outcome == Outcome::kMeasured) times_ms.push_back(trial->worst_ms);
            }
        }
        for (auto& [trial, times_ms] : finalists) {
            if (trial->outcome == Outcome::kMeasured && !times_ms.empty())
                trial->worst_ms = common::summarize(times_ms).median_ms;
        }
    }
    tuning.seconds = now_s();
    return tuning;
}

}  // namespace tuning
