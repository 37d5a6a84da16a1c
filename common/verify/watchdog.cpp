#include "common/verify/watchdog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>

#include "common/status/status.hpp"

namespace common {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kOwnCrashes = false;
#else
constexpr bool kOwnCrashes = true;
#endif

std::optional<milliseconds> limit_given;

// What a signal handler may use: memory that is there already, and write.
std::string crash_line;

extern "C" void end_with_crash_line(int) {
    [[maybe_unused]] const auto written =
        write(STDERR_FILENO, crash_line.data(), crash_line.size());
    _exit(kMismatch);
}

constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// One clock for all runs: a thread that sleeps until a run has taken too long.
struct Alarm {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Clock::time_point> end;  // of the run that is under way
    std::string line;
    bool done = false;
    std::thread thread;
};
std::optional<Alarm> alarm_clock;

void watch(Alarm& alarm) {
    std::unique_lock lock(alarm.mutex);
    while (!alarm.done) {
        if (!alarm.end) {
            alarm.changed.wait(lock);
        } else if (alarm.changed.wait_until(lock, *alarm.end) == std::cv_status::timeout &&
                   alarm.end && Clock::now() >= *alarm.end) {
            progress(alarm.line);
            // Not exit: what hangs would be waited for.
            _exit(kMismatch);
        }
    }
}

milliseconds limit_for(std::size_t pixels) {
    return limit_given.value_or(usual_time_limit(pixels));
}

std::size_t pixels_now = 0;

}  // namespace

milliseconds usual_time_limit(std::size_t pixels) {
    constexpr std::size_t kSlowest = std::size_t{4} << 20;  // pixels in a second
    return std::chrono::minutes(1) + milliseconds(1000 * pixels / kSlowest);
}

void set_time_limit(milliseconds limit) {
    limit_given = limit;
}

Watchdog::Watchdog(const std::string& what, std::size_t pixels) {
    pixels_now = pixels;
    if (kOwnCrashes) {
        crash_line = fmt::format(
            "\n{}: it crashed; most likely the kernel reads or writes outside of its memory "
            "(out-of-bounds). docs/race-detectors.md says how to find the line\n",
            what);
        for (const int crash : kCrashes)
            std::signal(crash, end_with_crash_line);
    }
    alarm_clock.emplace();
    alarm_clock->line = fmt::format(
        "\n{}: a run has not ended after {:.0f} s: a loop without end, or a barrier that not all "
        "work-items reach (does-not-end)\n",
        what, static_cast<double>(limit_for(pixels).count()) / 1000);
    alarm_clock->thread = std::thread([] { watch(*alarm_clock); });
}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(alarm_clock->mutex);
        alarm_clock->done = true;
    }
    alarm_clock->changed.notify_all();
    alarm_clock->thread.join();
    alarm_clock.reset();
    // A kernel that has written where it should not may show only when that memory is given back:
    // the line stays until the next strategy's.
}

void Watchdog::begin_run() {
    {
        const std::lock_guard lock(alarm_clock->mutex);
        alarm_clock->end = Clock::now() + limit_for(pixels_now);
    }
    alarm_clock->changed.notify_all();
}

void Watchdog::end_run() {
    {
        const std::lock_guard lock(alarm_clock->mutex);
        alarm_clock->end.reset();
    }
    alarm_clock->changed.notify_all();
}

}  // namespace common
