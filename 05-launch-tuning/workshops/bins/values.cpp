#include "05-launch-tuning/workshops/bins/values.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cstring>

#include "05-launch-tuning/layout.hpp"
#include "common/options/whole_number.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"

using common::BadInput;

namespace bins {

// ---- what is counted ----------------------------------------------------------------------------

void Values::add_options(CLI::App& app) {
    app.add_option("--bins", bins,
                   "pixels of 16 bits, in so many bins: a power of two from 256 to 65536")
        ->transform(common::whole_number(256, 65536))
        ->type_name("N");
    app.add_option("--offset", offset, "values in front of the first one")
        ->transform(common::whole_number(0, 1 << 20))
        ->type_name("N");
}

common::Histogram Values::judge(std::span<const std::uint32_t> counted,
                                common::Histogram sum) const {
    std::size_t wrong = 0;
    std::size_t first_wrong = 0;
    for (std::size_t i = expected.size(); i-- > 0;) {
        if (counted[i] == expected[i]) continue;
        ++wrong;
        first_wrong = i;
    }
    if (wrong == 0) return sum;
    sum[first_wrong % bins * common::kBins / bins] += counted[first_wrong] - expected[first_wrong];
    common::progress(fmt::format(
        "\n{} of {} counters {} wrong; the first is bin {} of channel {}: {} instead of {}. With "
        "it alone, and all channels and neighbouring bins in one table of 256:",
        wrong, expected.size(), wrong == 1 ? "is" : "are", first_wrong % bins, first_wrong / bins,
        counted[first_wrong], expected[first_wrong]));
    return sum;
}

common::Input Values::load(const common::Options& options) {
    common::Input input;
    if (bins > 0) {
        if (!std::has_single_bit(bins))
            throw BadInput(fmt::format("--bins: {} is no power of two", bins));
        if (options.number("channels"))
            throw BadInput("--bins is for pixels of 16 bits, --channels for colours of 8 bits");
        shift = 16 - static_cast<unsigned>(std::countr_zero(bins));
        input = common::load_input(options);
        input.pixel_bytes = 2;
        // The lower halves: others of the same kind; of a picture's pixels the same again.
        common::Options others = options;
        ++others.seed;
        const common::PixelBuffer low = common::load_input(others).pixels;
        sixteen.resize(2 * low.size());
        for (std::size_t i = 0; i < low.size(); ++i) {
            const auto pixel = static_cast<std::uint16_t>(input.pixels[i] << 8 | low[i]);
            std::memcpy(&sixteen[2 * i], &pixel, sizeof pixel);
        }
        input.name += fmt::format("; 16 bits, {} bins", bins);
    } else {
        bins = common::kBins;
        channels = options.number("channels").value_or(3);
        input = common::load_input(options, channels);
        input.name += channels == 3 ? "; RGB" : "; RGBA";
    }
    count = input.pixels.size();
    expected.assign(counters(), 0);
    for (std::size_t i = 0, channel = 0; i < count; ++i) {
        std::uint16_t value = input.pixels[i];
        if (channels == 1) std::memcpy(&value, &sixteen[2 * i], sizeof value);
        ++expected[channel * bins + (value >> shift)];
        if (++channel == channels) channel = 0;
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
    const unsigned table = values.counters();
    Plan plan{{values.bins, values.shift, 0, table, 1}, 1, group_size};
    // One group for each unit has enough under way, and all of its local memory.
    const std::size_t most = limits.units * (strategy == "global" && !limits.cpu ? 2 : 1);
    plan.groups = groups_with_work(values.count, plan.group_size,
                                   options.groups ? 1 : 16 / values.value_bytes(),
                                   options.groups.value_or(most));
    if (strategy == "global") {
        plan.slice.copies = 0;  // no group has a table
        return plan;
    }

    const auto fits = [&] { return plan.slice.counters * 4ULL <= limits.local_bytes; };
    if (strategy == "passes") {
        plan.slices = options.number("passes").value_or(values.channels > 1 ? values.channels : 2);
        const auto cut = [&] { plan.slice.counters = (table + plan.slices - 1) / plan.slices; };
        for (cut(); !fits() && !options.number("passes"); cut())
            plan.slices *= 2;
    }
    if (strategy == "cluster") {
        plan.slices = options.number("cluster").value_or(2);
        const auto cut = [&] {
            plan.slice.counters = std::bit_ceil((table + plan.slices - 1) / plan.slices);
        };
        for (cut(); !fits() && !options.number("cluster") && plan.slices < 8; cut())
            plan.slices *= 2;
        plan.groups = std::max<std::size_t>(plan.groups / plan.slices, 1) * plan.slices;
    } else if (plan.group_size > 1) {
        // Some is left of the local memory: a compiler may keep it for itself.
        while (plan.slice.copies < 32 && 2 * plan.local_bytes() < limits.local_bytes)
            plan.slice.copies *= 2;
    }
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
