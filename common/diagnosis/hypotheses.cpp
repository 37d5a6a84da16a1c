#include "common/diagnosis/hypotheses.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace common::diagnosis {
namespace {

// ---- who counts which pixel ---------------------------------------------------------------------

struct Place {
    std::size_t group;
    std::size_t item;  // in its group
};

std::size_t work_items(const Case& run) {
    return run.launch.groups * run.launch.group_size;
}

Place of_work_item(const Case& run, std::size_t id) {
    return {id / run.launch.group_size, id % run.launch.group_size};
}

// Every n-th pixel, n being the number of all work-items.
Place interleaved(const Case& run, std::size_t pixel) {
    return of_work_item(run, pixel % work_items(run));
}

// A stretch of its own for each work-item.
Place blocked(const Case& run, std::size_t pixel) {
    const std::size_t all = work_items(run);
    return of_work_item(run, pixel / ((run.pixels.size() + all - 1) / all));
}

// Groups that lie over the columns of a picture, and share its rows.
Place in_columns(const Case& run, std::size_t pixel) {
    const std::size_t x = pixel % run.width;
    const std::size_t y = pixel / run.width;
    const std::size_t across = std::max<std::size_t>(run.launch.across, 1);
    const std::size_t down = std::max<std::size_t>(run.launch.groups / across, 1);
    return {y % down * across + x / run.launch.group_size % across, x % run.launch.group_size};
}

// Pieces of so many pixels for each work-item, which the groups take in turn.
template <std::size_t pixels_each>
Place in_pieces(const Case& run, std::size_t pixel) {
    const std::size_t piece = run.launch.group_size * pixels_each;
    return {pixel / piece % run.launch.groups, pixel % piece % run.launch.group_size};
}

// 16 pixels at a time, and what is left one at a time.
Place in_vectors(const Case& run, std::size_t pixel) {
    const std::size_t whole = run.pixels.size() / 16 * 16;
    const std::size_t step = pixel < whole ? pixel / 16 : pixel - whole;
    return of_work_item(run, step % work_items(run));
}

using Walk = Place (*)(const Case&, std::size_t);
constexpr std::array<Walk, 5> kWalks{interleaved, blocked, in_vectors, in_pieces<255>, in_columns};

bool has_launch(const Case& run) {
    return run.launch.groups > 0 && run.launch.group_size > 0;
}

bool walks_here(Walk walk, const Case& run, std::size_t at_most = kManyPixels) {
    if (!has_launch(run) || run.pixels.empty() || run.pixels.size() > at_most) return false;
    return (walk == in_columns) == (run.launch.across > 0);
}

// The pixels for which this holds, each once; or as often as it says.
template <typename HowOften>
Histogram count_if(const Case& run, const HowOften& how_often) {
    Histogram histogram{};
    for (std::size_t i = 0; i < run.pixels.size(); ++i)
        histogram[run.pixels[i]] += static_cast<std::uint32_t>(how_often(i));
    return histogram;
}

// A number that follows the launch or does not, by which sizes are rounded.
using Unit = std::size_t (*)(const Case&);
template <std::size_t n>
std::size_t fixed(const Case&) {
    return n;
}
std::size_t size_of_group(const Case& run) {
    return run.launch.group_size;
}
std::size_t groups_across(const Case& run) {
    return run.launch.across;
}
// Groups that a kernel with a work-item for each bin is launched in.
std::size_t bins_by_size(const Case& run) {
    return (kBins + run.launch.group_size - 1) / run.launch.group_size;
}

const std::vector<Unit>& units() {
    static const std::vector<Unit> all{
        fixed<2>,
        fixed<4>,
        fixed<8>,
        fixed<16>,
        fixed<32>,
        fixed<64>,
        fixed<128>,
        fixed<256>,
        fixed<512>,
        fixed<1024>,
        [](const Case& run) { return run.launch.groups; },
        [](const Case& run) { return run.launch.group_size; },
        [](const Case& run) { return work_items(run); },
        [](const Case& run) { return 4 * work_items(run); },
        [](const Case& run) { return 16 * run.launch.group_size; },
        [](const Case& run) { return 16 * work_items(run); },
        [](const Case& run) { return 64 * work_items(run); },
        [](const Case& run) { return 255 * run.launch.group_size; },
        [](const Case& run) { return 255 * work_items(run); },
        [](const Case& run) { return run.width; },
    };
    return all;
}

// The tables of the groups, each of which counts its own pixels.
std::vector<Histogram> tables_of(Walk walk, const Case& run) {
    std::vector<Histogram> tables(run.launch.groups);
    for (std::size_t i = 0; i < run.pixels.size(); ++i)
        ++tables[walk(run, i).group % tables.size()][run.pixels[i]];
    return tables;
}

// Rows that begin `step` bins apart and not 256, written one after the other, and added up as if
// they were 256 apart.
Histogram overlapping(const std::vector<Histogram>& tables, std::size_t step) {
    std::vector<std::uint32_t> memory(tables.size() * kBins, kPoison);
    for (std::size_t group = 0; group < tables.size(); ++group) {
        std::copy(tables[group].begin(), tables[group].end(),
                  memory.begin() + static_cast<std::ptrdiff_t>(group * step));
    }
    Histogram sum{};
    for (std::size_t at = 0; at < memory.size(); ++at)
        sum[at % kBins] += memory[at];
    return sum;
}

// The same where the groups add to their rows: what overlaps adds up.
Histogram overlapping_sums(const std::vector<Histogram>& tables, std::size_t step) {
    std::vector<std::uint32_t> memory(tables.size() * kBins);
    for (std::size_t group = 0; group < tables.size(); ++group) {
        for (std::size_t bin = 0; bin < kBins; ++bin)
            memory[group * step + bin] += tables[group][bin];
    }
    Histogram sum{};
    for (std::size_t at = 0; at < memory.size(); ++at)
        sum[at % kBins] += memory[at];
    return sum;
}

// The tables of the work-items or of the groups, of each the bins before its first empty one.
std::optional<Histogram> up_to_empty(Walk walk, const Case& run, bool of_items) {
    if (!walks_here(walk, run) || work_items(run) > 4096) return std::nullopt;
    std::vector<Histogram> tables(of_items ? work_items(run) : run.launch.groups);
    for (std::size_t i = 0; i < run.pixels.size(); ++i) {
        const Place place = walk(run, i);
        const std::size_t table =
            of_items ? place.group * run.launch.group_size + place.item : place.group;
        ++tables[table % tables.size()][run.pixels[i]];
    }
    Histogram sum{};
    for (const Histogram& table : tables) {
        for (std::size_t bin = 0; bin < kBins && table[bin] > 0; ++bin)
            sum[bin] += table[bin];
    }
    return sum;
}

// ---- making the list ----------------------------------------------------------------------------

using Predict = std::function<std::optional<Histogram>(const Case&, const Facts&)>;

constexpr const char* kRaces = "the-race-conditions";
constexpr const char* kPublished = "what-went-wrong-in-published-code";
constexpr const char* kStrategy = "the-strategy";

class List {
 public:
    std::vector<Hypothesis> all;

