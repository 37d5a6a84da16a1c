/// @file
/// What there is to count, and which part of it is this rank's: of a file of raw pixels, or of
/// pixels that each rank makes for itself.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>

#include "common/files/input_file.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"

namespace cluster {

/// Counters for the whole. Those of one launch have 32 bits, as everywhere in this course.
using Counts = std::array<std::uint64_t, common::kBins>;

inline void add(const common::Histogram& part, Counts& sum) {
    for (std::size_t bin = 0; bin < common::kBins; ++bin)
        sum[bin] += part[bin];
}

inline std::uint64_t total(const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// The pixels, of which each rank has an equal part, one behind the other.
class Source {
 public:
    /// @param raw a file with a byte for each pixel, if there is one
    /// @throws common::BadInput
    Source(const common::Options& options, const std::optional<std::string>& raw, int rank,
           int ranks);

    std::string name;
    std::optional<std::uint64_t> seed;
    std::uint64_t pixel_count = 0;  ///< of all ranks together
    std::size_t own = 0;            ///< of this rank

    /// Reads this rank's pixels, or makes them, some at a time.
    /// @param take is given the pixels, and how many came before them
    /// @throws common::BadInput
    using Take = std::function<void(std::span<const std::uint8_t> pixels, std::size_t before)>;
    void read_own(const Take& take) const { read(first_, own, take); }

    /// The serial loop over the pixels of all ranks, on this rank alone.
    [[nodiscard]] Counts count_serially() const;

 private:
    void read(std::uint64_t first, std::uint64_t count, const Take& take) const;

    common::File file_{nullptr, std::fclose};
    std::optional<common::PixelStream> stream_;  // where there is no file
    std::uint64_t first_ = 0;                    // of this rank's pixels
};

}  // namespace cluster
