/// @file
/// Text from outside as one line of a terminal.
#pragma once

#include <string>
#include <string_view>

namespace common {

/// The text as one line that a terminal shows and does not obey: what controls it, and what is not
/// UTF-8, is written as \n, \t or \x1b. Names of files and bytes out of them may be anything. What
/// has been through here does not change a second time.
std::string shown(std::string_view text);

/// The word as a shell takes it, in a command that is printed to be run again.
std::string shell_word(std::string_view word);

}  // namespace common
