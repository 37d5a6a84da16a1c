/// @file
/// How the list of hypotheses is written: a name and a sentence, and the predictions that go by it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/tutor/diagnosis/walks.hpp"

namespace common::diagnosis {

using Predict = std::function<std::optional<Histogram>(const Case&, const RunContext&)>;

inline constexpr const char* kRaces = "the-race-conditions";
inline constexpr const char* kPublished = "what-went-wrong-in-published-code";
inline constexpr const char* kStrategy = "the-strategy";

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

    // A mistake whose result follows from the expected counts alone.
    void add_bins(Histogram (*change)(const Histogram& expected)) {
        add([=](const Case& run, const RunContext&) { return change(run.expected); });
    }

    // The pixels for which this holds; `often(run, i)` may also be a number.
    template <typename HowOften>
    void add_pixels(const HowOften& often) {
        add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
            if (!has_launch(run)) return std::nullopt;
            return count_if(run, [&](std::size_t i) { return often(run, i); });
        });
    }

    // For every walk; `often(run, work_item, pixel)`.
    template <typename HowOften>
    void add_for_walks(const HowOften& often) {
        for (const Walk walk : kWalks) {
            add([=](const Case& run, const RunContext& context) -> std::optional<Histogram> {
                if (!walks_here(walk, run)) return std::nullopt;
                return count_if(run, [&](std::size_t i) {
                    return often(run, walk(run, i), run.pixels[i], context);
                });
            });
        }
    }

    // The tables of the groups, each changed, and added up.
    template <typename Change>
    void add_for_tables(const Change& change, std::size_t at_most = kManyPixels) {
        for (const Walk walk : kWalks) {
            add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
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

// The parts of the list: tables.cpp, loops.cpp and counters.cpp.
void add_barriers(List& list);
void add_merging(List& list);
void add_strides(List& list);
void add_loops(List& list);
void add_rows_of_memory(List& list);
void add_overflows(List& list);
void add_bytes(List& list);
void add_copies(List& list);
void add_loads(List& list);

}  // namespace common::diagnosis
