#include "common/host/cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <thread>

#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace common {
static std::string model_name() {
#if defined(__APPLE__)
    char name[256] = "";
    std::size_t size = sizeof name;
    if (sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0) return name;
#endif
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos)
            return line.substr(colon + 2);
    }
    return "unnamed processor";
}

std::size_t cpu_threads() {
    return std::max(1U, std::thread::hardware_concurrency());
}

std::string cpu_name() {
    const std::size_t threads = cpu_threads();
    return fmt::format("{}, {} thread{}", model_name(), threads, threads == 1 ? "" : "s");
}

}  // namespace common
