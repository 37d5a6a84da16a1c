/// @file
/// Who counts which pixel in these chapters' kernels, and what the groups' tables hold then.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/tutor/diagnosis/hypotheses.hpp"

namespace common::diagnosis {

struct WorkItem {
    std::size_t group;
    std::size_t item;  // in its group
};

inline std::size_t work_items(const Case& run) {
    return run.launch.groups * run.launch.group_size;
}

inline WorkItem of_work_item(const Case& run, std::size_t id) {
    return {id / run.launch.group_size, id % run.launch.group_size};
}

// Every n-th pixel, n being the number of all work-items.
inline WorkItem interleaved(const Case& run, std::size_t pixel) {
    return of_work_item(run, pixel % work_items(run));
}

// A stretch of its own for each work-item.
inline WorkItem blocked(const Case& run, std::size_t pixel) {
    const std::size_t all = work_items(run);
    return of_work_item(run, pixel / ((run.pixels.size() + all - 1) / all));
}

// Groups that lie over the columns of a picture, and share its rows.
inline WorkItem in_columns(const Case& run, std::size_t pixel) {
    const std::size_t x = pixel % run.width;
    const std::size_t y = pixel / run.width;
    const std::size_t across = std::max<std::size_t>(run.launch.across, 1);
    const std::size_t down = std::max<std::size_t>(run.launch.groups / across, 1);
    return {y % down * across + x / run.launch.group_size % across, x % run.launch.group_size};
}

// Pieces of so many pixels for each work-item, which the groups take in turn.
template <std::size_t pixels_each>
inline WorkItem in_pieces(const Case& run, std::size_t pixel) {
    const std::size_t piece = run.launch.group_size * pixels_each;
    return {pixel / piece % run.launch.groups, pixel % piece % run.launch.group_size};
}

// 16 pixels at a time, and what is left one at a time.
inline WorkItem in_vectors(const Case& run, std::size_t pixel) {
    const std::size_t whole = run.pixels.size() / 16 * 16;
    const std::size_t step = pixel < whole ? pixel / 16 : pixel - whole;
    return of_work_item(run, step % work_items(run));
}

using Walk = WorkItem (*)(const Case&, std::size_t);
inline constexpr std::array<Walk, 5> kWalks{interleaved, blocked, in_vectors, in_pieces<255>,
                                            in_columns};

inline bool has_launch(const Case& run) {
    return run.launch.groups > 0 && run.launch.group_size > 0;
}

inline bool walks_here(Walk walk, const Case& run, std::size_t at_most = kManyPixels) {
    if (!has_launch(run) || run.pixels.empty() || run.pixels.size() > at_most) return false;
    return (walk == in_columns) == (run.launch.across > 0);
}

// The pixels for which this holds, each once; or as often as it says.
template <typename HowOften>
inline Histogram count_if(const Case& run, const HowOften& how_often) {
    Histogram histogram{};
    for (std::size_t i = 0; i < run.pixels.size(); ++i)
        histogram[run.pixels[i]] += static_cast<std::uint32_t>(how_often(i));
    return histogram;
}

// A number that follows the launch or does not, by which sizes are rounded.
using Unit = std::size_t (*)(const Case&);
template <std::size_t n>
inline std::size_t fixed(const Case&) {
    return n;
}
inline std::size_t size_of_group(const Case& run) {
    return run.launch.group_size;
}
inline std::size_t groups_across(const Case& run) {
    return run.launch.across;
}
// Groups that a kernel with a work-item for each bin is launched in.
inline std::size_t bins_by_size(const Case& run) {
    return (kBins + run.launch.group_size - 1) / run.launch.group_size;
}

inline const std::vector<Unit>& units() {
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
inline std::vector<Histogram> tables_of(Walk walk, const Case& run) {
    std::vector<Histogram> tables(run.launch.groups);
    for (std::size_t i = 0; i < run.pixels.size(); ++i)
        ++tables[walk(run, i).group % tables.size()][run.pixels[i]];
    return tables;
}

// The tables of the work-items, group by group. More than so many are not worth the memory.
inline constexpr std::size_t kManyItems = 4096;
inline std::vector<Histogram> tables_of_items(Walk walk, const Case& run) {
    std::vector<Histogram> tables(work_items(run));
    for (std::size_t i = 0; i < run.pixels.size(); ++i) {
        const WorkItem by = walk(run, i);
        const std::size_t item = by.group * run.launch.group_size + by.item;
        ++tables[item % tables.size()][run.pixels[i]];
    }
    return tables;
}

// The pixels up to the last multiple of the unit.
inline std::size_t whole(const Case& run, Unit unit) {
    const std::size_t by = std::max<std::size_t>(unit(run), 1);
    return run.pixels.size() / by * by;
}

}  // namespace common::diagnosis
