/// @file
/// The mistakes: a strategy's program with one choice changed.
#pragma once

#include <string>
#include <vector>

#include "common/tutor/diagnosis/description.hpp"

namespace common::diagnosis {

struct Change {
    std::string name;      ///< stable, such as "tail-dropped"
    std::string sentence;  ///< what the choice was and what it became
    Description program;
    std::string label;         ///< what it is a change of
    double bits = 0;           ///< the less usual, the more
    bool is_of_width = false;  ///< of how a counter is kept
};

/// Every change of one choice; of two only where they belong together.
std::vector<Change> changes(const Description& right, bool in_cuda);

/// The section of a chapter's lesson about a mistake of this name.
std::string section_about(const std::string& name);

}  // namespace common::diagnosis
