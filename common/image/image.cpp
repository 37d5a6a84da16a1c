#include "common/image/image.hpp"

#include <fmt/format.h>
#include <stb_image.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "common/files/input_file.hpp"
#include "common/image/formats.hpp"
#include "common/image/stb.hpp"
#include "common/process/status.hpp"

namespace common {
namespace {

enum class Format { kNone, kBmp, kPng, kJpeg, kPnm };

Format format_of(std::string_view bytes) {
    if (bytes.starts_with("BM")) return Format::kBmp;
    if (bytes.starts_with("\x89PNG\r\n\x1A\n")) return Format::kPng;
    if (bytes.starts_with("\xFF\xD8\xFF")) return Format::kJpeg;
    if (bytes.starts_with("P5") || bytes.starts_with("P6")) return Format::kPnm;
    return Format::kNone;
}

// What is no picture may be large, or without an end.
std::string read_file(const std::filesystem::path& path) {
    constexpr std::size_t kMaxBytes = std::numeric_limits<int>::max();  // stb_image's int
    std::string bytes = read_whole(
        path, kMaxBytes, [](std::string_view first) { return format_of(first) != Format::kNone; });
    if (bytes.empty()) throw BadInput("an empty file");
    return bytes;
}

Picture read_by_stb(std::string_view bytes, unsigned channels) {
    int width = 0;
    int height = 0;
    int channels_in_file = 0;
    forget_stb_failure();
    const int wanted = channels == 1 ? 1 : 3;
    const std::unique_ptr<stbi_uc, void (*)(void*)> decoded(
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()),
                              static_cast<int>(bytes.size()), &width, &height, &channels_in_file,
                              wanted),
        stbi_image_free);
    if (!decoded) {
        if (stb_ran_out_of_memory()) throw BadInput("out of memory while decoding the picture");
        const std::string reason = stbi_failure_reason();
        if (reason.find("large") != std::string::npos) {
            throw BadInput("too large a picture: " + reason);
        }
        throw BadInput("unsupported or damaged" + (reason.empty() ? "" : ": " + reason));
    }
    const stbi_uc* from = decoded.get();
    Picture picture{
        static_cast<std::size_t>(width), static_cast<std::size_t>(height), {}, channels};
    if (channels == 1) {
        picture.pixels.assign(from, from + picture.width * picture.height);
        return picture;
    }
    picture.resize();
    for (std::size_t i = 0; i < picture.width * picture.height; ++i, from += 3)
        picture.set(i, from[0], from[1], from[2]);
    return picture;
}

}  // namespace

Picture decode_picture(std::string_view bytes, unsigned channels) {
    switch (format_of(bytes)) {
        case Format::kNone:
            throw BadInput("not a picture of a format that is read here: BMP, PNG, JPEG, PGM, PPM");
        case Format::kPnm:
            return read_pnm(bytes, channels);
        case Format::kBmp:
            check_bmp(bytes);
            break;
        case Format::kPng:
            check_png(bytes);
            break;
        case Format::kJpeg:
            check_jpeg(bytes);
            break;
    }
    return read_by_stb(bytes, channels);
}

Picture load_picture(const std::filesystem::path& path, unsigned channels) {
    try {
        return decode_picture(read_file(path), channels);
    } catch (const BadInput& reason) {
        throw BadInput(fmt::format("{}: {}", path.string(), reason.what()));
    }
}

}  // namespace common
