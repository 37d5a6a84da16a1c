#include "05-launch-tuning/cluster/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "common/histogram/histogram.hpp"

namespace fs = std::filesystem;

namespace cluster {

std::uint64_t Source::fingerprint() const {
    std::string text = fmt::format("{} {}", name, pixel_count);
    for (const fs::path& picture : pictures) {
        std::error_code unknown;
        text += fmt::format("\n{} {}", picture.string(), fs::file_size(picture, unknown));
    }
    return std::hash<std::string>()(text);
}

std::uint64_t Chunks::items() const {
    return pixel_count / chunk + (pixel_count % chunk > 0 ? 1 : 0);
}

std::uint64_t Chunks::pixels_of(std::uint64_t item) const {
    return std::min(chunk, pixel_count - first_of(item));
}

std::size_t Chunks::max_piece() const {
    return static_cast<std::size_t>(std::min(chunk, pixel_count));
}

std::size_t Chunks::resident_pixels(int rank, int ranks) const {
    std::uint64_t sum = 0;
    for (auto item = static_cast<std::uint64_t>(rank); item < items();
         item += static_cast<std::uint64_t>(ranks))
        sum += pixels_of(item);
    return static_cast<std::size_t>(sum);
}

Counts Chunks::count_serially(bool, const EachPicture&) const {
    Counts counts{};
    common::PixelBuffer part;
    for (std::uint64_t item = 0; item < items(); ++item) {
        part.resize(pixels_of(item));
        read(first_of(item), part);
        add(common::reference_histogram(part), counts);
    }
    return counts;
}

void Chunks::choose_chunk(const ClusterOptions& options, int ranks) {
    // Whole blocks of a stream (common/inputs): a part of one costs as much as all of it.
    constexpr std::uint64_t kMin = std::uint64_t{1} << 20;
    constexpr std::uint64_t kMax = std::uint64_t{64} << 20;
    const std::uint64_t eighth = pixel_count / (8 * static_cast<std::uint64_t>(ranks));
    chunk = options.chunk > 0 ? options.chunk : std::clamp(eighth / kMin * kMin, kMin, kMax);
}

std::unique_ptr<const Source> find_source(const common::Options& common,
                                          const ClusterOptions& options, int ranks) {
    if (options.raw) return std::make_unique<RawFile>(options, ranks);
    if (generated(common)) return std::make_unique<GeneratedPixels>(common, options, ranks);
    return std::make_unique<Pictures>(common, options);
}

}  // namespace cluster