    // What follows is the mistake of this name.
    void about(const char* name, const std::string& sentence, const char* read) {
        name_ = name;
        sentence_ = sentence;
        read_ = read;
    }
    void add(Predict predict) { all.push_back({name_, sentence_, read_, std::move(predict)}); }

    // The same of counts alone.
    void add_bins(Histogram (*change)(const Histogram& expected)) {
        add([=](const Case& run, const Facts&) { return change(run.expected); });
    }

    // The pixels for which this holds; `often(run, i)` may also be a number.
    template <typename HowOften>
    void add_pixels(const HowOften& often) {
        add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
            if (!has_launch(run)) return std::nullopt;
            return count_if(run, [&](std::size_t i) { return often(run, i); });
        });
    }

    // For every walk; `often(run, place, pixel)`.
    template <typename HowOften>
    void add_for_walks(const HowOften& often) {
        for (const Walk walk : kWalks) {
            add([=](const Case& run, const Facts& facts) -> std::optional<Histogram> {
                if (!walks_here(walk, run)) return std::nullopt;
                return count_if(run, [&](std::size_t i) {
                    return often(run, walk(run, i), run.pixels[i], facts);
                });
            });
        }
    }

    // The tables of the groups, each changed, and added up.
    template <typename Change>
    void add_for_tables(const Change& change, std::size_t at_most = kManyPixels) {
        for (const Walk walk : kWalks) {
            add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
                if (!walks_here(walk, run, at_most)) return std::nullopt;
                Histogram sum{};
                for (const Histogram& table : tables_of(walk, run)) {
                    for (std::size_t bin = 0; bin < kBins; ++bin)
                        sum[bin] += static_cast<std::uint32_t>(change(table[bin]));
                }
                return sum;
            });
        }
    }

 private:
    std::string name_, sentence_, read_;
};

// ---- the lists ----------------------------------------------------------------------------------

void add_zeroing(List& list) {
    list.about("not-zeroed", "What is added to is not zeroed before the count.", kPublished);
    for (const bool every_group : {false, true}) {
        list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
            Histogram histogram = run.expected;
            const auto times =
                static_cast<std::uint32_t>(every_group ? run.launch.groups : std::size_t{1});
            for (std::uint32_t& count : histogram)
                count += times * kPoison;
            return histogram;
        });
    }
    list.add([](const Case& run, const Facts&) -> std::optional<Histogram> {
        Histogram histogram = run.expected;  // 256 bytes are zeroed, and not 256 counters
        for (std::size_t bin = kBins / 4; bin < kBins; ++bin)
            histogram[bin] += kPoison;
        return histogram;
    });
    list.about("nothing-written",
               "Nobody writes the result: the kernel does not get there, or the result is copied "
               "before the kernel has finished.",
               kStrategy);
    list.add([](const Case&, const Facts&) {
        Histogram histogram;
        histogram.fill(kPoison);
        return histogram;
    });
    list.about("nothing-counted",
               "The result is zeroed, and no count arrives: a loop or a test lets no pixel "
               "through, or the tables are never added to it.",
               kPublished);
    list.add([](const Case&, const Facts&) { return Histogram{}; });
}

