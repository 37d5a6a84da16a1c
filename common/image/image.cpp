#include "common/image/image.hpp"

#include <fmt/format.h>
#include <stb_image.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <memory>

#include "common/files/files.hpp"
#include "common/process/status.hpp"

template class std::vector<std::uint8_t, common::UninitializedAllocator<std::uint8_t>>;

namespace common {
namespace {

bool is_picture(std::string_view bytes) {
    return bytes.starts_with("BM") || bytes.starts_with("\x89PNG\r\n\x1A\n") ||
           bytes.starts_with("\xFF\xD8\xFF") || bytes.starts_with("P5") || bytes.starts_with("P6");
}

// stb_image decodes, and reads a file that ends too early as if zeros followed. So it gets the
// bytes from here, where it is noted that it has asked for more than there are.
struct Source {
    std::string_view bytes;
    const char* buffer = nullptr;  // its own, which is filled as far as that goes
    bool has_ended = false;
};

int read(void* from, char* to, int size) {
    Source& source = *static_cast<Source*>(from);
    if (source.buffer == nullptr) source.buffer = to;
    const std::size_t count = source.bytes.copy(to, static_cast<std::size_t>(size));
    source.bytes.remove_prefix(count);
    if (count < (to == source.buffer ? 1 : static_cast<std::size_t>(size))) source.has_ended = true;
    return static_cast<int>(count);
}

void skip(void* from, int size) {
    std::string_view& bytes = static_cast<Source*>(from)->bytes;
    bytes.remove_prefix(std::min(bytes.size(), static_cast<std::size_t>(size)));
}

constexpr std::size_t kMaxSide = 1 << 24;  // of a picture, in pixels, as stb_image has it
constexpr std::size_t kTopDownWithoutEnd = 0x8000'0000;  // a height, whose opposite is itself

// The little-endian number of 4 bytes there.
std::size_t number_at(std::string_view bytes, std::size_t at) {
    std::size_t number = 0;
    for (std::size_t i = 4; i-- > 0;)
        number = number << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    return number;
}

// The pixels of a BMP begin where its header says. stb_image takes what is in front of them for
// colours, and of those it takes 256.
std::string without_gap(const std::string& bytes) {
    constexpr std::size_t kHeader = 54, kMostColours = 256;
    if (!bytes.starts_with("BM") || bytes.size() < kHeader) return bytes;
    const std::size_t pixels_at = number_at(bytes, 10);
    const std::size_t bits = number_at(bytes, 28) & 0xFFFF;
    const std::size_t named = number_at(bytes, 46);
    std::size_t begin = 14 + number_at(bytes, 14);
    if (bits <= 8 && pixels_at <= begin + 4 * kMostColours) return bytes;
    if (bits <= 8) begin += 4 * (named != 0 ? named : std::size_t{1} << bits);
    if (number_at(bytes, 14) == 40 && number_at(bytes, 30) == 3) begin += 12;  // masks
    if (pixels_at <= begin || pixels_at > bytes.size()) return bytes;
    std::string whole = bytes.substr(0, begin) + bytes.substr(pixels_at);
    for (std::size_t i = 0; i < 4; ++i)
        whole[10 + i] = static_cast<char>(begin >> (8 * i));
    return whole;
}

// Of those that are made for print stb_image takes one for grey where Adobe's mark is missing.
bool has_four_colours(std::string_view jpeg) {
    for (std::size_t at = 2; at + 9 < jpeg.size();) {
        const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(jpeg[at + i]); };
        if (byte(1) >= 0xC0 && byte(1) <= 0xC2) return byte(9) == 4;
        at += byte(1) == 0xFF ? 1 : 2 + byte(2) * 256U + byte(3);
    }
    return false;
}

// What it would read wrongly.
void require_known_kind(std::string_view bytes) {
    if (!is_picture(bytes))
        throw BadInput(
            "not a picture of a format that is read here: BMP, PNG, JPEG, PGM (P5), PPM (P6)");
    if (bytes.starts_with("\x89PNG") && bytes.size() > 12 && bytes.substr(12).starts_with("CgBI"))
        throw BadInput(
            "unsupported: a PNG as apps for an iPhone have it (CgBI), with red and blue exchanged");
    if (bytes.starts_with("\xFF\xD8") && has_four_colours(bytes))
        throw BadInput("unsupported: a JPEG of four colours, as for print (CMYK)");
    if (bytes.starts_with("BM") && bytes.size() > 25) {
        if (number_at(bytes, 14) < 40) throw BadInput("unsupported or damaged: a BMP of OS/2");
        if (number_at(bytes, 22) == kTopDownWithoutEnd) throw BadInput("too large a picture");
    }
    if (!bytes.starts_with("P")) return;
    std::size_t at = 2, number = 0;
    for (int i = 0; i < 3; ++i) {  // width, height, the largest value
        while (at < bytes.size() &&
               (std::isspace(static_cast<unsigned char>(bytes[at])) != 0 || bytes[at] == '#'))
            at = bytes[at] == '#' ? std::min(bytes.find('\n', at), bytes.size()) : at + 1;
        const auto [end, error] =
            std::from_chars(bytes.data() + at, bytes.data() + bytes.size(), number);
        if (error != std::errc{} || number > kMaxSide)
            throw BadInput("damaged, truncated or too large: not the header of a PGM or PPM");
        at = static_cast<std::size_t>(end - bytes.data());
    }
    if (number != 255) throw BadInput("unsupported: a PGM or PPM whose largest value is not 255");
}

}  // namespace

Picture decode_picture(const std::string& bytes) {
    require_known_kind(bytes);
    const auto is_at_end = [](void* from) {
        return int{static_cast<Source*>(from)->bytes.empty()};
    };
    const stbi_io_callbacks calls{read, skip, is_at_end};
    const std::string whole = without_gap(bytes);
    Source source{whole};
    int width = 0;
    int height = 0;
    int channels_in_file = 0;
    const std::unique_ptr<stbi_uc, void (*)(void*)> decoded(
        stbi_load_from_callbacks(&calls, &source, &width, &height, &channels_in_file, 1),
        stbi_image_free);
    if (source.has_ended) throw BadInput("truncated: the file ends before the picture does");
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
        // What is no picture may be large, or without an end.
        constexpr std::size_t kMaxBytes = std::numeric_limits<int>::max();  // stb_image's int
        const std::string bytes = read_whole(path, kMaxBytes, is_picture);
        if (bytes.empty()) throw BadInput("an empty file");
        return decode_picture(bytes);
    } catch (const BadInput& reason) {
        throw BadInput(fmt::format("{}: {}", path.string(), reason.what()));
    }
}

}  // namespace common
