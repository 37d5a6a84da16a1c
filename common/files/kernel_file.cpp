#include "common/files/kernel_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/files/input_file.hpp"
#include "common/files/program_path.hpp"
#include "common/process/status.hpp"

namespace common {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
    const fs::path program = program_path();
    return program.empty() ? "." : program.parent_path();
}

// Some files have no end.
constexpr std::size_t kMaxKernelFile = std::size_t{16} << 20;

std::optional<std::string> text_of(const fs::path& path) {
    try {
        return read_whole(path, kMaxKernelFile);
    } catch (const BadInput&) {
        return std::nullopt;
    }
}

}  // namespace

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
    const fs::path beside = program_folder() / name;
    const fs::path in_source = fs::path(chapter_folder) / name;
    for (const fs::path& path : {beside, in_source}) {
        if (auto text = text_of(path)) return *text;
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
