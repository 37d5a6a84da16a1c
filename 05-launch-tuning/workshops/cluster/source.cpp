#include "05-launch-tuning/workshops/cluster/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <system_error>

#include "common/files/input_file.hpp"
#include "common/files/output_file.hpp"
#include "common/histogram/histogram.hpp"
#include "common/image/image.hpp"

namespace fs = std::filesystem;
using common::BadInput;

namespace cluster {
namespace {

common::File open(const fs::path& path) {
    try {
        return common::open_input(path);
    } catch (const BadInput& error) {
        throw BadInput(fmt::format("{}: {}", path.string(), error.what()));
    }
}

// Of a picture that cannot be read, too: whoever loads it says what is wrong with it.
std::uint64_t bytes_of(const fs::path& picture) {
    std::error_code unknown;
    return fs::file_size(picture, unknown);
}

}  // namespace

Source find_source(const common::Options& common, const ClusterOptions& options, int ranks) {
    // At least whole blocks of a stream (common/inputs): a part of one costs as much as all of it.
    constexpr std::uint64_t kMin = std::uint64_t{1} << 20;
    constexpr std::uint64_t kMax = std::uint64_t{64} << 20;
    std::uint64_t usual_chunk = kMax;
    Source source;
    std::vector<common::NamedFile> inputs = common.files;
    if (options.raw || generated(common)) {
        if (options.raw) {
            source.raw = *options.raw;
            open(source.raw);  // it can be read
            if (!fs::is_regular_file(source.raw))
                throw BadInput(fmt::format("{}: not a regular file", source.raw.string()));
            source.pixel_count = fs::file_size(source.raw);
            source.name = source.raw.filename().string();
        } else {
            source.stream.emplace(common);
            source.name = source.stream->name;
            source.seed = source.stream->seed;
            source.pixel_count = source.stream->size;
        }
        // Eight chunks for each rank, if they do not become too small: a slow rank then takes
        // fewer.
        const std::uint64_t eighth = source.pixel_count / (8 * static_cast<std::uint64_t>(ranks));
        usual_chunk = std::clamp(eighth / kMin * kMin, kMin, kMax);
    } else {
        const fs::path image = common.image.value_or(common::sample_picture());
        if (fs::is_directory(image)) {
            source.pictures = common::pictures_in(image);
            source.name = fmt::format("{}, {} pictures", image.string(), source.pictures.size());
        } else {
            source.pictures = {image};
            source.name = image.filename().string();
        }
        std::vector<std::uint64_t> bytes;
        for (const fs::path& picture : source.pictures) {
            bytes.push_back(bytes_of(picture));
            inputs.push_back({picture.string(), picture});
        }
        source.largest_first.resize(bytes.size());
        std::iota(source.largest_first.begin(), source.largest_first.end(), std::uint64_t{0});
        std::stable_sort(source.largest_first.begin(), source.largest_first.end(),
                         [&](std::uint64_t a, std::uint64_t b) { return bytes[a] > bytes[b]; });
    }
    source.chunk = options.chunk > 0 ? options.chunk : usual_chunk;
    std::vector<common::NamedFile> outputs = common.outputs();
    if (options.each) outputs.push_back({"--each", *options.each});
    common::require_output_files(outputs, inputs);
    return source;
}

std::uint64_t Source::items() const {
    if (!pictures.empty()) return pictures.size();
    return pixel_count / chunk + (pixel_count % chunk > 0 ? 1 : 0);
}

std::uint64_t Source::pixels_of(std::uint64_t item) const {
    return std::min(chunk, pixel_count - first_of(item));
}

std::size_t Source::max_piece() const {
    return static_cast<std::size_t>(pictures.empty() ? std::min(chunk, pixel_count) : chunk);
}

std::size_t Source::resident_pixels(int rank, int ranks) const {
    std::uint64_t sum = 0;
    for (auto item = static_cast<std::uint64_t>(rank); item < items();
         item += static_cast<std::uint64_t>(ranks))
        sum += pixels_of(item);
    return static_cast<std::size_t>(sum);
}

Counts Source::count_serially(bool keep_going, const EachPicture& each) const {
    Counts counts{};
    for (std::uint64_t picture = 0; picture < pictures.size(); ++picture) {
        try {
            Counts own{};
            add(common::reference_histogram(common::load_picture(pictures[picture]).pixels), own);
            each(picture, own);
            add(own, counts);
        } catch (const BadInput&) {
            if (!keep_going) throw;
        }
    }
    if (!pictures.empty()) return counts;
    const common::File file = stream ? common::File(nullptr, std::fclose) : open(raw);
    common::PixelBuffer part;
    for (std::uint64_t item = 0; item < items(); ++item) {
        part.resize(pixels_of(item));
        if (stream)
            stream->read(first_of(item), part);
        else if (std::fread(part.data(), 1, part.size(), file.get()) != part.size())
            throw too_short();
        add(common::reference_histogram(part), counts);
    }
    return counts;
}

std::uint64_t Source::fingerprint() const {
    std::string text = fmt::format("{} {}", name, pixel_count);
    for (const fs::path& picture : pictures)
        text += fmt::format("\n{} {}", picture.string(), bytes_of(picture));
    return std::hash<std::string>()(text);
}

BadInput Source::too_short() const {
    return BadInput(fmt::format("{}: fewer than {} bytes: it is shorter than it was", raw.string(),
                                pixel_count));
}

}  // namespace cluster
