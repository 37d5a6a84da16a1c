/// @file
/// What a search found, and where it is kept between runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "05-launch-tuning/tune/choice.hpp"

namespace tuning {

enum class Outcome { kMeasured, kRefused, kWrong, kNotTried };

/// "measured", "refused", "wrong" or "not tried", as in the JSON.
std::string to_string(Outcome outcome);

/// One choice at one size.
struct Trial {
    Choice choice;
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
    /// The fastest trial of this size, of these kernels if any are named; null where none was
    /// measured.
    [[nodiscard]] const Trial* best(std::uint64_t pixels,
                                    const std::vector<const Kernel*>& kernels = {}) const;
    [[nodiscard]] std::size_t count(Outcome outcome) const;
};

/// docs/json.md describes the format.
std::string to_json_text(const Tuning& tuning);

/// @throws common::BadInput saying what is wrong with it, in one line
Tuning from_json_text(const std::string& text);

/// Where the result for this device is kept: a file in `histogram-tutorials` under
/// $XDG_CACHE_HOME, else ~/Library/Caches on macOS, %LOCALAPPDATA% on Windows, ~/.cache elsewhere.
/// Empty where none of them is known.
std::filesystem::path file_of(const Facts& facts);

/// Keeps it there, whole or not at all, in place of what was kept before. Creates the folder.
/// @return the file
/// @throws common::BadInput where it cannot be written
std::filesystem::path keep(const Facts& facts, const Tuning& tuning);

/// What is kept for this device. A file that is damaged, or that belongs to another device or
/// driver, is passed over with a warning in one line on standard error.
std::optional<Tuning> recall(const Facts& facts);

/// The best choice known for a picture of so many pixels: that of the nearest tuned size, by ratio,
/// that the program and the device have; else the default.
Choice choose(const std::optional<Tuning>& known, const Facts& facts, std::uint64_t pixels);

}  // namespace tuning
