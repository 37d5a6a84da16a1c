#include "05-launch-tuning/workshops/many/pictures.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <numeric>
#include <random>

#include "05-launch-tuning/layout.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"

using common::BadInput;
using common::Histogram;

namespace many {

// ---- what is asked for --------------------------------------------------------------------------

void parse_sides(const std::string& text, PictureOptions& pictures) {
    constexpr std::uint64_t kMost = 65535;  // of both sides: what a 32-bit count can hold
    const auto side = [&](const char*& from) {
        std::uint64_t number = 0;
        const auto [rest, error] = std::from_chars(from, text.data() + text.size(), number);
        if (error != std::errc() || number < 1 || number > kMost) from = nullptr;
        if (from != nullptr) from = rest;
        return number;
    };
    const char* rest = text.data();
    const char* const end = text.data() + text.size();
    const std::uint64_t least = side(rest);
    std::uint64_t most = least;
    if (rest != nullptr && std::string_view(rest, end).starts_with("..")) most = side(rest += 2);
    if (rest != end || most < least) {
        throw BadInput(
            fmt::format("--side: '{}' is neither a side from 1 to {} nor two of them, as 64..2048",
                        text, kMost));
    }
    pictures.least_side = least;
    pictures.most_side = most;
}

void PictureOptions::add_to(CLI::App& app) {
    app.add_option_function<std::string>(
           "--side", [this](const std::string& text) { parse_sides(text, *this); },
           "pixels of a picture's sides, or a range to draw them from (default: 512)")
        ->type_name("S|S..T");
}

// ---- pictures -----------------------------------------------------------------------------------

void Batch::add(std::uint64_t pixel_count, const Histogram& histogram) {
    for (std::size_t bin = 0; bin < common::kBins; ++bin)
        sum[bin] += histogram[bin];
    first.push_back(first.back() + pixel_count);
    expected.push_back(histogram);
}

void Batch::judge(const std::uint32_t* rows, Histogram& result) const {
    result = sum;
    std::size_t wrong = 0;
    std::size_t first_wrong = 0;
    for (std::size_t p = size(); p-- > 0;) {
        if (std::equal(expected[p].begin(), expected[p].end(), rows + p * common::kBins)) continue;
        ++wrong;
        first_wrong = p;
    }
    if (wrong == 0) return;
    for (std::size_t bin = 0; bin < common::kBins; ++bin)
        result[bin] += rows[first_wrong * common::kBins + bin] - expected[first_wrong][bin];
    common::progress(
        fmt::format("\n{} of {} pictures {} wrong; the first is number {}: {} pixels from byte {} "
                    "on. With it alone the sum is:",
                    wrong, size(), wrong == 1 ? "is" : "are", first_wrong,
                    first[first_wrong + 1] - first[first_wrong], first[first_wrong]));
}

std::vector<std::uint64_t> sizes(const PictureOptions& pictures, std::uint64_t usual,
                                 std::uint64_t seed, std::uint64_t pixels) {
    const std::uint64_t sides = pictures.most_side - pictures.least_side + 1;
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> sizes;
    do {
        std::uint64_t size =
            pictures.least_side > 0 ? pictures.least_side * pictures.least_side : usual;
        if (sides > 1) {
            const std::uint64_t width = pictures.least_side + random() % sides;
            size = width * (pictures.least_side + random() % sides);
            if (sizes.size() % 64 == 7) size = 0;
            if (sizes.size() % 64 == 23) size = 1;
        }
        sizes.push_back(std::min(size, pixels));
        pixels -= sizes.back();
    } while (pixels > 0);
    return sizes;
}

common::Input load(const common::Options& options, const PictureOptions& pictures, Batch& batch) {
    common::Input input = common::load_input(options);
    const std::uint64_t whole = std::uint64_t{input.width} * input.height;
    const std::uint64_t usual = input.seed || options.random || whole == 0 ? 512 * 512 : whole;
    const std::vector<std::uint64_t> each =
        sizes(pictures, usual, options.seed, input.pixels.size());
    for (std::size_t begin = 0; const std::uint64_t size : each) {
        batch.add(size, common::reference_histogram(std::span(input.pixels).subspan(begin, size)));
        begin += size;
    }
    std::string name = fmt::format("; {} picture{}", each.size(), each.size() == 1 ? "" : "s");
    if (pictures.least_side < pictures.most_side) {
        name += fmt::format(" of {} to {} a side", pictures.least_side, pictures.most_side);
    } else if (pictures.least_side > 0) {
        name += fmt::format(" of {0} x {0}", pictures.least_side);
    }
    input.name += name;
    return input;
}

// ---- shared out ---------------------------------------------------------------------------------

std::vector<Place> share_out(const std::vector<std::uint64_t>& first, std::size_t groups) {
    constexpr std::uint64_t kAligned = 128;
    constexpr std::uint64_t kNear = 64 << 10;
    const std::size_t pictures = first.size() - 1;
    // The prefix sum of what the pictures cost.
    const auto cost_before = [&](std::uint64_t p) { return first[p] + p * kTableCost; };
    const std::uint64_t cost = cost_before(pictures);
    // A cut costs another table. Where a picture begins or ends as near as this, the share does.
    const std::uint64_t near = std::min(cost / groups / 4, kNear);
    std::vector<Place> places;
    std::uint64_t p = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        // cost * g / groups, which could be too large for 64 bits in between
        const std::uint64_t at = cost / groups * g + cost % groups * g / groups;
        while (cost_before(p + 1) <= at)
            ++p;
        const std::uint64_t inside = at - cost_before(p);
        const std::uint64_t left = cost_before(p + 1) - at;
        Place place{p, first[p]};
        if (left <= std::min(inside, near)) {
            place = {p + 1, first[p + 1]};
        } else if (inside > std::max(near, kTableCost)) {
            place.byte = std::max(first[p], (first[p] + inside - kTableCost) / kAligned * kAligned);
        }
        places.push_back(place);
    }
    places.push_back({pictures, first[pictures]});
    // A run of places inside one picture: it is cut into one part more than there are of them.
    for (std::size_t g = 1; g < groups;) {
        std::size_t behind = g;
        while (behind < groups && places[behind].picture == places[g].picture &&
               places[behind].byte > first[places[behind].picture])
            ++behind;
        for (std::size_t of_run = g; of_run < behind; ++of_run) {
            places[of_run].first_group = static_cast<std::uint32_t>(g - 1);
            places[of_run].groups = static_cast<std::uint32_t>(behind - g + 1);
        }
        g = std::max(behind, g + 1);
    }
    return places;
}

