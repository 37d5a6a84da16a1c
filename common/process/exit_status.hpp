/// @file
/// How a program ends.
#pragma once

namespace common {

/// The exit statuses of every program; docs/command-line.md is where users read about them.
enum ExitStatus : int {
    kEveryVariantMatches = 0,
    kMismatch = 1,         ///< a variant does not match the CPU: this and nothing else
    kBadInput = 2,         ///< arguments or input that cannot be used
    kFailed = 2,           ///< what crashed, took too long, or failed while it ran
    kNothingToRunOn = 77,  ///< no device or no driver; ctest counts 77 as skipped
};

}  // namespace common