void add_barriers(List& list) {
    // One by one, each work-item goes as far as the next barrier before the next one begins.
    const auto add = [&](const auto& is_counted) {
        for (const Walk walk : kWalks) {
            list.add([=](const Case& run, const Facts& facts) -> std::optional<Histogram> {
                if (!walks_here(walk, run) || !facts.one_by_one || !has_a_table(facts))
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
    list.about("merges-part-of-its-own",
               "Each work-item merges only some bins of its own table, as if the others of its "
               "group merged the rest.",
               kStrategy);
    for (const Walk walk : kWalks) {
        list.add([=](const Case& run, const Facts& facts) -> std::optional<Histogram> {
            if (!walks_here(walk, run) || has_a_table(facts)) return std::nullopt;
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
    list.add([](const Case& run, const Facts&) -> std::optional<Histogram> {  // never written
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
    list.add_for_walks([](const Case& run, Place place, std::uint8_t pixel, const Facts&) {
        return pixel >= place.group * run.launch.group_size;
    });
    list.add_for_walks([](const Case& run, Place place, std::uint8_t pixel, const Facts&) {
        return pixel % work_items(run) / run.launch.group_size == place.group;
    });
    list.about("merge-adds-one", "The merge adds one for a bin, and not the table's count of it.",
               kStrategy);
    for (const Walk walk : kWalks) {
        for (const bool empty_too : {true, false}) {
            list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
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
        list.add([=](const Case& run, const Facts&) { return up_to_empty(walk, run, true); });
        list.add([=](const Case& run, const Facts&) { return up_to_empty(walk, run, false); });
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
    list.add([](const Case& run, const Facts&) -> std::optional<Histogram> {
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
            list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
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
            list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
                if (!walks_here(walk, run) || step(run) >= kBins) return std::nullopt;
                return overlapping(tables_of(walk, run), step(run));
            });
            list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
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
        list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
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
        [](const Case&, Place place, std::uint8_t, const Facts&) { return place.group == 0; });
    list.about("only-the-last-group", "Only the last group's table arrives.", kStrategy);
    list.add_for_walks([](const Case& run, Place place, std::uint8_t, const Facts&) {
        return place.group + 1 == run.launch.groups;
    });
    list.about("last-table-skipped", "The last group's table is not added up.", kStrategy);
    list.add_for_walks([](const Case& run, Place place, std::uint8_t, const Facts&) {
        return place.group + 1 < run.launch.groups;
    });
    list.about("first-table-skipped", "The first group's table is not added up.", kStrategy);
    list.add_for_walks(
        [](const Case&, Place place, std::uint8_t, const Facts&) { return place.group > 0; });
    list.about("only-the-first-work-item",
               "Only the counts of each group's first work-item arrive.", kStrategy);
    list.add_for_walks(
        [](const Case&, Place place, std::uint8_t, const Facts&) { return place.item == 0; });
}

std::size_t whole(const Case& run, Unit unit) {
    const std::size_t by = std::max<std::size_t>(unit(run), 1);
    return run.pixels.size() / by * by;
}

void add_ends(List& list) {
    list.about("last-pixel-dropped", "The last pixel is not counted: the loop ends one too early.",
               kPublished);
    list.add_pixels([](const Case& run, std::size_t i) { return i + 1 < run.pixels.size(); });
    list.about("first-pixel-dropped", "The first pixel is not counted.", kPublished);
    list.add_pixels([](const Case&, std::size_t i) { return i > 0; });
    list.about("only-a-part",
               "Only the first part of the picture is counted: the number of pixels is divided.",
               kStrategy);
    for (const std::size_t parts : {2U, 4U, 8U, 16U}) {
        list.add_pixels(
            [=](const Case& run, std::size_t i) { return i < run.pixels.size() / parts; });
    }
    list.about("tail-dropped",
               "The last pixels are not counted, where their number is no multiple of what the "
               "kernel or the launch takes at once.",
               kPublished);
    for (const Unit unit : units()) {
        list.add_pixels([=](const Case& run, std::size_t i) { return i < whole(run, unit); });
    }
    list.about("tail-counted-twice",
               "The last pixels, which a second loop is for, are counted more than once.",
               kPublished);
    for (const Unit unit : units()) {
        list.add_pixels(
            [=](const Case& run, std::size_t i) { return i < whole(run, unit) ? 1 : 2; });
        list.add_pixels([=](const Case& run, std::size_t i) {  // by each group
            return i < whole(run, unit) ? 1 : run.launch.groups;
        });
    }
    list.about("only-the-tail",
               "Only the last pixels are counted: the loop for the many lets none through.",
               kPublished);
    for (const Unit unit : units()) {
        list.add_pixels([=](const Case& run, std::size_t i) { return i >= whole(run, unit); });
    }
    list.about("cropped",
               "The columns at the right are not counted: the width is rounded down to what the "
               "kernel or the launch takes at once.",
               kPublished);
    for (const Unit unit : units()) {
        list.add_pixels([=](const Case& run, std::size_t i) {
            const std::size_t by = std::max<std::size_t>(unit(run), 1);
            return i % run.width < run.width / by * by;
        });
    }
}

void add_strides(List& list) {
    list.about("loop-runs-once",
               "Each work-item goes through its loop once: `if` in the place of a loop, or a "
               "stride that is far too long.",
               kStrategy);
    for (const std::size_t at_once :
         {std::size_t{1}, std::size_t{4}, std::size_t{16}, std::size_t{64}, std::size_t{255}}) {
        list.add_pixels(
            [=](const Case& run, std::size_t i) { return i < at_once * work_items(run); });
    }
    list.add_pixels([](const Case& run, std::size_t i) {  // in columns: across, and down
        return run.launch.across == 0 || i % run.width < run.launch.across * run.launch.group_size;
    });
    list.add_pixels([](const Case& run, std::size_t i) {
        return run.launch.across == 0 ||
               i / run.width < std::max<std::size_t>(run.launch.groups / run.launch.across, 1);
    });
    list.about("counted-several-times",
               "Every pixel is counted several times: by each group, or by each work-item.",
               kStrategy);
    list.add_pixels([](const Case& run, std::size_t) { return run.launch.groups; });
    list.add_pixels([](const Case& run, std::size_t) { return run.launch.group_size; });
    list.add_pixels([](const Case& run, std::size_t) { return work_items(run); });
    for (const std::size_t times : {2U, 3U, 4U, 16U}) {
        list.add_pixels([=](const Case&, std::size_t) { return times; });
    }
    list.about("one-byte-of-a-load",
               "Of the pixels that one load brings only one is counted, or one is counted for all.",
               kStrategy);
    for (const std::size_t bytes : {4U, 16U}) {
        for (std::size_t which = 0; which < bytes; ++which) {
            for (const bool for_all : {false, true}) {
                list.add_pixels([=](const Case& run, std::size_t i) {
                    if (i >= run.pixels.size() / 16 * 16) return std::size_t{1};
                    return i % bytes == which ? (for_all ? bytes : std::size_t{1}) : std::size_t{0};
                });
            }
        }
    }
    list.about("byte-counted-twice",
               "Of the pixels that one load brings some are counted twice, and others never: the "
               "same part of it is taken twice.",
               kStrategy);
    for (std::size_t twice = 0; twice < 4; ++twice) {
        for (std::size_t never = 0; never < 4; ++never) {
            if (never == twice) continue;
            for (const bool bytes : {true, false}) {
                list.add_pixels([=](const Case& run, std::size_t i) {
                    if (i >= run.pixels.size() / 16 * 16) return 1;
                    const std::size_t part = bytes ? i % 4 : i % 16 / 4;
                    return part == twice ? 2 : part == never ? 0 : 1;
                });
            }
        }
    }
    list.about("part-of-a-load-skipped", "Of the pixels that one load brings some are not counted.",
               kStrategy);
    for (std::size_t which = 0; which < 4; ++which) {
        list.add_pixels([=](const Case& run, std::size_t i) {  // a byte of four
            return i >= run.pixels.size() / 16 * 16 || i % 4 != which;
        });
        list.add_pixels([=](const Case& run, std::size_t i) {  // four bytes of 16
            return i >= run.pixels.size() / 16 * 16 || i % 16 / 4 != which;
        });
    }
}

// A loop whose work-items begin at a number of their own and go on by a stride.
struct Number {
    const char* words;  // in OpenCL's
    std::size_t (*of)(const Launch&);
};

Histogram counted_by_loops(const Case& run, std::size_t per_group, std::size_t stride) {
    // How often each pixel is counted: by who begins there, and by who comes from a stride before.
    std::vector<std::uint32_t> times(run.pixels.size());
    for (std::size_t group = 0; group < run.launch.groups; ++group) {
        for (std::size_t item = 0; item < run.launch.group_size; ++item) {
            const std::size_t first = group * per_group + item;
            if (first < times.size()) ++times[first];
        }
    }
    Histogram histogram{};
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (i >= stride) times[i] += times[i - stride];
        histogram[run.pixels[i]] += times[i];
    }
    return histogram;
}

void add_loops(List& list) {
    static const std::vector<Number> begins{
        {"get_global_id(0)", [](const Launch& l) { return l.group_size; }},  // the right one
        {"get_local_id(0)", [](const Launch&) { return std::size_t{0}; }},
        {"get_group_id(0) + get_local_id(0)", [](const Launch&) { return std::size_t{1}; }},
        {"get_group_id(0) * get_num_groups(0) + get_local_id(0)",
         [](const Launch& l) { return l.groups; }},
        {"get_group_id(0) * 256 + get_local_id(0)", [](const Launch&) { return kBins; }},
        {"get_group_id(0) * get_global_size(0) + get_local_id(0)",
         [](const Launch& l) { return l.groups * l.group_size; }},
    };
    static const std::vector<Number> strides{
        {"get_global_size(0)", [](const Launch& l) { return l.groups * l.group_size; }},
        {"get_local_size(0)", [](const Launch& l) { return l.group_size; }},
        {"get_num_groups(0)", [](const Launch& l) { return l.groups; }},
        {"1", [](const Launch&) { return std::size_t{1}; }},
        {"256", [](const Launch&) { return kBins; }},
        {"2 * get_global_size(0)", [](const Launch& l) { return 2 * l.groups * l.group_size; }},
        {"3 * get_global_size(0)", [](const Launch& l) { return 3 * l.groups * l.group_size; }},
        {"4 * get_global_size(0)", [](const Launch& l) { return 4 * l.groups * l.group_size; }},
        {"16 * get_global_size(0)", [](const Launch& l) { return 16 * l.groups * l.group_size; }},
        {"get_global_size(0) + 1", [](const Launch& l) { return l.groups * l.group_size + 1; }},
        {"get_global_size(0) - 1", [](const Launch& l) { return l.groups * l.group_size - 1; }},
        {"get_global_size(0) * get_local_size(0)",
         [](const Launch& l) { return l.groups * l.group_size * l.group_size; }},
        {"get_global_size(0) * get_num_groups(0)",
         [](const Launch& l) { return l.groups * l.groups * l.group_size; }},
    };
    for (std::size_t b = 0; b < begins.size(); ++b) {
        for (std::size_t s = b == 0 ? 1 : 0; s < strides.size(); ++s) {
            list.about(b == 0 ? "wrong-stride" : "wrong-start",
                       std::string("The pixels are counted as by a loop that begins at ") +
                           begins[b].words + " and goes on by " + strides[s].words + ", not at " +
                           begins[0].words + " and by " + strides[0].words + ".",
                       kStrategy);
            list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
                if (!has_launch(run) || run.launch.across > 0) return std::nullopt;
                const std::size_t stride = strides[s].of(run.launch);
                if (stride == 0) return std::nullopt;
                return counted_by_loops(run, begins[b].of(run.launch), stride);
            });
        }
    }
}

void add_rows_of_memory(List& list) {
    // Programs whose rows are padded take multiples of 512 bytes, and fill the gaps with the
    // poison.
    const auto pitch = [](const Case& run) { return (run.width + 511) / 512 * 512; };
    list.about("pitch-not-used",
               "The rows are taken as if they had no gaps between them: the width in the place of "
               "the pitch.",
               kPublished);
    list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
        if (run.launch.across == 0) return std::nullopt;
        Histogram histogram{};
        for (std::size_t i = 0; i < run.pixels.size(); ++i) {
            const std::size_t x = i % pitch(run);
            const std::size_t y = i / pitch(run);
            ++histogram[x < run.width ? run.pixels[y * run.width + x] : kPoisonByte];
        }
        return histogram;
    });
    list.about(
        "wrong-stride",
        "The loop over the rows goes on by one row, not by as many as there are groups below "
        "each other: rows are counted several times.",
        kStrategy);
    list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
        if (run.launch.across == 0) return std::nullopt;
        return count_if(run, [&](std::size_t i) {
            return std::min(i / run.width + 1, run.launch.groups / run.launch.across);
        });
    });
    list.about("pitch-in-the-test",
               "The test for the last row takes the distance in memory, gaps included, for the "
               "number of pixels: rows at the end are not counted.",
               kPublished);
    list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
        if (run.launch.across == 0) return std::nullopt;
        return count_if(run, [&](std::size_t i) {
            return i / run.width * pitch(run) + i % run.width < run.pixels.size();
        });
    });
    list.about("short-row-dropped", "A last row that is short is not counted.", kPublished);
    list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
        if (run.launch.across == 0) return std::nullopt;
        return count_if(
            run, [&](std::size_t i) { return i < run.pixels.size() / run.width * run.width; });
    });
    list.about("last-row-taken-as-full", "A last row that is short is counted as if it were full.",
               kPublished);
    list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
        if (run.launch.across == 0) return std::nullopt;
        Histogram histogram = run.expected;
        const std::size_t rows = (run.pixels.size() + run.width - 1) / run.width;
        histogram[kPoisonByte] += static_cast<std::uint32_t>(rows * run.width - run.pixels.size());
        return histogram;
    });
    list.about("padding-counted",
               "The gaps behind the rows are counted as pixels: the pitch in the place of the "
               "width.",
               kPublished);
    for (const bool last_row : {false, true}) {
        list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
            if (run.launch.across == 0) return std::nullopt;
            Histogram histogram = run.expected;
            const std::size_t rows = (run.pixels.size() + run.width - 1) / run.width;
            histogram[kPoisonByte] +=
                static_cast<std::uint32_t>((rows - (last_row ? 0 : 1)) * (pitch(run) - run.width));
            return histogram;
        });
    }
}

