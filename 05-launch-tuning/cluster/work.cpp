#include "05-launch-tuning/cluster/work.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <system_error>
#include <utility>

#include "common/files/input_file.hpp"
#include "common/files/output_file.hpp"
#include "common/image/image.hpp"
#include "common/status/status.hpp"

namespace fs = std::filesystem;
using common::BadInput;

namespace cluster {
namespace {

constexpr std::uint64_t kMaxChunk = std::uint64_t{64}
                                    << 20;  // of a chunk, if it is left to the program
constexpr std::uint64_t kFewest = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxChunkEver = std::uint64_t{1} << 30;  // MPI counts elements with an int

common::File open(const fs::path& path) {
    try {
        return common::open_input(path);
    } catch (const BadInput& error) {
        throw BadInput(fmt::format("{}: {}", path.string(), error.what()));
    }
}

bool has_a_pictures_name(const fs::path& path) {
    std::string ending = path.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::string_view kEndings[] = {".bmp", ".png", ".jpg", ".jpeg", ".pgm", ".ppm"};
    return std::find(std::begin(kEndings), std::end(kEndings), ending) != std::end(kEndings);
}

}  // namespace

void add(const common::Histogram& part, Counts& sum) {
    for (std::size_t bin = 0; bin < common::kBins; ++bin)
        sum[bin] += part[bin];
}

void add(const Counts& part, Counts& sum) {
    for (std::size_t bin = 0; bin < common::kBins; ++bin)
        sum[bin] += part[bin];
}

std::uint64_t total(const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::vector<common::UnsupportedOption> unsupported_options(
    std::vector<common::UnsupportedOption> more) {
    more.insert(more.end(), {{"--plot", "there is nothing to draw"},
                             {"--time-limit", "mpirun --timeout S ends all ranks after S seconds"},
                             {"--no-ceiling", "none is measured"}});
    return more;
}

void Own::add_to(CLI::App& app) {
    app.get_option("IMAGE")->description("a picture, or a folder with pictures in it and below");
    app.get_option("--repeat")->description("runs, each of them timed (default: 1)");
    app.add_option("--raw", raw, "a file of any size, a byte for each pixel")->type_name("FILE");
    app.add_option_function<std::string>(
           "--chunk",
           [this](const std::string& text) {
               chunk = common::parse_pixel_count(text, kMaxChunkEver);
               if (chunk == 0) throw BadInput("--chunk: there must be a pixel in it");
           },
           "pixels to read at a time (default: 64M, or an 8th of a rank's part); a rank needs "
           "memory "
           "for 3 chunks, and for one on its device, or for the picture that it reads and the next")
        ->type_name("N");
    app.add_option("--each", each, "write a row for each picture, as .csv or .json")
        ->type_name("FILE");
    app.add_flag("--keep-going", keep_going, "name pictures that cannot be read, and skip them");
    app.add_flag("--check", check, "count with the serial loop as well, and compare");
    app.add_flag("--resident", resident,
                 "keep generated pixels in the devices' memory: time counting and merging alone");
}

void Own::refuse_contradictions(const common::Options& options) const {
    const bool generated = options.random || options.constant || options.ramp || options.tile;
    if (raw && (options.image || generated))
        throw BadInput("--raw, an IMAGE and generated pixels exclude each other");
    if (resident && !generated)
        throw BadInput("--resident is for pixels that are made: --random N");
    if ((each || keep_going) && (raw || generated))
        throw BadInput("--each and --keep-going are for pictures: an IMAGE or a FOLDER");
    if (!each) return;
    if (each->extension() != ".csv" && each->extension() != ".json")
        throw BadInput(
            fmt::format("--each {}: the name must end in .csv or .json", each->string()));
    common::require_writable(*each);
}

Work::Work(const common::Options& options, const Own& own, int ranks) {
    const bool generated = options.random || options.constant || options.ramp || options.tile;
    if (own.raw) {
        std::error_code error;
        open(*own.raw);  // it can be read
        if (!fs::is_regular_file(*own.raw, error))
            throw BadInput(fmt::format("{}: not a regular file", own.raw->string()));
        pixels = fs::file_size(*own.raw, error);
        if (error) throw BadInput(fmt::format("{}: {}", own.raw->string(), error.message()));
        raw = own.raw;
        name = own.raw->filename().string();
    } else if (generated) {
        stream_.emplace(options);
        name = stream_->name;
        seed = stream_->seed;
        pixels = stream_->size;
    } else if (options.image && fs::is_directory(*options.image)) {
        list_pictures(*options.image);
        name = fmt::format("{}, {} pictures", options.image->string(), pictures.size());
    } else {
        std::error_code unknown;  // whoever loads it says what is wrong with it
        pictures = {options.image.value_or(common::sample_picture())};
        name = pictures[0].filename().string();
        order_ = {0};
        bytes_ = {fs::file_size(pictures[0], unknown)};
    }
    // Eight chunks for each rank, so that who is slow takes fewer; in whole blocks of a stream.
    const std::uint64_t share = pixels / (8 * static_cast<std::uint64_t>(ranks));
    const std::uint64_t usual = std::clamp(share / kFewest * kFewest, kFewest, kMaxChunk);
    chunk = own.chunk > 0 ? own.chunk : pictures.empty() ? usual : kMaxChunk;
}

void Work::list_pictures(const fs::path& folder) {
    try {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
            if (entry.is_regular_file() && has_a_pictures_name(entry.path()))
                pictures.push_back(entry.path());
        }
        std::sort(pictures.begin(), pictures.end());
        for (const fs::path& picture : pictures)
            bytes_.push_back(fs::file_size(picture));
    } catch (const fs::filesystem_error& error) {
        throw BadInput(fmt::format("{}: {}", error.path1().string(), error.code().message()));
    }
    if (pictures.empty()) {
        throw BadInput(
            fmt::format("{}: no .bmp, .png, .jpg, .jpeg, .pgm or .ppm in it", folder.string()));
    }
    order_.resize(pictures.size());
    std::iota(order_.begin(), order_.end(), std::uint64_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint64_t a, std::uint64_t b) { return bytes_[a] > bytes_[b]; });
}

