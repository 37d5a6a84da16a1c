#include "05-launch-tuning/tune/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <utility>

#include "common/report/report.hpp"

namespace tuning {
namespace {

// A column.
struct Column {
    std::size_t group_size;
    std::size_t groups_per_unit;

    // NOLINTNEXTLINE(modernize-use-nullptr): the comparison with 0 is the compiler's
    auto operator<=>(const Column&) const = default;
};

// In percent of the best of the size, 0 to 100; empty where it was not measured.
using Percent = std::optional<double>;

struct Row {
    std::string label;
    std::map<Column, Percent> cells;
};

// Rows that have the same columns.
using Block = std::vector<Row>;

std::string label_of(const LaunchConfig& config) {
    if (config.kernel->max_copies == 1) return config.kernel->name;
    return fmt::format("{} x {}", config.kernel->name, config.copies);
}

std::vector<Row> rows_of(const Tuning& tuning, std::uint64_t pixels) {
    const Trial* best = tuning.best(pixels);
    std::vector<Row> rows;
    for (const Trial& trial : tuning.trials) {
        if (trial.pixels != pixels) continue;
        const std::string label = label_of(trial.config);
        auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& other) { return other.label == label; });
        if (row == rows.end()) row = rows.insert(row, {label, {}});
        Percent& cell = row->cells[{trial.config.group_size, trial.config.groups_per_unit}];
        if (trial.outcome != Outcome::kMeasured) continue;
        cell = std::max(cell.value_or(0), 100 * best->worst_ms / trial.worst_ms);
    }
    return rows;
}

bool same_columns(const Row& a, const Row& b) {
    return std::equal(a.cells.begin(), a.cells.end(), b.cells.begin(), b.cells.end(),
                      [](const auto& x, const auto& y) { return x.first == y.first; });
}

std::vector<Block> blocks_of(const Tuning& tuning, std::uint64_t pixels) {
    std::vector<Block> blocks;
    for (const Row& row : rows_of(tuning, pixels)) {
        auto block = std::find_if(blocks.begin(), blocks.end(), [&](const Block& other) {
            return same_columns(other.front(), row);
        });
        if (block == blocks.end()) block = blocks.insert(block, Block());
        block->push_back(row);
    }
    return blocks;
}

std::string shown(const Percent& percent) {
    return percent ? fmt::format("{:.0f}", *percent) : "-";
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

constexpr const char* kGroupSize = "group size";
constexpr const char* kGroupsPerUnit = "groups per unit";

// Beside each number, so that the heat is seen before the numbers are read. Full is what lies
// within a tenth of the best.
std::string shade(const Percent& percent) {
    if (!percent || *percent < 10) return " ";
    if (*percent < 30) return "░";
    if (*percent < 60) return "▒";
    return *percent < 90 ? "▓" : "█";
}

std::string text_of(const Block& block) {
    const std::map<Column, Percent>& columns = block.front().cells;
    std::size_t label_width = std::string(kGroupsPerUnit).size();
    for (const Row& row : block)
        label_width = std::max(label_width, row.label.size());
    std::size_t width = 4;  // of " 100"
    for (const auto& [column, percent] : columns) {
        width = std::max({width, std::to_string(column.group_size).size(),
                          1 + std::to_string(column.groups_per_unit).size()});
    }
    std::string text;
    const auto add_line = [&](const std::string& label, const auto& cell) {
        std::string line = fmt::format("{:<{}}", label, label_width);
        std::size_t group_size = columns.begin()->first.group_size;
        for (const auto& [column, percent] : columns) {
            if (column.group_size != group_size) line += ' ';
            group_size = column.group_size;
            const auto [number, mark] = cell(column);
            line += fmt::format("{:>{}}{}", number, width, mark);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    };
    using Cell = std::pair<std::string, std::string>;
    // Each group size once, over the first of its columns.
    std::size_t last = 0;
    add_line(kGroupSize, [&](const Column& column) {
        const bool again = std::exchange(last, column.group_size) == column.group_size;
        return Cell(again ? "" : std::to_string(column.group_size), " ");
    });
    add_line(kGroupsPerUnit, [](const Column& column) {
        return Cell(std::to_string(column.groups_per_unit), " ");
    });
    for (const Row& row : block) {
        add_line(row.label, [&](const Column& column) {
            const Percent& percent = row.cells.at(column);
            return Cell(shown(percent), shade(percent));
        });
    }
    return text;
}

// Every mistake, and why others were refused: a few reasons, each of them many times.
std::string reasons_text(const Tuning& tuning) {
    constexpr std::size_t kMaxReasons = 6;
    std::string text;
    std::vector<std::pair<std::string, std::size_t>> reasons;
    for (const Trial& trial : tuning.trials) {
        if (trial.outcome == Outcome::kWrong) {
            text += fmt::format("  WRONG: {}, at {}: {}\n", trial.config.text(),
                                size_text(trial.pixels), trial.reason);
        }
        if (trial.outcome != Outcome::kRefused) continue;
        auto known = std::find_if(reasons.begin(), reasons.end(),
                                  [&](const auto& reason) { return reason.first == trial.reason; });
        if (known == reasons.end()) known = reasons.insert(known, {trial.reason, 0});
        ++known->second;
    }
    for (std::size_t i = 0; i < std::min(reasons.size(), kMaxReasons); ++i)
        text += fmt::format("  {} refused: {}\n", reasons[i].second, reasons[i].first);
    if (reasons.size() > kMaxReasons)
        text += fmt::format("  and for {} more reasons\n", reasons.size() - kMaxReasons);
    return text;
}

}  // namespace

std::string heat_map_text(const Tuning& tuning) {
    std::string text =
        "Each cell is the best of all loads, in percent of the best of its size; - was not "
        "measured.\n";
    for (const std::uint64_t pixels : tuning.sizes()) {
        text += fmt::format("\n{}\n", size_text(pixels));
        for (const Block& block : blocks_of(tuning, pixels))
            text += "\n" + text_of(block);
        text += fmt::format("\n{}\n", best_line(tuning, pixels));
    }
    return text + fmt::format("\n{}\n{}", counts_line(tuning), reasons_text(tuning));
}

}  // namespace tuning
