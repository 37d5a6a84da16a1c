#include "common/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/verify/watchdog.hpp"

namespace common {

std::string to_string(Check check) {
    switch (check) {
        case Check::kMatch:
            return "match";
        case Check::kMismatch:
            return "mismatch";
        case Check::kSkipped:
            return "skipped";
    }
    return "";
}

std::string to_string(const Launch& launch) {
    return fmt::format("{} group{} of {}{}", launch.groups, launch.groups == 1 ? "" : "s",
                       launch.group_size,
                       launch.across > 0 ? fmt::format(", {} across", launch.across) : "");
}

Result skipped(const std::string& variant, const std::string& reason) {
    progress(fmt::format("  {}: skipped, {}\n", variant, reason));
    return {variant, Check::kSkipped, reason, {}, std::nullopt};
}

void require_sensible(const Launch& launch, std::uint64_t pixels) {
    constexpr std::uint64_t kMany = std::uint64_t{1} << 28;
    const std::uint64_t items = std::uint64_t{launch.groups} * launch.group_size;
    if (items < kMany || items / 16 < pixels) return;
    throw BadInput(fmt::format("{} groups are far too many for {} pixels (--groups, --group-size)",
                               launch.groups, pixels));
}

namespace {

// One variant's result, as its runs come in.
class Examination {
 public:
    Examination(const std::string& variant, const Histogram& expected,
                std::optional<Launch> launch = {})
        : expected_(expected),
          watchdog_(launch ? fmt::format("{} ({})", variant, to_string(*launch)) : variant,
                    total(expected)) {
        result_.variant = variant;
        result_.launch = launch;
        progress(fmt::format("  {} ...", variant));
    }

    // The first mismatch is reported in full; what comes after it is no news.
    void compare_with_expected(const Histogram& actual, const char* when) {
        const Comparison comparison = compare(expected_, actual);
        const bool is_first = std::exchange(is_first_, false);
        if (result_.check == Check::kMismatch) result_.changes |= result_.counts != actual;
        if (comparison.match() || result_.check == Check::kMismatch) return;
        result_.only_later = !is_first;
        result_.check = Check::kMismatch;
        note_mismatch();
        result_.reason =
            fmt::format("{} of {} bins wrong, total {} instead of {}, {}", comparison.wrong.size(),
                        kBins, comparison.actual_total, comparison.expected_total, when);
        result_.counts = actual;
        const std::string launch =
            result_.launch ? fmt::format("  launch: {}\n", to_string(*result_.launch)) : "";
        progress(fmt::format("\n{}: does not match the CPU, {}\n{}{}", result_.variant, when,
                             launch, failure_report(comparison)));
    }

    double watched(const std::function<double()>& run) {
        watchdog_.begin_run();
        const double time = run();
        watchdog_.end_run();
        return time;
    }

    // Once untimed and compared, which warms up; then timed; and the last timed run compared.
    // `run` leaves its counts in `actual` and returns its own time in milliseconds.
    Timing check_time_check(const Histogram& actual, std::optional<int> repeat,
                            const std::function<double()>& run) {
        const auto watched_run = [&] { return watched(run); };
        watched_run();
        compare_with_expected(actual, "before timing");
        const bool by_host = is_timed_by_host();
        Timing timing = measure(watched_run, repeat);
        // All times of a row come from one clock.
        if (is_timed_by_host() != by_host) timing = measure(watched_run, repeat);
        compare_with_expected(actual, "after the last timed run");
        return timing;
    }

    Result finish(const Timing& kernel, std::vector<double> end_to_end_ms) {
        result_.kernel = kernel;
        if (!end_to_end_ms.empty()) {
            result_.end_to_end_ms = summarize(std::move(end_to_end_ms)).median_ms;
        }
        progress(fmt::format(" {}\n", to_string(result_.check)));
        return result_;
    }

 private:
    const Histogram& expected_;
    Watchdog watchdog_;
    Result result_;
    bool is_first_ = true;  // nothing has been compared yet
};

}  // namespace

Result verify_and_time(const std::string& variant, const Histogram& expected,
                       std::optional<int> repeat, const Run& run) {
    Examination examination(variant, expected);
    Histogram actual;
    const Timing kernel = examination.check_time_check(actual, repeat, [&] {
        actual.fill(kPoison);
        return run(actual);
    });
    return examination.finish(kernel, {});
}

Result verify_and_time(const std::string& variant, const Histogram& expected,
                       std::optional<int> repeat, const DeviceRun& strategy) {
    if (!strategy.unsupported_reason.empty()) return skipped(variant, strategy.unsupported_reason);
    require_sensible(strategy.launch, total(expected));
    Examination examination(
        variant, expected,
        strategy.launch.groups > 0 ? std::optional(strategy.launch) : std::nullopt);
    Histogram actual;
    const auto poison = [&] {
        actual.fill(kPoison);
        strategy.poison();
    };
    if (strategy.copy_in) examination.watched([&] { return wall_ms(strategy.copy_in); });
    const Timing kernel = examination.check_time_check(actual, repeat, [&] {
        poison();
        return plausible_ms([&] { return strategy.run(actual); });
    });
    std::vector<double> end_to_end_ms;
    const int copies_timed =
        is_emulated() || !strategy.copy_in ? 0 : std::min(3, repeat.value_or(3));
    for (int i = 0; i < copies_timed; ++i) {
        poison();
        end_to_end_ms.push_back(examination.watched([&] {
            return wall_ms([&] {
                strategy.copy_in();
                strategy.run(actual);
            });
        }));
    }
    examination.compare_with_expected(actual, "after the runs with copies");
    Result result = examination.finish(kernel, std::move(end_to_end_ms));
    result.timed_by_host = is_timed_by_host();
    return result;
}

}  // namespace common
