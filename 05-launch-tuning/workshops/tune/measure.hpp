/// @file
/// A launch is checked and timed on the test pictures. The programs add one thing: how to run it on
/// the device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "05-launch-tuning/workshops/tune/search.hpp"
#include "common/histogram/histogram.hpp"
#include "common/image/pixels.hpp"

namespace tuning {

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
/// large as the rest, and changes more from run to run than one launch differs from the next. No
/// launch counts pixels that the launch before it has counted, as long as the picture is larger.
/// @param pictures must outlive what is returned
Measure measure_on(const TestPictures& pictures, const RunInARow& run_in_a_row);

}  // namespace tuning
