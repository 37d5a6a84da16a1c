/// @file
/// What there is to count, and in which parts: a file of raw pixels, generated pixels, or pictures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "05-launch-tuning/workshops/cluster/counts.hpp"
#include "05-launch-tuning/workshops/cluster/options.hpp"
#include "common/inputs/inputs.hpp"
#include "common/status/status.hpp"

namespace cluster {

/// Pixels that one launch counts: fewer than its 32-bit counters hold.
inline constexpr std::size_t kMaxLaunchPixels = std::size_t{1} << 31;

/// What there is to count, in items, each of which one rank counts: a picture, or `chunk` pixels of
/// a file or of generated ones, fewer in the last.
struct Source {
    std::string name;
    std::optional<std::uint64_t> seed;
    std::uint64_t pixel_count = 0;  ///< in all; 0 for pictures: not known before they are read
    std::uint64_t chunk = 1;        ///< the most pixels that are counted at a time

    // One of these three.
    std::filesystem::path raw;                    ///< a file with a byte for each pixel
    std::optional<common::PixelStream> stream;    ///< pixels that each rank makes for itself
    std::vector<std::filesystem::path> pictures;  ///< by name

    /// Indices into `pictures`: the largest first, so that none is left for the end that all others
    /// have to wait for.
    std::vector<std::uint64_t> largest_first;

    [[nodiscard]] std::uint64_t items() const;
    [[nodiscard]] std::uint64_t first_of(std::uint64_t item) const { return item * chunk; }
    [[nodiscard]] std::uint64_t pixels_of(std::uint64_t item) const;
    /// The most pixels that are handed out at a time.
    [[nodiscard]] std::size_t max_piece() const;
    /// Pixels for which each of a rank's buffers needs room. Pictures have memory of their own.
    [[nodiscard]] std::size_t buffer_pixels() const { return pictures.empty() ? max_piece() : 0; }
    /// Of --resident: all pixels that a rank keeps. It has every n-th item, for n ranks.
    [[nodiscard]] std::size_t resident_pixels(int rank, int ranks) const;

    using EachPicture = std::function<void(std::uint64_t picture, const Counts& counts)>;
    /// The serial loop over everything, on this rank alone.
    /// @param each called with each picture that can be read
    /// @param keep_going passes over those that cannot
    [[nodiscard]] Counts count_serially(bool keep_going, const EachPicture& each) const;

    /// A number that differs where another rank sees other files.
    [[nodiscard]] std::uint64_t fingerprint() const;
    [[nodiscard]] common::BadInput too_short() const;
};

/// What the command line asks for. @throws common::BadInput
Source find_source(const common::Options& common, const ClusterOptions& options, int ranks);

}  // namespace cluster
