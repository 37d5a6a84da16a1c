/// @file
/// --tune from its pictures to its exit status. The programs add one thing: how to run a choice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/launch.hpp"
#include "05-launch-tuning/tuning/tuning.hpp"
#include "common/histogram/histogram.hpp"
#include "common/image/pixels.hpp"

namespace tuning {

/// A picture that repeats after kPeriod pixels, so that a part of it that begins and ends at
/// multiples of kPeriod needs no counting to know its histogram.
struct TestPicture {
    static constexpr std::uint64_t kPeriod = std::uint64_t{1} << 18;

    common::PixelBuffer pixels;
    common::Histogram of_a_period{};

    /// @param count pixels, a multiple of kPeriod
    [[nodiscard]] common::Histogram expected(std::uint64_t count) const;
};

/// Three that stand for all others: one in which any two pixels differ, one in which all are equal,
/// and a ramp, whose neighbouring pixels want the same banks. A launch counts as fast as it is on
/// the worst of them.
using TestPictures = std::array<TestPicture, 3>;

/// As large as the largest size that is tuned for.
TestPictures test_pictures(const Facts& facts);

/// Runs a choice on parts of one of the pictures, which lies in the device's memory, one launch for
/// each part. The launches follow each other without waiting for the host.
/// @param result of the last part
/// @return the device's time for all of them together, in milliseconds
/// @throws Refused where the device cannot do it
using RunInARow = std::function<double(const Choice& choice, std::size_t picture,
                                       std::span<const Picture> parts, common::Histogram& result)>;

/// Checks and times a choice: the median of a few runs on each picture, and of the pictures the one
/// that took longest. A launch that is short is launched several times in a row, up to 16 times or
/// a tenth of a millisecond, and its time is the average: on a device that has nothing to do the
/// host's part in a launch is as large as the rest, and changes more from run to run than one
/// choice differs from the next. What is hopeless on one picture is not run on the others. No
/// launch counts pixels that the launch before it has counted, as long as the picture is larger
/// than that.
/// @param pictures must outlive what is returned
Measure measure_on(const TestPictures& pictures, const RunInARow& run_in_a_row);

/// Tunes, prints the heat map, remembers the result and writes it where --json and --plot say (the
/// heat map otherwise beside what is remembered).
/// @return the exit status
int run(const Arguments& arguments, const Facts& facts, const TestPictures& pictures,
        const RunInARow& run_in_a_row);

}  // namespace tuning
