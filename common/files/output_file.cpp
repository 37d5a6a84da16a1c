#include "common/files/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <string>
#include <system_error>

#include "common/files/input_file.hpp"
#include "common/status/status.hpp"

namespace common {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& reason) {
    throw BadInput(fmt::format("cannot write {}: {}", path.string(), reason));
}

File open_or_refuse(const fs::path& named, const fs::path& opened) {
    File file(std::fopen(opened.string().c_str(), "wb"),
              [](std::FILE* f) { return std::fclose(f); });
    if (!file) refuse(named, std::generic_category().message(errno));
    return file;
}

bool is_device_or_pipe(const fs::path& path) {
    std::error_code ignored;
    // /dev/stdout may lead to a regular file, which is being written to: it must not be replaced.
    return path.native().starts_with("/dev/") ||
           (fs::exists(path, ignored) && fs::is_other(path, ignored));
}

// A link stays a link: what is replaced is the file that it points to.
fs::path final_target(fs::path path) {
    constexpr int kMaxLinks = 40;  // as many as Linux follows
    std::error_code error;
    for (int i = 0; i < kMaxLinks && fs::is_symlink(path, error); ++i) {
        path = path.parent_path() / fs::read_symlink(path, error);
    }
    return path;
}

fs::path unfinished(const fs::path& target) {
    // A name of this process's own: nobody's file is in the way, and nobody's is lost.
    static const unsigned own = std::random_device{}();
    fs::path name = target;
    name += fmt::format(".unfinished-{:08x}", own);
    return name;
}

}  // namespace

void require_writable(const fs::path& path) {
    std::error_code ignored;
    if (path.empty()) refuse(path, "the name is empty");
    if (fs::is_directory(path, ignored)) refuse(path, "it is a folder");
    if (is_device_or_pipe(path)) return;
    const fs::path probe = unfinished(final_target(path));
    open_or_refuse(path, probe);
    fs::remove(probe, ignored);
}

void write_whole(const fs::path& path, std::string_view bytes) {
    const bool direct = is_device_or_pipe(path);
    const fs::path target = final_target(path);
    const fs::path written = direct ? path : unfinished(target);
    File file = open_or_refuse(path, written);
    const bool complete = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size() &&
                          std::fflush(file.get()) == 0 && std::fclose(file.release()) == 0;
    const int write_error = errno;
    file.reset();
    std::error_code error;
    if (complete && !direct) fs::rename(written, target, error);
    if (!complete || error) {
        std::error_code ignored;
        if (!direct) fs::remove(written, ignored);
        refuse(path, complete ? error.message() : std::generic_category().message(write_error));
    }
}

}  // namespace common