void add_bins(List& list) {
    list.about("bins-shifted", "Every count is in the bin beside its own.", kStrategy);
    list.add_bins([](const Histogram& expected) {
        Histogram histogram = expected;
        std::rotate(histogram.begin(), histogram.end() - 1, histogram.end());
        return histogram;
    });
    list.add_bins([](const Histogram& expected) {
        Histogram histogram = expected;
        std::rotate(histogram.begin(), histogram.begin() + 1, histogram.end());
        return histogram;
    });
    list.add_bins([](const Histogram& expected) {  // and the last falls out
        Histogram histogram = expected;
        std::rotate(histogram.begin(), histogram.end() - 1, histogram.end());
        histogram.front() = 0;
        return histogram;
    });
    list.add_bins([](const Histogram& expected) {
        Histogram histogram = expected;
        std::rotate(histogram.begin(), histogram.begin() + 1, histogram.end());
        histogram.back() = 0;
        return histogram;
    });
    list.about("bins-reversed", "The bins are in the opposite order.", kStrategy);
    list.add_bins([](const Histogram& expected) {
        Histogram histogram = expected;
        std::reverse(histogram.begin(), histogram.end());
        return histogram;
    });
    list.about("signed-values",
               "Values from 128 on are taken as negative: the pixels are signed characters.",
               kStrategy);
    list.add_bins([](const Histogram& expected) {
        Histogram histogram = expected;
        std::fill(histogram.begin() + 128, histogram.end(), 0);
        return histogram;
    });
    list.about("half-of-the-values",
               "Values from 128 on are counted as 128 less: one bit of the value is lost.",
               kStrategy);
    list.add_bins([](const Histogram& expected) {
        Histogram histogram{};
        for (std::size_t bin = 0; bin < kBins; ++bin)
            histogram[bin % 128] += expected[bin];
        return histogram;
    });
    list.about("first-bin-missing", "Bin 0 is left out.", kStrategy);
    list.add_bins([](const Histogram& expected) {
        Histogram histogram = expected;
        histogram.front() = 0;
        return histogram;
    });
    list.about("last-bin-missing", "Bin 255 is left out: a loop over 255 bins.", kStrategy);
    list.add_bins([](const Histogram& expected) {
        Histogram histogram = expected;
        histogram.back() = 0;
        return histogram;
    });
    list.add_bins([](const Histogram& expected) {
        Histogram histogram = expected;
        histogram.back() = kPoison;
        return histogram;
    });
}

