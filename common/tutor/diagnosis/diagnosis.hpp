// From the counts of a few runs to the mistake that is most likely.
// A wrong kernel is a right one with one choice changed. Each strategy is a function that asks for
// each of its choices (strategies.cpp); the table of what they may become (choices.json) gives the
// changes, and each is played (model.hpp) on the pixels and in the launch of each run that was
// seen. A change that predicts all of their counts is named; if none does, the answer says what
// was ruled out.
#pragma once

#include <chrono>

#include "common/inputs/inputs.hpp"
#include "common/verify/verify.hpp"

namespace common::diagnosis {

/// A mistake that fits what was seen of a wrong result.
struct Finding {
    std::string name;         ///< stable, such as "tail-dropped"
    std::string sentence;     ///< what is most likely
    std::string evidence;     ///< what says so
    std::string read;         ///< where to read on
    bool is_certain = false;  ///< it predicts every count of every run, and nothing else does; or
                              ///< no run contradicts it
};

/// A run of a strategy, what it should have counted and what it did.
struct Case {
    std::string words;                     ///< "100003 random pixels, 1 group of 64"
    std::span<const std::uint8_t> pixels;  ///< rows of `width`; the last may be short
    std::size_t width = 0;
    std::size_t pitch = 0;  ///< bytes from row to row in memory, where there are gaps
    Launch launch;
    Histogram expected{};
    std::vector<Histogram> actual;  ///< at least one; more where it was run again
    std::size_t first = 0;          ///< bytes in front of the first pixel
    bool from_the_end = false;      ///< where work-items run one by one, the last runs first

    [[nodiscard]] bool matches() const;  ///< in all its runs
    [[nodiscard]] bool changes() const;  ///< from run to run
};

/// What is known beside the counts.
struct RunContext {
    std::string chapter;  ///< its folder
    std::string variant;
    bool one_by_one = false;  ///< the work-items of a group run one after the other, as on PoCL
    bool in_cuda = false;     ///< it speaks of threads and blocks
    bool changes = false;     ///< the run that was looked into gave other counts when repeated
    bool race_free = false;   ///< a race detector has found nothing
};

/// What is known after looking into it.
struct Diagnosis {
    std::vector<Finding> findings;       ///< the surest first
    std::vector<std::string> ruled_out;  ///< where there are none: why, and what the runs say
    bool is_settled = true;  ///< all that fits has one name: more runs would not tell more
    std::map<std::size_t, bool> fitting;  ///< the changes that no run contradicts, by number, and
                                          ///< whether each is certain: to go on with
};

/// Everything that fits; nothing where all runs match. `before` is of fewer of these cases: what
/// they contradict is not looked at again.
Diagnosis diagnose(const std::vector<Case>& cases, const RunContext& context,
                   const Diagnosis* before = nullptr);

/// The same as lines for the reader; "unclear" where nothing fits.
std::string text_of(const Diagnosis& diagnosis);

// ---- the runs that tell mistakes apart (probes.cpp) ----

/// What a second process of the program answers, which is asked for a run (run/served.cpp).
struct Answer {
    /// How a run ended; refused is what says nothing of the kernel, such as too large a group.
    enum class Kind { kRan, kRefused, kFailed, kCrashed, kNotFinished };
    Kind kind = Kind::kRefused;
    std::string error;                 ///< why it did not run
    std::vector<Result> results = {};  ///< where it ran
};

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
/// anew for each. The runner lays rows `pitch` apart; 0: without gaps.
void observe(Observations& seen, std::size_t group_size, std::size_t pitch, const Runner& runner);

}  // namespace common::diagnosis
