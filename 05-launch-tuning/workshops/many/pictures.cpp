#include "05-launch-tuning/workshops/many/pictures.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace many {

void Batch::add_options(CLI::App& app) {
    common::add_number(app, "--side", "pixels of a picture's sides (default: 512)", 1, 65535, "S",
                       [this](std::uint64_t pixels) { side = pixels; });
}

common::Input Batch::load(const common::Options& options) {
    common::Input input = common::load_input(options);
    const std::span<const std::uint8_t> pixels(input.pixels);
    std::uint64_t each = std::uint64_t{input.width} * input.height;
    if (input.seed || options.random || each == 0) each = 512 * 512;
    if (side > 0) each = side * side;
    do {
        const std::uint64_t begin = first.back();
        first.push_back(std::min<std::uint64_t>(begin + each, pixels.size()));
        expected.push_back(
            common::reference_histogram(pixels.subspan(begin, first.back() - begin)));
    } while (first.back() < pixels.size());
    input.name += fmt::format("; {} picture{}", size(), size() == 1 ? "" : "s");
    if (side > 0) input.name += fmt::format(" of {0} x {0}", side);
    return input;
}

std::string Batch::what_is_wrong(const std::uint32_t* rows) const {
    std::size_t wrong = 0;
    std::size_t first_wrong = 0;
    for (std::size_t p = size(); p-- > 0;) {
        if (std::equal(expected[p].begin(), expected[p].end(), rows + p * common::kBins)) continue;
        ++wrong;
        first_wrong = p;
    }
    if (wrong == 0) return {};
    return fmt::format(
        "{} of {} pictures {} wrong; the first is number {}: {} pixels from byte {} on", wrong,
        size(), wrong == 1 ? "is" : "are", first_wrong, first[first_wrong + 1] - first[first_wrong],
        first[first_wrong]);
}

void require_zeros(std::span<const unsigned long long> totals) {
    if (std::ranges::any_of(totals, [](auto word) { return word != 0; }))
        throw std::runtime_error("the last launch did not leave its totals at zero");
}

// How a group counts pictures of so many pixels in the launches of many: what was fastest on an
// H100, or within 1 % of it (docs/results/h100.json, the experiment "many-launches"). The smaller a
// picture, the more it costs to zero a large table and to add it up, and the fewer work-items have
// something to do.
static BatchLaunch usual(std::uint64_t pixels) {
    if (pixels < 8 << 10) return {{.copies = 4, .loads = 1, .group_size = 256}};
    if (pixels < 32 << 10) return {{.copies = 32, .loads = 1, .group_size = 256}};
    return {{.copies = 32, .loads = 2, .group_size = 512}};
}

Launches launches(const Batch& batch, const common::Options& options, std::size_t units) {
    const std::uint64_t mean = batch.bytes() / batch.size();
    const auto of = [&](BatchLaunch launch) {
        launch.copies = options.number("copies").value_or(launch.copies);
        launch.loads = options.number("loads").value_or(launch.loads);
        launch.group_size = options.group_size.value_or(launch.group_size);
        return launch;
    };
    Launches launches{of({{.copies = 4, .loads = 1, .group_size = 256}}), of(usual(mean))};
    launches.one.groups =
        options.groups.value_or(groups_with_work(mean, launches.one.group_size, 16, 2 * units));
    launches.each.groups = options.groups.value_or(batch.size());
    return launches;
}

}  // namespace many
