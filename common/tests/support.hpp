/// @file
/// What several of the unit tests need: a folder of their own, files by their bytes, BMP and PNG
/// files made by hand, and the text of an expected BadInput.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tests {

/// A new, empty folder that goes away with the object.
class TemporaryFolder {
 public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
        return path_ / name;
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// The names of everything in it, sorted.
    [[nodiscard]] std::vector<std::string> names() const;

 private:
    std::filesystem::path path_;
};

std::string bytes_of(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const std::string& bytes);

/// A variable of the environment that is as it was when the object goes away.
class Environment {
 public:
    explicit Environment(const char* name);
    ~Environment();
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    void set(const std::string& value) const;
    void unset() const;

 private:
    const char* name_;
    std::optional<std::string> before_;
};

/// What a call writes to standard error.
std::string said(const std::function<void()>& call);

/// The text of the BadInput that `call` throws. Fails the test where it throws none, and where the
/// text is not one line, since the user reads it as one.
std::string bad_input(const std::function<void()>& call);

/// Whether `text` has `part` in it, for EXPECT_TRUE: a failure shows both.
::testing::AssertionResult has(const std::string& text, const std::string& part);

struct Rgb {
    std::uint8_t r, g, b;
};

/// A BMP file to be. What a field does not say is as the most usual file has it.
struct Bmp {
    unsigned bits = 8;
    /// Top row first, whatever the order in the file: palette indices, or the pixel's stored word
    /// (0xRRGGBB for 24 bits).
    std::vector<std::vector<std::uint32_t>> rows{};
    std::vector<Rgb> palette{};
    bool top_down = false;
    std::uint32_t header_size = 40;
    std::uint32_t compression = 0;  ///< 0 none, 1 and 2 run-length, 3 bit fields
    std::vector<std::uint32_t> masks{};
};

/// The bytes of the file.
std::string bmp_file(const Bmp& bmp);

/// Overwrites four bytes, least significant first: for headers that lie.
void put_32_at(std::string& bytes, std::size_t at, std::uint32_t value);

/// Offsets in the header of a BMP.
inline constexpr std::size_t kBmpWidthAt = 18;
inline constexpr std::size_t kBmpHeightAt = 22;

/// 256 greys in order: the palette with which an index is a grey value.
std::vector<Rgb> grey_palette();

/// A chunk of a PNG: length, name, data, checksum.
std::string png_chunk(const std::string& name, const std::string& data);

/// A PNG file to be. `rows` are the bytes of each row as the file has them, without compression.
struct Png {
    std::size_t width = 0;
    int depth = 8;   ///< bits a sample
    int colour = 0;  ///< 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha
    std::string palette;
    std::vector<std::string> rows;
    std::size_t interlaced_height = 0;  ///< if not 0, the rows are those of the seven passes
};

/// The bytes of the file; with `deflated` its compressed data are these instead.
std::string png_file(const Png& png, const std::string& deflated = "");

}  // namespace tests
