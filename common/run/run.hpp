/// @file
/// How a chapter's program is run: once, as its reader does; many times in one process, as those do
/// who ask for many answers.
#pragma once

#include <functional>
#include <optional>

#include "common/options/options.hpp"
#include "common/report/output.hpp"

namespace common {

/// One command line, from what is asked for to the table.
/// @return the exit status
using RunOnce = std::function<int(int argc, const char* const* argv, const Output& output)>;

/// What `main` calls and returns. Besides what `run` takes, every program has
///   --serve     a command line after the other from standard input, and an answer to each
///               (serve.hpp)
///   --describe  what the program says of itself, as JSON
int run_program(int argc, const char* const* argv, const Program& program, const RunOnce& run);

/// For a lesson, which is a `main` of its own: does what --describe asks for.
/// @return the exit status, where one of them was given
std::optional<int> asked_for_something_else(int argc, const char* const* argv,
                                            const Program& program);

/// Where the results of the present command line go.
const Output& output_of_this_run();

/// Whether this process answers one command line after the other (serve.hpp).
bool is_serving();

}  // namespace common
