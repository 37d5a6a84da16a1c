#include "common/process/own_program.hpp"

#include <cstdint>
#include <string>
#include <system_error>

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

namespace common {

std::filesystem::path own_program() {
#if defined(__APPLE__)
    char path[4096];
    std::uint32_t size = sizeof path;
    return _NSGetExecutablePath(path, &size) == 0 ? path : "";
#else
    std::error_code error;
    std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
    // Linux adds this where another file has taken the place, such as one that was built meanwhile.
    const std::string gone = " (deleted)";
    if (program.ends_with(gone)) program.erase(program.size() - gone.size());
    return error ? "" : program;
#endif
}

}  // namespace common
