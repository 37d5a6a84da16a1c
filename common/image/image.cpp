#include "common/image/image.hpp"

#include <fmt/format.h>
#include <stb_image.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>

#include "common/files/input_file.hpp"
#include "common/process/status.hpp"

template class std::vector<std::uint8_t, common::UninitializedAllocator<std::uint8_t>>;

// stb_image decodes. It reads a file that ends too early as if zeros followed, so the functions
// here find out whether a file is whole.
namespace common {
namespace {

constexpr const char* kTruncated = "truncated: the file ends before the picture does";

enum class Format { kNone, kBmp, kPng, kJpeg, kPnm };

Format format_of(std::string_view bytes) {
    if (bytes.starts_with("BM")) return Format::kBmp;
    if (bytes.starts_with("\x89PNG\r\n\x1A\n")) return Format::kPng;
    if (bytes.starts_with("\xFF\xD8\xFF")) return Format::kJpeg;
    if (bytes.starts_with("P5") || bytes.starts_with("P6")) return Format::kPnm;
    return Format::kNone;
}

bool is_whole_bmp(std::string_view bytes) {
    if (bytes.size() < 14 + 40) return false;
    const auto number = [&](std::size_t at, std::size_t size) {
        std::uint32_t value = 0;
        for (std::size_t i = size; i-- > 0;)
            value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
        return value;
    };
    if (number(14, 4) < 40) throw BadInput("unsupported or damaged: a BMP of OS/2");
    const std::int64_t width = static_cast<std::int32_t>(number(18, 4));
    // Negative: from the top down.
    const std::int64_t height = std::abs(std::int64_t{static_cast<std::int32_t>(number(22, 4))});
    if (std::max(width, height) > 1 << 24)
        throw BadInput(fmt::format("too large a picture: {} x {} pixels", width, height));
    // Of packed pixels nothing is known here; stb_image says that it does not read them.
    const std::uint32_t compression = number(30, 4);
    if (compression != 0 && compression != 3) return true;
    // A row is padded to 4 bytes. The last row's padding may be missing.
    const std::int64_t row = (width * number(28, 2) + 7) / 8;
    const std::int64_t pixels = (row + 3) / 4 * 4 * (height - 1) + row;
    return static_cast<std::int64_t>(bytes.size()) >= number(10, 4) + pixels;
}

// It ends with a marker, behind the last scan: what it holds of a smaller picture stands before.
bool is_whole_jpeg(std::string_view bytes) {
    const std::size_t scan = bytes.rfind("\xFF\xDA");
    const std::size_t end = bytes.rfind("\xFF\xD9");
    return scan != std::string_view::npos && end != std::string_view::npos && scan < end;
}

bool is_whole_pnm(std::string_view bytes) {
    std::size_t at = 2;
    std::uint64_t numbers[3] = {};
    for (std::uint64_t& number : numbers) {
        while (at < bytes.size() &&
               (std::isspace(static_cast<unsigned char>(bytes[at])) != 0 || bytes[at] == '#'))
            at = bytes[at] == '#' ? std::min(bytes.find('\n', at), bytes.size()) : at + 1;
        const auto [end, error] =
            std::from_chars(bytes.data() + at, bytes.data() + bytes.size(), number);
        if (error != std::errc{} || number > 1 << 24)
            throw BadInput("damaged, truncated or too large: not the header of a PGM or PPM");
        at = static_cast<std::size_t>(end - bytes.data());
    }
    const auto& [width, height, largest] = numbers;
    if (largest != 255) throw BadInput("unsupported: a PGM or PPM whose largest value is not 255");
    return bytes.size() > at && bytes.size() - at - 1 >= width * height * (bytes[1] == '6' ? 3 : 1);
}

bool is_whole(std::string_view bytes) {
    switch (format_of(bytes)) {
        case Format::kBmp:
            return is_whole_bmp(bytes);
        case Format::kPng:
            return bytes.find("IEND") != std::string_view::npos;  // its last chunk
        case Format::kJpeg:
            return is_whole_jpeg(bytes);
        case Format::kPnm:
            return is_whole_pnm(bytes);
        case Format::kNone:
            break;
    }
    throw BadInput("not a picture of a format that is read here: BMP, PNG, JPEG, PGM, PPM");
}

}  // namespace

Picture decode_picture(const std::string& bytes) {
    if (!is_whole(bytes)) throw BadInput(kTruncated);
    int width = 0;
    int height = 0;
    int channels_in_file = 0;
    const std::unique_ptr<stbi_uc, void (*)(void*)> decoded(
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()),
                              static_cast<int>(bytes.size()), &width, &height, &channels_in_file,
                              1),
        stbi_image_free);
    if (!decoded) {
        const char* const reason = stbi_failure_reason();
        throw BadInput(fmt::format("cannot be decoded: {}",
                                   reason != nullptr ? reason : "damaged, or out of memory"));
    }
    if (width == 0 || height == 0) throw BadInput("damaged: a picture without pixels");
    Picture picture{static_cast<std::size_t>(width), static_cast<std::size_t>(height), {}};
    picture.pixels.assign(decoded.get(), decoded.get() + picture.width * picture.height);
    return picture;
}

Picture load_picture(const std::filesystem::path& path) {
    try {
        // Another kind of file may be large, or have no end.
        constexpr std::size_t kMaxBytes = std::numeric_limits<int>::max();  // stb_image's int
        const std::string bytes = read_whole(path, kMaxBytes, [](std::string_view first) {
            return format_of(first) != Format::kNone;
        });
        if (bytes.empty()) throw BadInput("an empty file");
        return decode_picture(bytes);
    } catch (const BadInput& reason) {
        throw BadInput(fmt::format("{}: {}", path.string(), reason.what()));
    }
}

}  // namespace common
