#include "common/image/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "common/image/bytes.hpp"
#include "common/process/status.hpp"

namespace common {
namespace {

// What the pixels of a PNG take, from its header.
std::uint64_t bits_of_png(std::string_view header) {
    const std::uint32_t width = big_endian(header, 0, 4);
    const std::uint32_t height = big_endian(header, 4, 4);
    check_size(width, height);
    constexpr std::array<std::uint32_t, 7> kSamples{1, 0, 3, 1, 2, 0, 4};  // by the kind of colour
    const std::uint32_t colour = byte(header, 9);
    const std::uint32_t samples = colour < kSamples.size() ? kSamples[colour] : 0;
    return std::uint64_t{width} * height * byte(header, 8) * samples;
}

// Older versions of stb_image write past their tables where a code has more than 256 symbols. They
// may also read on a little behind the segment, whose bytes are the first `size`.
void check_huffman_tables(std::string_view bytes, std::size_t size) {
    for (std::size_t at = 2; at < size; at += 17) {
        std::size_t symbols = 0;
        for (std::size_t i = 1; i <= 16; ++i)
            symbols += byte(bytes, at + i);
        if (symbols > 256) throw BadInput("damaged: a Huffman code of too many symbols");
        at += symbols;
    }
}

}  // namespace

// The checksum of PNG: ISO 3309, the polynomial's bits in reverse.
std::uint32_t crc_32(std::string_view bytes) {
    std::uint32_t crc = 0xFFFF'FFFF;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        crc ^= byte(bytes, at);
        for (int bit = 0; bit < 8; ++bit)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB8'8320 : 0);
    }
    return ~crc;
}

void check_bmp(std::string_view bytes) {
    constexpr std::uint32_t kFileHeader = 14;
    if (bytes.size() < kFileHeader + 40) throw BadInput(kTruncated);
    const std::uint32_t pixels_at = little_endian(bytes, 10, 4);
    const std::uint32_t header = little_endian(bytes, 14, 4);
    if (header < 40) throw BadInput("unsupported or damaged: a BMP of OS/2");
    const auto side = [&](std::size_t at) -> std::int64_t {
        return static_cast<std::int32_t>(little_endian(bytes, at, 4));
    };
    const std::int64_t width = side(18);
    const std::int64_t height = std::abs(side(22));  // negative: from the top down
    check_size(width, height);
    if (pixels_at < std::uint64_t{header} + kFileHeader)
        throw BadInput("damaged: a BMP whose pixels would lie in its header");
    // Of packed pixels nothing is known here; stb_image says that it does not read them.
    const std::uint32_t compression = little_endian(bytes, 30, 4);
    const bool packed = compression != 0 && compression != 3;
    // A row is padded to 4 bytes. What is missing of the last one's padding is no pixel.
    const std::int64_t bits = std::max(little_endian(bytes, 28, 2), 1U);
    const std::int64_t row = (width * bits + 7) / 8;
    const std::int64_t pixels = (row + 3) / 4 * 4 * (height - 1) + row;
    if (!packed && static_cast<std::int64_t>(bytes.size()) < pixels_at + pixels)
        throw BadInput(kTruncated);
}

void check_png(std::string_view bytes) {
    bytes.remove_prefix(8);
    std::uint64_t bits = 0;    // of the pixels, as the header has them
    std::uint64_t packed = 0;  // bytes of compressed data
    for (bool first = true;; first = false) {
        const std::uint64_t size = big_endian(bytes, 0, 4);  // of the data, after the name
        if (bytes.size() < 12 + size) throw BadInput(kTruncated);
        const std::string_view name = bytes.substr(4, 4);
        if (crc_32(bytes.substr(4, 4 + size)) != big_endian(bytes, 8 + size, 4)) {
            const bool sayable = std::all_of(name.begin(), name.end(), [](char c) {
                return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
            });
            throw BadInput(fmt::format("damaged: the checksum of its chunk {} does not match",
                                       sayable ? name : "without a name"));
        }
        // An iPhone's own kind begins with another chunk and has its colours in another order.
        if (first && name != "IHDR")
            throw BadInput("unsupported: a PNG that does not begin with IHDR");
        if (first) bits = bits_of_png(bytes.substr(8, size));
        if (name == "IDAT") packed += size;
        if (name == "IEND") break;
        bytes.remove_prefix(12 + size);
    }
    // Before anything is set aside for so many. Deflate's longest match is 258 bytes, in 2 bits.
    if (bits / 8 > packed * 258 * 4) throw BadInput(kTruncated);
}