// Counters of so many bits, of each work-item in each piece of so many pixels.
std::optional<Histogram> overflowing_pieces(const Case& run, std::size_t piece,
                                            std::uint32_t limit) {
    if (!has_launch(run) || run.launch.across > 0 || run.pixels.size() > kManyPixels)
        return std::nullopt;
    const std::size_t size = run.launch.group_size;
    Histogram histogram{};
    std::vector<std::uint32_t> counters(size * kBins);
    for (std::size_t first = 0; first < run.pixels.size(); first += piece) {
        std::fill(counters.begin(), counters.end(), 0);
        const std::size_t end = std::min(first + piece, run.pixels.size());
        for (std::size_t i = first; i < end; ++i)
            ++counters[(i - first) % size * kBins + run.pixels[i]];
        for (std::size_t at = 0; at < counters.size(); ++at)
            histogram[at % kBins] += counters[at] % limit;
    }
    return histogram;
}

// The same without pieces: of each work-item over the whole picture.
std::optional<Histogram> overflowing_items(Walk walk, const Case& run, std::uint32_t limit) {
    if (!walks_here(walk, run) || work_items(run) > 4096) return std::nullopt;
    std::vector<std::uint32_t> counters(work_items(run) * kBins);
    for (std::size_t i = 0; i < run.pixels.size(); ++i) {
        const Place place = walk(run, i);
        ++counters[(place.group * run.launch.group_size + place.item) * kBins + run.pixels[i]];
    }
    Histogram histogram{};
    for (std::size_t at = 0; at < counters.size(); ++at)
        histogram[at % kBins] += counters[at] % limit;
    return histogram;
}

