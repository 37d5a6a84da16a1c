#include "common/image/image.hpp"

#include <fmt/format.h>
#include <stb_image.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "common/status/status.hpp"

namespace common {
namespace {

// stb_image takes a missing byte for a zero and says nothing, so a truncated picture would load as
// one with a black end. This reader notices. stb_image asks for bytes in two ways: it refills its
// own small buffer, where getting fewer is normal and getting none means that it needed one more
// than there is; or it wants a whole stretch somewhere else, where fewer is too few. The first call
// is a refill and so tells which buffer is its own.
class WatchedFile {
 public:
    explicit WatchedFile(std::FILE* file) : file_(file) {
        head_.resize(kHeadSize);
        head_.resize(std::fread(head_.data(), 1, head_.size(), file));
    }

    [[nodiscard]] bool read_past_the_end() const { return past_end_; }

    /// The file's first bytes, for a look at its header. stb_image gets them, too.
    [[nodiscard]] std::string_view head() const { return head_; }

    static int read(void* self, char* to, int size) {
        return static_cast<WatchedFile*>(self)->read(to, static_cast<std::size_t>(size));
    }
    // By reading, not seeking, so that a pipe works too. Padding that is missing at the very end of
    // a file is no pixel, so running out here is not held against it.
    static void skip(void* self, int count) {
        auto& watched = *static_cast<WatchedFile*>(self);
        for (; count > 0 && watched.head_given_ < watched.head_.size(); --count)
            ++watched.head_given_;
        while (count-- > 0 && std::fgetc(watched.file_) != EOF) {
        }
    }
    static int at_end(void* self) {
        const auto& watched = *static_cast<WatchedFile*>(self);
        return watched.head_given_ == watched.head_.size() && std::feof(watched.file_) != 0;
    }

 private:
    int read(char* to, std::size_t size) {
        const std::size_t from_head = std::min(size, head_.size() - head_given_);
        std::memcpy(to, head_.data() + head_given_, from_head);
        head_given_ += from_head;
        const std::size_t got = from_head + std::fread(to + from_head, 1, size - from_head, file_);
        if (own_buffer_ == nullptr) {
            own_buffer_ = to;
        } else if (to == own_buffer_ ? got == 0 : got < size) {
            past_end_ = true;
        }
        return static_cast<int>(got);
    }

    std::FILE* file_;
    char* own_buffer_ = nullptr;
    static constexpr std::size_t kHeadSize = 32;
    std::string head_;
    std::size_t head_given_ = 0;  // bytes of the head that stb_image has had
    bool past_end_ = false;
};

std::uint32_t little_endian(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
        value |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
    }
    return value;
}

// What stb_image gets wrong or does not tell of a BMP, from its header; empty where there is
// nothing.
std::string bmp_trouble(std::string_view head) {
    if (!head.starts_with("BM")) return {};
    const std::uint32_t header_size = little_endian(head, 14, 4);
    if (header_size == 12) {
        // stb_image works out the wrong size for its palette, and so reads the wrong pixels.
        const std::uint32_t bits = little_endian(head, 24, 2);
        return bits <= 8 ? "unsupported: a BMP of OS/2 with a palette" : "";
    }
    const auto width = std::int64_t{static_cast<std::int32_t>(little_endian(head, 18, 4))};
    const auto height = std::int64_t{static_cast<std::int32_t>(little_endian(head, 22, 4))};
    // stb_image decodes to up to 4 bytes a pixel and counts them in 31 bits.
    constexpr std::int64_t kMostArea = std::numeric_limits<std::int32_t>::max() / 4;
    return std::abs(width) * std::abs(height) > kMostArea
               ? fmt::format("too large a picture: {} x {} pixels", width, std::abs(height))
               : "";
}

BadInput unusable(const std::filesystem::path& path, std::string_view reason) {
    return BadInput(fmt::format("{}: {}", path.string(), reason));
}

}  // namespace

Picture load_picture(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        throw unusable(path, "a folder, not a picture");
    }
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        std::fopen(path.string().c_str(), "rb"), [](std::FILE* f) { return std::fclose(f); });
    if (!file) {
        throw unusable(path, std::generic_category().message(errno));
    }
    if (std::filesystem::is_regular_file(path, ignored) &&
        std::filesystem::file_size(path, ignored) == 0) {
        throw unusable(path, "an empty file");
    }

    WatchedFile watched(file.get());
    if (const std::string trouble = bmp_trouble(watched.head()); !trouble.empty()) {
        throw unusable(path, trouble);
    }
    const stbi_io_callbacks callbacks{WatchedFile::read, WatchedFile::skip, WatchedFile::at_end};
    int width = 0;
    int height = 0;
    int channels_in_file = 0;
    const std::unique_ptr<stbi_uc, void (*)(void*)> grey(
        stbi_load_from_callbacks(&callbacks, &watched, &width, &height, &channels_in_file, 1),
        stbi_image_free);
    if (!grey) {
        const std::string_view reason = stbi_failure_reason();
        if (reason.find("not of any known type") != std::string_view::npos) {
            throw unusable(path, "not a picture of a format that stb_image reads");
        }
        if (reason.find("large") != std::string_view::npos) {
            throw unusable(path, "too large a picture: " + std::string(reason));
        }
        if (reason.find("Out of memory") != std::string_view::npos) {
            throw unusable(path, "out of memory while decoding the picture");
        }
        if (watched.read_past_the_end()) {
            throw unusable(path, "truncated: the file ends before the picture does");
        }
        throw unusable(path, "unsupported or damaged: " + std::string(reason));
    }
    if (watched.read_past_the_end()) {
        throw unusable(path, "truncated: the file ends before the picture does");
    }
    if (width == 0 || height == 0) {
        throw unusable(path, "damaged or truncated: a picture without pixels");
    }

    Picture picture{static_cast<std::size_t>(width), static_cast<std::size_t>(height), {}};
    picture.pixels.assign(grey.get(), grey.get() + picture.width * picture.height);
    return picture;
}

}  // namespace common
