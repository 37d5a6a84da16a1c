#include "05-launch-tuning/workshops/tune/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/report/report.hpp"

namespace tuning {
namespace {

// In percent of the best of the size, 0 to 100; empty where it was not measured.
using Percent = std::optional<double>;
// By group size and groups for a unit.
using Cells = std::map<std::pair<std::size_t, std::size_t>, Percent>;

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

std::string line_of(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
}

// A line for each row, under a header of two wherever the columns are others than before. Each
// group size stands once, over the first of its columns, and there is a gap where it changes.
std::string map_of(const Tuning& tuning, std::uint64_t pixels) {
    std::string text;
    std::string above;
    for (const auto& [label, cells] : rows_of(tuning, pixels)) {
        std::string sizes = fmt::format("\n{:<15}", "group size");
        std::string groups = fmt::format("{:<15}", "groups per unit");
        std::string row = fmt::format("{:<15}", label);
        std::size_t last = cells.begin()->first.first;
        for (const auto& [column, percent] : cells) {
            const auto [group_size, groups_per_unit] = column;
            const bool first = column == cells.begin()->first;
            const bool changes = std::exchange(last, group_size) != group_size;
            const std::string gap = changes ? " " : "";
            sizes += gap + (first || changes ? fmt::format("{:>4} ", group_size) : "     ");
            groups += gap + fmt::format("{:>4} ", groups_per_unit);
            row += fmt::format("{}{:>4}{}", gap, percent ? fmt::format("{:.0f}", *percent) : "-",
                               shade(percent));
        }
        const std::string header = line_of(sizes) + line_of(groups);
        if (std::exchange(above, header) != header) text += header;
        text += line_of(row);
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
