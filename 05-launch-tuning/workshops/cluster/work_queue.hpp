/// @file
/// Who counts what: each rank takes the next item when it has room for one, and reads it.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "05-launch-tuning/workshops/cluster/source.hpp"
#include "common/image/pixels.hpp"

namespace cluster {

/// Pixels to count, one behind the other: all or a part of an item, or of several pictures.
struct Piece {
    struct Part {
        std::uint64_t item = 0;
        std::size_t pixels = 0;
    };
    std::vector<Part> parts;
    std::span<const std::uint8_t> pixels;
    std::shared_ptr<const common::PixelBuffer> pictures;  ///< the owner of pictures' pixels
};

/// The most parts of a piece, and of pictures the most pixels of a part: on a device each is
/// counted by one group.
inline constexpr std::size_t kMaxParts = 4096;
inline constexpr std::size_t kMaxPartPixels = std::size_t{256} << 10;

/// What a rank took in its last run.
struct Tally {
    std::uint64_t items = 0;
    std::uint64_t pixels = 0;
    double reading_seconds = 0;  ///< that next() took: waiting for the file, making, decoding
};

/// The items that are left, for all ranks. The functions that say so are collective, no other is;
/// nor is the destructor, so that a rank that fails leaves without waiting for the others.
class WorkQueue {
 public:
    /// How many chunks there must be room for: one is counted, one is ready, one is being read.
    static constexpr std::size_t kBuffers = 3;
    using Buffers = std::array<std::uint8_t*, kBuffers>;

    /// Collective. @param buffers each for Source::buffer_pixels
    WorkQueue(MPI_Comm ranks, const Source& source, const ClusterOptions& options,
              const Buffers& buffers);
    ~WorkQueue();
    WorkQueue(const WorkQueue&) = delete;
    WorkQueue& operator=(const WorkQueue&) = delete;

    /// Collective: all items are there to be taken again, and all ranks begin together.
    void begin();

    /// The next pixels for this rank; none where all is taken. They stay until the second call
    /// after.
    /// @throws common::BadInput
    Piece next();

    /// Collective, at the end of a program that has not failed.
    void end();

    Tally tally;
    std::map<std::uint64_t, std::string> skipped;  ///< why, by picture

 private:
    std::optional<std::uint64_t> take();
    Piece next_of_pictures();
    Piece next_of_stream();
    Piece next_of_file();
    void start_reading();
    void wait_for_file();
    void close_file();
    std::span<std::uint8_t> buffer_for(std::uint64_t item);

    MPI_Comm ranks_;
    const Source& source_;
    const ClusterOptions& options_;
    Buffers buffers_;
    int rank_ = 0, rank_count_ = 1;
    std::size_t buffers_used_ = 0;
    std::uint64_t next_resident_ = 0;     // item of --resident
    MPI_Win window_ = MPI_WIN_NULL;       // on next_item_
    std::uint64_t* next_item_ = nullptr;  // on rank 0
    bool all_taken_ = false;
    common::PixelBuffer picture_;         // the last one that was read
    std::uint64_t picture_item_ = 0;      // which it is
    std::span<const std::uint8_t> rest_;  // what is left of it
    MPI_File file_ = MPI_FILE_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
    Piece being_read_;  // from the file
};

}  // namespace cluster
