// The runs of a strategy, one after the other, as a loop of the host program: what a run does
// stands in the loop, in order. Between its turns it is checked and timed.
#pragma once

#include <chrono>

#include "common/verify/verify.hpp"
#include "common/verify/watchdog.hpp"

namespace common {

/// One run to warm up, whose counts are compared with the right ones; the timed runs, as many as
/// `are_enough`, the last of which is compared; and the runs that are timed together with the copy
/// of the pixels (three, or as many as --repeat says if that is fewer), the last of which is
/// compared. A mismatch is reported on standard error and timed all the same: how fast a wrong
/// answer comes is part of some lessons. A run that takes too long ends the program (watchdog.hpp).
///
///     while (runs.next()) {
///         poison(...);                      // all that the run writes to on the device
///         runs.begin();
///         if (runs.copies_in()) ...         // the pixels, to the device
///         ...                               // zero, launch, and read into runs.counts
///         runs.end(milliseconds(...));      // of its kernels, zeroing included
///     }
class Runs {
 public:
    /// What is to run, and where.
    struct What {
        std::string variant;
        bool on_device = false;  ///< its times are the device's, and the pixels are copied there
        Launch launch = {};      ///< 0 groups: it is not the program's to say
        std::string unsupported = {};  ///< why the device cannot run it: then no run is made
        std::string launch_text = {};  ///< which kernel in which launch, where the program chose it
    };

    /// @param done is given the row of the table, when there is no run more
    /// @throws BadInput for a launch that is far too large (`require_sensible`)
    Runs(What what, const Histogram& expected, std::optional<int> repeat,
         std::function<void(Result)> done);

    /// Whether there is one more run. Compares the counts of the one before, where they are
    /// compared, and fills `counts` with the poison pattern.
    /// @throws std::logic_error where the run before did not call `begin` and then `end`, once each
    bool next();

    /// The run begins: from here on the host's clock counts.
    void begin();

    /// Whether this run is to copy the pixels to the device, too. The timed runs are not, so that
    /// the device does not idle between them. A loop that never asks is not timed with copies.
    [[nodiscard]] bool copies_in() {
        asks_for_copies_ = true;
        return stage_ != Stage::kTimed;
    }

    /// The run has ended.
    /// @param device_ms its time by the device's clock, which is held against the host's
    void end(double device_ms);
    /// The same by the host's clock: of what has no device, or is more than its kernels.
    void end();

    Histogram counts{};  ///< what the run has counted, and the pattern before
    /// Of a run whose result is no histogram of 256 bins: what is wrong with it, in a line, and
    /// empty where it is right. The run sets it, and `counts` is not looked at.
    std::optional<std::string> wrong;

 private:
    enum class Stage { kFirst, kTimed, kWithCopies, kOver };
    using Clock = std::chrono::steady_clock;

    void require_begun_and_ended();
    void compare(const char* when);
    void finish();

    const Histogram& expected_;
    std::optional<int> repeat_;
    std::function<void(Result)> done_;
    Result result_;
    std::optional<Watchdog> watchdog_;
    Stage stage_ = Stage::kFirst;
    int turns_ = 0, begun_ = 0, ended_ = 0;
    bool on_device_;
    bool asks_for_copies_ = false;
    bool by_host_ = false;  ///< whether the times so far are
    std::size_t copies_wanted_ = 0;
    double spent_ms_ = 0;
    Clock::time_point turn_began_, run_began_;
    std::vector<double> times_ms_, end_to_end_ms_;
};

}  // namespace common
