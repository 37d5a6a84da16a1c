// What a program says. The result goes to standard output and must arrive; progress goes to
// standard error, and the work goes on if it cannot be written.
#pragma once

#include <string>

namespace common {

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
