/// @file
/// All that a search found: as text, as JSON, and as the lines that it leaves for `tuned`
/// (05-launch-tuning/launch.hpp). And the command line of the programs that search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "05-launch-tuning/launch.hpp"

namespace tuning {

enum class Outcome { kMeasured, kRefused, kWrong, kNotTried };

/// "measured", "refused", "wrong" or "not tried", as in the JSON.
std::string to_string(Outcome outcome);

/// One launch at one size.
struct Trial {
    TunedLaunch launch;
    std::uint64_t pixels = 0;
    Outcome outcome = Outcome::kNotTried;
    double worst_ms = 0;      ///< where it was measured
    std::string reason = {};  ///< where it was refused or wrong, in one line

    /// "32 copies, 4 loads, groups of 1024, 1 for each unit, at 16 Mi pixels"
    [[nodiscard]] std::string text() const;
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
    /// The fastest trial of this size; null where none was measured.
    [[nodiscard]] const Trial* best(std::uint64_t pixels) const;
    [[nodiscard]] std::size_t count(Outcome outcome) const;
};

/// "16 Mi pixels", "256 Ki pixels", "1000 pixels": never rounded.
std::string size_text(std::uint64_t pixels);

/// The best launch for each size, and how far the rule of thumb's is from it; how many were
/// measured, refused, wrong or not tried.
std::string summary_text(const Tuning& tuning);

/// docs/json.md describes the format.
std::string to_json_text(const Tuning& tuning);

/// Puts the best launch for each size into `launches_file`, in place of what stood there for this
/// device; what is there for others stays. Creates the folder.
/// @return the file
/// @throws common::BadInput where it cannot be written
std::filesystem::path save(const Tuning& tuning);

/// The command line as the user gave it.
struct Request {
    double seconds = 50;  ///< that the search may take
    std::string device;   ///< a number or part of a name; empty: the default
    bool list_devices = false;
    std::optional<std::filesystem::path> json;
};

/// @param program what the help calls it, such as "05-launch-tuning/workshops/tune/opencl"
/// @throws common::BadInput in one line that names the option, also for an output file that could
///         not be written
Request parse_request(int argc, const char* const* argv, const std::string& program);

/// Prints the summary, keeps the result for `tuned`, and writes what --json asks for.
/// @return the exit status
int finish(const Request& request, const Tuning& found);

}  // namespace tuning
