#include "05-launch-tuning/workshops/cluster/work_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "common/image/image.hpp"
#include "common/status/status.hpp"

using common::BadInput;

namespace cluster {
namespace {

// MPI ends the job by itself where something fails, but not where it is a file: there we say what.
void check(int error, const std::filesystem::path& path) {
    if (error == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(error, text, &length);
    throw BadInput(fmt::format("{}: {}", path.string(), text));
}

}  // namespace

WorkQueue::WorkQueue(MPI_Comm ranks, const Source& source, const ClusterOptions& options,
                     const Buffers& buffers)
    : ranks_(ranks), source_(source), options_(options), buffers_(buffers) {
    MPI_Comm_rank(ranks, &rank_);
    MPI_Comm_size(ranks, &rank_count_);
    next_resident_ = static_cast<std::uint64_t>(rank_);
    // A number in rank 0's memory that every rank can reach without rank 0's help.
    MPI_Win_allocate(rank_ == 0 ? sizeof(std::uint64_t) : 0, sizeof(std::uint64_t), MPI_INFO_NULL,
                     ranks, static_cast<void*>(&next_item_), &window_);
    MPI_Win_lock_all(0, window_);
    // Each rank opens the file for itself: one that cannot must not leave the others waiting.
    if (!source.raw.empty())
        check(MPI_File_open(MPI_COMM_SELF, source.raw.string().c_str(), MPI_MODE_RDONLY,
                            MPI_INFO_NULL, &file_),
              source.raw);
}

// MPI may still be writing to a buffer when a rank fails: the buffer has to stay until then.
WorkQueue::~WorkQueue() {
    try {
        close_file();
    } catch (const BadInput&) {  // why the rank fails has been said
    }
}

void WorkQueue::end() {
    close_file();
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
}

void WorkQueue::close_file() {
    if (request_ != MPI_REQUEST_NULL) wait_for_file();
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
}

void WorkQueue::begin() {
    MPI_Barrier(ranks_);  // all have taken their last of the run before
    const std::uint64_t zero = 0;
    std::uint64_t before = 0;
    if (rank_ == 0) {
        MPI_Fetch_and_op(&zero, &before, MPI_UINT64_T, 0, 0, MPI_REPLACE, window_);
        MPI_Win_flush(0, window_);
    }
    next_resident_ = static_cast<std::uint64_t>(rank_);
    tally = options_.resident ? Tally{tally.items, tally.pixels} : Tally{};
    skipped.clear();
    all_taken_ = false;
    MPI_Barrier(ranks_);
}

std::optional<std::uint64_t> WorkQueue::take() {
    if (all_taken_) return {};
    std::uint64_t item = 0;
    if (options_.resident) {
        item =
            std::exchange(next_resident_, next_resident_ + static_cast<std::uint64_t>(rank_count_));
    } else {
        const std::uint64_t one = 1;
        MPI_Fetch_and_op(&one, &item, MPI_UINT64_T, 0, 0, MPI_SUM, window_);
        MPI_Win_flush(0, window_);
    }
    all_taken_ = item >= source_.items();
    if (all_taken_) return {};
    ++tally.items;
    return item;
}

Piece WorkQueue::next() {
    const double start = MPI_Wtime();
    Piece piece = source_.stream              ? next_of_stream()
                  : !source_.pictures.empty() ? next_of_pictures()
                                              : next_of_file();
    tally.pixels += piece.pixels.size();
    tally.reading_seconds += MPI_Wtime() - start;
    return piece;
}

std::span<std::uint8_t> WorkQueue::buffer_for(std::uint64_t item) {
    return {buffers_[buffers_used_++ % kBuffers],
            static_cast<std::size_t>(source_.pixels_of(item))};
}

Piece WorkQueue::next_of_stream() {
    const std::optional<std::uint64_t> item = take();
    if (!item) return {};
    const std::span<std::uint8_t> part = buffer_for(*item);
    source_.stream->read(source_.first_of(*item), part);
    return {{{*item, part.size()}}, part, nullptr};
}

// As many as make a chunk. A large one is in several parts, and in several pieces where it has to
// be.
Piece WorkQueue::next_of_pictures() {
    const auto pixels = std::make_shared<common::PixelBuffer>();
    Piece piece;
    while (pixels->size() < source_.chunk && piece.parts.size() < kMaxParts) {
        if (rest_.empty()) {
            const std::optional<std::uint64_t> ticket = take();
            if (!ticket) break;
            picture_item_ = source_.largest_first[*ticket];
            try {
                picture_ = common::load_picture(source_.pictures[picture_item_]).pixels;
            } catch (const BadInput& error) {
                if (!options_.keep_going) throw;
                skipped[picture_item_] = error.what();
                continue;
            }
            rest_ = picture_;
        }
        const std::size_t room =
            std::min<std::size_t>(source_.chunk - pixels->size(), kMaxPartPixels);
        const std::span<const std::uint8_t> part = rest_.first(std::min(rest_.size(), room));
        pixels->insert(pixels->end(), part.begin(), part.end());
        piece.parts.push_back({picture_item_, part.size()});
        rest_ = rest_.subspan(part.size());
    }
    piece.pixels = *pixels;
    piece.pictures = pixels;
    return piece;
}

Piece WorkQueue::next_of_file() {
    if (being_read_.pixels.empty()) start_reading();  // the first of a run
    if (being_read_.pixels.empty()) return {};
    wait_for_file();
    const Piece piece = being_read_;
    start_reading();  // reads the next one while this one is counted
    return piece;
}

void WorkQueue::start_reading() {
    being_read_ = {};
    const std::optional<std::uint64_t> item = take();
    if (!item) return;
    const std::span<std::uint8_t> part = buffer_for(*item);
    being_read_ = {{{*item, part.size()}}, part, nullptr};
    check(MPI_File_iread_at(file_, static_cast<MPI_Offset>(source_.first_of(*item)), part.data(),
                            static_cast<int>(part.size()), MPI_BYTE, &request_),
          source_.raw);
}

// Not with MPI_Wait: Open MPI 4 waits for ever for bytes that are no longer there.
void WorkQueue::wait_for_file() {
    const std::uint64_t end =
        source_.first_of(being_read_.parts.front().item) + being_read_.pixels.size();
    for (int done = 0; done == 0;) {
        MPI_Offset size = 0;
        check(MPI_File_get_size(file_, &size), source_.raw);
        if (static_cast<std::uint64_t>(size) < end) throw source_.too_short();
        check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), source_.raw);
        if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

}  // namespace cluster
