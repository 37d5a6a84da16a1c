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

/// What was seen: the runs that gave counts, and what became of the others, in words.
struct Observations {
    std::vector<Input> inputs;  ///< the pixels of the cases
    std::vector<Case> cases;
    std::vector<std::string> troubles;
};

/// Adds the same runs whatever they show. All groups have one size, for compilers compile a kernel
/// anew for each.
void observe(Observations& seen, std::size_t group_size, const Runner& runner);

}  // namespace common::diagnosis