// Beyond it a float cannot be increased by one.
constexpr std::uint32_t kMost = 1U << 24;

void add_overflows(List& list) {
    const auto add = [&](const char* name, const char* sentence, std::uint32_t limit) {
        list.about(name, sentence, kPublished);
        list.add([=](const Case& run, const Facts&) {
            Histogram histogram = run.expected;
            for (std::uint32_t& count : histogram)
                count %= limit;
            return histogram;
        });
        for (const std::size_t pixels_each : {256U, 510U, 512U, 1024U, 4096U}) {
            list.add([=](const Case& run, const Facts&) {
                return overflowing_pieces(run, run.launch.group_size * pixels_each, limit);
            });
        }
        for (const std::size_t piece : {kBins * 255, kBins * 256}) {
            list.add([=](const Case& run, const Facts&) {
                return overflowing_pieces(run, piece, limit);
            });
        }
        list.add_for_tables([=](std::uint32_t count) { return count % limit; });
        for (const Walk walk : kWalks) {
            list.add(
                [=](const Case& run, const Facts&) { return overflowing_items(walk, run, limit); });
        }
    };
    add("8-bit-overflow",
        "A counter of 8 bits gets 256 or more equal pixels, and begins at 0 again.", 1U << 8);
    add("16-bit-overflow",
        "A counter of 16 bits gets 65536 or more equal pixels, and begins at 0 again.", 1U << 16);
    list.about("float-counters",
               "The counts are kept in floating-point numbers of 32 bits, which beyond 16777216 "
               "cannot be increased by one.",
               kPublished);
    list.add_bins([](const Histogram& expected) {
        Histogram histogram = expected;
        for (std::uint32_t& count : histogram)
            count = std::min(count, kMost);
        return histogram;
    });
    list.add_bins([](const Histogram& expected) {  // converted at the end
        Histogram histogram = expected;
        for (std::uint32_t& count : histogram)
            count = static_cast<std::uint32_t>(static_cast<float>(count));
        return histogram;
    });
    list.add_for_tables([](std::uint32_t count) { return std::min(count, kMost); },
                        std::numeric_limits<std::size_t>::max());
}

