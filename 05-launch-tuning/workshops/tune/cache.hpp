/// @file
/// All that a search found, and the lines that it leaves for `tuned` (05-launch-tuning/launch.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "05-launch-tuning/workshops/tune/space.hpp"

namespace tuning {

enum class Outcome { kMeasured, kRefused, kWrong, kNotTried };

/// "measured", "refused", "wrong" or "not tried", as in the JSON.
std::string to_string(Outcome outcome);

/// One launch at one size.
struct Trial {
    LaunchConfig config;
    std::uint64_t pixels = 0;
    Outcome outcome = Outcome::kNotTried;
    double worst_ms = 0;  ///< where it was measured
    std::string reason;   ///< where it was refused or wrong, in one line

    /// GB/s (10^9 bytes of pixels a second) of the slowest picture; 0 where it was not measured.
    [[nodiscard]] double gb_s() const;
};

/// Everything that a search found.
struct Tuning {
    DeviceLimits device;
    std::string date;    ///< when the search began, ISO 8601, UTC
    double seconds = 0;  ///< that the search took
    std::vector<Trial> trials = {};

    /// The sizes that were tried, ascending.
    [[nodiscard]] std::vector<std::uint64_t> sizes() const;
    /// The fastest trial of this size, of one kernel or of any; null where none was measured.
    [[nodiscard]] const Trial* best(std::uint64_t pixels, const Kernel* of = nullptr) const;
    [[nodiscard]] std::size_t count(Outcome outcome) const;
};

/// docs/json.md describes the format.
std::string to_json_text(const Tuning& tuning);

/// Whether an earlier search has left something for this device.
bool is_kept(const DeviceLimits& device);

/// Puts the best launch of `tuned` for each size into `launches_file`, in place of what stood there
/// for this device; what is there for others stays. Creates the folder.
/// @return the file
/// @throws common::BadInput where it cannot be written
std::filesystem::path save(const Tuning& tuning);

}  // namespace tuning
