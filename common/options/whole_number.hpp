/// @file
/// Whole numbers on a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace common {

/// For an option's `transform`: a whole number from `least` to `most`, in decimal. (CLI11 alone
/// would read 010 as 8.)
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

}  // namespace common
