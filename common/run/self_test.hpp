/// @file
/// A program that tests itself: every strategy on every input and in every launch of cases.json,
/// and of tests/cases.json beside its source where there is one.
#pragma once

#include <string>
#include <vector>

#include "common/options/options.hpp"

namespace common {

/// Runs each case in a second process, so that a crash or a hang costs one case. Says a line for
/// each case that fails, with the command that repeats it, and at the end how many there were.
/// A launch that the device has no room for is skipped; an input never is, but with --may-skip.
/// @param given the command line without --self-test: may name a strategy, a device, kernels
/// @return 0 where all match, 1 where one does not, 77 where nothing could run
/// @throws BadInput for a command line that names an input, a launch or an output
int self_test(const Program& program, const std::vector<std::string>& given);

}  // namespace common
