// The format: Microsoft, "Bitmap Storage" and [MS-WMF] 2.2.2; IBM, "Presentation Manager
// Programming Reference", BITMAPINFOHEADER2. No file is believed: an offset, a length or an index
// that a file names is compared with what is there before it is used.
#include "common/image/bmp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "common/image/bytes.hpp"
#include "common/process/status.hpp"

namespace common {
namespace {

enum Compression : std::uint32_t { kNone = 0, kRle8 = 1, kRle4 = 2, kBitFields = 3 };
constexpr std::uint32_t kBitFieldsAndAlpha = 6;

constexpr std::size_t kFileHeader = 14;

using Rgb = std::array<std::uint32_t, 3>;  // red, green, blue

// Where in a pixel's word one of its colours is.
class Channel {
 public:
    explicit Channel(std::uint32_t mask = 0)
        : shift_(mask == 0 ? 0 : std::countr_zero(mask)), bits_(std::popcount(mask)) {
        if (mask != 0 && mask >> shift_ != 0xFFFF'FFFF >> (32 - bits_))
            throw BadInput("unsupported: a BMP whose bit fields have gaps");
    }

    // As 8 bits. Fewer are repeated, so that the largest value becomes 255.
    [[nodiscard]] std::uint32_t of(std::uint32_t word) const {
        if (bits_ == 0) return 0;
        const std::uint32_t value = word >> shift_ & (0xFFFF'FFFF >> (32 - bits_));
        if (bits_ >= 8) return value >> (bits_ - 8);
        std::uint32_t repeated = value;
        int has = bits_;
        for (; has < 8; has += bits_)
            repeated = repeated << bits_ | value;
        return repeated >> (has - 8);
    }

 private:
    int shift_, bits_;
};

struct Header {
    std::size_t size = 0;  // of this header, which lies behind that of the file
    std::int64_t width = 0;
    std::int64_t height = 0;
    bool top_down = false;
    std::uint32_t bits = 0;  // a pixel
    std::uint32_t compression = kNone;
    std::uint32_t colours = 0;  // of the palette; 0 where it has as many as the bits can tell apart
    std::size_t pixels_at = 0;

    [[nodiscard]] std::uint64_t pixels() const {
        return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
    }
    [[nodiscard]] std::size_t line(std::int64_t row_in_file) const {
        return static_cast<std::size_t>((top_down ? row_in_file : height - 1 - row_in_file) *
                                        width);
    }
};

std::string name_of(std::uint32_t compression) {
    constexpr std::array<const char*, 7> kNames{"no compression", "RLE8", "RLE4",      "bit fields",
                                                "JPEG or RLE24",  "PNG",  "bit fields"};
    return compression < kNames.size() ? kNames[compression]
                                       : fmt::format("compression {}", compression);
}

bool is_supported(const Header& header) {
    constexpr std::array<std::size_t, 8> kSizes{12, 16, 40, 52, 56, 64, 108, 124};
    if (std::find(kSizes.begin(), kSizes.end(), header.size) == kSizes.end()) return false;
    const std::uint32_t bits = header.bits;
    switch (header.compression) {
        case kNone:
            return bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 24 ||
                   bits == 32;
        case kRle8:
            return bits == 8 && !header.top_down;
        case kRle4:
            return bits == 4 && !header.top_down;
        case kBitFields:
        case kBitFieldsAndAlpha:  // to OS/2 they mean something else
            return (bits == 16 || bits == 32) && header.size != 64;
        default:
            return false;
    }
}

Header read_header(std::string_view bytes) {
    Header header;
    header.pixels_at = little_endian(bytes, 10, 4);
    header.size = little_endian(bytes, 14, 4);
    if (bytes.size() < kFileHeader + 4 || bytes.size() - kFileHeader < header.size)
        throw BadInput(kTruncated);
    // The shorter headers end before some of the fields, which then are 0.
    const std::string_view fields = bytes.substr(kFileHeader, header.size);
    const bool oldest = header.size == 12;
    const auto side = [&](std::size_t i) -> std::int64_t {
        if (oldest) return little_endian(fields, 4 + 2 * i, 2);
        return static_cast<std::int32_t>(little_endian(fields, 4 + 4 * i, 4));
    };
    header.width = side(0);
    header.height = std::abs(side(1));
    header.top_down = side(1) < 0;
    header.bits = little_endian(fields, oldest ? 10 : 14, 2);
    header.compression = little_endian(fields, 16, 4);
    header.colours = little_endian(fields, 32, 4);
    if (!is_supported(header)) {
        throw BadInput(fmt::format(
            "unsupported or damaged: a BMP with a header of {} bytes, {} bits a pixel{}, {}",
            header.size, header.bits, header.top_down ? " from the top down" : "",
            name_of(header.compression)));
    }
    check_size(header.width, header.height);
    return header;
}

// The three colours of a pixel's word: red, green, blue.
std::array<Channel, 3> read_channels(std::string_view bytes, const Header& header) {
    if (header.compression == kNone) {
        if (header.bits == 16) return {Channel(0x7C00), Channel(0x03E0), Channel(0x001F)};
        return {Channel(0xFF'0000), Channel(0xFF00), Channel(0xFF)};
    }
    // In the longer headers, or behind the one of 40 bytes: the same offset.
    const auto mask = [&](std::size_t i) {
        return Channel(little_endian(bytes, kFileHeader + 40 + 4 * i, 4));
    };
    return {mask(0), mask(1), mask(2)};
}

// Where the palette begins, if there is one.
std::size_t behind_header(const Header& header) {
    const std::size_t masks = header.size != 40                          ? 0
                              : header.compression == kBitFields         ? 12
                              : header.compression == kBitFieldsAndAlpha ? 16
                                                                         : 0;
    return kFileHeader + header.size + masks;
}

// It may be shorter than the bits of a pixel allow for.
std::vector<Rgb> read_palette(std::string_view bytes, const Header& header) {
    const std::size_t entry = header.size == 12 ? 3 : 4;
    const std::size_t begin = behind_header(header);
    const std::size_t all = std::size_t{1} << header.bits;
    const std::size_t named = header.colours == 0 ? all : header.colours;
    const std::size_t size = std::min({all, named, (header.pixels_at - begin) / entry});
    std::vector<Rgb> colours;
    for (std::size_t i = 0; i < size; ++i) {
        const std::size_t at = begin + i * entry;
        colours.push_back({byte(bytes, at + 2), byte(bytes, at + 1), byte(bytes, at)});
    }
    return colours;
}

const Rgb& look_up(const std::vector<Rgb>& palette, std::uint32_t index) {
    if (index >= palette.size()) throw BadInput("damaged: a pixel beyond the palette");
    return palette[index];
}

void read_rows(std::string_view bytes, const Header& header, Picture& picture) {
    const std::size_t width = picture.width;
    const std::size_t row = (width * header.bits + 7) / 8;
    const std::size_t padded = (row + 3) / 4 * 4;
    // What is missing of the last row's padding is no pixel.
    if (bytes.size() < header.pixels_at ||
        bytes.size() - header.pixels_at < padded * (picture.height - 1) + row)
        throw BadInput(kTruncated);

    picture.resize();
    const bool has_palette = header.bits <= 8;
    const auto palette = has_palette ? read_palette(bytes, header) : std::vector<Rgb>();
    const std::array<Channel, 3> channels = read_channels(bytes, header);
    const std::uint32_t largest = has_palette ? (1U << header.bits) - 1 : 0;
    for (std::int64_t y = 0; y < header.height; ++y) {
        const std::string_view from =
            bytes.substr(header.pixels_at + static_cast<std::size_t>(y) * padded, row);
        const std::size_t line = header.line(y);
        for (std::size_t x = 0; x < width; ++x) {
            const std::size_t bit = x * header.bits;
            if (has_palette) {
                // The leftmost pixel is in the highest bits.
                const auto shift = 8 - header.bits - bit % 8;
                const auto& [red, green, blue] =
                    look_up(palette, byte(from, bit / 8) >> shift & largest);
                picture.set(line + x, red, green, blue);
            } else {
                const std::uint32_t word = little_endian(from, bit / 8, header.bits / 8);
                picture.set(line + x, channels[0].of(word), channels[1].of(word),
                            channels[2].of(word));
            }
        }
    }
}

// Runs of one value (in RLE4 of two that alternate), stretches of bytes as they are, ends of rows
// and jumps. All of them go forwards, so that no pixel is set twice, and counting is enough to
// know that none was left out. One that is left out has no value that could be counted.
void read_runs(std::string_view bytes, const Header& header, Picture& picture) {
    if (bytes.size() < header.pixels_at ||
        (bytes.size() - header.pixels_at) / 2 * 255 < header.pixels())
        throw BadInput(kTruncated);

    picture.resize();
    const std::vector<Rgb> palette = read_palette(bytes, header);
    const std::uint32_t per_byte = 8 / header.bits;
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::size_t at = header.pixels_at;
    const auto next = [&] {
        if (at == bytes.size()) throw BadInput(kTruncated);
        return byte(bytes, at++);
    };
    const auto set = [&](std::uint32_t value, std::uint32_t i) {
        if (x == header.width || y == header.height)
            throw BadInput("damaged: a run beyond the end of its row");
        if (per_byte == 2) value = i % 2 == 0 ? value >> 4 : value & 0xF;
        const auto& [red, green, blue] = look_up(palette, value);
        picture.set(header.line(y) + static_cast<std::size_t>(x++), red, green, blue);
    };
    for (std::uint64_t missing = header.pixels(); missing > 0;) {
        const std::uint32_t length = next();
        const std::uint32_t value = next();
        if (length > 0) {
            for (std::uint32_t i = 0; i < length; ++i)
                set(value, i);
            missing -= length;
        } else if (value == 0) {
            x = 0;
            y = std::min(header.height, y + 1);
        } else if (value == 1) {
            throw BadInput("unsupported: a run-length encoded BMP that leaves pixels out");
        } else if (value == 2) {
            x = std::min(header.width, x + next());
            y = std::min(header.height, y + next());
        } else {
            std::uint32_t pair = 0;
            for (std::uint32_t i = 0; i < value; ++i) {
                if (i % per_byte == 0) pair = next();
                set(pair, i);
            }
            missing -= value;
            if ((value + per_byte - 1) / per_byte % 2 == 1 && missing > 0) next();
        }
    }
}

}  // namespace

Picture read_bmp(std::string_view bytes, unsigned channels) {
    const Header header = read_header(bytes);
    if (header.pixels_at < behind_header(header))
        throw BadInput("damaged: a BMP whose pixels would lie in its header");
    Picture picture{static_cast<std::size_t>(header.width),
                    static_cast<std::size_t>(header.height),
                    {},
                    channels};
    if (header.compression == kRle4 || header.compression == kRle8)
        read_runs(bytes, header, picture);
    else
        read_rows(bytes, header, picture);
    return picture;
}

}  // namespace common
