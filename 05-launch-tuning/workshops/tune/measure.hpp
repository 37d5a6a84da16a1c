// A launch is checked and timed on the test pictures. The programs add one thing: how to run it on
// the device.
#pragma once

#include "05-launch-tuning/workshops/tune/search.hpp"

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

}  // namespace tuning
