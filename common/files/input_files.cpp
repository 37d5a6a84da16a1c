#include "common/files/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <system_error>

#include "common/process/status.hpp"

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

namespace common {
namespace {

namespace fs = std::filesystem;

// Some files have no end.
constexpr std::size_t kMaxKernelFile = std::size_t{16} << 20;

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
    constexpr std::size_t kFirst = 12;
    const File file = open_input(path);
    std::string bytes;
    for (std::size_t got = 0, more = kFirst;; more = std::max(std::size_t{1} << 16, got)) {
        bytes.resize(got + more);
        const std::size_t now = std::fread(bytes.data() + got, 1, more, file.get());
        const int error = errno;
        bytes.resize(got += now);
        if (std::ferror(file.get()) != 0) refuse(error);
        if (got > most) throw BadInput(fmt::format("too large: more than {} bytes", most));
        if (now < more) return bytes;
        if (got == kFirst && wanted && !wanted(bytes)) return bytes;
    }
}

fs::path program_path() {
#if defined(__APPLE__)
    char path[4096];
    std::uint32_t size = sizeof path;
    return _NSGetExecutablePath(path, &size) == 0 ? path : "";
#else
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? "" : program;
#endif
}

std::string read_kernel_file(const std::string& name, const std::string& chapter_folder,
                             const std::optional<std::string>& instead) {
    if (instead) {
        const std::string option = "--kernels " + *instead;
        try {
            const std::string text = read_whole(*instead, kMaxKernelFile);
            if (text.empty()) throw BadInput("an empty file");
            return text;
        } catch (const BadInput& reason) {
            throw BadInput(fmt::format("{}: {}", option, reason.what()));
        }
    }
    const fs::path program = program_path();
    const fs::path beside = (program.empty() ? "." : program.parent_path()) / name;
    const fs::path in_source = fs::path(chapter_folder) / name;
    for (const fs::path& path : {beside, in_source}) {
        require_no_output({"the kernels", path});
        try {
            return read_whole(path, kMaxKernelFile);
        } catch (const BadInput&) {  // then the other
        }
    }
    throw BadInput(fmt::format("no kernel file {}: tried {} and {}", name, beside.string(),
                               in_source.string()));
}

std::string with_its_name(const std::string& name, const std::string& source) {
    if (!source.starts_with("//")) return fmt::format("#line 1 \"{}\"\n{}", name, source);
    const std::size_t end = std::min(source.find('\n'), source.size());
    return fmt::format("#line 2 \"{}\"{}", name, source.substr(end));
}

}  // namespace common
