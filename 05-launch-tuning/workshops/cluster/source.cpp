#include "05-launch-tuning/workshops/cluster/source.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>

#include "05-launch-tuning/workshops/cluster/ranks.hpp"
#include "common/process/status.hpp"

namespace fs = std::filesystem;
using common::BadInput;

namespace cluster {

void ClusterOptions::add_to(CLI::App& app) {
    constexpr std::uint64_t kMaxChunk = std::uint64_t{1} << 30;
    app.get_option("--repeat")->description("runs, each of them timed (default: 1)");
    app.add_option("--raw", raw, "a file of any size, a byte for each pixel")->type_name("FILE");
    app.add_option_function<std::string>(
           "--chunk",
           [this](const std::string& text) {
               chunk = common::parse_pixel_count(text, kMaxChunk);
               if (chunk == 0) throw BadInput("--chunk: there must be a pixel in it");
           },
           "pixels to read at a time (default: 64M, or an 8th of a rank's part); a rank needs "
           "memory for 2 chunks, and for one on its device")
        ->type_name("N");
    app.add_flag("--check", check, "count with the serial loop as well, and compare");
    app.add_flag("--resident", resident,
                 "keep the pixels in the devices' memory: time counting and merging alone");
}

std::vector<common::UnsupportedOption> unsupported_options(
    std::vector<common::UnsupportedOption> more) {
    more.insert(more.end(), {{"--plot", "there is nothing to draw"},
                             {"--time-limit", "mpirun --timeout S ends all ranks after S seconds"},
                             {"--no-ceiling", "none is measured"}});
    return more;
}

Source::Source(const common::Options& options, const ClusterOptions& cluster_options)
    : rank_(static_cast<std::uint64_t>(rank())), ranks_(static_cast<std::uint64_t>(rank_count())) {
    if (cluster_options.raw) {
        if (options.image || options.random || options.constant || options.ramp || options.tile)
            throw BadInput("--raw, an IMAGE and generated pixels exclude each other");
        raw_ = *cluster_options.raw;
        try {
            file_ = common::open_input(raw_);
        } catch (const BadInput& error) {
            throw BadInput(fmt::format("{}: {}", raw_.string(), error.what()));
        }
        if (!fs::is_regular_file(raw_))
            throw BadInput(fmt::format("{}: not a regular file", raw_.string()));
        pixel_count = fs::file_size(raw_);
        name = raw_.filename().string();
    } else {
        stream_.emplace(options);
        name = stream_->name;
        seed = stream_->seed;
        pixel_count = stream_->size;
    }
    // Eight chunks for each rank, so that one is counted while the next is read, but at least whole
    // blocks of a stream (common/inputs): a part of one costs as much as all of it.
    constexpr std::uint64_t kMin = std::uint64_t{1} << 20;
    constexpr std::uint64_t kMax = std::uint64_t{64} << 20;
    const std::uint64_t usual = std::clamp(pixel_count / (8 * ranks_) / kMin * kMin, kMin, kMax);
    chunk = cluster_options.chunk > 0 ? cluster_options.chunk : usual;
    rewind();
}

std::uint64_t Source::chunks() const {
    return pixel_count / chunk + (pixel_count % chunk > 0 ? 1 : 0);
}

std::size_t Source::pixels_in(std::uint64_t number) const {
    return static_cast<std::size_t>(std::min(chunk, pixel_count - number * chunk));
}

std::size_t Source::max_chunk() const {
    return static_cast<std::size_t>(std::min(chunk, pixel_count));
}

std::uint64_t Source::own_pixels() const {
    if (rank_ >= chunks()) return 0;
    const std::uint64_t own_chunks = (chunks() - rank_ - 1) / ranks_ + 1;
    const std::uint64_t last = rank_ + (own_chunks - 1) * ranks_;
    return (own_chunks - 1) * chunk + pixels_in(last);
}

void Source::rewind() {
    next_chunk_ = rank_;
    reading_seconds_ = 0;
}

std::span<const std::uint8_t> Source::next(std::uint8_t* buffer) {
    if (next_chunk_ >= chunks()) return {};
    const double begun = MPI_Wtime();
    const std::span<std::uint8_t> pixels(buffer, pixels_in(next_chunk_));
    read(next_chunk_, pixels);
    next_chunk_ += ranks_;
    reading_seconds_ += MPI_Wtime() - begun;
    return pixels;
}

void Source::read(std::uint64_t number, std::span<std::uint8_t> pixels) const {
    if (stream_) {
        stream_->read(number * chunk, pixels);
    } else if (fseeko(file_.get(), static_cast<off_t>(number * chunk), SEEK_SET) != 0 ||
               std::fread(pixels.data(), 1, pixels.size(), file_.get()) != pixels.size()) {
        throw BadInput(
            fmt::format("{}: fewer than {} bytes: it cannot be read, or it is shorter than it was",
                        raw_.string(), pixel_count));
    }
}

Counts Source::count_serially() const {
    Counts counts{};
    common::PixelBuffer pixels(max_chunk());
    for (std::uint64_t number = 0; number < chunks(); ++number) {
        pixels.resize(pixels_in(number));
        read(number, pixels);
        add(common::reference_histogram(pixels), counts);
    }
    return counts;
}

std::uint64_t Source::fingerprint() const {
    return std::hash<std::string>()(fmt::format("{} {}", name, pixel_count));
}

}  // namespace cluster