// ---- launches -----------------------------------------------------------------------------------

// Smaller ones, in pixels, have no second load for every work-item.
constexpr std::uint64_t kSmallPicture = 32 << 10;

std::string Launch::text() const {
    const std::string text = TunedLaunch::text(groups);
    return group_size > 1 ? text : "one work-item" + text.substr(text.find(','));
}

// How a group counts pictures of so many pixels in the launches of many: what was fastest on an
// H100, or within 1 % of it (docs/results/h100.json, the experiment "many-launches"). The smaller a
// picture, the more it costs to zero a large table and to add it up, and the fewer work-items have
// something to do.
static Launch usual(std::uint64_t pixels) {
    if (pixels < 8 << 10) return {{.copies = 4, .loads = 1, .group_size = 256}};
    if (pixels < kSmallPicture) return {{.copies = 32, .loads = 1, .group_size = 256}};
    return {{.copies = 32, .loads = 2, .group_size = 512}};
}

Launches launches(const Batch& batch, const common::Options& options, const DeviceLimits& limits) {
    const std::uint64_t pixels = batch.bytes();
    const std::uint64_t mean = pixels / batch.size();
    const std::uint64_t cost = pixels + batch.size() * kTableCost;
    const std::optional<unsigned> copies = options.number("copies");
    const std::optional<unsigned> loads = options.number("loads");
    // On a CPU a group runs on one core, work-item by work-item.
    const bool alone = limits.cpu && !copies && options.group_size.value_or(1) == 1;
    const auto of = [&](Launch launch) {
        launch.copies = copies.value_or(launch.copies);
        launch.loads = loads.value_or(launch.loads);
        launch.group_size =
            options.group_size.value_or(std::min(launch.group_size, limits.max_group_size));
        // Of tables for places there are twice as many as loads.
        const bool few = mean < kSmallPicture || limits.local_bytes < 8192;
        if (alone) launch = {{1, loads.value_or(few ? 1 : 3), 1}};
        // Some is left of the local memory: a compiler may keep it for itself.
        while (!copies && launch.copies > 1 &&
               launch.copies * sizeof(Histogram) >= limits.local_bytes)
            launch.copies /= 2;
        return launch;
    };
    const Launch in_a_batch = of(usual(mean));
    Launches launches{of({{.copies = 4, .loads = 1, .group_size = 256}}), in_a_batch, in_a_batch};
    const std::size_t pixels_a_step = alone ? 4096 : 16;
    launches.one.groups = groups_with_work(mean, launches.one.group_size, pixels_a_step,
                                           alone ? limits.units : 2 * limits.units);
    launches.each.groups = batch.size();
    // A few shares for each unit, small enough that none waits long for the last.
    const std::uint64_t most = alone ? cost : (256 << 10) + kTableCost;
    const std::uint64_t share =
        std::max<std::uint64_t>(std::min(cost / (limits.units * (alone ? 4 : 8)), most), 16 << 10);
    launches.shared.groups = (cost + share - 1) / share;
    if (options.groups) {
        launches.one.groups = launches.each.groups = *options.groups;
        launches.shared.groups = std::min<std::uint64_t>(*options.groups, cost / 16);
    }
    return launches;
}

}  // namespace many
