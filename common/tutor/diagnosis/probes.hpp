/// @file
/// The runs that tell mistakes apart.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "common/inputs/inputs.hpp"
#include "common/run/worker.hpp"
#include "common/tutor/diagnosis/diagnosis.hpp"

namespace common::diagnosis {

/// Runs a strategy with these arguments (an input, a launch), in so much time at most.
using Runner = std::function<Answer(const std::vector<std::string>& arguments,
                                    std::chrono::milliseconds at_most)>;

/// What was seen: the runs that gave counts, and what went wrong in the others, in words.
struct Observations {
    std::vector<Input> inputs;  ///< the pixels of the cases
    std::vector<Case> cases;
    std::vector<std::string> troubles;
};

/// The same runs whatever they show, but for the largest, which is asked where nothing smaller goes
/// wrong. There are two sizes of groups in them, one of them that of the launch that went wrong
/// where it is a usual one: compilers compile a kernel anew for each size.
Observations observe(const Launch& wrong, const Runner& runner);

}  // namespace common::diagnosis
