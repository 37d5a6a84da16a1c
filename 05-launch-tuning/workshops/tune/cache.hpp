/// @file
/// All that a search found, and the file that it leaves for `tuned`, which reads it with
/// tuning::load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "05-launch-tuning/tuned.hpp"

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
    std::string api;
    std::string device;
    std::string driver;
    std::string date;    ///< when the search began, ISO 8601, UTC
    double seconds = 0;  ///< that the search took
    std::vector<Trial> trials = {};

    /// The sizes that were tried, ascending.
    [[nodiscard]] std::vector<std::uint64_t> sizes() const;
    /// The fastest trial of this size; null where none was measured.
    [[nodiscard]] const Trial* best(std::uint64_t pixels) const;
    [[nodiscard]] std::size_t count(Outcome outcome) const;
};

/// docs/json.md describes the format.
std::string to_json_text(const Tuning& tuning);

/// Writes it to `cache_file`, whole or not at all, in place of what was there. Creates the folder.
/// @return the file
/// @throws common::BadInput where it cannot be written
std::filesystem::path save(const DeviceLimits& limits, const Tuning& tuning);

}  // namespace tuning
