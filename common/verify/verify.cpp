#include "common/verify/verify.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <vector>

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

Result skipped(const std::string& variant, const std::string& reason) {
    fmt::print(stderr, "  {}: skipped, {}\n", variant, reason);
    return {variant, Check::kSkipped, reason, {}, std::nullopt};
}

Result verify_and_time(const std::string& variant, const Histogram& expected,
                       std::optional<int> repeat, const Run& run) {
    Result result{variant, Check::kMatch, "", {}, std::nullopt};
    Histogram actual;
    const auto poisoned_run = [&] {
        actual.fill(kPoison);
        return run(actual);
    };
    const auto hold_against_expected = [&](const char* when) {
        const Comparison comparison = compare(expected, actual);
        if (comparison.match() || result.check == Check::kMismatch) return;
        result.check = Check::kMismatch;
        result.reason =
            fmt::format("{} of {} bins wrong, total {} instead of {}, {}", comparison.wrong.size(),
                        kBins, comparison.actual_total, comparison.expected_total, when);
        fmt::print(stderr, "{}: does not match the CPU, {}\n{}", variant, when,
                   failure_report(comparison));
    };

    fmt::print(stderr, "  {} ...", variant);
    std::fflush(stderr);
    poisoned_run();
    hold_against_expected("before timing");
    std::vector<double> end_to_end_ms;
    result.kernel = measure(
        [&] {
            const RunTime time = poisoned_run();
            if (time.end_to_end_ms) end_to_end_ms.push_back(*time.end_to_end_ms);
            return time.kernel_ms;
        },
        repeat);
    hold_against_expected("after the last timed run");
    if (!end_to_end_ms.empty()) result.end_to_end_ms = summarize(end_to_end_ms).median_ms;
    fmt::print(stderr, " {:.4g} ms, {}\n", result.kernel.median_ms, to_string(result.check));
    return result;
}

}  // namespace common
