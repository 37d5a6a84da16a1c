/// @file
/// From the counts of a few runs to the mistake that is most likely.
///
/// Whoever chose the pixels and the launch of a run can work out what a given mistake would count
/// there. So a hypothesis is a small function that predicts the whole wrong histogram of a run, and
/// a mistake is named only if no run contradicts it, those that match the CPU included. Where
/// nothing fits, nothing is named.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/histogram/histogram.hpp"
#include "common/verify/verify.hpp"

namespace common::diagnosis {

/// A mistake that fits what was seen of a wrong result.
struct Finding {
    enum class Certainty {
        kPredicted,  ///< every count of every run that differs
        kPattern     ///< what no run contradicts and few other mistakes leave
    };
    std::string name;      ///< stable, such as "tail-dropped"
    std::string sentence;  ///< what is most likely
    std::string evidence;  ///< what says so
    std::string read;      ///< where to read on
    Certainty certainty = Certainty::kPredicted;
};

/// A run of a strategy, what it should have counted and what it did.
struct Case {
    std::string words;                     ///< "100003 random pixels, 1 group of 64"
    std::span<const std::uint8_t> pixels;  ///< rows of `width`; the last may be short
    std::size_t width = 0;
    Launch launch;
    Histogram expected{};
    std::vector<Histogram> actual;  ///< at least one; more where it was run again

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
};

/// Everything that fits, the surest first; empty where nothing does or all runs match.
std::vector<Finding> diagnose(const std::vector<Case>& cases, const RunContext& context);

/// The findings as lines for the reader; "unclear" where there are none.
std::string text_of(const std::vector<Finding>& findings);

}  // namespace common::diagnosis
