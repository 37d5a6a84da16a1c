#include "common/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "common/process/status.hpp"

namespace common {
namespace {

// Characters, not bytes, of UTF-8: device names and the multiplication sign are not all ASCII.
std::size_t shown_width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string text_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        std::size_t width = shown_width(columns[i].title);
        for (const auto& row : rows)
            width = std::max(width, shown_width(shown(row[i])));
        widths.push_back(width);
    }
    std::string text;
    const auto add_line = [&](const auto& cell) {
        std::string line;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const std::string content = cell(i);
            const std::string padding(widths[i] - shown_width(content), ' ');
            line +=
                (i == 0 ? "" : "  ") + (columns[i].right ? padding + content : content + padding);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    };
    add_line([&](std::size_t i) { return columns[i].title; });
    add_line([&](std::size_t i) { return std::string(widths[i], '-'); });
    for (const auto& row : rows) {
        add_line([&](std::size_t i) { return shown(row[i]); });
    }
    return text;
}

}  // namespace common
