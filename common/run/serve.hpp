/// @file
/// Many runs in one process. PROGRAM --serve reads lines, each a JSON array of words: a whole
/// command line. For each it writes a line of JSON, an object:
///
///   status  the exit status that a process of its own would have had
///   kind    "ran"; "bad-input"; "unsupported", where the device cannot do it; "does-not-build",
///           the kernels; "nothing-to-run-on"; or "failed", after which this process ends: a device
///           that has failed may do so again
///   error   why it is not "ran", as that process would have said it
///   run     where it ran, what --json would have written (docs/json.md); `serial_ms` is null, as
///           nothing is compared with the serial loop's time
///
/// A run that crashes or hangs takes the process with it. Whoever asks starts another, and knows
/// which line it was.
#pragma once

#include <functional>
#include <string>

namespace common {

/// One command line, from what is asked for to the table. @return the exit status
using RunOnce = std::function<int(int argc, const char* const* argv)>;

/// @throws BadInput where --serve is not alone
bool is_asked_to_serve(int argc, const char* const* argv);

/// Answers until standard input ends.
/// @param name the program's
/// @return the exit status
int serve(const std::string& name, const RunOnce& run);

}  // namespace common
