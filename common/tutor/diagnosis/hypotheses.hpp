/// @file
/// What each mistake would count.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/tutor/diagnosis/diagnosis.hpp"

namespace common::diagnosis {

/// Most hypotheses walk over the pixels one by one, and predict nothing where there are more.
inline constexpr std::size_t kManyPixels = std::size_t{4} << 20;

/// A mistake, as a prediction.
struct Hypothesis {
    std::string name;
    std::string sentence;
    std::string read;  ///< a section of the chapter's lesson
    /// The histogram that a kernel with this mistake leaves; nothing where that cannot be known.
    std::function<std::optional<Histogram>(const Case& run, const RunContext& context)> predict;
};

/// Whether the work-items of a group count in a table that they zero and merge together.
bool has_a_table(const RunContext& context);

/// All that are tried. Several may have one name: the same mistake in kernels that walk or are
/// launched in other ways.
const std::vector<Hypothesis>& hypotheses();

/// The counts of each group's own table, group by group, where the groups share the pixels in one
/// of the ways of these chapters.
std::vector<std::vector<Histogram>> tables_of_groups(const Case& run);

}  // namespace common::diagnosis
