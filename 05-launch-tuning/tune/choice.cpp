#include "05-launch-tuning/tune/choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "05-launch-tuning/layout.hpp"
#include "common/histogram/histogram.hpp"

namespace tuning {
namespace {

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = 1024 * kKi;
constexpr std::size_t kTable = sizeof(common::Histogram);
constexpr unsigned kUsualLoads = 3;
constexpr std::size_t kItemsTables = 8 * (kTable + 32);  // of item-bins with four loads

const Launches kOnGpus{{128, 256, 512, 1024}, {1, 2, 4, 8}};
const Launches kOnCpus{{64, 256}, {1, 4}};

std::string counted(std::size_t count, const std::string& thing, const std::string& things) {
    return fmt::format("{} {}", count, count == 1 ? thing : things);
}

}  // namespace

// clang-format off
//                          name,         function,       file, most: items, copies, loads;   pixels a load, bytes a copy, bytes an item
const Kernel kLaneBins {"lane-bins",  "histogram_tuned", "",              0,     32,     4,              16,       kTable,             0, kOnGpus, kOnCpus};
const Kernel kItemBins {"item-bins",  "histogram_items", "",              1,      1,     4,            4096,            0, kItemsTables, {}, {{1}, {1, 2, 4, 8}}};
const Kernel kLocal    {"local",      "histogram_bytes", "local.cl",      0,      1,     4,               1,       kTable,             0, kOnGpus, kOnCpus};
const Kernel kUcharBins{"uchar-bins", "histogram_uchar", "uchar.cl",      0,      1,     1,             255,       kTable, common::kBins,
                        {{32, 64, 128}, {1, 2, 4, 8}}, {{8, 32, 128}, {1, 4}}};
// clang-format on

const std::vector<const Kernel*>& all_kernels() {
    static const std::vector<const Kernel*> all{&kLocal, &kLaneBins, &kUcharBins, &kItemBins};
    return all;
}

const Kernel* kernel_named(const std::string& name) {
    for (const Kernel* kernel : all_kernels()) {
        if (kernel->name == name) return kernel;
    }
    return nullptr;
}

std::string Choice::kernel_text() const {
    if (kernel->max_copies == 1) return kernel->name;
    return kernel->name + ", " + counted(copies, "copy", "copies");
}

std::string Choice::text() const {
    return fmt::format("{}, {}, groups of {}, {} for each unit", kernel_text(),
                       counted(loads, "load", "loads"), group_size, groups_per_unit);
}

std::string Choice::launch_text(std::size_t groups) const {
    return fmt::format("{}, {}, {} of {}", kernel_text(), counted(loads, "load", "loads"),
                       counted(groups, "group", "groups"), group_size);
}

std::size_t groups_of(const Choice& choice, const Facts& facts, std::uint64_t pixels) {
    return groups_with_work(pixels, choice.group_size, choice.kernel->pixels_a_load * choice.loads,
                            choice.groups_per_unit * facts.units);
}

std::string objection(const Choice& choice, const Facts& facts) {
    const auto& there = facts.kernels;
    if (std::find(there.begin(), there.end(), choice.kernel) == there.end())
        return fmt::format("this program has no kernel '{}'", choice.kernel->name);
    if (choice.group_size > facts.max_group_size)
        return fmt::format("groups of {}: this device runs at most {}", choice.group_size,
                           facts.max_group_size);
    if (choice.kernel->max_group_size > 0 && choice.group_size > choice.kernel->max_group_size)
        return fmt::format("groups of {}: {} takes at most {}", choice.group_size,
                           choice.kernel->name, choice.kernel->max_group_size);
    if (choice.local_bytes() > facts.local_bytes)
        return fmt::format("{} bytes of local memory: this device has {}", choice.local_bytes(),
                           facts.local_bytes);
    return {};
}

std::vector<Choice> candidates(const Facts& facts) {
    std::vector<Choice> all;
    for (const Kernel* kernel : all_kernels()) {
        if (std::find(facts.kernels.begin(), facts.kernels.end(), kernel) == facts.kernels.end())
            continue;
        const Launches& launches = kernel->launches(facts.cpu);
        for (unsigned copies = 1; copies <= kernel->max_copies; copies *= 2) {
            for (const std::size_t group_size : launches.group_sizes) {
                for (unsigned loads = 1; loads <= kernel->max_loads; ++loads) {
                    for (const std::size_t groups : launches.groups_per_unit)
                        all.push_back({kernel, copies, loads, group_size, groups});
                }
            }
        }
    }
    return all;
}

std::vector<std::uint64_t> tuned_sizes(const Facts& facts) {
    std::vector<std::uint64_t> sizes{256 * kKi, 1 * kMi,   2 * kMi,   4 * kMi,
                                     16 * kMi,  128 * kMi, 1024 * kMi};
    if (facts.cpu) sizes = {256 * kKi, 8 * kMi};
    while (sizes.size() > 1 && sizes.back() > facts.picture_bytes)
        sizes.pop_back();
    return sizes;
}

Choice usual_choice(const Kernel& kernel, const Facts& facts) {
    Choice usual{&kernel, kernel.max_copies, std::min(kUsualLoads, kernel.max_loads), 1, 1};
    while (usual.copies > 1 && !objection(usual, facts).empty())
        usual.copies /= 2;
    for (const std::size_t group_size : kernel.launches(facts.cpu).group_sizes) {
        Choice larger = usual;
        larger.group_size = std::min(group_size, facts.max_group_size);
        if (objection(larger, facts).empty()) usual = larger;
    }
    return usual;
}

Choice default_choice(const Facts& facts, std::uint64_t pixels) {
    Choice sound = usual_choice(facts.cpu ? kItemBins : kLaneBins, facts);
    // A CPU's program may be another than OpenCL's, and then has no item-bins.
    if (!objection(sound, facts).empty()) sound = usual_choice(kLaneBins, facts);
    // A small picture has no second load for everybody.
    if (!facts.cpu && pixels < 8 * kMi) sound.loads = 1;
    if (objection(sound, facts).empty()) return sound;
    for (const Choice& candidate : candidates(facts)) {
        if (objection(candidate, facts).empty()) return candidate;
    }
    return sound;
}

std::string size_text(std::uint64_t pixels) {
    if (pixels > 0 && pixels % kMi == 0) return fmt::format("{} Mi pixels", pixels / kMi);
    if (pixels > 0 && pixels % kKi == 0) return fmt::format("{} Ki pixels", pixels / kKi);
    return fmt::format("{} pixels", pixels);
}

}  // namespace tuning
