#include "05-launch-tuning/workshops/cluster/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "common/process/status.hpp"

namespace fs = std::filesystem;
using common::BadInput;

namespace cluster {

Source::Source(const common::Options& options, const std::optional<std::string>& raw, int rank,
               int ranks) {
    if (raw) {
        if (options.image || options.random || options.constant || options.ramp || options.tile)
            throw BadInput("--raw, an IMAGE and generated pixels exclude each other");
        name = *raw;
        try {
            file_ = common::open_input(*raw);
        } catch (const BadInput& error) {
            throw BadInput(fmt::format("{}: {}", name, error.what()));
        }
        if (!fs::is_regular_file(*raw)) throw BadInput(name + ": not a regular file");
        pixel_count = fs::file_size(*raw);
    } else {
        stream_.emplace(options);
        name = stream_->name;
        seed = stream_->seed;
        pixel_count = stream_->size;
    }
    // Where they do not divide evenly, the first ranks have one pixel more.
    const auto before = static_cast<std::uint64_t>(rank);
    const std::uint64_t each = pixel_count / static_cast<std::uint64_t>(ranks);
    const std::uint64_t more = pixel_count % static_cast<std::uint64_t>(ranks);
    first_ = each * before + std::min(before, more);
    own = static_cast<std::size_t>(each + (before < more ? 1 : 0));
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
                "{}: fewer than {} bytes: it cannot be read, or it is shorter than it was", name,
                pixel_count));
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
