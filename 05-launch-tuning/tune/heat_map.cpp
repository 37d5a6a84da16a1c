#include "05-launch-tuning/tune/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <functional>
#include <map>
#include <utility>

#include "common/report/report.hpp"

namespace tuning {
namespace {

struct Column {
    std::size_t group_size;
    std::size_t groups_per_unit;

    // NOLINTNEXTLINE(modernize-use-nullptr): the comparison with 0 is the compiler's
    auto operator<=>(const Column&) const = default;
};

// In percent of the best of the size, 0 to 100; empty where it was not measured.
using Percent = std::optional<double>;
using Cells = std::map<Column, Percent>;

// A row for each kernel and number of copies, by its label.
std::vector<std::pair<std::string, Cells>> rows_of(const Tuning& tuning, std::uint64_t pixels) {
    const Trial* best = tuning.best(pixels);
    std::vector<std::pair<std::string, Cells>> rows;
    for (const Trial& trial : tuning.trials) {
        if (trial.pixels != pixels) continue;
        const auto& [kernel, copies, loads, group_size, groups_per_unit] = trial.config;
        const std::string label =
            kernel->max_copies == 1 ? kernel->name : fmt::format("{} x {}", kernel->name, copies);
        if (rows.empty() || rows.back().first != label) rows.push_back({label, {}});
        Percent& cell = rows.back().second[{group_size, groups_per_unit}];
        if (trial.outcome != Outcome::kMeasured) continue;
        cell = std::max(cell.value_or(0), 100 * best->worst_ms / trial.worst_ms);
    }
    return rows;
}

// Beside each number, so that the heat is seen before the numbers are read. Full is what lies
// within a tenth of the best.
std::string shade(const Percent& percent) {
    if (!percent || *percent < 10) return " ";
    if (*percent < 30) return "░";
    if (*percent < 60) return "▒";
    return *percent < 90 ? "▓" : "█";
}

// The label, and something for each column, with a gap where the group size changes.
std::string line_of(const std::string& label, const Cells& cells,
                    const std::function<std::string(const Column&, const Percent&)>& text) {
    std::string line = fmt::format("{:<15}", label);
    std::size_t group_size = cells.begin()->first.group_size;
    for (const auto& [column, percent] : cells) {
        if (std::exchange(group_size, column.group_size) != column.group_size) line += ' ';
        line += text(column, percent);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + '\n';
}

// Each group size once, over the first of its columns.
std::string header_of(const Cells& cells) {
    std::size_t last = 0;
    return "\n" +
           line_of(
               "group size", cells,
               [&](const Column& column, const Percent&) {
                   const bool again = std::exchange(last, column.group_size) == column.group_size;
                   return again ? std::string(5, ' ') : fmt::format("{:>4} ", column.group_size);
               }) +
           line_of("groups per unit", cells, [](const Column& column, const Percent&) {
               return fmt::format("{:>4} ", column.groups_per_unit);
           });
}

bool same_columns(const Cells& a, const Cells& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.first == y.first; });
}

std::string map_of(const Tuning& tuning, std::uint64_t pixels) {
    std::string text;
    Cells above;
    for (const auto& [label, cells] : rows_of(tuning, pixels)) {
        if (!same_columns(cells, above)) text += header_of(cells);
        above = cells;
        text += line_of(label, cells, [](const Column&, const Percent& percent) {
            return fmt::format("{:>4}{}", percent ? fmt::format("{:.0f}", *percent) : "-",
                               shade(percent));
        });
    }
    return text;
}

std::string best_line(const Tuning& tuning, std::uint64_t pixels) {
    const Trial* best = tuning.best(pixels);
    if (best == nullptr) return "best: none, since nothing was measured";
    return fmt::format("best: {}, {} GB/s", best->config.text(), common::number(best->gb_s()));
}

// "192 measured, 24 refused, 3 not tried in 21.0 s"
std::string counts_line(const Tuning& tuning) {
    std::string line = fmt::format("{} measured", tuning.count(Outcome::kMeasured));
    for (const Outcome outcome : {Outcome::kRefused, Outcome::kWrong, Outcome::kNotTried}) {
        const std::size_t count = tuning.count(outcome);
        if (count > 0) line += fmt::format(", {} {}", count, to_string(outcome));
    }
    return line + fmt::format(" in {} s", common::number(tuning.seconds));
}

// Every mistake, and why others were refused: a few reasons, each of them many times.
std::string reasons_text(const Tuning& tuning) {
    std::string text;
    std::map<std::string, std::size_t> refused;
    for (const Trial& trial : tuning.trials) {
        if (trial.outcome == Outcome::kWrong) {
            text += fmt::format("  WRONG: {}, at {}: {}\n", trial.config.text(),
                                size_text(trial.pixels), trial.reason);
        }
        if (trial.outcome == Outcome::kRefused) ++refused[trial.reason];
    }
    for (const auto& [reason, times] : refused)
        text += fmt::format("  {} refused: {}\n", times, reason);
    return text;
}

}  // namespace

std::string heat_map_text(const Tuning& tuning) {
    std::string text =
        "Each cell is the best of all loads, in percent of the best of its size; - was not "
        "measured.\n";
    for (const std::uint64_t pixels : tuning.sizes()) {
        text += fmt::format("\n{}\n", size_text(pixels));
        text += map_of(tuning, pixels);
        text += fmt::format("\n{}\n", best_line(tuning, pixels));
    }
    return text + fmt::format("\n{}\n{}", counts_line(tuning), reasons_text(tuning));
}

}  // namespace tuning
