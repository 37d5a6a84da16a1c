// Mistakes in the way over the pixels: loops, strides, loads, rows in memory.
#include <algorithm>
#include <cstdint>
#include <string>

#include "common/tutor/diagnosis/list.hpp"

namespace common::diagnosis {

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

namespace {

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

}  // namespace

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
            list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
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
    list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
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
    list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
        if (run.launch.across == 0) return std::nullopt;
        return count_if(run, [&](std::size_t i) {
            return std::min(i / run.width + 1, run.launch.groups / run.launch.across);
        });
    });
    list.about("pitch-in-the-test",
               "The test for the last row takes the distance in memory, gaps included, for the "
               "number of pixels: rows at the end are not counted.",
               kPublished);
    list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
        if (run.launch.across == 0) return std::nullopt;
        return count_if(run, [&](std::size_t i) {
            return i / run.width * pitch(run) + i % run.width < run.pixels.size();
        });
    });
    list.about("short-row-dropped", "A last row that is short is not counted.", kPublished);
    list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
        if (run.launch.across == 0) return std::nullopt;
        return count_if(
            run, [&](std::size_t i) { return i < run.pixels.size() / run.width * run.width; });
    });
    list.about("last-row-taken-as-full", "A last row that is short is counted as if it were full.",
               kPublished);
    list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
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
        list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
            if (run.launch.across == 0) return std::nullopt;
            Histogram histogram = run.expected;
            const std::size_t rows = (run.pixels.size() + run.width - 1) / run.width;
            histogram[kPoisonByte] +=
                static_cast<std::uint32_t>((rows - (last_row ? 0 : 1)) * (pitch(run) - run.width));
            return histogram;
        });
    }
}

}  // namespace common::diagnosis
