#include "common/files/kernel_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/files/input_file.hpp"
#include "common/process/status.hpp"

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

namespace common {
namespace {

namespace fs = std::filesystem;

// Some files have no end.
constexpr std::size_t kMaxKernelFile = std::size_t{16} << 20;

}  // namespace

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