void check_jpeg(std::string_view bytes) {
    std::uint64_t blocks = 0;  // of 8 x 8 pixels, as the header has them
    bool has_data = false;
    for (std::size_t at = 2;;) {
        at = std::min(bytes.find('\xFF', at), bytes.size());
        if (bytes.size() - at < 2) throw BadInput(kTruncated);
        const std::uint32_t marker = byte(bytes, ++at);
        if (marker == 0xFF) continue;  // a marker may be preceded by any number of these
        ++at;
        // A byte of data, or a restart within them: no segment follows.
        if (marker == 0x00 || (marker >= 0xD0 && marker <= 0xD7)) continue;
        if (marker == 0xD9) break;  // the end

        const std::uint32_t size = big_endian(bytes, at, 2);
        if (bytes.size() - at < size) throw BadInput(kTruncated);
        if (marker == 0xC4) check_huffman_tables(bytes.substr(at), size);
        if (marker >= 0xC0 && marker <= 0xC2) {
            // stb_image would set aside what the first one says.
            if (blocks > 0) throw BadInput("damaged: a JPEG with two headers");
            const std::uint32_t height = big_endian(bytes, at + 3, 2);
            const std::uint32_t width = big_endian(bytes, at + 5, 2);
            check_size(width, height);
            blocks = std::uint64_t{(width + 7) / 8} * ((height + 7) / 8);
        }
        if (marker == 0xDA) has_data = true;
        at += size;
    }
    if (!has_data) throw BadInput("damaged: a part of the picture is missing");
    // Before anything is set aside for so many: each takes one bit or more.
    if (blocks > 8 * std::uint64_t{bytes.size()}) throw BadInput(kTruncated);
}

Picture read_pnm(std::string_view bytes, unsigned channels) {
    std::size_t at = 2;
    const auto expect = [&](bool good) {
        if (at == bytes.size()) throw BadInput(kTruncated);
        if (!good) throw BadInput("damaged: not the header of a PGM or PPM");
    };
    const auto is_space = [&] { return std::isspace(static_cast<int>(byte(bytes, at))) != 0; };
    const auto is_comment = [&] { return byte(bytes, at) == '#'; };
    const auto number = [&](std::uint32_t most) {
        expect(is_space() || is_comment());
        while (is_space() || is_comment()) {
            // A comment reaches to the end of its line.
            at = is_space() ? at + 1 : std::min(bytes.find_first_of("\r\n", at), bytes.size());
        }
        std::uint32_t value = 0;
        const auto [end, error] =
            std::from_chars(bytes.data() + at, bytes.data() + bytes.size(), value);
        at = static_cast<std::size_t>(end - bytes.data());
        expect(error == std::errc{} && value <= most);
        return value;
    };
    constexpr std::uint32_t kAny = 0xFFFF'FFFF;
    const std::uint32_t width = number(kAny);
    const std::uint32_t height = number(kAny);
    const std::uint32_t largest = number(0xFFFF);
    expect(is_space() && largest > 0);
    ++at;
    check_size(width, height);

    const bool colour = bytes[1] == '6';
    const std::size_t sample_size = largest > 0xFF ? 2 : 1;
    Picture picture{width, height, {}, channels};
    const std::size_t pixels = picture.width * picture.height;
    if ((bytes.size() - at) / (sample_size * (colour ? 3 : 1)) < pixels) throw BadInput(kTruncated);
    picture.resize();
    const auto sample = [&] {
        const std::uint32_t value = big_endian(bytes, at, sample_size);
        at += sample_size;
        if (value > largest) throw BadInput("damaged: a value above the largest that it names");
        return value;
    };
    // 16 bits become 8 as stb_image does it with a PNG of 16 bits, so that both agree.
    const auto as_8_bits = [&](std::uint32_t value) {
        return largest == 0xFFFF ? value / 256 : (value * 255 + largest / 2) / largest;
    };
    for (std::size_t i = 0; i < pixels; ++i) {
        if (channels > 1) {
            const std::uint32_t red = as_8_bits(sample());
            const std::uint32_t green = colour ? as_8_bits(sample()) : red;
            picture.set(i, red, green, colour ? as_8_bits(sample()) : red);
            continue;
        }
        std::uint32_t grey = sample() * (colour ? 77 : 256);
        if (colour) grey += sample() * 150;
        if (colour) grey += sample() * 29;
        grey /= 256;
        picture.pixels[i] = static_cast<std::uint8_t>(as_8_bits(grey));
    }
    return picture;
}

}  // namespace common
