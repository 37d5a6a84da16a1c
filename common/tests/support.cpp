#include "common/tests/support.hpp"

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "common/image/formats.hpp"
#include "common/process/status.hpp"

namespace tests {
namespace {

namespace fs = std::filesystem;

void put(std::string& to, std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
        to += static_cast<char>(value >> (8 * i));
}

std::string big_endian_32(std::size_t value) {
    std::string bytes;
    put(bytes, static_cast<std::uint32_t>(value), 4);
    std::reverse(bytes.begin(), bytes.end());
    return bytes;
}

std::string packed_row(const std::vector<std::uint32_t>& row, unsigned bits) {
    std::string bytes;
    if (bits >= 8) {
        for (const std::uint32_t pixel : row)
            put(bytes, pixel, static_cast<int>(bits / 8));
    } else {
        const unsigned per_byte = 8 / bits;
        bytes.resize((row.size() + per_byte - 1) / per_byte);
        for (std::size_t x = 0; x < row.size(); ++x) {
            // The leftmost pixel lies in the highest bits.
            const auto shift = static_cast<unsigned>(8 - bits - x % per_byte * bits);
            bytes[x / per_byte] =
                static_cast<char>(static_cast<std::uint8_t>(bytes[x / per_byte]) | row[x] << shift);
        }
    }
    // Padding that is not zero shows where it is taken for pixels.
    bytes.resize((bytes.size() + 3) / 4 * 4, '\x99');
    return bytes;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "histogram-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder " + name);
    path_ = fs::canonical(name);
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::names() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

Environment::Environment(const char* name) : name_(name) {
    if (const char* value = std::getenv(name)) before_ = value;
}

Environment::~Environment() {
    before_ ? set(*before_) : unset();
}

void Environment::set(const std::string& value) const {
    setenv(name_, value.c_str(), 1);
}

void Environment::unset() const {
    unsetenv(name_);
}

std::string said(const std::function<void()>& call) {
    testing::internal::CaptureStderr();
    try {
        call();
    } catch (...) {
        testing::internal::GetCapturedStderr();
        throw;
    }
    return testing::internal::GetCapturedStderr();
}

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path << " cannot be read";
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary);
    file << bytes;
    ASSERT_TRUE(file.flush()) << path << " cannot be written";
}

std::string bad_input(const std::function<void()>& call) {
    try {
        call();
    } catch (const common::BadInput& error) {
        std::string text = error.what();
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(text.find('\n'), std::string::npos) << "more than one line: " << text;
        return text;
    } catch (const std::exception& error) {
        ADD_FAILURE() << "not a BadInput: " << error.what();
        return {};
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

::testing::AssertionResult has(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "'" << text << "' does not have '" << part << "'";
}

std::string bmp_file(const Bmp& bmp) {
    const auto width = static_cast<std::uint32_t>(bmp.rows.empty() ? 0 : bmp.rows.front().size());
    const auto height = static_cast<std::uint32_t>(bmp.rows.size());
    std::string header;
    put(header, bmp.header_size, 4);
    put(header, width, 4);
    put(header, bmp.top_down ? 0U - height : height, 4);
    put(header, 1, 2);  // planes
    put(header, bmp.bits, 2);
    put(header, bmp.compression, 4);
    for (int i = 0; i < 3; ++i)
        put(header, 0, 4);  // size of the pixels, pixels per metre
    put(header, static_cast<std::uint32_t>(bmp.palette.size()), 4);
    put(header, 0, 4);
    for (const std::uint32_t mask : bmp.masks)
        put(header, mask, 4);
    header.resize(std::max<std::size_t>(header.size(), bmp.header_size));
    for (const Rgb& colour : bmp.palette) {
        put(header, colour.b, 1);
        put(header, colour.g, 1);
        put(header, colour.r, 1);
        put(header, 0, 1);
    }

    std::string pixels;
    for (std::size_t y = 0; y < bmp.rows.size(); ++y)
        pixels += packed_row(bmp.rows[bmp.top_down ? y : bmp.rows.size() - 1 - y], bmp.bits);
    std::string file = "BM";
    const auto offset = static_cast<std::uint32_t>(14 + header.size());
    put(file, offset + static_cast<std::uint32_t>(pixels.size()), 4);
    put(file, 0, 4);
    put(file, offset, 4);
    return file + header + pixels;
}

void put_32_at(std::string& bytes, std::size_t at, std::uint32_t value) {
    std::string field;
    put(field, value, 4);
    bytes.replace(at, 4, field);
}

std::vector<Rgb> grey_palette() {
    std::vector<Rgb> palette;
    for (int i = 0; i < 256; ++i) {
        const auto grey = static_cast<std::uint8_t>(i);
        palette.push_back({grey, grey, grey});
    }
    return palette;
}

std::string png_chunk(const std::string& name, const std::string& data) {
    const std::string named = name + data;
    return big_endian_32(data.size()) + named + big_endian_32(common::crc_32(named));
}

std::string png_file(const Png& png, const std::string& deflated) {
    const bool interlaced = png.interlaced_height != 0;
    std::string header = big_endian_32(png.width) +
                         big_endian_32(interlaced ? png.interlaced_height : png.rows.size());
    header += static_cast<char>(png.depth);
    header += static_cast<char>(png.colour);
    header += std::string(2, '\0');  // the one compression, the one set of filters
    header += interlaced ? '\1' : '\0';

    std::string stored;
    for (const std::string& row : png.rows)
        stored += '\0' + row;  // not filtered
    std::string zlib = "\x78\x01\x01";
    put(zlib, static_cast<std::uint32_t>(stored.size()), 2);
    put(zlib, ~static_cast<std::uint32_t>(stored.size()), 2);
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const char c : stored) {
        a = (a + static_cast<std::uint8_t>(c)) % 65521;
        b = (b + a) % 65521;
    }
    zlib += stored + big_endian_32(b << 16 | a);

    return "\x89PNG\r\n\x1A\n" + png_chunk("IHDR", header) +
           (png.palette.empty() ? "" : png_chunk("PLTE", png.palette)) +
           png_chunk("IDAT", deflated.empty() ? zlib : deflated) + png_chunk("IEND", "");
}

}  // namespace tests
