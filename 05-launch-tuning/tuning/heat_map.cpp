// A search as a heat map, for a terminal and as a picture.
#include "05-launch-tuning/tuning/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <map>
#include <utility>

#include "common/report/canvas.hpp"
#include "common/report/report.hpp"

namespace tuning {
namespace {

using common::Canvas;
using common::Colour;

// ---- what both show -----------------------------------------------------------------------------

// A column.
struct Launch {
    std::size_t group_size;
    std::size_t groups_per_unit;

    auto operator<=>(const Launch&) const = default;
};

// In percent of the best of the size, 0 to 100; empty where it was not measured.
using Percent = std::optional<double>;

struct Row {
    std::string label;
    std::map<Launch, Percent> cells;
};

// Rows that have the same columns.
using Block = std::vector<Row>;

std::string label_of(const Choice& choice) {
    if (choice.kernel != "lane-bins") return choice.kernel;
    return fmt::format("{} x {}", choice.kernel, choice.copies);
}

std::vector<Row> rows_of(const Tuning& tuning, std::uint64_t pixels) {
    const Trial* best = tuning.best(pixels);
    std::vector<Row> rows;
    for (const Trial& trial : tuning.trials) {
        if (trial.pixels != pixels) continue;
        const std::string label = label_of(trial.choice);
        auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& other) { return other.label == label; });
        if (row == rows.end()) row = rows.insert(row, {label, {}});
        Percent& cell = row->cells[{trial.choice.group_size, trial.choice.groups_per_unit}];
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
    return fmt::format("best: {}, {} GB/s", to_string(best->choice), common::number(best->gb_s()));
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

// ---- for a terminal -----------------------------------------------------------------------------

// Beside each number, so that the heat is seen before the numbers are read. Full is what lies
// within a tenth of the best.
std::string shade(const Percent& percent) {
    if (!percent || *percent < 10) return " ";
    if (*percent < 30) return "░";
    if (*percent < 60) return "▒";
    return *percent < 90 ? "▓" : "█";
}

std::string text_of(const Block& block) {
    const std::map<Launch, Percent>& columns = block.front().cells;
    std::size_t label_width = std::string(kGroupsPerUnit).size();
    for (const Row& row : block)
        label_width = std::max(label_width, row.label.size());
    std::size_t width = 4;  // of " 100"
    for (const auto& [launch, percent] : columns) {
        width = std::max({width, std::to_string(launch.group_size).size(),
                          1 + std::to_string(launch.groups_per_unit).size()});
    }
    std::string text;
    const auto add_line = [&](const std::string& label, const auto& cell) {
        std::string line = fmt::format("{:<{}}", label, label_width);
        std::size_t group_size = columns.begin()->first.group_size;
        for (const auto& [launch, percent] : columns) {
            if (launch.group_size != group_size) line += ' ';
            group_size = launch.group_size;
            const auto [number, mark] = cell(launch);
            line += fmt::format("{:>{}}{}", number, width, mark);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    };
    using Cell = std::pair<std::string, std::string>;
    // Each group size once, over the first of its columns.
    std::size_t last = 0;
    add_line(kGroupSize, [&](const Launch& launch) {
        const bool again = std::exchange(last, launch.group_size) == launch.group_size;
        return Cell(again ? "" : std::to_string(launch.group_size), " ");
    });
    add_line(kGroupsPerUnit, [](const Launch& launch) {
        return Cell(std::to_string(launch.groups_per_unit), " ");
    });
    for (const Row& row : block) {
        add_line(row.label, [&](const Launch& launch) {
            const Percent& percent = row.cells.at(launch);
            return Cell(shown(percent), shade(percent));
        });
    }
    return text;
}

// Every mistake, and why others were refused: a few reasons, each of them many times.
std::string reasons_text(const Tuning& tuning) {
    constexpr std::size_t kMostReasons = 6;
    std::string text;
    std::vector<std::pair<std::string, std::size_t>> reasons;
    for (const Trial& trial : tuning.trials) {
        if (trial.outcome == Outcome::kWrong) {
            text += fmt::format("  WRONG: {}, at {}: {}\n", to_string(trial.choice),
                                size_text(trial.pixels), trial.reason);
        }
        if (trial.outcome != Outcome::kRefused) continue;
        auto known = std::find_if(reasons.begin(), reasons.end(),
                                  [&](const auto& reason) { return reason.first == trial.reason; });
        if (known == reasons.end()) known = reasons.insert(known, {trial.reason, 0});
        ++known->second;
    }
    for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i)
        text += fmt::format("  {} refused: {}\n", reasons[i].second, reasons[i].first);
    if (reasons.size() > kMostReasons)
        text += fmt::format("  and for {} more reasons\n", reasons.size() - kMostReasons);
    return text;
}

// ---- as a picture -------------------------------------------------------------------------------

constexpr int kMargin = 28;
constexpr int kLine = 26;  // of text, to the next
constexpr int kCellWidth = 52;
constexpr int kCellHeight = 30;
constexpr int kCellGap = 2;
constexpr int kSizeGap = 14;   // between group sizes
constexpr int kBlockGap = 12;  // between blocks, and over the best choice
constexpr int kMapGap = 30;    // between sizes of pictures
constexpr int kLegendWidth = 256;
constexpr int kTextTop = 8;  // of a number in its cell

// Matplotlib's viridis (Smith, van der Walt), every eighth of it: as light as it is high, also in
// print and to those who do not see red and green apart.
Colour heat(double percent) {
    constexpr std::array<Colour, 9> kViridis = {{{68, 1, 84},
                                                 {71, 44, 122},
                                                 {59, 81, 139},
                                                 {44, 113, 142},
                                                 {33, 144, 141},
                                                 {39, 173, 129},
                                                 {92, 200, 99},
                                                 {170, 220, 50},
                                                 {253, 231, 37}}};
    const double at = std::clamp(percent, 0.0, 100.0) / 100 * (kViridis.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(at), kViridis.size() - 2);
    const auto between = [&](std::uint8_t from, std::uint8_t to) {
        const double share = at - static_cast<double>(below);
        return static_cast<std::uint8_t>(std::lround(from + share * (to - from)));
    };
    const Colour from = kViridis[below];
    const Colour to = kViridis[below + 1];
    return {between(from.r, to.r), between(from.g, to.g), between(from.b, to.b)};
}

// From this on the cells are light enough for dark numbers.
constexpr double kDarkInkFrom = 55;

void centred(Canvas& canvas, int centre, int top, const std::string& line,
             Colour colour = common::kInk) {
    canvas.text(centre - Canvas::text_width(line) / 2 + 1, top, line, colour);
}

// The left edges of a block's columns from that of the first, and last the block's width.
std::vector<int> edges_of(const Block& block) {
    std::vector<int> edges;
    int left = 0;
    std::size_t group_size = block.front().cells.begin()->first.group_size;
    for (const auto& [launch, percent] : block.front().cells) {
        if (launch.group_size != group_size) left += kSizeGap;
        group_size = launch.group_size;
        edges.push_back(left);
        left += kCellWidth + kCellGap;
    }
    edges.push_back(left - kCellGap);
    return edges;
}

int height_of(const Block& block) {
    return 2 * kLine + static_cast<int>(block.size()) * (kCellHeight + kCellGap);
}

void draw_block(Canvas& canvas, const Block& block, int labels, int left, int top) {
    const std::vector<int> edges = edges_of(block);
    canvas.text(labels, top, kGroupSize);
    canvas.text(labels, top + kLine, kGroupsPerUnit);
    std::size_t column = 0;
    int first = 0;  // of those of one group size, its left edge
    const auto& columns = block.front().cells;
    for (auto at = columns.begin(); at != columns.end(); ++at, ++column) {
        const Launch& launch = at->first;
        const auto next = std::next(at);
        const int right = edges[column] + kCellWidth;
        centred(canvas, left + edges[column] + kCellWidth / 2, top + kLine,
                std::to_string(launch.groups_per_unit));
        if (next != columns.end() && next->first.group_size == launch.group_size) continue;
        centred(canvas, left + (first + right) / 2, top, std::to_string(launch.group_size));
        canvas.fill(left + first, top + kLine - 7, right - first, 1, common::kInk);
        first = right + kCellGap + kSizeGap;
    }
    int y = top + 2 * kLine - 4;
    for (const Row& row : block) {
        canvas.text(labels, y + kTextTop, row.label);
        column = 0;
        for (const auto& [launch, percent] : row.cells) {
            const int x = left + edges[column++];
            const bool best = percent && *percent >= 100;
            if (best) canvas.fill(x - 2, y - 2, kCellWidth + 4, kCellHeight + 4, common::kInk);
            canvas.fill(x, y, kCellWidth, kCellHeight, percent ? heat(*percent) : common::kFaint);
            const bool dark_ink = !percent || *percent >= kDarkInkFrom;
            centred(canvas, x + kCellWidth / 2, y + kTextTop, shown(percent),
                    dark_ink ? common::kInk : common::kPaper);
        }
        y += kCellHeight + kCellGap;
    }
}

void draw_legend(Canvas& canvas, int left, int top) {
    for (int x = 0; x < kLegendWidth; ++x) {
        canvas.fill(left + x, top, 1, kCellHeight, heat(100.0 * x / (kLegendWidth - 1)));
    }
    for (const int percent : {0, 25, 50, 75, 100}) {
        const int x = left + percent * (kLegendWidth - 1) / 100;
        canvas.fill(x, top + kCellHeight, 1, 5, common::kInk);
        const std::string label = std::to_string(percent);
        const int label_width = Canvas::text_width(label);
        canvas.text(std::clamp(x - label_width / 2, left, left + kLegendWidth - label_width),
                    top + kCellHeight + 10, label);
    }
    const int beside = left + kLegendWidth + 2 * kMargin;
    canvas.fill(beside, top, kCellWidth, kCellHeight, common::kFaint);
    centred(canvas, beside + kCellWidth / 2, top + kTextTop, "-");
    canvas.text(beside + kCellWidth + 12, top + kTextTop, "refused, wrong or not tried");
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

std::string heat_map_png(const Tuning& tuning) {
    struct Map {
        std::string title;
        std::vector<Block> blocks;
    };
    std::vector<Map> maps;
    for (const std::uint64_t pixels : tuning.sizes()) {
        maps.push_back({fmt::format("{}   {}", size_text(pixels), best_line(tuning, pixels)),
                        blocks_of(tuning, pixels)});
    }
    const std::string title =
        common::shortened(fmt::format("{} on {}", tuning.api, tuning.device), 70);
    const std::string subtitle =
        "percent of the best of each size; each cell the best of all loads";
    const std::string counts = counts_line(tuning);

    // First the size of it all, then the picture.
    int label_width = Canvas::text_width(kGroupsPerUnit);
    int text_width = kLegendWidth + 2 * kMargin + kCellWidth + 12 +
                     Canvas::text_width("refused, wrong or not tried");
    for (const std::string& line : {title, subtitle, counts})
        text_width = std::max(text_width, Canvas::text_width(line));
    int cells_width = 0;
    int maps_height = 0;
    for (const Map& map : maps) {
        text_width = std::max(text_width, Canvas::text_width(map.title));
        maps_height += kMapGap + kLine;
        for (const Block& block : map.blocks) {
            cells_width = std::max(cells_width, edges_of(block).back());
            maps_height += kBlockGap + height_of(block);
            for (const Row& row : block)
                label_width = std::max(label_width, Canvas::text_width(row.label));
        }
    }
    const int cells_left = kMargin + label_width + 16;
    const int width = std::max(cells_left + cells_width, kMargin + text_width) + kMargin;
    const int legend_height = kCellHeight + 10 + kLine;
    const int height =
        kMargin + 2 * kLine + maps_height + kMapGap + legend_height + kBlockGap + kLine + kMargin;

    Canvas canvas(width, height);
    canvas.text(kMargin, kMargin, title);
    canvas.text(kMargin, kMargin + kLine, subtitle);
    int y = kMargin + 2 * kLine;
    for (const Map& map : maps) {
        y += kMapGap;
        canvas.fill(kMargin, y - kMapGap / 2, width - 2 * kMargin, 1, common::kFaint);
        canvas.text(kMargin, y, map.title);
        y += kLine;
        for (const Block& block : map.blocks) {
            y += kBlockGap;
            draw_block(canvas, block, kMargin, cells_left, y);
            y += height_of(block);
        }
    }
    y += kMapGap;
    draw_legend(canvas, kMargin, y);
    canvas.text(kMargin, y + legend_height + kBlockGap, counts);
    return canvas.png();
}

}  // namespace tuning
