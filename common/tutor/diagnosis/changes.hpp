/// @file
/// The mistakes: one choice of a strategy, changed.
#pragma once

#include <string>
#include <vector>

#include "common/tutor/diagnosis/model.hpp"

namespace common::diagnosis {

struct Change {
    Played strategy{};
    Changed changed;
    std::string name;      ///< stable, such as "tail-dropped"
    std::string sentence;  ///< what the choice was and what it became
    double bits = 0;       ///< the less usual, the more
};

/// Every change of one choice of what a variant may be.
std::vector<Change> changes(const RunContext& context);

/// The section of a chapter's lesson about a mistake of this name.
std::string section_about(const std::string& name);

}  // namespace common::diagnosis
