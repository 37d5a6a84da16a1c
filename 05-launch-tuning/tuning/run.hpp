/// @file
/// --tune from its pictures to its exit status. The programs add one thing: how to run a choice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

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

/// Runs a choice once, on a part of one of the pictures, which lies in the device's memory.
/// @return the kernel's time in milliseconds
/// @throws Refused where the device cannot do it
using RunOnce = std::function<double(const Choice& choice, std::size_t picture, const Picture& part,
                                     common::Histogram& result)>;

/// Checks and times a choice: the median of a few runs on each picture, and of the pictures the one
/// that took longest. What is hopeless on one is not run on the others. No run counts pixels that
/// the run before it has counted, as long as the picture is larger than that.
/// @param pictures must outlive what is returned
Measure measure_on(const TestPictures& pictures, const RunOnce& run_once);

/// Tunes, prints the heat map, remembers the result and writes it where --json and --plot say (the
/// heat map otherwise beside what is remembered).
/// @return the exit status
int run(const Arguments& arguments, const Facts& facts, const TestPictures& pictures,
        const RunOnce& run_once);

}  // namespace tuning
