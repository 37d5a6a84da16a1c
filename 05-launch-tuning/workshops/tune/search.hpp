/// @file
/// The search for the best launch, and the checking and timing of each of them. The programs add
/// one thing: how to run a launch on the device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "05-launch-tuning/workshops/tune/result.hpp"
#include "common/histogram/histogram.hpp"
#include "common/image/pixels.hpp"

namespace tuning {

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
/// milliseconds, that of the picture that took longest. A first time beyond `hopeless_ms` need not
/// be repeated for a median.
/// @throws common::Unsupported, Wrong
using Measure =
    std::function<double(const TunedLaunch& launch, std::uint64_t pixels, double hopeless_ms)>;

/// Seconds since some moment.
using Clock = std::function<double()>;
double steady_seconds();

/// Tries every candidate at every size. What `tuned` would do without a search comes first at each
/// size, which soon shows which others are hopeless (four times as slow as the best). Then all
/// others, in a random order, so that whatever there is time for is a fair sample. At the end the
/// best dozen of each size are measured nine times more, in turns, and their medians decide. Says
/// on standard error how far it is.
/// @param budget_s seconds, for all together; no measurement begins later
/// @return a trial for each candidate at each size, in the order of the sizes and the `candidates`
Tuning search(const DeviceLimits& device, const std::vector<std::uint64_t>& picture_sizes,
              double budget_s, const Measure& measure, const Clock& clock = steady_seconds);

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

/// Three that stand for all others: one in which any two pixels differ, one in which all are equal,
/// and a ramp, whose neighbouring pixels want the same banks. A launch counts as fast as it is on
/// the worst of them.
using TestPictures = std::array<TestPicture, 3>;

/// @param most as large as the largest size that is tuned for
TestPictures test_pictures(std::uint64_t most);

/// Runs a launch on stretches of one of the pictures, one launch for each, without waiting for the
/// host in between.
/// @param result of the last stretch
/// @return the device's time for all of them together, in milliseconds
/// @throws common::Unsupported where the device cannot do it
using RunInARow =
    std::function<double(const TunedLaunch& launch, std::size_t picture,
                         std::span<const Stretch> stretches, common::Histogram& result)>;

/// Checks and times a launch: the median of a few runs on each picture, and of the pictures the one
/// that took longest. Before them comes a run on a stretch that begins and ends at no round number.
/// A launch that is short is launched several times in a row, up to 16 times or a tenth of a
/// millisecond, and its time is the average: on an idle device the host's part in a launch is as
/// large as the rest, and changes more from run to run than one launch differs from the next. What
/// is hopeless on one picture is not run on the others. No launch counts pixels that the launch
/// before it has counted, as long as the picture is larger than that.
/// @param pictures must outlive what is returned
Measure measure_on(const TestPictures& pictures, const RunInARow& run_in_a_row);

}  // namespace tuning
