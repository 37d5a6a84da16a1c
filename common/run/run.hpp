/// @file
/// What every program has beside what its reader asks for: --describe, what it says of itself, and
/// --serve, a command line after the other from standard input, and an answer to each (serve.hpp).
#pragma once

#include <functional>

#include "common/options/options.hpp"
#include "common/report/document.hpp"

namespace common {

/// Does what --describe asks for: JSON on standard output.
/// @return whether it was asked for
bool describes_itself(int argc, const char* const* argv, const Program& program);

/// Whether this process answers one command line after the other.
bool is_serving();

/// Takes the results of the present command line in place of table and files, where the process
/// serves; else none.
const std::function<void(const RunDocument& document)>& taker_of_results();

}  // namespace common
