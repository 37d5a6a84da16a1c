/// @file
/// A table of text for a terminal.
#pragma once

#include <string>
#include <vector>

namespace common {

struct Column {
    std::string title;
    bool right = false;  ///< numbers stand right, words left
};

/// Lines of text, one per row, under the columns' titles and a rule; columns as wide as they need.
/// @param rows each as long as `columns`
std::string text_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows);

}  // namespace common
