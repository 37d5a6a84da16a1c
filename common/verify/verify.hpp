// What comes out of the runs of a strategy: a row of the table.
#pragma once

#include "common/histogram/histogram.hpp"
#include "common/timing/timing.hpp"

namespace common {

/// How a strategy was launched on a device: what a wrong result depends on.
struct Launch {
    std::size_t groups = 0;      ///< work-groups (CUDA: blocks) in all; 0 where nothing is launched
    std::size_t group_size = 0;  ///< work-items in each

    bool operator==(const Launch&) const = default;
};

/// "2 groups of 256".
std::string to_string(const Launch& launch);

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
    bool broken_on_purpose = false;             ///< so nobody asks why it does not match
    bool timed_by_host = false;                 ///< without a device, or its times cannot be true
    std::optional<std::string> diagnosis = {};  ///< why it may not match: JSON (docs/json.md)
};

/// A launch may be so large that its end is not worth waiting for, though it would be right.
/// @throws BadInput
void require_sensible(const Launch& launch, std::uint64_t pixels);

/// The row of a strategy that cannot run here.
Result skipped(const std::string& variant, const std::string& reason);

}  // namespace common