// ---- chapter 04: tables in bytes, copies for lanes, loads of 16
// ----------------------------------

// Each work-item has 256 counters of 8 bits; a group takes pieces of 255 pixels for each, adds the
// counters up and goes on to another piece. `add_piece` gets the counters of a piece, item by item.
template <typename AddPiece>
std::optional<Histogram> counted_in_pieces(const Case& run, const AddPiece& add_piece) {
    if (!has_launch(run) || run.launch.across > 0 || run.pixels.size() > kManyPixels)
        return std::nullopt;
    const std::size_t size = run.launch.group_size;
    const std::size_t piece = 255 * size;
    const std::size_t pieces = (run.pixels.size() + piece - 1) / piece;
    Histogram histogram{};
    std::vector<std::uint32_t> counters(size * kBins);
    for (std::size_t group = 0; group < run.launch.groups; ++group) {
        std::fill(counters.begin(), counters.end(), 0);
        for (std::size_t p = group; p < pieces; p += run.launch.groups) {
            const std::size_t end = std::min((p + 1) * piece, run.pixels.size());
            for (std::size_t i = p * piece; i < end; ++i)
                ++counters[(i - p * piece) % size * kBins + run.pixels[i]];
            add_piece(counters, histogram);
        }
    }
    return histogram;
}

void add_bytes(List& list) {
    list.about("table-not-zeroed",
               "The counters are zeroed once, and not again for each piece of the picture.",
               kRaces);
    list.add([](const Case& run, const Facts&) {
        return counted_in_pieces(run, [](std::vector<std::uint32_t>& counters, Histogram& sum) {
            for (std::size_t at = 0; at < counters.size(); ++at) {
                counters[at] %= 256;
                sum[at % kBins] += counters[at];
            }
        });
    });
    list.about("8-bit-overflow", "The counters of 8 bits are added up in 8 bits.", kPublished);
    list.add([](const Case& run, const Facts&) {
        return counted_in_pieces(run, [](std::vector<std::uint32_t>& counters, Histogram& sum) {
            Histogram of_piece{};
            for (std::size_t at = 0; at < counters.size(); ++at)
                of_piece[at % kBins] += std::exchange(counters[at], 0);
            for (std::size_t bin = 0; bin < kBins; ++bin)
                sum[bin] += of_piece[bin] % 256;
        });
    });
    list.about("signed-counters",
               "The counters of 8 bits are signed: from 128 on they are negative.", kPublished);
    list.add([](const Case& run, const Facts&) {
        return counted_in_pieces(run, [](std::vector<std::uint32_t>& counters, Histogram& sum) {
            for (std::size_t at = 0; at < counters.size(); ++at) {
                const std::uint32_t count = std::exchange(counters[at], 0) % 256;
                sum[at % kBins] += count < 128 ? count : count - 256;
            }
        });
    });
    list.about("wrong-stride",
               "Every group takes the next piece of the picture, not its own next one.", kStrategy);
    list.add_pixels([](const Case& run, std::size_t i) {
        return std::min(i / (255 * run.launch.group_size) + 1, run.launch.groups);
    });
    list.about("no-barrier-after-zeroing",
               "There is no barrier between zeroing the table and counting: work-items count while "
               "others still zero.",
               kRaces);
    list.add([](const Case& run, const Facts& facts) -> std::optional<Histogram> {
        if (!walks_here(in_pieces<255>, run) || !facts.one_by_one) return std::nullopt;
        return count_if(run, [&](std::size_t i) {  // the words are zeroed in turn, four bins each
            const std::size_t item = in_pieces<255>(run, i).item;
            return (item * (kBins / 4) + run.pixels[i] / 4U) % run.launch.group_size <= item;
        });
    });
}

