// Which launches there are, and which one to take.
#include "05-launch-tuning/tuning/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tuning {
namespace {

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = 1024 * kKi;
constexpr std::uint64_t kTableBytes = 256 * sizeof(std::uint32_t);

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string counted(std::size_t count, const std::string& thing, const std::string& things) {
    return fmt::format("{} {}", count, count == 1 ? thing : things);
}

// The launches that suit one kernel: every group size with every number of groups.
struct Launches {
    std::vector<std::size_t> group_sizes;
    std::vector<std::size_t> groups_per_unit;
};

Launches launches_of(const std::string& kernel, bool cpu) {
    // The tables of these grow with the group, so that large groups do not fit.
    if (kernel == "byte-bins") {
        if (cpu) return {{8, 32, 128}, {1, 4}};
        return {{32, 64, 128}, {1, 2, 4, 8}};
    }
    // 8 KiB for each work-item: none of a GPU's kernels could have enough of them at work.
    if (kernel == "item-bins") {
        if (cpu) return {{1}, {1, 2, 4, 8}};
        return {};
    }
    if (cpu) return {{64, 256}, {1, 4}};
    return {{128, 256, 512, 1024}, {1, 2, 4, 8}};
}

bool is_allowed(const Choice& choice, const Facts& facts) {
    return objection(choice, facts).empty();
}

// Lane-bins with at most so many copies, fewer where local memory is smaller.
Choice lane_bins(const Facts& facts, unsigned copies, unsigned loads, std::size_t group_size,
                 std::size_t groups_per_unit) {
    while (copies > 1 && copies * kTableBytes > facts.local_bytes)
        copies /= 2;
    return {"lane-bins", copies, loads, std::min(group_size, facts.most_items), groups_per_unit};
}

}  // namespace

std::string kernel_text(const Choice& choice) {
    if (choice.kernel != "lane-bins") return choice.kernel;
    return choice.kernel + ", " + counted(choice.copies, "copy", "copies");
}

std::string to_string(const Choice& choice) {
    return fmt::format("{}, {}, groups of {}, {} for each unit", kernel_text(choice),
                       counted(choice.loads, "load", "loads"), choice.group_size,
                       choice.groups_per_unit);
}

std::string launch_text(const Choice& choice, std::size_t groups) {
    return fmt::format("{}, {}, {} of {}", kernel_text(choice),
                       counted(choice.loads, "load", "loads"), counted(groups, "group", "groups"),
                       choice.group_size);
}

std::string size_text(std::uint64_t pixels) {
    if (pixels > 0 && pixels % kMi == 0) return fmt::format("{} Mi pixels", pixels / kMi);
    if (pixels > 0 && pixels % kKi == 0) return fmt::format("{} Ki pixels", pixels / kKi);
    return fmt::format("{} pixels", pixels);
}

const std::vector<std::string>& kernel_names() {
    static const std::vector<std::string> names = {"local", "lane-bins", "byte-bins", "item-bins"};
    return names;
}

unsigned most_loads(const std::string& kernel) {
    return kernel == "byte-bins" ? 1 : kMostLoads;
}

std::uint64_t local_bytes_of(const Choice& choice) {
    // 256 bytes for each work-item, and behind them the sums of the group.
    if (choice.kernel == "byte-bins") return choice.group_size * std::uint64_t{256} + kTableBytes;
    // Eight counters for each bin, so that equal pixels in a row do not wait for each other.
    if (choice.kernel == "item-bins") return choice.group_size * 8 * kTableBytes;
    return choice.copies * kTableBytes;
}

std::string objection(const Choice& choice, const Facts& facts) {
    if (!contains(facts.kernels, choice.kernel))
        return fmt::format("this program has no kernel '{}'", choice.kernel);
    if (choice.group_size > facts.most_items) {
        return fmt::format("groups of {} work-items, and the device takes at most {}",
                           choice.group_size, facts.most_items);
    }
    if (local_bytes_of(choice) > facts.local_bytes) {
        return fmt::format("{} bytes of local memory for a group, and the device has {}",
                           local_bytes_of(choice), facts.local_bytes);
    }
    return {};
}

std::vector<Choice> candidates(const Facts& facts) {
    std::vector<Choice> all;
    for (const std::string& kernel : kernel_names()) {
        if (!contains(facts.kernels, kernel)) continue;
        const Launches launches = launches_of(kernel, facts.cpu);
        const unsigned most_copies = kernel == "lane-bins" ? 32 : 1;
        for (unsigned copies = 1; copies <= most_copies; copies *= 2) {
            for (const std::size_t group_size : launches.group_sizes) {
                for (const std::size_t groups : launches.groups_per_unit) {
                    for (unsigned loads = 1; loads <= most_loads(kernel); ++loads)
                        all.push_back({kernel, copies, loads, group_size, groups});
                }
            }
        }
    }
    return all;
}

std::vector<std::uint64_t> tuned_sizes(const Facts& facts) {
    std::vector<std::uint64_t> sizes{256 * kKi, 16 * kMi, 128 * kMi, 1024 * kMi};
    if (facts.cpu) sizes = {256 * kKi, 8 * kMi};
    while (sizes.size() > 1 && sizes.back() > facts.picture_bytes)
        sizes.pop_back();
    return sizes;
}

Choice default_choice(const Facts& facts, std::uint64_t pixels) {
    Choice sound;
    if (facts.cpu) {
        sound = {"item-bins", 1, 4, 1, 1};
        if (!is_allowed(sound, facts)) sound = lane_bins(facts, 1, 4, 256, 1);
    } else if (pixels < 4 * kMi) {
        // Zeroing and merging a table costs as much for a few pixels as for many.
        sound = lane_bins(facts, 8, 1, 512, 2);
    } else {
        sound = lane_bins(facts, 32, kUsualLoads, 1024, 1);
    }
    if (is_allowed(sound, facts)) return sound;
    const std::vector<Choice> all = candidates(facts);
    const auto first = std::find_if(
        all.begin(), all.end(), [&](const Choice& choice) { return is_allowed(choice, facts); });
    return first == all.end() ? sound : *first;
}

Choice choose(const std::optional<Tuning>& known, const Facts& facts, std::uint64_t pixels) {
    if (!known) return default_choice(facts, pixels);
    const auto distance = [&](std::uint64_t size) {
        return std::abs(std::log2(static_cast<double>(std::max(pixels, std::uint64_t{1}))) -
                        std::log2(static_cast<double>(size)));
    };
    std::vector<std::uint64_t> sizes = known->sizes();
    std::stable_sort(sizes.begin(), sizes.end(),
                     [&](std::uint64_t a, std::uint64_t b) { return distance(a) < distance(b); });
    for (const std::uint64_t size : sizes) {
        const Trial* best = known->best(size);
        if (best != nullptr && is_allowed(best->choice, facts)) return best->choice;
    }
    return default_choice(facts, pixels);
}

}  // namespace tuning
