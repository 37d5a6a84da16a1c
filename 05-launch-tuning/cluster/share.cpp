#include "05-launch-tuning/cluster/share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "common/image/image.hpp"
#include "common/status/status.hpp"

namespace cluster {
namespace {

// Where files are concerned MPI returns its errors, and we say what is wrong; elsewhere it ends the
// job by itself.
void check_file(int error, const std::filesystem::path& path) {
    if (error == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(error, text, &length);
    throw common::BadInput(fmt::format("{}: {}", path.string(), text));
}

}  // namespace

Share::Share(MPI_Comm everyone, const Work& work, const Own& own, const Buffers& buffers)
    : everyone_(everyone), work_(work), own_(own), buffers_(buffers) {
    MPI_Comm_rank(everyone, &rank_);
    MPI_Comm_size(everyone, &ranks_);
    own_turn_ = static_cast<std::uint64_t>(rank_);
    // A number on rank 0 that every rank can reach without rank 0's help: the next item to be
    // taken.
    MPI_Win_allocate(rank_ == 0 ? sizeof(std::uint64_t) : 0, sizeof(std::uint64_t), MPI_INFO_NULL,
                     everyone, static_cast<void*>(&next_ticket_), &tickets_);
    MPI_Win_lock_all(0, tickets_);
    if (work.raw) {
        // By each rank for itself: one that cannot open it must not leave the others waiting.
        check_file(MPI_File_open(MPI_COMM_SELF, work.raw->string().c_str(), MPI_MODE_RDONLY,
                                 MPI_INFO_NULL, &file_),
                   *work.raw);
    }
}

Share::~Share() {
    // A rank that fails: nothing may be written to the buffers when they are gone.
    try {
        if (under_way_ != MPI_REQUEST_NULL) wait_for_reading();
    } catch (const common::BadInput&) {  // why it fails has been said
    }
}

void Share::end() {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
    MPI_Win_unlock_all(tickets_);
    MPI_Win_free(&tickets_);
}

void Share::begin() {
    MPI_Barrier(everyone_);  // all have taken their last of the run before
    const std::uint64_t zero = 0;
    std::uint64_t before = 0;
    if (rank_ == 0) {
        MPI_Fetch_and_op(&zero, &before, MPI_UINT64_T, 0, 0, MPI_REPLACE, tickets_);
        MPI_Win_flush(0, tickets_);
    }
    own_turn_ = static_cast<std::uint64_t>(rank_);
    tally = own_.resident ? Tally{tally.items, tally.pixels} : Tally{};
    skipped.clear();
    all_taken_ = false;
    MPI_Barrier(everyone_);
}

std::uint64_t Share::take() {
    std::uint64_t item = 0;
    if (own_.resident) {
        item = std::exchange(own_turn_, own_turn_ + static_cast<std::uint64_t>(ranks_));
    } else {
        const std::uint64_t one = 1;
        MPI_Fetch_and_op(&one, &item, MPI_UINT64_T, 0, 0, MPI_SUM, tickets_);
        MPI_Win_flush(0, tickets_);
    }
    all_taken_ = item >= work_.items();
    if (!all_taken_) ++tally.items;
    return item;
}

Piece Share::next() {
    const double start = MPI_Wtime();
    Piece piece = work_.raw                ? next_chunk_of_file()
                  : work_.pictures.empty() ? next_of_stream()
                                           : next_of_picture();
    tally.pixels += piece.pixels.size();
    tally.reading_seconds += MPI_Wtime() - start;
    return piece;
}

void Share::start_reading() {
    reading_ = {};
    if (all_taken_) return;
    const std::uint64_t item = take();
    if (all_taken_) return;
    std::uint8_t* const buffer = buffers_[turn_++ % kBuffers];
    reading_ = {item, {buffer, static_cast<std::size_t>(work_.pixels_of(item))}, nullptr};
    check_file(MPI_File_iread_at(file_, static_cast<MPI_Offset>(work_.first_of(item)), buffer,
                                 static_cast<int>(reading_.pixels.size()), MPI_BYTE, &under_way_),
               *work_.raw);
}

// Not with MPI_Wait: Open MPI 4 waits for ever for bytes that are no longer there.
void Share::wait_for_reading() {
    const std::uint64_t end = work_.first_of(reading_.item) + reading_.pixels.size();
    for (int done = 0; done == 0;) {
        MPI_Offset size = 0;
        check_file(MPI_File_get_size(file_, &size), *work_.raw);
        if (static_cast<std::uint64_t>(size) < end) {
            throw common::BadInput(
                fmt::format("{}: {} bytes where there were {}: it is shorter than it was",
                            work_.raw->string(), size, work_.pixels));
        }
        check_file(MPI_Test(&under_way_, &done, MPI_STATUS_IGNORE), *work_.raw);
        if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

Piece Share::next_chunk_of_file() {
    if (tally.items == 0) start_reading();  // the first of all
    if (reading_.pixels.empty()) return {};
    wait_for_reading();
    Piece piece = reading_;
    start_reading();  // while this piece is counted
    return piece;
}

Piece Share::next_of_stream() {
    if (all_taken_) return {};
    const std::uint64_t item = take();
    if (all_taken_) return {};
    const std::span<std::uint8_t> part(buffers_[turn_++ % kBuffers],
                                       static_cast<std::size_t>(work_.pixels_of(item)));
    work_.make(work_.first_of(item), part);
    return {item, part, nullptr};
}

Piece Share::next_of_picture() {
    while (rest_of_picture_.pixels.empty()) {
        if (all_taken_) return {};
        const std::uint64_t ticket = take();
        if (all_taken_) return {};
        const std::uint64_t item = work_.in_order(ticket);
        try {
            common::Picture loaded = common::load_picture(work_.pictures[item]);
            const auto picture =
                std::make_shared<const common::PixelBuffer>(std::move(loaded.pixels));
            rest_of_picture_ = {item, *picture, picture};
        } catch (const common::BadInput& error) {
            if (!own_.keep_going) throw;
            ++tally.skipped;
            skipped[item] = error.what();
        }
    }
    const std::size_t length = std::min<std::size_t>(rest_of_picture_.pixels.size(), work_.chunk);
    Piece piece = rest_of_picture_;
    piece.pixels = piece.pixels.first(length);
    rest_of_picture_.pixels = rest_of_picture_.pixels.subspan(length);
    if (rest_of_picture_.pixels.empty()) rest_of_picture_ = {};
    return piece;
}

}  // namespace cluster
