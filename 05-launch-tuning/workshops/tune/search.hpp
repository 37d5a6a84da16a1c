// The search for the best launch of `tuned` on a device.
#pragma once

#include <stdexcept>

#include "05-launch-tuning/launch.hpp"

namespace tuning {

// ---- what is found ------------------------------------------------------------------------------

enum class Outcome { kMeasured, kRefused, kWrong, kNotTried };
inline constexpr std::array kOutcomes{"measured", "refused", "wrong", "not tried"};

/// One launch at one size.
struct Trial {
    TunedLaunch launch;
    std::uint64_t pixels = 0;
    Outcome outcome = Outcome::kNotTried;
    double worst_ms = 0;      ///< where it was measured
    std::string reason = {};  ///< where it was refused or wrong, in one line

    /// "32 copies, 4 loads, groups of 1024, 1 for each unit"
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

// ---- the search ---------------------------------------------------------------------------------

/// Every launch that is worth a try, and that the device's limits allow.
std::vector<TunedLaunch> candidates(const DeviceLimits& device);

/// The sizes of the pictures that are tuned for, in pixels, ascending; what suits a small picture
/// does not suit a large one. At least one, and otherwise none beyond `most`.
std::vector<std::uint64_t> tuned_sizes(bool cpu, std::uint64_t most);

/// It ran, and did not match the CPU.
class Wrong : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Runs a launch on pictures of so many pixels, checks the result and returns the time in
/// milliseconds, that of the picture that took longest.
/// @throws common::Unsupported, Wrong
using Measure = std::function<double(const TunedLaunch& launch, std::uint64_t pixels)>;

/// Seconds since some moment.
using Clock = std::function<double()>;
double steady_seconds();

/// Tries every candidate at every size: first what `tuned` would do without a search, then all
/// others in a random order; at last the best of each size again, in turns. No measurement begins
/// after `budget_s` seconds. @return a trial for each candidate at each size, in their order
Tuning search(const DeviceLimits& device, const std::vector<std::uint64_t>& picture_sizes,
              double budget_s, const Measure& measure, const Clock& clock = steady_seconds);

// ---- a launch on the test pictures; the programs add how to run it on the device
// ------------------

/// Some pixels in a row of one of the test pictures, which lies in the device's memory.
struct Stretch {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

/// A picture that repeats after kPeriod pixels, so that it is soon known how often each value
/// occurs in a part of it.
struct TestPicture {
    static constexpr std::uint64_t kPeriod = std::uint64_t{1} << 18;

    common::PixelBuffer pixels;
    common::Histogram of_a_period{};

    [[nodiscard]] common::Histogram expected(const Stretch& stretch) const;
};

/// One in which any two pixels differ, one in which all are equal, and a ramp, whose neighbouring
/// pixels want the same banks.
using TestPictures = std::array<TestPicture, 3>;
TestPictures test_pictures(std::uint64_t most);

/// Runs a launch on stretches of one of the pictures, one launch for each, without waiting for the
/// host in between: the device's time for all of them, in ms, and the `result` of the last.
/// @throws common::Unsupported where the device cannot do it
using RunInARow =
    std::function<double(const TunedLaunch& launch, std::size_t picture,
                         std::span<const Stretch> stretches, common::Histogram& result)>;

/// Checks and times a launch as the README says: the median of a few runs on each picture, and of
/// the pictures the one that took longest. `pictures` must outlive what is returned.
Measure measure_on(const TestPictures& pictures, const RunInARow& run_in_a_row);

// ---- what the programs are asked for, and what they say and keep of a search --------------------

/// The command line as the user gave it.
struct Request {
    double seconds = 50;  ///< that the search may take
    std::string device;   ///< a number or part of a name; empty: the default
    bool list_devices = false;
    std::optional<std::string> json;
};

/// @throws common::BadInput in one line that names the option
Request parse_request(int argc, const char* const* argv, const std::string& program);

/// Prints the best launch for each size, writes the JSON that was asked for, and keeps the best for
/// `tuned` in place of what stood there for this device.
/// @return the exit status: 1 where a launch counted wrongly
int finish(const Request& request, const Tuning& found);

}  // namespace tuning
