/// @file
/// Check, time, check again: how every strategy of every chapter is examined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/histogram/histogram.hpp"
#include "common/timing/timing.hpp"

namespace common {

/// How a strategy was launched on a device: what a wrong result depends on.
struct Launch {
    std::size_t groups = 0;      ///< work-groups (CUDA: blocks) in all; 0 where nothing is launched
    std::size_t group_size = 0;  ///< work-items in each
    std::size_t across = 0;      ///< of the groups, where they lie over rows; 0 where they do not

    bool operator==(const Launch&) const = default;
};

/// "2 groups of 256", "6 groups of 64, 3 across".
std::string to_string(const Launch& launch);

/// Runs a strategy once and leaves its counts in `histogram`, which holds the poison pattern
/// before. Device buffers are for the run itself to poison.
/// @return its time in milliseconds, zeroing of the output included
using Run = std::function<double(Histogram& histogram)>;

enum class Check { kMatch, kMismatch, kSkipped };

/// "match", "mismatch" or "skipped", as in the table and the JSON.
std::string to_string(Check check);

/// One row of the table.
struct Result {
    std::string variant;
    Check check = Check::kMatch;
    std::string reason;  ///< why it was skipped or what is wrong, in one line; else empty
    Timing kernel;       ///< zero runs where it was skipped
    std::optional<double> end_to_end_ms;  ///< with the copies, where there are any
    std::string launch_text = {};  ///< which kernel in which launch, where the program chose it
    std::optional<Launch> launch = {};          ///< on a device
    std::optional<Histogram> counts = {};       ///< what came out, where it does not match
    bool only_later = false;                    ///< the first run matched, and a later one does not
    bool changes = false;                       ///< after a wrong run another one gave other counts
    bool timed_by_host = false;                 ///< without a device, or its times cannot be true
    std::optional<std::string> diagnosis = {};  ///< why it may not match: JSON (docs/json.md)
};

/// Runs once untimed (which warms up) and compares all bins with the expected ones; runs again,
/// timed, as `measure` does it; and compares the result of the last timed run. A mismatch is
/// reported on standard error and timed all the same: how fast a wrong answer comes is part of some
/// lessons.
Result verify_and_time(const std::string& variant, const Histogram& expected,
                       std::optional<int> repeat, const Run& run);

/// A strategy that runs on a device, in its parts.
struct DeviceRun {
    std::function<void()> poison;   ///< fills what it writes to on the device with the pattern
    std::function<void()> copy_in;  ///< copies the pixels to the device
    /// Zeroes what needs it, counts, and copies the histogram to the host.
    /// @return the kernels' time in milliseconds, zeroing included
    std::function<double(Histogram& histogram)> run;
    Launch launch;
    std::string unsupported_reason =
        {};  ///< why the device cannot run it, where it says so beforehand
};

/// The same for a strategy on a device. The pixels are copied in once for all timed runs, so that
/// the device does not idle between them. Then come runs with the copies, for the end-to-end time
/// (three, or as many as `repeat` says if that is fewer), and their last result is compared, too.
/// What the device refuses is skipped. Its times are held against the host's (`plausible_ms`).
/// @throws BadInput for a launch that is far too large (`require_sensible`)
Result verify_and_time(const std::string& variant, const Histogram& expected,
                       std::optional<int> repeat, const DeviceRun& strategy);

/// A launch may be so large that its end is not worth waiting for, though it would be right.
/// @throws BadInput
void require_sensible(const Launch& launch, std::uint64_t pixels);

/// The row of a strategy that cannot run here.
Result skipped(const std::string& variant, const std::string& reason);

}  // namespace common
