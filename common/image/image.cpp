#include "common/image/image.hpp"

#include <fmt/format.h>
#include <stb_image.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <new>
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
    explicit WatchedFile(std::FILE* file) : file_(file) {}

    [[nodiscard]] bool read_past_the_end() const { return past_end_; }

    static int read(void* self, char* to, int size) {
        return static_cast<WatchedFile*>(self)->read(to, static_cast<std::size_t>(size));
    }
    // By reading, not seeking, so that a pipe works too. Padding that is missing at the very end of
    // a file is no pixel, so running out here is not held against it.
    static void skip(void* self, int count) {
        std::FILE* file = static_cast<WatchedFile*>(self)->file_;
        while (count-- > 0 && std::fgetc(file) != EOF) {
        }
    }
    static int at_end(void* self) { return std::feof(static_cast<WatchedFile*>(self)->file_); }

 private:
    int read(char* to, std::size_t size) {
        const std::size_t got = std::fread(to, 1, size, file_);
        if (own_buffer_ == nullptr) {
            own_buffer_ = to;
        } else if (to == own_buffer_ ? got == 0 : got < size) {
            past_end_ = true;
        }
        return static_cast<int>(got);
    }

    std::FILE* file_;
    char* own_buffer_ = nullptr;
    bool past_end_ = false;
};

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

    Picture picture{static_cast<std::size_t>(width), static_cast<std::size_t>(height), {}};
    picture.pixels.assign(grey.get(), grey.get() + picture.width * picture.height);
    return picture;
}

}  // namespace common