std::uint64_t Work::items() const {
    return pictures.empty() ? pixels / chunk + (pixels % chunk > 0 ? 1 : 0) : pictures.size();
}

std::uint64_t Work::pixels_of(std::uint64_t item) const {
    return std::min(chunk, pixels - first_of(item));
}

std::size_t Work::largest_piece() const {
    return static_cast<std::size_t>(pictures.empty() ? std::min(chunk, pixels) : chunk);
}

std::size_t Work::resident_pixels(int rank, int ranks) const {
    std::uint64_t sum = 0;
    for (auto item = static_cast<std::uint64_t>(rank); item < items();
         item += static_cast<std::uint64_t>(ranks))
        sum += pixels_of(item);
    return static_cast<std::size_t>(sum);
}

std::uint64_t Work::fingerprint() const {
    std::string text = fmt::format("{} {}", name, pixels);
    for (std::size_t i = 0; i < pictures.size(); ++i)
        text += fmt::format("\n{} {}", pictures[i].string(), bytes_[i]);
    return std::hash<std::string>()(text);
}

Counts Work::count_serially(bool keep_going,
                            const std::function<void(std::uint64_t, const Counts&)>& each) const {
    Counts counts{};
    for (std::uint64_t picture = 0; picture < pictures.size(); ++picture) {
        try {
            const common::Picture loaded = common::load_picture(pictures[picture]);
            Counts own{};
            add(common::reference_histogram(loaded.pixels), own);
            each(picture, own);
            add(own, counts);
        } catch (const BadInput&) {
            if (!keep_going) throw;
        }
    }
    const common::File file = raw ? open(*raw) : common::File(nullptr, nullptr);
    common::PixelBuffer part(std::min(pixels, chunk));
    for (std::uint64_t item = 0; pictures.empty() && item < items(); ++item) {
        part.resize(pixels_of(item));
        if (!raw) {
            make(first_of(item), part);
        } else if (std::fread(part.data(), 1, part.size(), file.get()) != part.size()) {
            throw BadInput(fmt::format("{}: it is shorter than it was", raw->string()));
        }
        add(common::reference_histogram(part), counts);
    }
    return counts;
}

}  // namespace cluster
