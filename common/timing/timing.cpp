#include "common/timing/timing.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstddef>

#include "common/process/status.hpp"

namespace common {
namespace {

bool timed_by_host = false;
bool emulated = false;

// A launch takes longer than this, however little it does.
constexpr double kShortestMs = 1e-4;
// More than any memory or cache gives; where the read ceiling is known, what caches add to it.
constexpr double kOverTheCeiling = 32;
double fastest_gb_s = 1e5;

bool median_is_stable(std::vector<double> times_ms) {
    constexpr std::size_t kEnough = 7;
    constexpr double kWithin = 0.02;
    if (times_ms.size() < kEnough) return false;
    std::sort(times_ms.begin(), times_ms.end());
    const double low = times_ms[times_ms.size() / 4];
    const double median = times_ms[times_ms.size() / 2];
    const double high = times_ms[times_ms.size() * 3 / 4];
    return high - low <= kWithin * median;
}

}  // namespace

Timing summarize(std::vector<double> times_ms) {
    std::sort(times_ms.begin(), times_ms.end());
    const std::size_t count = times_ms.size();
    const double median = (times_ms[(count - 1) / 2] + times_ms[count / 2]) / 2;
    return {median, times_ms.front(), times_ms.back(), static_cast<int>(count)};
}

double wall_ms(const std::function<void()>& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    return elapsed.count();
}

double plausible_ms(const std::function<double()>& run, double bytes) {
    double device_ms = 0;
    const double host_ms = wall_ms([&] { device_ms = run(); });
    return plausible_ms(device_ms, host_ms, bytes);
}

double plausible_ms(double device_ms, double host_ms, double bytes) {
    if (emulated) return device_ms;
    // The host's and the device's clock may differ by a few percent.
    const bool plausible = device_ms >= std::max(kShortestMs, bytes / (fastest_gb_s * 1e6)) &&
                           device_ms <= 1.05 * host_ms + 0.001;
    if (!plausible && !timed_by_host) {
        timed_by_host = true;
        const std::string why =
            std::isnan(device_ms)
                ? "the driver tells no times"
                : fmt::format("the device's clock says {:.4g} ms for what took {:.4g} ms",
                              device_ms, host_ms);
        progress(fmt::format("\n{}: from here on the host's clock is used\n", why));
    }
    return timed_by_host ? host_ms : device_ms;
}

void note_read_ceiling(std::optional<double> gb_s) {
    if (gb_s) fastest_gb_s = std::min(fastest_gb_s, kOverTheCeiling * *gb_s);
}

void set_emulated() {
    emulated = true;
}

bool is_emulated() {
    return emulated;
}

bool is_timed_by_host() {
    return timed_by_host;
}

bool are_enough(const std::vector<double>& times_ms, double spent_ms, std::optional<int> repeat) {
    constexpr std::size_t kMaxRuns = 200;
    constexpr std::size_t kLeastRuns = 3;
    constexpr double kBudgetMs = 1000;
    const std::size_t runs = times_ms.size();
    if (emulated || repeat) return runs >= static_cast<std::size_t>(repeat.value_or(1));
    return runs >= kMaxRuns || median_is_stable(times_ms) ||
           (runs >= kLeastRuns && spent_ms >= kBudgetMs);
}

double gigabytes_per_second(double bytes, double milliseconds) {
    return milliseconds > 0 ? bytes / (milliseconds * 1e6) : 0;
}

}  // namespace common
