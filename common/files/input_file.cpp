#include "common/files/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "common/process/status.hpp"

namespace common {
namespace {

[[noreturn]] void refuse(int error) {
    throw BadInput(std::generic_category().message(error));
}

const char* kind_of(mode_t mode) {
    return S_ISDIR(mode)    ? "a folder, not a file"
           : S_ISFIFO(mode) ? "a named pipe, not a file (/dev/stdin reads from a pipe)"
                            : "not a file";
}

}  // namespace

File open_input(const std::filesystem::path& path) {
    // Opened so that a pipe without a writer is not waited for; looked at once it is open, so that
    // nobody can put another in its place in between.
    const int opened = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (opened == -1) refuse(errno);
    File file(fdopen(opened, "rb"), [](std::FILE* f) { return std::fclose(f); });
    if (!file) {
        const int error = errno;
        close(opened);
        refuse(error);
    }
    struct stat about {};
    if (fstat(opened, &about) == -1) refuse(errno);
    const std::string& name = path.native();
    const bool of_the_system = name.starts_with("/dev/") || name.starts_with("/proc/");
    if (S_ISDIR(about.st_mode) || (!S_ISREG(about.st_mode) && !of_the_system))
        throw BadInput(kind_of(about.st_mode));
    // Who writes into /dev/stdin may take time.
    if (fcntl(opened, F_SETFL, fcntl(opened, F_GETFL) & ~O_NONBLOCK) == -1) refuse(errno);
    return file;
}

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
