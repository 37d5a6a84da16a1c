/// @file
/// Who counts what: each rank takes the next item when it has room for one, and reads it while the
/// one before is counted.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "05-launch-tuning/cluster/work.hpp"
#include "common/image/pixels.hpp"

namespace cluster {

/// Pixels to count, all or a part of an item.
struct Piece {
    std::uint64_t item = 0;
    std::span<const std::uint8_t> pixels;
    std::shared_ptr<const common::PixelBuffer> picture;  ///< where they lie, if it is one
};

/// What a rank took in its last run.
struct Tally {
    std::uint64_t items = 0;
    std::uint64_t pixels = 0;
    std::uint64_t skipped = 0;   ///< pictures that could not be read
    double reading_seconds = 0;  ///< that next() took: waiting for the file, making, decoding
};

/// A rank's hands in the work. Nothing but the functions that say so is collective; the destructor
/// is not, so that a rank that fails leaves without waiting for the others.
class Share {
 public:
    /// How many chunks there must be room for: one is counted, one is ready, one is on its way.
    static constexpr std::size_t kBuffers = 3;
    using Buffers = std::array<std::uint8_t*, kBuffers>;

    /// Collective. @param buffers each for Work::chunk pixels, if the work is in chunks
    Share(MPI_Comm everyone, const Work& work, const Own& own, const Buffers& buffers);
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

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
    std::uint64_t take();
    Piece next_chunk_of_file();
    Piece next_of_stream();
    Piece next_of_picture();
    void start_reading();
    void wait_for_reading();

    MPI_Comm everyone_;
    const Work& work_;
    const Own& own_;
    Buffers buffers_;
    int rank_ = 0, ranks_ = 1;
    std::size_t turn_ = 0;        // of the buffers
    std::uint64_t own_turn_ = 0;  // of --resident
    MPI_Win tickets_ = MPI_WIN_NULL;
    std::uint64_t* next_ticket_ = nullptr;  // on rank 0
    MPI_File file_ = MPI_FILE_NULL;
    MPI_Request under_way_ = MPI_REQUEST_NULL;
    Piece reading_, rest_of_picture_;
    bool all_taken_ = false;
};

}  // namespace cluster
