#include "05-launch-tuning/workshops/cluster/source.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "05-launch-tuning/workshops/cluster/ranks.hpp"
#include "common/process/status.hpp"

namespace fs = std::filesystem;
using common::BadInput;

namespace cluster {

void ClusterOptions::add_to(CLI::App& app) {
    app.get_option("--repeat")->description("runs, each of them timed (default: 1)");
    app.add_option("--raw", raw, "a file of any size, a byte for each pixel")->type_name("FILE");
    app.add_flag("--check", check, "count with the serial loop as well, and compare");
}

std::vector<common::UnsupportedOption> unsupported_options(
    std::vector<common::UnsupportedOption> more) {
    more.insert(more.end(), {{"--plot", "there is nothing to draw"},
                             {"--time-limit", "mpirun --timeout S ends all ranks after S seconds"},
                             {"--no-ceiling", "none is measured"}});
    return more;
}

Source::Source(const common::Options& options, const ClusterOptions& cluster_options) {
    if (cluster_options.raw) {
        if (options.image || options.random || options.constant || options.ramp || options.tile)
            throw BadInput("--raw, an IMAGE and generated pixels exclude each other");
        raw_ = *cluster_options.raw;
        try {
            file_ = common::open_input(raw_);
        } catch (const BadInput& error) {
            throw BadInput(fmt::format("{}: {}", raw_.string(), error.what()));
        }
        if (!fs::is_regular_file(raw_))
            throw BadInput(fmt::format("{}: not a regular file", raw_.string()));
        pixel_count = fs::file_size(raw_);
        name = raw_.filename().string();
    } else {
        stream_.emplace(options);
        name = stream_->name;
        seed = stream_->seed;
        pixel_count = stream_->size;
    }
    // Where they do not divide evenly, the first ranks have one pixel more.
    const auto ranks = static_cast<std::uint64_t>(rank_count());
    const auto before = static_cast<std::uint64_t>(rank());
    const std::uint64_t more = pixel_count % ranks;
    first_ = pixel_count / ranks * before + std::min(before, more);
    own = static_cast<std::size_t>(pixel_count / ranks + (before < more ? 1 : 0));
}

void Source::read(std::uint64_t first, std::uint64_t count, const Take& take) const {
    constexpr std::uint64_t kAtATime = std::uint64_t{64} << 20;
    common::PixelBuffer pixels(std::min(count, kAtATime));
    for (std::uint64_t before = 0; before < count; before += pixels.size()) {
        pixels.resize(std::min(count - before, kAtATime));
        if (stream_) {
            stream_->read(first + before, pixels);
        } else if (fseeko(file_.get(), static_cast<off_t>(first + before), SEEK_SET) != 0 ||
                   std::fread(pixels.data(), 1, pixels.size(), file_.get()) != pixels.size()) {
            throw BadInput(fmt::format(
                "{}: fewer than {} bytes: it cannot be read, or it is shorter than it was",
                raw_.string(), pixel_count));
        }
        take(pixels, static_cast<std::size_t>(before));
    }
}

Counts Source::count_serially() const {
    Counts counts{};
    read(0, pixel_count, [&](std::span<const std::uint8_t> pixels, std::size_t) {
        add(common::reference_histogram(pixels), counts);
    });
    return counts;
}

}  // namespace cluster
