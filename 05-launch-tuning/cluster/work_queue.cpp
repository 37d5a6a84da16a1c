#include "05-launch-tuning/cluster/work_queue.hpp"

#include <utility>

namespace cluster {

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
    reader_ = source.open_reader(*this);
}

void WorkQueue::end() {
    reader_.reset();
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
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

std::span<std::uint8_t> WorkQueue::next_buffer(std::uint64_t pixel_count) {
    return {buffers_[buffers_used_++ % kBuffers], static_cast<std::size_t>(pixel_count)};
}

void WorkQueue::skip(std::uint64_t picture, const common::BadInput& error) {
    if (!options_.keep_going) throw;
    skipped[picture] = error.what();
}

Piece WorkQueue::next() {
    const double start = MPI_Wtime();
    Piece piece = reader_->next();
    tally.pixels += piece.pixels.size();
    tally.reading_seconds += MPI_Wtime() - start;
    return piece;
}

}  // namespace cluster
