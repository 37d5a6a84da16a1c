/// @file
/// --describe: what a program says of itself.
#pragma once

#include "common/options/options.hpp"

namespace common {

/// Does what --describe asks for: JSON on standard output.
/// @return whether it was asked for
bool describes_itself(int argc, const char* const* argv, const Program& program);

}  // namespace common
