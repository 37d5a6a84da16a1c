#include "common/files/output_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <list>
#include <memory>
#include <random>
#include <system_error>

#include "common/process/own_program.hpp"
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

// The one name that all names of a file lead to. A link stays a link: what is replaced is the file
// that it points to.
fs::path final_target(fs::path path) {
    constexpr int kMaxLinks = 40;  // as many as Linux follows
    std::error_code error;
    for (int i = 0; i < kMaxLinks && !names_an_open_file(path) && fs::is_symlink(path, error); ++i)
        path = path.parent_path() / fs::read_symlink(path, error);
    if (names_an_open_file(path)) return path;
    const fs::path folder = fs::weakly_canonical(fs::absolute(path, error).parent_path(), error);
    return error ? path : folder / path.filename();
}

// Hard links have other names.
bool is_same(const fs::path& target, const fs::path& other) {
    std::error_code error;
    return target == final_target(other) ||
           (fs::is_regular_file(target, error) && fs::equivalent(target, other, error));
}

// What is being written to must not be replaced, and a device or a pipe cannot be.
bool is_written_directly(const fs::path& target) {
    std::error_code error;
    return names_an_open_file(target) ||
           (fs::exists(target, error) && !fs::is_regular_file(target, error));
}

bool is_source(const fs::path& target) {
    static constexpr std::array kEndings{".c",   ".cc", ".cl",  ".cpp", ".cu",
                                         ".cuh", ".h",  ".hpp", ".py",  ".cmake"};
    std::string ending = target.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

constexpr std::string_view kUnfinished = ".unfinished-";

// An open file, closed at the end.
class Descriptor {
 public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) close(number_);
    }
    operator int() const { return number_; }

 private:
    int number_;
};

// A new file beside the target, of which nothing is left at the end but what was moved into its
// place. While it is locked it is somebody's; a process that is killed loses the lock.
class Unfinished {
 public:
    Unfinished(const fs::path& named, const fs::path& target)
        : target_(target), path_(beside(target)), file_(create()) {
        if (file_ < 0) refuse(named, errno);
    }
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    ~Unfinished() {
        if (file_ >= 0) unlink(path_.c_str());
    }

    [[nodiscard]] int file() const { return file_; }

    bool move_into_place() { return rename(path_.c_str(), target_.c_str()) == 0; }

 private:
    // A name of this process's own: nobody's file is in the way, and nobody's is lost.
    static fs::path beside(fs::path target) {
        static const unsigned own = std::random_device{}();
        return target += fmt::format("{}{:08x}", kUnfinished, own);
    }

    [[nodiscard]] int create() const {
        struct stat old {};
        const bool replaces = stat(target_.c_str(), &old) == 0;
        const mode_t mode = replaces ? old.st_mode & 0777 : 0666;
        while (true) {
            const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
            if (file < 0) return file;
            flock(file, LOCK_EX | LOCK_NB);
            if (replaces) fchmod(file, mode);  // whatever the umask is
            // Before it was locked, another run may have swept it away.
            struct stat about {};
            if (fstat(file, &about) != 0 || about.st_nlink > 0) return file;
            close(file);
        }
    }

    fs::path target_;
    fs::path path_;
    Descriptor file_;
};

// What a run that was killed has left: nobody has locked it.
void sweep(const fs::path& target) {
    const std::string beginning = target.filename().string() + std::string(kUnfinished);
    const fs::path folder = target.parent_path();
    // Not a directory_iterator, which ends the program where memory runs out (libstdc++ 12).
    const std::unique_ptr<DIR, int (*)(DIR*)> open_folder(opendir(folder.c_str()), closedir);
    while (const dirent* const entry = open_folder ? readdir(open_folder.get()) : nullptr) {
        if (!std::string_view(entry->d_name).starts_with(beginning)) continue;
        const fs::path path = folder / entry->d_name;
        const Descriptor left(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
        if (left >= 0 && flock(left, LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
    }
}

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

// Some file systems cannot; what is written there is as safe as they make it.
bool is_on_disk(int file) {
    return fsync(file) == 0 || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP;
}

void write_directly(const fs::path& named, const fs::path& target, std::string_view bytes) {
    // Opened a second time, a file would be written to from its beginning, over what is in it.
    std::error_code error;
    const Descriptor file(fs::equivalent(target, "/dev/stdout", error)
                              ? dup(STDOUT_FILENO)
                              : open(target.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (file < 0 || !write_all(file, bytes)) refuse(named, errno);
}

}  // namespace

void require_output_files(const std::vector<NamedFile>& outputs,
                          const std::vector<NamedFile>& inputs) {
    std::vector<NamedFile> needed = inputs;
    needed.push_back({"this program", own_program()});
    std::list<Unfinished> probes;
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
            if (other.name != option && is_same(target, other.path)) refuse_same(other.name);
        }
        needed.push_back(output);
        if (is_written_directly(target)) continue;
        if (is_same(target, "/dev/stdout")) refuse_same("standard output");
        if (fs::exists(target, error) && is_source(target)) refuse(path, "it is a source file");
        sweep(target);
        probes.emplace_back(path, target);
    }
}

void write_whole(const fs::path& path, std::string_view bytes) {
    const fs::path target = final_target(path);
    if (is_written_directly(target)) return write_directly(path, target, bytes);
    Unfinished file(path, target);
    if (!write_all(file.file(), bytes) || !is_on_disk(file.file()) || !file.move_into_place())
        refuse(path, errno);
}

}  // namespace common
