// Kernels that hang or crash, devices that do not answer, drivers that end the program: one line
// that says which, and exit status 2.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace common {

/// How many seconds one run of a strategy may take: a minute, and more for more pixels. Slower than
/// this is no device that the chapters' kernels were seen on.
unsigned usual_time_limit(std::size_t pixels);
/// Another limit for all runs that follow, as --time-limit asks for it; none: the usual one.
void set_time_limit(std::optional<unsigned> seconds);
/// That limit, or the usual one.
unsigned time_limit(std::size_t pixels);

/// What a run that has not ended most likely is.
inline constexpr const char* kDoesNotEnd =
    "a loop without end, a barrier that not all work-items reach (does-not-end), or only slow "
    "(--time-limit gives it longer)";

/// While one exists, a run that takes longer than its limit ends the program with one line that
/// names the strategy, and exit status 2. So does a crash, also one that comes later; where there
/// is too little memory left, the line says that. (With a sanitizer a crash is the sanitizer's.) At
/// most one exists at a time.
class Watchdog {
 public:
    /// @param what the strategy and its launch, for the line
    Watchdog(const std::string& what, std::size_t pixels);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// A run begins: its time is counted from here. (The system's alarm: nothing of the program
    /// wakes up beside what is timed.)
    void begin_run() const;
    /// The run has ended in time.
    void end_run() const;

 private:
    unsigned seconds_;
};

/// While one exists, what takes longer than its limit ends the program with one line that names it.
/// Not while a Watchdog exists: there is one alarm.
class Deadline {
 public:
    /// @param what the device or its driver does, for the line
    Deadline(const std::string& what, unsigned seconds);
    ~Deadline();
    Deadline(const Deadline&) = delete;
    Deadline& operator=(const Deadline&) = delete;
};

}  // namespace common
