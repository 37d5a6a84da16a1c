/// @file
/// What there is to count, and in which chunks: a file of raw pixels, or pixels that each rank
/// makes for itself.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/files/input_file.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"

namespace CLI {
class App;
}

namespace cluster {

/// Pixels in all. A counter holds more; nobody waits for so many.
inline constexpr std::uint64_t kMaxClusterPixels = std::uint64_t{1} << 60;
/// Pixels that one launch counts: fewer than its 32-bit counters hold.
inline constexpr std::size_t kMaxLaunchPixels = std::size_t{1} << 31;

/// Counters for the whole. Those of one chunk have 32 bits, as everywhere in this course.
using Counts = std::array<std::uint64_t, common::kBins>;

inline void add(const common::Histogram& part, Counts& sum) {
    for (std::size_t bin = 0; bin < common::kBins; ++bin)
        sum[bin] += part[bin];
}

inline std::uint64_t total(const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// What these programs take beside the options that all chapters share.
struct ClusterOptions {
    std::optional<std::filesystem::path> raw;
    std::uint64_t chunk = 0;  ///< the most pixels to read at a time; 0: not given
    bool check = false;
    bool resident = false;

    /// For common::parse_options: adds them to the command line.
    void add_to(CLI::App& app);
};

/// What these programs have no use for. @param more of the same, of one program
std::vector<common::UnsupportedOption> unsupported_options(
    std::vector<common::UnsupportedOption> more);

/// The pixels in chunks, of which this rank has every n-th, for n ranks: nobody has to be asked,
/// and no rank has more than one chunk more than another.
class Source {
 public:
    /// @throws common::BadInput
    Source(const common::Options& options, const ClusterOptions& cluster_options);

    std::string name;
    std::optional<std::uint64_t> seed;
    std::uint64_t pixel_count = 0;  ///< of all ranks together
    std::uint64_t chunk = 1;        ///< the most pixels that are read at a time

    /// Pixels for which a buffer of a chunk needs room.
    [[nodiscard]] std::size_t max_chunk() const;
    /// All pixels of this rank.
    [[nodiscard]] std::uint64_t own_pixels() const;

    /// Reads this rank's next chunk into the buffer, or makes it there. Empty behind the last one.
    /// @throws common::BadInput
    std::span<const std::uint8_t> next(std::uint8_t* buffer);
    /// From the first chunk again.
    void rewind();
    /// What next() took since then, in seconds.
    [[nodiscard]] double reading_seconds() const { return reading_seconds_; }

    /// The serial loop over the chunks of all ranks, on this rank alone.
    [[nodiscard]] Counts count_serially() const;

    /// A number that differs where another rank sees other pixels.
    [[nodiscard]] std::uint64_t fingerprint() const;

 private:
    [[nodiscard]] std::uint64_t chunks() const;
    [[nodiscard]] std::size_t pixels_in(std::uint64_t number) const;
    void read(std::uint64_t number, std::span<std::uint8_t> pixels) const;

    std::filesystem::path raw_;
    common::File file_{nullptr, std::fclose};
    std::optional<common::PixelStream> stream_;  // where there is no file
    std::uint64_t rank_ = 0, ranks_ = 1;
    std::uint64_t next_chunk_ = 0;
    double reading_seconds_ = 0;
};

}  // namespace cluster
