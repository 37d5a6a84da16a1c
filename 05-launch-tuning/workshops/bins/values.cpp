#include "05-launch-tuning/workshops/bins/values.hpp"

#include <fmt/format.h>

#include <bit>

#include "common/process/status.hpp"

namespace bins {

void Values::add_options(CLI::App& app) {
    common::add_number(app, "--bins", "a power of two from 256 to 65536 (default: 1024)", 256,
                       65536, "N",
                       [this](std::uint64_t number) { bins = static_cast<unsigned>(number); });
}

std::string Values::what_is_wrong(std::span<const std::uint32_t> counted) const {
    std::size_t wrong = 0;
    std::size_t first_wrong = 0;
    for (std::size_t bin = bins; bin-- > 0;) {
        if (counted[bin] == expected[bin]) continue;
        ++wrong;
        first_wrong = bin;
    }
    if (wrong == 0) return {};
    return fmt::format("{} of {} counters {} wrong; the first is bin {}: {} instead of {}", wrong,
                       bins, wrong == 1 ? "is" : "are", first_wrong, counted[first_wrong],
                       expected[first_wrong]);
}

common::Input Values::load(const common::Options& options) {
    if (!std::has_single_bit(bins))
        throw common::BadInput(fmt::format("--bins: {} is no power of two", bins));
    shift = 16 - static_cast<unsigned>(std::countr_zero(bins));
    common::Input input = common::load_input(options);
    input.pixel_bytes = 2;
    input.name += fmt::format("; 16 bits, {} bins", bins);
    // The lower halves: others of the same kind; of a picture's pixels the same again.
    common::Options others = options;
    ++others.seed;
    const common::PixelBuffer low = common::load_input(others).pixels;
    pixels.resize(low.size());
    expected.assign(bins, 0);
    for (std::size_t i = 0; i < low.size(); ++i) {
        pixels[i] = static_cast<std::uint16_t>(input.pixels[i] << 8 | low[i]);
        ++expected[pixels[i] >> shift];
    }
    return input;
}

// ---- how a strategy goes about it ---------------------------------------------------------------

std::string Plan::text() const {
    std::string text;
    if (slice.copies > 1) text += fmt::format("{} copies, ", slice.copies);
    if (slices > 1) text += fmt::format("{} slices of {}, ", slices, slice.counters);
    return text + fmt::format("{} group{} of {}", groups, groups == 1 ? "" : "s", group_size);
}

Plan plan(const std::string& strategy, const Values& values, const common::Options& options,
          const DeviceLimits& limits, std::size_t group_size) {
    Plan plan{{values.shift, 0, values.bins, 1}, 1, group_size};
    // One group for each unit has enough under way, and all of its local memory.
    const std::size_t most = limits.units * (strategy == "global" ? 2 : 1);
    plan.groups = groups_with_work(values.pixels.size(), plan.group_size, options.groups ? 1 : 8,
                                   options.groups.value_or(most));
    if (strategy == "global") {
        plan.slice.copies = 0;  // no group has a table
        return plan;
    }

    if (strategy != "local") {
        // Two slices, or as few as fit.
        plan.slices = 2;
        while (values.bins / plan.slices * 4 > limits.local_bytes)
            plan.slices *= 2;
        plan.slice.counters = values.bins / plan.slices;
    }
    if (strategy == "cluster") {  // whole clusters, of at most 8 blocks; and one copy
        plan.groups = std::max<std::size_t>(plan.groups / plan.slices, 1) * plan.slices;
        if (plan.slices > 8) plan.unsupported_reason = "a cluster has at most 8 blocks";
    }
    // Some is left of the local memory: a compiler may keep it for itself.
    while (strategy != "cluster" && plan.slice.copies < 32 &&
           2 * plan.local_bytes() < limits.local_bytes)
        plan.slice.copies *= 2;
    if (plan.local_bytes() > limits.local_bytes)
        plan.unsupported_reason =
            fmt::format("a table of {} bytes, and a group has {} of local memory",
                        plan.local_bytes(), limits.local_bytes);
    constexpr std::uint64_t kMostRows = 64 << 20;
    if (plan.groups * plan.slice.counters * 4ULL > kMostRows)
        plan.unsupported_reason =
            fmt::format("{} groups write rows of {} counters: more than 64 MiB", plan.groups,
                        plan.slice.counters);
    return plan;
}

}  // namespace bins