void add_copies(List& list) {
    for (const std::size_t copies : {2U, 4U, 8U, 16U, 32U}) {
        list.about("only-the-first-copy", "Of the copies of a table only the first is merged.",
                   kStrategy);
        const auto add = [&](const auto& is_merged) {
            list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
                if (!walks_here(in_vectors, run)) return std::nullopt;
                return count_if(run, [&](std::size_t i) {
                    return is_merged(in_vectors(run, i).item % copies);
                });
            });
        };
        add([](std::size_t copy) { return copy == 0; });
        list.about("last-copy-skipped", "Of the copies of a table the last is not merged.",
                   kStrategy);
        add([=](std::size_t copy) { return copy + 1 != copies; });
        list.about("tail-in-wrong-bins",
                   "The last pixels are counted in a table that is laid out in another way.",
                   kStrategy);
        list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
            if (!walks_here(in_vectors, run)) return std::nullopt;
            Histogram histogram{};
            for (std::size_t i = 0; i < run.pixels.size(); ++i) {
                const std::size_t copy = in_vectors(run, i).item % copies;
                const bool in_tail = i >= run.pixels.size() / 16 * 16;
                ++histogram[in_tail ? (run.pixels[i] + copy) / copies : run.pixels[i]];
            }
            return histogram;
        });
    }
}

void add_loads(List& list) {
    const auto in_loads = [](const Case& run) { return run.pixels.size() / 16 * 16; };
    list.about("misaligned-loads", "The loads begin one pixel too late.", kStrategy);
    list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
        if (run.pixels.size() % 16 == 0) return std::nullopt;  // a byte from behind the picture
        return count_if(run, [&](std::size_t i) {
            return i == 0 ? 0 : i == in_loads(run) ? 2 : 1;
        });
    });
    list.about("part-of-a-load-masked", "Of one of the pixels that a load brings a bit is lost.",
               kStrategy);
    for (std::size_t byte = 0; byte < 4; ++byte) {
        for (const unsigned mask : {0x7fU, 0x3fU, 0x0fU, 0xfeU}) {
            list.add([=](const Case& run, const Facts&) -> std::optional<Histogram> {
                Histogram histogram{};
                for (std::size_t i = 0; i < run.pixels.size(); ++i) {
                    const bool masked = i < in_loads(run) && i % 4 == byte;
                    ++histogram[masked ? run.pixels[i] & mask : run.pixels[i]];
                }
                return histogram;
            });
        }
    }
    list.about("load-counted-twice",
               "Of the loads that are under way together one is counted twice, and another never.",
               kStrategy);
    for (std::size_t twice = 0; twice < 4; ++twice) {
        for (std::size_t never = 0; never < 4; ++never) {
            if (never == twice) continue;
            list.add_pixels([=](const Case& run, std::size_t i) {
                const std::size_t all = work_items(run);
                const std::size_t load = i / 16;
                const std::size_t round = load / all;
                const bool four = load % all + (round / 4 * 4 + 3) * all < run.pixels.size() / 16;
                if (i >= in_loads(run) || !four) return 1;
                return round % 4 == twice ? 2 : round % 4 == never ? 0 : 1;
            });
        }
    }
    list.about("tail-begins-too-early",
               "The loop for the last pixels begins too early: at the number of loads, not of the "
               "pixels in them.",
               kPublished);
    list.add_pixels([=](const Case& run, std::size_t i) {
        return i >= run.pixels.size() / 16 && i < in_loads(run) ? 2 : 1;
    });
}

}  // namespace

bool has_a_table(const Facts& facts) {
    const auto without = {"global", "racy", "subhist", "private"};
    return std::find(without.begin(), without.end(), facts.variant) == without.end();
}

const std::vector<Hypothesis>& hypotheses() {
    static const std::vector<Hypothesis> all = [] {
        List list;
        add_zeroing(list);
        add_bins(list);
        add_ends(list);
        add_strides(list);
        add_loops(list);
        add_rows_of_memory(list);
        add_merging(list);
        add_barriers(list);
        add_overflows(list);
        add_bytes(list);
        add_copies(list);
        add_loads(list);
        return std::move(list.all);
    }();
    return all;
}

std::vector<std::vector<Histogram>> tables_of_groups(const Case& run) {
    std::vector<std::vector<Histogram>> ways;
    for (const Walk walk : kWalks) {
        if (!walks_here(walk, run)) continue;
        ways.push_back(tables_of(walk, run));
    }
    return ways;
}

}  // namespace common::diagnosis
