#include "common/image/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <vector>

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

// What the scans of a JPEG must hold, from its header.
struct JpegFrame {
    struct Component {
        std::uint32_t id, across, down;  // blocks of 8 x 8 in the smallest unit of all components
        bool scanned = false;
    };

    explicit JpegFrame(std::string_view segment = {})
        : height(big_endian(segment, 3, 2)), width(big_endian(segment, 5, 2)) {
        for (std::uint32_t i = 0; i < byte(segment, 7); ++i) {
            const std::uint32_t blocks = byte(segment, 9 + 3 * i);
            components.push_back({byte(segment, 8 + 3 * i), blocks >> 4, blocks & 0xF});
            max_across = std::max(max_across, blocks >> 4);
            max_down = std::max(max_down, blocks & 0xF);
        }
    }

    // The units that the scan with this header has; notes that its components have been scanned.
    std::uint32_t units_of(std::string_view segment) {
        const std::uint32_t in_scan = byte(segment, 2);
        std::uint32_t units = ceil(width, 8 * max_across) * ceil(height, 8 * max_down);
        for (std::uint32_t i = 0; i < in_scan; ++i) {
            for (Component& one : components) {
                if (one.id != byte(segment, 3 + 2 * i)) continue;
                one.scanned = true;
                if (in_scan == 1) units = blocks_of(one);
            }
        }
        return units;
    }

    [[nodiscard]] std::uint32_t blocks_of(const Component& one) const {
        return ceil(ceil(width * one.across, max_across), 8) *
               ceil(ceil(height * one.down, max_down), 8);
    }

    // The blocks of all components, each of which takes one bit of a scan or more.
    [[nodiscard]] std::uint64_t blocks() const {
        std::uint64_t sum = 0;
        for (const Component& one : components)
            sum += blocks_of(one);
        return sum;
    }

    static std::uint32_t ceil(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

    std::uint32_t height, width;
    std::uint32_t max_across = 1;
    std::uint32_t max_down = 1;
    std::vector<Component> components;
};

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
    JpegFrame frame;
    bool framed = false;
    std::uint32_t interval = 0;         // units from one restart marker to the next
    std::int64_t restarts_missing = 0;  // in the scan
    for (std::size_t at = 2;;) {
        at = std::min(bytes.find('\xFF', at), bytes.size());
        if (bytes.size() - at < 2) throw BadInput(kTruncated);
        const std::uint32_t marker = byte(bytes, ++at);
        if (marker == 0xFF) continue;  // a marker may be preceded by any number of these
        ++at;
        if (marker == 0x00) continue;  // a byte of data, not a marker
        if (marker >= 0xD0 && marker <= 0xD7) {
            --restarts_missing;
            continue;
        }
        if (restarts_missing > 0) throw BadInput("damaged: a part of the picture is missing");
        if (marker == 0xD9) break;  // the end

        const std::uint32_t size = big_endian(bytes, at, 2);
        if (bytes.size() - at < size) throw BadInput(kTruncated);
        const std::string_view segment = bytes.substr(at, size);
        if (marker == 0xC4) check_huffman_tables(bytes.substr(at), size);
        at += size;
        if (marker >= 0xC0 && marker <= 0xC2) {
            // stb_image would set aside what the first one says.
            if (framed) throw BadInput("damaged: a JPEG with two headers");
            frame = JpegFrame(segment);
            framed = true;
        }
        if (marker == 0xDD) interval = big_endian(segment, 2, 2);
        if (marker == 0xDA) {
            const std::uint32_t units = frame.units_of(segment);
            restarts_missing = interval == 0 ? 0 : (std::int64_t{units} - 1) / interval;
        }
    }
    if (!std::all_of(frame.components.begin(), frame.components.end(),
                     [](const auto& component) { return component.scanned; })) {
        throw BadInput("damaged: a part of the picture is missing");
    }
    // Before anything is set aside for so many.
    if (frame.blocks() > 8 * std::uint64_t{bytes.size()}) throw BadInput(kTruncated);
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
