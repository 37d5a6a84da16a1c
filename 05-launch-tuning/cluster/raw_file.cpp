#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>

#include "05-launch-tuning/cluster/source.hpp"
#include "05-launch-tuning/cluster/work_queue.hpp"
#include "common/files/input_file.hpp"
#include "common/status/status.hpp"

namespace fs = std::filesystem;
using common::BadInput;

namespace cluster {
namespace {

// MPI ends the job by itself where something fails, but not where it is a file: there we say what.
void check(int error, const fs::path& path) {
    if (error == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(error, text, &length);
    throw BadInput(fmt::format("{}: {}", path.string(), text));
}

class RawFileReader : public Reader {
 public:
    // Each rank opens the file for itself: one that cannot must not leave the others waiting.
    RawFileReader(const RawFile& source, WorkQueue& work) : source_(source), work_(work) {
        check(MPI_File_open(MPI_COMM_SELF, source.path.string().c_str(), MPI_MODE_RDONLY,
                            MPI_INFO_NULL, &file_),
              source.path);
    }

    // MPI may still be writing to a buffer when a rank fails: the buffer has to stay until then.
    ~RawFileReader() override {
        try {
            if (request_ != MPI_REQUEST_NULL) wait();
            MPI_File_close(&file_);
        } catch (const BadInput&) {  // why the rank fails has been said
        }
    }
    RawFileReader(const RawFileReader&) = delete;
    RawFileReader& operator=(const RawFileReader&) = delete;

    Piece next() override {
        if (being_read_.pixels.empty()) start();  // the first of a run
        if (being_read_.pixels.empty()) return {};
        wait();
        const Piece piece = being_read_;
        start();  // reads the next one while this one is counted
        return piece;
    }

 private:
    void start() {
        being_read_ = {};
        const std::optional<std::uint64_t> item = work_.take();
        if (!item) return;
        const std::span<std::uint8_t> part = work_.next_buffer(source_.pixels_of(*item));
        being_read_ = {*item, part, nullptr};
        check(MPI_File_iread_at(file_, static_cast<MPI_Offset>(source_.first_of(*item)),
                                part.data(), static_cast<int>(part.size()), MPI_BYTE, &request_),
              source_.path);
    }

    // Not with MPI_Wait: Open MPI 4 waits for ever for bytes that are no longer there.
    void wait() {
        const std::uint64_t end = source_.first_of(being_read_.item) + being_read_.pixels.size();
        for (int done = 0; done == 0;) {
            MPI_Offset size = 0;
            check(MPI_File_get_size(file_, &size), source_.path);
            if (static_cast<std::uint64_t>(size) < end) throw source_.too_short();
            check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), source_.path);
            if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }

    const RawFile& source_;
    WorkQueue& work_;
    MPI_File file_ = MPI_FILE_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
    Piece being_read_;
};

common::File open(const fs::path& path) {
    try {
        return common::open_input(path);
    } catch (const BadInput& error) {
        throw BadInput(fmt::format("{}: {}", path.string(), error.what()));
    }
}

}  // namespace

RawFile::RawFile(const ClusterOptions& options, int ranks) : path(*options.raw) {
    std::error_code error;
    open(path);  // it can be read
    if (!fs::is_regular_file(path, error))
        throw BadInput(fmt::format("{}: not a regular file", path.string()));
    pixel_count = fs::file_size(path, error);
    if (error) throw BadInput(fmt::format("{}: {}", path.string(), error.message()));
    name = path.filename().string();
    choose_chunk(options, ranks);
}

std::unique_ptr<Reader> RawFile::open_reader(WorkQueue& work) const {
    return std::make_unique<RawFileReader>(*this, work);
}

BadInput RawFile::too_short() const {
    return BadInput(fmt::format("{}: fewer than {} bytes: it is shorter than it was", path.string(),
                                pixel_count));
}

void RawFile::read(std::uint64_t first, std::span<std::uint8_t> part) const {
    const common::File file = open(path);
    if (fseeko(file.get(), static_cast<off_t>(first), SEEK_SET) != 0 ||
        std::fread(part.data(), 1, part.size(), file.get()) != part.size())
        throw too_short();
}

}  // namespace cluster
