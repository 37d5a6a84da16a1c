// Mistakes with the groups' tables: barriers and merges.
#include <algorithm>
#include <cstdint>

#include "common/tutor/diagnosis/list.hpp"

namespace common::diagnosis {
namespace {

// Rows of 256 bins, one after the other, added up.
Histogram sum_of_rows(const std::vector<std::uint32_t>& memory) {
    Histogram sum{};
    add_rows(memory.data(), memory.size() / kBins, sum);
    return sum;
}

// Rows that begin `step` bins apart and not 256, written one after the other, and added up as if
// they were 256 apart.
Histogram overlapping(const std::vector<Histogram>& tables, std::size_t step) {
    std::vector<std::uint32_t> memory(tables.size() * kBins, kPoison);
    for (std::size_t group = 0; group < tables.size(); ++group) {
        std::copy(tables[group].begin(), tables[group].end(),
                  memory.begin() + static_cast<std::ptrdiff_t>(group * step));
    }
    return sum_of_rows(memory);
}

// The same where the groups add to their rows: what overlaps adds up.
Histogram overlapping_sums(const std::vector<Histogram>& tables, std::size_t step) {
    std::vector<std::uint32_t> memory(tables.size() * kBins);
    for (std::size_t group = 0; group < tables.size(); ++group) {
        for (std::size_t bin = 0; bin < kBins; ++bin)
            memory[group * step + bin] += tables[group][bin];
    }
    return sum_of_rows(memory);
}

// Of each work-item's table, or of each group's, the bins before its first empty one.
std::optional<Histogram> up_to_empty(Walk walk, const Case& run, bool of_items) {
    if (!walks_here(walk, run) || work_items(run) > kManyItems) return std::nullopt;
    Histogram sum{};
    for (const Histogram& table : of_items ? tables_of_items(walk, run) : tables_of(walk, run)) {
        for (std::size_t bin = 0; bin < kBins && table[bin] > 0; ++bin)
            sum[bin] += table[bin];
    }
    return sum;
}

}  // namespace

void add_barriers(List& list) {
    // One by one, each work-item goes as far as the next barrier before the next one begins.
    const auto add = [&](const auto& is_counted) {
        for (const Walk walk : kWalks) {
            list.add([=](const Case& run, const RunContext& context) -> std::optional<Histogram> {
                if (!walks_here(walk, run) || !context.one_by_one || !has_a_table(context))
                    return std::nullopt;
                return count_if(run, [&](std::size_t i) {
                    return is_counted(walk(run, i).item, run.pixels[i] % run.launch.group_size);
                });
            });
        }
    };
    list.about("no-barrier-after-zeroing",
               "There is no barrier between zeroing the table and counting: work-items count while "
               "others still zero.",
               kRaces);
    add([](std::size_t item, std::size_t owner) { return item >= owner; });
    list.about("no-barrier-before-merge",
               "There is no barrier between counting and merging: work-items merge bins while "
               "others still count.",
               kRaces);
    add([](std::size_t item, std::size_t owner) { return item <= owner; });
    list.about("no-barrier-at-all",
               "There is no barrier around the count: each work-item zeroes, counts and merges "
               "without waiting for the others.",
               kRaces);
    add([](std::size_t item, std::size_t owner) { return item == owner; });
    list.about(
        "early-return",
        "Work-items that have no pixel return before the barrier, and their shares of zeroing "
        "and merging are not done.",
        kRaces);
    for (const Walk walk : kWalks) {
        list.add([=](const Case& run, const RunContext& context) -> std::optional<Histogram> {
            if (!walks_here(walk, run) || context.one_by_one || !has_a_table(context))
                return std::nullopt;
            return count_if(run, [&](std::size_t i) {
                const std::size_t owner = run.pixels[i] % run.launch.group_size;
                return walk(run, i).group * run.launch.group_size + owner < run.pixels.size();
            });
        });
    }
    list.about("merges-part-of-its-own",
               "Each work-item merges only some bins of its own table, as if the others of its "
               "group merged the rest.",
               kStrategy);
    for (const Walk walk : kWalks) {
        list.add([=](const Case& run, const RunContext& context) -> std::optional<Histogram> {
            if (!walks_here(walk, run) || has_a_table(context)) return std::nullopt;
            return count_if(run, [&](std::size_t i) {
                return walk(run, i).item == run.pixels[i] % run.launch.group_size;
            });
        });
    }
}

void add_merging(List& list) {
    list.about("merge-strided-globally",
               "The loop that merges a group's table strides by all work-items of the launch, not "
               "by those of the group: most bins never arrive.",
               kPublished);
    list.add_pixels([](const Case& run, std::size_t i) {
        return run.pixels[i] % work_items(run) < run.launch.group_size;
    });
    list.about("merge-without-a-loop",
               "Each work-item merges one bin: in a group of fewer than 256 the others never "
               "arrive.",
               kPublished);
    list.add_pixels(
        [](const Case& run, std::size_t i) { return run.pixels[i] < run.launch.group_size; });
    list.add([](const Case& run, const RunContext&) -> std::optional<Histogram> {  // never written
        if (!has_launch(run)) return std::nullopt;
        Histogram histogram = run.expected;
        for (std::size_t bin = run.launch.group_size; bin < kBins; ++bin)
            histogram[bin] = kPoison;
        return histogram;
    });
    list.about(
        "merge-starts-globally",
        "The loop that merges a group's table begins at the work-item's number in the launch, "
        "not in the group: later groups leave bins out.",
        kStrategy);
    list.add_for_walks([](const Case& run, WorkItem by, std::uint8_t pixel, const RunContext&) {
        return pixel >= by.group * run.launch.group_size;
    });
    list.add_for_walks([](const Case& run, WorkItem by, std::uint8_t pixel, const RunContext&) {
        return pixel % work_items(run) / run.launch.group_size == by.group;
    });
    list.about("merge-adds-one", "The merge adds one for a bin, and not the table's count of it.",
               kStrategy);
    for (const Walk walk : kWalks) {
        for (const bool empty_too : {true, false}) {
            list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
                if (!walks_here(walk, run)) return std::nullopt;
                Histogram histogram{};
                for (const Histogram& table : tables_of(walk, run)) {
                    for (std::size_t bin = 0; bin < kBins; ++bin)
                        histogram[bin] += empty_too || table[bin] > 0 ? 1 : 0;
                }
                return histogram;
            });
        }
    }
    list.about("stops-at-an-empty-bin",
               "The merge ends at the first bin that is empty, and does not go on behind it.",
               kStrategy);
    for (const Walk walk : kWalks) {
        list.add([=](const Case& run, const RunContext&) { return up_to_empty(walk, run, true); });
        list.add([=](const Case& run, const RunContext&) { return up_to_empty(walk, run, false); });
    }
    list.about("merged-by-one-work-item",
               "Only one work-item of each group merges, and it strides as if all of them did.",
               kStrategy);
    list.add_pixels(
        [](const Case& run, std::size_t i) { return run.pixels[i] % run.launch.group_size == 0; });
    list.about("bins-repeat",
               "Bins beyond the size of a group get the counts of its first bins: the work-item's "
               "number in the place of the bin.",
               kStrategy);
    list.add([](const Case& run, const RunContext&) -> std::optional<Histogram> {
        if (!has_launch(run)) return std::nullopt;
        Histogram histogram{};
        for (std::size_t bin = 0; bin < kBins; ++bin)
            histogram[bin] = run.expected[bin % run.launch.group_size];
        return histogram;
    });
    list.about("tables-left-out",
               "Not as many tables are added up as there are: their number is taken from the wrong "
               "launch.",
               kStrategy);
    for (const Unit number : {Unit(fixed<2>), Unit(fixed<4>), Unit(bins_by_size),
                              Unit(size_of_group), Unit(groups_across)}) {
        for (const Walk walk : kWalks) {
            list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
                // Of more than there are the others are whatever lies behind them.
                if (!walks_here(walk, run) || number(run) > run.launch.groups) return std::nullopt;
                return count_if(run,
                                [&](std::size_t i) { return walk(run, i).group < number(run); });
            });
        }
    }
    list.about("rows-overlap",
               "The rows of the groups lie too close together, and overwrite each other.",
               kPublished);
    for (const Unit step : {Unit(fixed<0>), Unit(fixed<1>), Unit(fixed<64>), Unit(fixed<128>),
                            Unit(fixed<254>), Unit(fixed<255>), Unit(size_of_group)}) {
        for (const Walk walk : kWalks) {
            list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
                if (!walks_here(walk, run) || step(run) >= kBins) return std::nullopt;
                return overlapping(tables_of(walk, run), step(run));
            });
            list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
                if (!walks_here(walk, run) || step(run) >= kBins) return std::nullopt;
                return overlapping_sums(tables_of(walk, run), step(run));
            });
        }
    }
    list.about(
        "only-one-turn",
        "Of the turns that a group takes over the picture only one arrives: an assignment in "
        "the place of an addition.",
        kStrategy);
    for (const bool last : {true, false}) {
        list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
            if (!has_launch(run) || run.launch.across > 0) return std::nullopt;
            const std::size_t piece = 255 * run.launch.group_size;
            const std::size_t pieces = (run.pixels.size() + piece - 1) / piece;
            return count_if(run, [&](std::size_t i) {
                return last ? i / piece + run.launch.groups >= pieces
                            : i / piece < run.launch.groups;
            });
        });
    }
    list.about("only-the-first-group", "Only the first group's table arrives.", kStrategy);
    list.add_for_walks(
        [](const Case&, WorkItem by, std::uint8_t, const RunContext&) { return by.group == 0; });
    list.about("only-the-last-group", "Only the last group's table arrives.", kStrategy);
    list.add_for_walks([](const Case& run, WorkItem by, std::uint8_t, const RunContext&) {
        return by.group + 1 == run.launch.groups;
    });
    list.about("last-table-skipped", "The last group's table is not added up.", kStrategy);
    list.add_for_walks([](const Case& run, WorkItem by, std::uint8_t, const RunContext&) {
        return by.group + 1 < run.launch.groups;
    });
    list.about("first-table-skipped", "The first group's table is not added up.", kStrategy);
    list.add_for_walks(
        [](const Case&, WorkItem by, std::uint8_t, const RunContext&) { return by.group > 0; });
    list.about("only-the-first-work-item",
               "Only the counts of each group's first work-item arrive.", kStrategy);
    list.add_for_walks(
        [](const Case&, WorkItem by, std::uint8_t, const RunContext&) { return by.item == 0; });
}

}  // namespace common::diagnosis
