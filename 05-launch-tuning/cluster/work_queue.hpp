/// @file
/// Who counts what: each rank takes the next item when it has room for one.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "05-launch-tuning/cluster/source.hpp"

namespace cluster {

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

    /// Collective: all items are there to be taken again, and all ranks begin together.
    void begin();

    /// The next pixels for this rank; none where all is taken. They stay until the second call
    /// after.
    /// @throws common::BadInput
    Piece next();

    /// Collective, at the end of a program that has not failed.
    void end();

    /// For readers: the next item; where they put its pixels; a picture that cannot be read.
    std::optional<std::uint64_t> take();
    std::span<std::uint8_t> next_buffer(std::uint64_t pixel_count);
    /// Without --keep-going the error, which is being handled, is thrown again.
    void skip(std::uint64_t picture, const common::BadInput& error);

    Tally tally;
    std::map<std::uint64_t, std::string> skipped;  ///< why, by picture

 private:
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
    std::unique_ptr<Reader> reader_;
};

}  // namespace cluster
