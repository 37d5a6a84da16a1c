/// @file
/// How a program ends: the exit statuses, and the exceptions that lead to them.
#pragma once

#include <stdexcept>
#include <string>

namespace common {

/// The exit statuses of every program; docs/command-line.md is where users read about them.
enum ExitStatus : int {
    kEveryVariantMatches = 0,
    kMismatch = 1,         ///< a variant does not match the CPU, or failed while it ran
    kBadInput = 2,         ///< arguments or input that cannot be used
    kNothingToRunOn = 77,  ///< no device or no driver; ctest counts 77 as skipped
};

/// Arguments or input that cannot be used. The text is the one line that the user reads.
class BadInput : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// No device, or no driver for it. The text says which.
class NothingToRunOn : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Thrown when a program has done what it was asked before any work began: --help, --list-devices.
class Finished : public std::exception {};

/// Turns the exception that is being handled into one line on standard error and an exit status.
/// Call it from the `catch (...)` of `main` and return what it returns.
/// @param program what the line begins with, such as "01-cpu/cpu"
int report_exception(const std::string& program) noexcept;

}  // namespace common
