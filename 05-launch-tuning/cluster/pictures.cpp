#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <system_error>
#include <utility>

#include "05-launch-tuning/cluster/source.hpp"
#include "05-launch-tuning/cluster/work_queue.hpp"
#include "common/image/image.hpp"
#include "common/status/status.hpp"

namespace fs = std::filesystem;
using common::BadInput;

namespace cluster {
namespace {

// A picture larger than a chunk is counted in parts.
class PicturesReader : public Reader {
 public:
    PicturesReader(const Pictures& source, WorkQueue& work) : source_(source), work_(work) {}

    Piece next() override {
        while (rest_.pixels.empty()) {
            const std::optional<std::uint64_t> ticket = work_.take();
            if (!ticket) return {};
            const std::uint64_t item = source_.largest_first[*ticket];
            try {
                common::Picture loaded = common::load_picture(source_.pictures[item]);
                const auto picture =
                    std::make_shared<const common::PixelBuffer>(std::move(loaded.pixels));
                rest_ = {item, *picture, picture};
            } catch (const BadInput& error) {
                work_.skip(item, error);
            }
        }
        Piece piece = rest_;
        piece.pixels =
            piece.pixels.first(std::min<std::size_t>(piece.pixels.size(), source_.chunk));
        rest_.pixels = rest_.pixels.subspan(piece.pixels.size());
        if (rest_.pixels.empty()) rest_ = {};
        return piece;
    }

 private:
    const Pictures& source_;
    WorkQueue& work_;
    Piece rest_;
};

bool has_a_pictures_name(const fs::path& path) {
    std::string ending = path.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::string_view kEndings[] = {".bmp", ".png", ".jpg", ".jpeg", ".pgm", ".ppm"};
    return std::find(std::begin(kEndings), std::end(kEndings), ending) != std::end(kEndings);
}

std::vector<fs::path> pictures_in(const fs::path& folder) {
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file() && has_a_pictures_name(entry.path()))
            found.push_back(entry.path());
    }
    if (found.empty()) {
        throw BadInput(
            fmt::format("{}: no .bmp, .png, .jpg, .jpeg, .pgm or .ppm in it", folder.string()));
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

Pictures::Pictures(const common::Options& common, const ClusterOptions& options) {
    constexpr std::uint64_t kUsualPart = std::uint64_t{64} << 20;
    chunk = options.chunk > 0 ? options.chunk : kUsualPart;
    const fs::path image = common.image.value_or(common::sample_picture());
    if (fs::is_directory(image)) {
        try {
            pictures = pictures_in(image);
        } catch (const fs::filesystem_error& error) {
            throw BadInput(fmt::format("{}: {}", error.path1().string(), error.code().message()));
        }
        name = fmt::format("{}, {} pictures", image.string(), pictures.size());
    } else {
        pictures = {image};
        name = image.filename().string();
    }
    std::vector<std::uint64_t> bytes;
    for (const fs::path& picture : pictures) {
        std::error_code unknown;  // whoever loads it says what is wrong with it
        bytes.push_back(fs::file_size(picture, unknown));
    }
    largest_first.resize(pictures.size());
    std::iota(largest_first.begin(), largest_first.end(), std::uint64_t{0});
    std::stable_sort(largest_first.begin(), largest_first.end(),
                     [&](std::uint64_t a, std::uint64_t b) { return bytes[a] > bytes[b]; });
}

std::unique_ptr<Reader> Pictures::open_reader(WorkQueue& work) const {
    return std::make_unique<PicturesReader>(*this, work);
}

Counts Pictures::count_serially(bool keep_going, const EachPicture& each) const {
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
    return counts;
}

}  // namespace cluster
