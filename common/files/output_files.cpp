#include "common/files/files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "common/process/status.hpp"

namespace common {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& reason) {
    throw BadInput(fmt::format("cannot write {}: {}", path.string(), reason));
}

[[noreturn]] void refuse(const fs::path& path, int error) {
    refuse(path, std::generic_category().message(error));
}

// Another name of what a process has open already, such as /dev/stdout.
bool names_an_open_file(const fs::path& path) {
    const std::string& name = path.native();
    return name.starts_with("/dev/std") || name.starts_with("/dev/fd/") ||
           name.starts_with("/proc/");
}

// A link stays a link: what is written is the file that it points to, whether that is there or not.
// Below the name that its folder has without links.
fs::path final_target(fs::path path) {
    std::error_code error;
    for (int links = 0; links < 40 && !names_an_open_file(path); ++links) {
        const fs::path link = fs::read_symlink(path, error);
        if (error) break;
        path = path.parent_path() / link;
    }
    if (names_an_open_file(path)) return path;
    const fs::path folder = fs::canonical(fs::absolute(path, error).parent_path(), error);
    return error ? path : folder / path.filename();
}

// Whatever name or link leads to a file, whether it is there or not.
bool is_same(const fs::path& one, const fs::path& other) {
    std::error_code error;
    const fs::path a = final_target(one);
    const fs::path b = final_target(other);
    return a == b || (fs::is_regular_file(a, error) && fs::equivalent(a, b, error));
}

// A file that is being written to must not be replaced, and a device or a pipe cannot be.
bool is_written_directly(const fs::path& target) {
    std::error_code error;
    return names_an_open_file(target) ||
           (fs::exists(target, error) && !fs::is_regular_file(target, error));
}

std::vector<NamedFile> promised;  // outputs

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

bool write_all(const File& file, std::string_view bytes) {
    return file && std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size() &&
           std::fflush(file.get()) == 0;
}

// Some file systems cannot; what is written there is as safe as they make it.
bool is_on_disk(const File& file) {
    return fsync(fileno(file.get())) == 0 || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP;
}

void write_directly(const fs::path& named, const fs::path& target, std::string_view bytes) {
    // Opened a second time, a file would be written to from its beginning, over what is in it.
    std::error_code error;
    const File file(fs::equivalent(target, "/dev/stdout", error) ? fdopen(dup(STDOUT_FILENO), "w")
                                                                 : std::fopen(target.c_str(), "ae"),
                    std::fclose);
    if (!write_all(file, bytes)) refuse(named, errno);
}

}  // namespace

void require_output_files(const std::vector<NamedFile>& outputs,
                          const std::vector<NamedFile>& inputs) {
    std::vector<NamedFile> needed = inputs;
    for (const NamedFile& output : outputs) {
        const auto& [option, path] = output;
        const auto refuse_same = [&option = option](const std::string& other) {
            throw BadInput(fmt::format("{} and {} name the same file", other, option));
        };
        std::error_code error;
        if (path.empty()) refuse(path, "the name is empty");
        if (fs::is_directory(path, error)) refuse(path, "it is a folder");
        const fs::path target = final_target(path);
        for (const NamedFile& other : needed) {
            if (other.name != option && is_same(path, other.path)) refuse_same(other.name);
        }
        needed.push_back(output);
        if (is_written_directly(target) && !names_an_open_file(target) &&
            !fs::is_character_file(target, error))
            refuse(path, "a named pipe, a socket or a disk (/dev/stdout writes to a pipe)");
        if (is_written_directly(target)) continue;
        if (access(target.c_str(), W_OK) != 0 && errno != ENOENT) refuse(path, errno);
        if (is_same(path, "/dev/stdout")) refuse_same("standard output");
        const fs::path folder = fs::absolute(target, error).parent_path() / ".";
        if (access(folder.c_str(), W_OK | X_OK) != 0) refuse(path, errno);
    }
    promised = outputs;
}

void require_no_output(const NamedFile& input) {
    for (const NamedFile& output : promised)
        if (is_same(input.path, output.path))
            throw BadInput(fmt::format("{} and {} name the same file", input.name, output.name));
}

void write_atomically(const fs::path& path, std::string_view bytes) {
    const fs::path target = final_target(path);
    if (is_written_directly(target)) return write_directly(path, target, bytes);
    // A name of this process's own, which is not too long where the other is not.
    const std::string name = target.filename().string().substr(0, 200);
    const fs::path unfinished =
        target.parent_path() / fmt::format("{}.unfinished-{}", name, getpid());
    const File file(std::fopen(unfinished.c_str(), "we"), std::fclose);
    struct stat old {};
    if (file && stat(target.c_str(), &old) == 0) fchmod(fileno(file.get()), old.st_mode & 07777);
    if (write_all(file, bytes) && is_on_disk(file) &&
        rename(unfinished.c_str(), target.c_str()) == 0)
        return;
    const int error = errno;
    unlink(unfinished.c_str());
    refuse(path, error);
}

}  // namespace common
