/// @file
/// What there is to count, and in which parts: nothing here knows of MPI.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"

namespace CLI {
class App;
}

namespace cluster {

/// A node's counters have 32 bits for a chunk; those of the whole have 64.
using Counts = std::array<std::uint64_t, common::kBins>;

/// Pixels in all. A counter holds more; nobody waits for so many.
inline constexpr std::uint64_t kMaxClusterPixels = std::uint64_t{1} << 60;

/// Pixels that one launch counts: fewer than its 32-bit counters hold.
inline constexpr std::size_t kMaxAtOnce = std::size_t{1} << 31;

/// What these programs have no use for. @param more of the same, of one program
std::vector<common::UnsupportedOption> unsupported_options(
    std::vector<common::UnsupportedOption> more = {});

void add(const common::Histogram& part, Counts& sum);
void add(const Counts& part, Counts& sum);
std::uint64_t total(const Counts& counts);

/// What these programs take beside the options that all chapters share.
struct Own {
    std::optional<std::filesystem::path> raw;
    std::optional<std::filesystem::path> each;
    std::uint64_t chunk = 0;  ///< the most pixels to read at a time; 0: not given
    bool keep_going = false;
    bool check = false;
    bool resident = false;

    /// For common::parse_options: adds them to the command line.
    void add_to(CLI::App& app);
    /// @throws common::BadInput for options that exclude each other or cannot be written to
    void refuse_contradictions(const common::Options& options) const;
};

/// Pixels of a file, of a stream or of pictures, in items that are counted by one rank each: chunks
/// of equal size, or whole pictures.
class Work {
 public:
    /// @param ranks that share it: without --chunk there are several chunks for each, if they do
    /// not
    ///        become too small
    /// @throws common::BadInput
    Work(const common::Options& options, const Own& own, int ranks);

    std::string name;
    std::optional<std::uint64_t> seed;
    std::uint64_t pixels = 0;  ///< in all; of pictures nobody knows before they have been read
    std::uint64_t chunk = 1;   ///< pixels of each chunk but the last; of a picture's parts
    std::optional<std::filesystem::path> raw;     ///< the file, where it is one
    std::vector<std::filesystem::path> pictures;  ///< where they are those, by name

    [[nodiscard]] std::uint64_t items() const;

    /// Of chunks: where this one begins, and its pixels.
    [[nodiscard]] std::uint64_t first_of(std::uint64_t item) const { return item * chunk; }
    [[nodiscard]] std::uint64_t pixels_of(std::uint64_t item) const;

    /// The most pixels that are read, or counted, at a time; those of a buffer.
    [[nodiscard]] std::size_t largest_piece() const;

    /// Of --resident: all pixels that a rank keeps. It has every n-th chunk, for n ranks.
    [[nodiscard]] std::size_t resident_pixels(int rank, int ranks) const;

    /// The picture that is the n-th to be taken, as an index of `pictures`: the largest first, so
    /// that none is left for the end that all others have to wait for.
    [[nodiscard]] std::uint64_t in_order(std::uint64_t n) const { return order_[n]; }

    /// Of a stream: makes the pixels from `first` on.
    void make(std::uint64_t first, std::span<std::uint8_t> part) const {
        stream_->read(first, part);
    }

    /// A number that differs where another rank sees other files.
    [[nodiscard]] std::uint64_t fingerprint() const;

    /// The serial loop over everything, one item after the other, without anybody's help.
    /// @param each called with each picture that can be read
    /// @param keep_going passes over those that cannot
    [[nodiscard]] Counts count_serially(
        bool keep_going,
        const std::function<void(std::uint64_t picture, const Counts& counts)>& each) const;

 private:
    void list_pictures(const std::filesystem::path& folder);

    std::optional<common::PixelStream> stream_;
    std::vector<std::uint64_t> order_;  // of the pictures
    std::vector<std::uint64_t> bytes_;  // of each picture's file
};

}  // namespace cluster
