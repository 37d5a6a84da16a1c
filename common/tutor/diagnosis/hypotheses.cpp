#include "common/tutor/diagnosis/hypotheses.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/tutor/diagnosis/list.hpp"

namespace common::diagnosis {
namespace {

void add_zeroing(List& list) {
    list.about("not-zeroed", "What is added to is not zeroed before the count.", kPublished);
    for (const bool every_group : {false, true}) {
        list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
            Histogram histogram = run.expected;
            const auto times =
                static_cast<std::uint32_t>(every_group ? run.launch.groups : std::size_t{1});
            for (std::uint32_t& count : histogram)
                count += times * kPoison;
            return histogram;
        });
    }
    list.add([](const Case& run, const RunContext&) -> std::optional<Histogram> {
        Histogram histogram = run.expected;  // 256 bytes are zeroed, and not 256 counters
        for (std::size_t bin = kBins / 4; bin < kBins; ++bin)
            histogram[bin] += kPoison;
        return histogram;
    });
    list.about("nothing-written",
               "Nobody writes the result: the kernel does not get there, or the result is copied "
               "before the kernel has finished.",
               kStrategy);
    list.add([](const Case&, const RunContext&) {
        Histogram histogram;
        histogram.fill(kPoison);
        return histogram;
    });
    list.about("nothing-counted",
               "The result is zeroed, and no count arrives: a loop or a test lets no pixel "
               "through, or the tables are never added to it.",
               kPublished);
    list.add([](const Case&, const RunContext&) { return Histogram{}; });
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

}  // namespace

bool has_a_table(const RunContext& context) {
    const auto without = {"global", "racy", "subhist", "private"};
    return std::find(without.begin(), without.end(), context.variant) == without.end();
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
