#include "common/files/input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "common/process/status.hpp"

namespace common {
namespace {

[[noreturn]] void refuse(int error) {
    throw BadInput(std::generic_category().message(error));
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_input(const std::filesystem::path& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (is_directory(status)) throw BadInput("a folder, not a file");
    const std::string& name = path.native();
    const bool of_the_system = name.starts_with("/dev/") || name.starts_with("/proc/");
    if (is_fifo(status) && !of_the_system)
        throw BadInput("a named pipe, not a file (/dev/stdin reads from a pipe)");
    File file(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!file) refuse(errno);
    return file;
}

}  // namespace

std::string read_whole(const std::filesystem::path& path, std::size_t most,
                       const std::function<bool(std::string_view)>& wanted) {
    const File file = open_input(path);
    std::string bytes;
    for (std::size_t got = 0, more = 8;; more = std::max(std::size_t{1} << 16, got)) {
        bytes.resize(got + more);
        const std::size_t now = std::fread(bytes.data() + got, 1, more, file.get());
        const int error = errno;
        bytes.resize(got += now);
        if (std::ferror(file.get()) != 0) refuse(error);
        if (got > most) throw BadInput(fmt::format("too large: more than {} bytes", most));
        if (now < more) return bytes;
        if (got == 8 && wanted && !wanted(bytes)) return bytes;
    }
}

}  // namespace common
