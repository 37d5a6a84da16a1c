#include "common/verify/runs.hpp"

#include <fmt/format.h>

#include <utility>

#include "common/process/status.hpp"

namespace common {

Runs::Runs(What what, const Histogram& expected, std::optional<int> repeat,
           std::function<void(Result)> done)
    : expected_(expected), repeat_(repeat), done_(std::move(done)), on_device_(what.on_device) {
    if (!what.unsupported.empty()) {
        stage_ = Stage::kOver;
        done_(skipped(what.variant, what.unsupported));
        return;
    }
    std::string name = what.variant;
    if (what.launch.groups > 0) {
        require_sensible(what.launch, total(expected));
        name += fmt::format(" ({})", to_string(what.launch));
        result_.launch = what.launch;
    }
    if (on_device_ && !is_emulated())
        copies_wanted_ = static_cast<std::size_t>(std::min(3, repeat.value_or(3)));
    watchdog_.emplace(name, total(expected));
    result_.variant = std::move(what.variant);
    result_.launch_text = std::move(what.launch_text);
    progress(fmt::format("  {} ...", result_.variant));
}

bool Runs::next() {
    if (stage_ == Stage::kOver) return false;
    require_begun_and_ended();
    if (stage_ == Stage::kFirst && turns_ > 0) {
        compare("before timing");
        stage_ = Stage::kTimed;
        by_host_ = is_timed_by_host();
    }
    if (stage_ == Stage::kTimed && are_enough(times_ms_, spent_ms_, repeat_)) {
        if (is_timed_by_host() == by_host_) {
            compare("after the last timed run");
            stage_ = Stage::kWithCopies;
            if (!asks_for_copies_) copies_wanted_ = 0;
        } else {  // all times of a row come from one clock
            by_host_ = is_timed_by_host();
            times_ms_.clear();
            spent_ms_ = 0;
        }
    }
    if (stage_ == Stage::kWithCopies && end_to_end_ms_.size() == copies_wanted_) {
        if (copies_wanted_ > 0) compare("after the runs with copies");
        finish();
        return false;
    }
    ++turns_;
    counts.fill(kPoison);
    wrong.reset();
    watchdog_->begin_run();
    turn_began_ = Clock::now();
    return true;
}

void Runs::require_begun_and_ended() {
    if (begun_ == turns_ && ended_ == turns_) return;
    const bool of_begin = begun_ != turns_;
    throw std::logic_error(fmt::format(
        "{}: runs.{}() {} in a turn of its loop", result_.variant, of_begin ? "begin" : "end",
        (of_begin ? begun_ : ended_) < turns_ ? "was not called" : "was called twice"));
}

void Runs::begin() {
    if (ended_ < turns_) ++begun_;  // behind `end` it is none
    run_began_ = Clock::now();
}

void Runs::end(double device_ms) {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    const auto now = Clock::now();
    watchdog_->end_run();
    ++ended_;
    const double host_ms = Milliseconds(now - run_began_).count();
    if (stage_ == Stage::kWithCopies) return end_to_end_ms_.push_back(host_ms);
    const auto bytes = static_cast<double>(total(expected_));  // or more, in some workshops
    const double ms = on_device_ ? plausible_ms(device_ms, host_ms, bytes) : device_ms;
    if (stage_ == Stage::kFirst) return;
    times_ms_.push_back(ms);
    // The budget is of waiting, so it counts what the run's own clock may leave out.
    spent_ms_ += Milliseconds(now - turn_began_).count();
}

void Runs::end() {
    const std::chrono::duration<double, std::milli> host = Clock::now() - run_began_;
    end(host.count());
}

// The first mismatch is reported in full; what comes after it is no news.
void Runs::compare(const char* when) {
    if (result_.check == Check::kMismatch) {
        result_.changes |= result_.counts != counts;
        return;
    }
    std::string report;
    if (wrong) {
        if (wrong->empty()) return;
        result_.reason = fmt::format("{}, {}", *wrong, when);
        report = *wrong + '\n';
    } else {
        const Comparison comparison = common::compare(expected_, counts);
        if (comparison.match()) return;
        result_.reason =
            fmt::format("{} of {} bins wrong, total {} instead of {}, {}", comparison.wrong.size(),
                        kBins, comparison.actual_total, comparison.expected_total, when);
        result_.counts = counts;
        report = failure_report(comparison);
    }
    result_.only_later = stage_ != Stage::kFirst;
    result_.check = Check::kMismatch;
    note_mismatch();
    const std::string launch =
        result_.launch ? fmt::format("  launch: {}\n", to_string(*result_.launch)) : "";
    progress(fmt::format("\n{}: does not match the CPU, {}\n{}{}", result_.variant, when, launch,
                         report));
}

void Runs::finish() {
    stage_ = Stage::kOver;
    watchdog_.reset();
    const Timing times = summarize(std::move(times_ms_));
    const bool goes_on = is_emulated() || times.median_ms > 0;
    if (!goes_on) progress("\nthe clock stood still or went back, so nothing was timed\n ");
    if (goes_on && !is_emulated()) result_.kernel = times;
    if (goes_on && !end_to_end_ms_.empty())
        result_.end_to_end_ms = summarize(std::move(end_to_end_ms_)).median_ms;
    result_.timed_by_host = !on_device_ || is_timed_by_host();
    progress(fmt::format(" {}\n", to_string(result_.check)));
    done_(std::move(result_));
}

}  // namespace common
