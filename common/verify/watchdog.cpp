#include "common/verify/watchdog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>

#include "common/status/status.hpp"

namespace common {
namespace {

using std::chrono::milliseconds;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kOwnCrashes = false;
#else
constexpr bool kOwnCrashes = true;
#endif

constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::optional<milliseconds> limit_given;

// What a signal handler may use: memory that is there already, and write.
std::string crash_line;
std::string hang_line;

// Not exit: what hangs would be waited for.
extern "C" void end_with_line(int signal) {
    const std::string& line = signal == SIGALRM ? hang_line : crash_line;
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
    _exit(kMismatch);
}

// (The system's alarm counts whole seconds.)
void set_alarm(milliseconds limit) {
    alarm(static_cast<unsigned>((limit.count() + 999) / 1000));
}

}  // namespace

milliseconds usual_time_limit(std::size_t pixels) {
    constexpr std::size_t kSlowest = std::size_t{4} << 20;  // pixels in a second
    return std::chrono::minutes(1) + milliseconds(1000 * pixels / kSlowest);
}

void set_time_limit(std::optional<milliseconds> limit) {
    limit_given = limit;
}

milliseconds time_limit(std::size_t pixels) {
    return limit_given.value_or(usual_time_limit(pixels));
}

Watchdog::Watchdog(const std::string& what, std::size_t pixels) : limit_(time_limit(pixels)) {
    if (kOwnCrashes) {
        crash_line = fmt::format(
            "\n{}: it crashed; most likely the kernel reads or writes outside of its memory "
            "(out-of-bounds). docs/race-detectors.md says how to find the line\n",
            what);
        // They stay: a kernel that has written where it should not may show only when that memory
        // is given back.
        for (const int crash : kCrashes)
            std::signal(crash, end_with_line);
    }
    hang_line = fmt::format(
        "\n{}: a run has not ended after {:.0f} s: a loop without end, or a barrier that not all "
        "work-items reach (does-not-end)\n",
        what, static_cast<double>(limit_.count()) / 1000);
    std::signal(SIGALRM, end_with_line);
}

Watchdog::~Watchdog() {
    end_run();
}

void Watchdog::begin_run() const {
    set_alarm(limit_);
}

void Watchdog::end_run() const {
    alarm(0);
}

Deadline::Deadline(const std::string& what, milliseconds limit) {
    hang_line = fmt::format("\n{}: not done after {:.0f} s: the device or its driver hangs\n", what,
                            static_cast<double>(limit.count()) / 1000);
    std::signal(SIGALRM, end_with_line);
    set_alarm(limit);
}

Deadline::~Deadline() {
    alarm(0);
}

}  // namespace common
