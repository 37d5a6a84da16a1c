/// @file
/// The runs that tell mistakes apart, and how a program runs itself for them.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/tutor/diagnosis/diagnosis.hpp"

namespace common::diagnosis {

/// What came of a run.
struct Outcome {
    enum class End { kCounted, kCrashed, kNotFinished, kNotRun };
    End end = End::kNotRun;
    Launch launch;
    std::optional<Histogram> counts;  ///< where they differ from the expected ones
    bool only_later = false;          ///< not in the first run of the strategy, in the same program
};

/// Runs a strategy with these arguments (an input, a launch), in so much time at most.
using Runner = std::function<Outcome(const std::vector<std::string>& arguments,
                                     std::chrono::milliseconds at_most)>;

/// What was seen: the runs that gave counts, and what went wrong in the others, in words.
struct Observations {
    std::vector<Input> inputs;  ///< the pixels of the cases
    std::vector<Case> cases;
    std::vector<std::string> troubles;
};

/// Runs the strategy on inputs and in launches that separate causes: sizes that nothing divides,
/// rows with gaps, one group and several, fewer pixels than work-items, one value, and the same
/// again. Stops when the time is up.
Observations observe(const Runner& runner, std::chrono::milliseconds at_most);

/// How long to look: 3.5 s, or as many as the variable TUTORIAL_DIAGNOSIS_SECONDS says.
std::chrono::milliseconds usual_time();

/// A runner that starts this program again for each run. Nothing where that cannot be done.
/// @param program,options what it was started with; the input and the launch are the runner's
std::optional<Runner> own_runner(const Program& program, const Options& options,
                                 const std::string& variant);

}  // namespace common::diagnosis
