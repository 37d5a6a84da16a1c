// What a program says and how it ends. The result goes to standard output and must arrive; progress
// goes to standard error, and the work goes on if it cannot be written.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace common {

/// The exit statuses of every program; docs/command-line.md is where users read about them.
enum ExitStatus : int {
    kEveryVariantMatches = 0,
    kMismatch = 1,         ///< a variant does not match the CPU: this and nothing else
    kBadInput = 2,         ///< arguments or input that cannot be used
    kFailed = 2,           ///< what crashed, took too long, or failed while it ran
    kNothingToRunOn = 77,  ///< no device or no driver; ctest counts 77 as skipped
};

/// The text as one line that a terminal shows and does not obey: what controls it is written as \n,
/// \t or \x1b. Names of files and bytes out of them may be anything. A second call changes
/// nothing more.
std::string shown(std::string_view text);

/// Arguments or input that cannot be used. The text is the one line that the user reads: what is
/// given is `shown`.
class BadInput : public std::runtime_error {
 public:
    explicit BadInput(std::string_view text) : std::runtime_error(shown(text)) {}
};

/// The device cannot do it, and another may.
class Unsupported : public BadInput {
 public:
    using BadInput::BadInput;
};

/// Kernels that do not compile. The text is the compiler's, of many lines.
class DoesNotBuild : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// No device, or no driver for it. The text says which.
class NothingToRunOn : public std::runtime_error {
 public:
    explicit NothingToRunOn(std::string_view text) : std::runtime_error(shown(text)) {}
};

/// Thrown when a program has done what it was asked before any work began: --help, --list-devices.
class Finished : public std::exception {};

/// Turns the exception that is being handled into one line on standard error and an exit status.
/// Call it from the `catch (...)` of `main` and return what it returns.
/// @param program what the line begins with, such as "01-cpu/cpu"
int report_exception(const std::string& program) noexcept;

// ---- what it says ----

/// Writes to standard output. A failure is told at the end.
void print(const std::string& text) noexcept;

/// Writes to standard error, or does not.
void progress(const std::string& text) noexcept;

/// Writes the one line on standard error that says why the program ends, behind its name.
void say_why(const std::string& program, const char* why) noexcept;

/// From now on `print` and `progress` write nothing: of many processes that say the same, one
/// speaks.
void be_silent() noexcept;

/// Call it before the first result; parse_options does. A program whose standard output could not
/// be written then ends with one line on standard error and status 2 (1 where a variant does not
/// match), whatever `main` returns; so it ends where a library without exceptions runs out of
/// memory. A write beyond `ulimit -f` fails, and does not end the program.
/// @param program what the line begins with, such as "chapter/program"
void require_standard_output(const std::string& program);

/// A wrong result keeps its exit status, 1, also where standard output is lost.
void note_mismatch() noexcept;

}  // namespace common
