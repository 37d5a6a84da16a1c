/// @file
/// What there is to count, and in which parts: a file of raw pixels, generated pixels, or pictures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "05-launch-tuning/cluster/counts.hpp"
#include "05-launch-tuning/cluster/options.hpp"
#include "common/image/pixels.hpp"
#include "common/inputs/inputs.hpp"
#include "common/status/status.hpp"

namespace cluster {

class WorkQueue;

/// Pixels that one launch counts: fewer than its 32-bit counters hold.
inline constexpr std::size_t kMaxLaunchPixels = std::size_t{1} << 31;

/// Pixels to count, all or a part of an item.
struct Piece {
    std::uint64_t item = 0;
    std::span<const std::uint8_t> pixels;
    std::shared_ptr<const common::PixelBuffer> picture;  ///< the owner of a picture's pixels
};

/// Reads the items that one rank takes.
class Reader {
 public:
    virtual ~Reader() = default;
    /// The next pixels for this rank; none where all is taken.
    /// @throws common::BadInput
    virtual Piece next() = 0;
};

/// What there is to count, in items, each of which one rank counts.
class Source {
 public:
    virtual ~Source() = default;

    std::string name;
    std::optional<std::uint64_t> seed;
    std::uint64_t pixel_count = 0;  ///< in all; 0 for pictures: not known before they are read
    std::uint64_t chunk = 1;        ///< the most pixels that are counted at a time
    std::vector<std::filesystem::path> pictures;  ///< by name, where an item is one of them

    [[nodiscard]] virtual std::uint64_t items() const = 0;
    /// The most pixels that a reader hands out at a time.
    [[nodiscard]] virtual std::size_t max_piece() const { return chunk; }
    /// Pixels for which each of a reader's buffers needs room.
    [[nodiscard]] virtual std::size_t buffer_pixels() const { return 0; }
    /// Of --resident: all pixels that a rank keeps. It has every n-th item, for n ranks.
    [[nodiscard]] virtual std::size_t resident_pixels(int, int) const { return 0; }

    /// @param work whose items it reads, and which outlives it
    [[nodiscard]] virtual std::unique_ptr<Reader> open_reader(WorkQueue& work) const = 0;

    using EachPicture = std::function<void(std::uint64_t picture, const Counts& counts)>;
    /// The serial loop over everything, on this rank alone.
    /// @param each called with each picture that can be read
    /// @param keep_going passes over those that cannot
    [[nodiscard]] virtual Counts count_serially(bool keep_going, const EachPicture& each) const = 0;

    /// A number that differs where another rank sees other files.
    [[nodiscard]] std::uint64_t fingerprint() const;
};

/// Pixels in items of equal size: `chunk`, but for the last.
class Chunks : public Source {
 public:
    [[nodiscard]] std::uint64_t items() const override;
    [[nodiscard]] std::uint64_t first_of(std::uint64_t item) const { return item * chunk; }
    [[nodiscard]] std::uint64_t pixels_of(std::uint64_t item) const;
    [[nodiscard]] std::size_t max_piece() const override;
    [[nodiscard]] std::size_t buffer_pixels() const override { return max_piece(); }
    [[nodiscard]] std::size_t resident_pixels(int rank, int ranks) const override;
    [[nodiscard]] Counts count_serially(bool, const EachPicture&) const override;

    /// Reads or makes the pixels from `first` on.
    virtual void read(std::uint64_t first, std::span<std::uint8_t> part) const = 0;

 protected:
    /// Without --chunk there are eight chunks for each rank, if they do not become too small: a
    /// slow rank then takes fewer.
    void choose_chunk(const ClusterOptions& options, int ranks);
};

/// A file with a byte for each pixel. While a chunk is counted, MPI reads the next one.
class RawFile : public Chunks {
 public:
    RawFile(const ClusterOptions& options, int ranks);
    [[nodiscard]] std::unique_ptr<Reader> open_reader(WorkQueue& work) const override;
    [[nodiscard]] common::BadInput too_short() const;
    void read(std::uint64_t first, std::span<std::uint8_t> part) const override;

    std::filesystem::path path;
};

/// Pixels that each rank makes for itself, or a picture that is repeated.
class GeneratedPixels : public Chunks {
 public:
    GeneratedPixels(const common::Options& common, const ClusterOptions& options, int ranks);
    [[nodiscard]] std::unique_ptr<Reader> open_reader(WorkQueue& work) const override;
    void read(std::uint64_t first, std::span<std::uint8_t> part) const override {
        stream_.read(first, part);
    }

 private:
    common::PixelStream stream_;
};

/// One picture, or all those of a folder. An item is a whole picture, with memory of its own.
class Pictures : public Source {
 public:
    Pictures(const common::Options& common, const ClusterOptions& options);
    [[nodiscard]] std::uint64_t items() const override { return pictures.size(); }
    [[nodiscard]] std::unique_ptr<Reader> open_reader(WorkQueue& work) const override;
    [[nodiscard]] Counts count_serially(bool keep_going, const EachPicture& each) const override;

    /// Indices into `pictures`: the largest first, so that none is left for the end that all others
    /// have to wait for.
    std::vector<std::uint64_t> largest_first;
};

/// What the command line asks for. @throws common::BadInput
std::unique_ptr<const Source> find_source(const common::Options& common,
                                          const ClusterOptions& options, int ranks);

}  // namespace cluster
