#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

#include "common/files/files.hpp"
#include "common/opencl/opencl.hpp"
#include "common/process/status.hpp"

namespace common::opencl {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kPatience = 30;  // seconds; eight GPUs that have to be woken take most of that
constexpr int kAsked = 101;         // how a child ends, and no driver that ends its program
constexpr const char* kPipe = "a named pipe, on which the loader waits";
constexpr const char* kLoader = "the loader, or one of its drivers";

std::map<std::string, std::string> passed_over;  // why, by the driver's file

struct Driver {
    std::string file;     // NAME.icd, or the library itself
    std::string library;  // as dlopen takes it
    std::string problem;  // of the file
};

std::string from_environment(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

// Where the loader looks for drivers: a folder, or one driver's file.
fs::path vendors() {
    const fs::path usual = "/etc/OpenCL/vendors";
    std::string given = from_environment("OCL_ICD_VENDORS");
    if (given.empty()) given = from_environment("OPENCL_VENDOR_PATH");  // which ocl-icd reads, too
    std::error_code ignored;
    return fs::exists(given, ignored) ? fs::path(given) : usual / given;
}

Driver driver_of(const fs::path& file) {
    if (fs::is_fifo(file)) return {file, "", kPipe};
    if (file.extension() != ".icd") return {file, file, ""};
    try {
        std::istringstream text(read_whole(file, std::size_t{1} << 16));
        std::string library;
        std::getline(text, library);
        return {file, library, library.empty() ? "an empty file" : ""};
    } catch (const BadInput& reason) {
        return {file, "", reason.what()};
    }
}

std::vector<Driver> drivers() {
    std::vector<Driver> all;
    const fs::path place = vendors();
    std::error_code ignored;
    if (fs::exists(place, ignored) && !fs::is_directory(place, ignored))
        all.push_back(driver_of(place));
    for (const fs::directory_entry& entry : fs::directory_iterator(place, ignored))
        if (entry.path().extension() == ".icd") all.push_back(driver_of(entry.path()));
    std::istringstream more(from_environment("OCL_ICD_FILENAMES"));
    for (std::string file; std::getline(more, file, ':');)
        all.push_back(driver_of(file));
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
    return all;
}

// The loader of this process, which has not been called yet, will know these alone.
void tell_loader_of(const std::vector<Driver>& known, const fs::path& folder) {
    fs::create_directory(folder);
    for (std::size_t i = 0; i < known.size(); ++i)
        std::ofstream(folder / fmt::format("{:03}.icd", i)) << known[i].library << '\n';
    setenv("OCL_ICD_VENDORS", folder.c_str(), 1);
    unsetenv("OCL_ICD_FILENAMES");
}

std::string hint_of_memory() {
    rlimit memory{};
    return getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY
               ? "; there may be too little memory for it (ulimit -v)"
               : "";
}

// A new folder, in which there is room; empty where there is none.
std::string folder_for_drivers() {
    std::error_code ignored;
    for (const fs::path& place : {fs::temp_directory_path(ignored), fs::path("/dev/shm")}) {
        std::string folder = place / "opencl-drivers-XXXXXX";
        if (mkdtemp(folder.data()) == nullptr) continue;
        if (std::ofstream(folder + "/room") << "some" << std::flush) return folder;
        fs::remove_all(folder, ignored);
    }
    return {};
}

// Has a child ask, which says nothing, and which the system's alarm ends if it hangs. Empty where
// it has come to an end, or could not be started.
std::string problem_in_child(const std::function<void()>& ask) {
    const pid_t child = fork();
    if (child == 0) {
        for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
            std::signal(signal, SIG_DFL);
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        for (std::FILE* const output : {stdout, stderr})
            if (std::freopen("/dev/null", "w", output) == nullptr) std::quick_exit(kAsked);
        alarm(kPatience);
        try {
            ask();
        } catch (...) {  // an error is an answer, and this process will get it, too
        }
        std::quick_exit(kAsked);  // and nothing that is to be done at the end of this process
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return {};
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status) == kAsked
                   ? ""
                   : "it ends the program when it is asked for its devices";
    if (WTERMSIG(status) == SIGALRM)
        return fmt::format("it has not told its devices after {} s: it hangs", kPatience);
    return fmt::format("it crashes when it is asked for its devices ({}){}",
                       strsignal(WTERMSIG(status)), hint_of_memory());
}

// PoCL ends the program where it cannot look at the processor, and calls it too little memory.
std::string why_pocl_ends_it(const Driver& driver) {
    if (driver.library.find("pocl") == std::string::npos) return {};
    const char* const cache = std::getenv("POCL_CACHE_DIR");
    if (cache != nullptr && *cache == '\0') return "POCL_CACHE_DIR is empty";
    return fs::exists("/proc/self") && !fs::exists("/sys/devices/system/cpu")
               ? "PoCL needs /sys, which is not there: mount -t sysfs sysfs /sys"
               : "";
}

std::string why_it_finds_none(const Driver& driver) {
    if (!driver.problem.empty()) return driver.problem;
    if (dlopen(driver.library.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr)
        return dlerror() + hint_of_memory();
    if (driver.library.find("pocl") != std::string::npos) {
        const std::string wanted = from_environment("POCL_DEVICES");
        if (!wanted.empty()) return fmt::format("POCL_DEVICES={} names none of its", wanted);
        for (const std::string& why : {why_pocl_ends_it(driver), no_room_for_pocl()})
            if (!why.empty()) return why;
    }
    for (const char* const node :
         {"/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dri/renderD128"})
        if (access(node, F_OK) == 0 && access(node, R_OK | W_OK) != 0)
            return fmt::format("no permission to use {}", node);
    return "it finds no device";
}

}  // namespace

bool pass_over_bad_drivers(const std::function<void()>& ask) {
    static bool done = false;
    static bool can_be_called = true;
    if (std::exchange(done, true)) return can_be_called;
    const std::vector<Driver> all = drivers();
    const bool waits =
        std::any_of(all.begin(), all.end(), [](auto& d) { return d.problem == kPipe; });
    const std::string problem = waits ? kPipe : problem_in_child(ask);
    if (problem.empty()) return true;
    std::error_code ignored;
    const std::string base = folder_for_drivers();
    // One after the other: some answer alone, and not beside another that brings the same library.
    std::vector<Driver> known;
    for (const Driver& each : base.empty() ? known : all) {
        known.push_back(each);
        std::string why = each.problem;
        if (why.empty())
            why = problem_in_child([&] {
                tell_loader_of(known, base + fmt::format("/{}", known.size() + passed_over.size()));
                ask();
            });
        if (why.empty()) continue;
        known.pop_back();
        const std::string of_pocl = why_pocl_ends_it(each);
        passed_over[each.file] = of_pocl.empty() ? why : of_pocl;
    }
    can_be_called = !known.empty();
    if (can_be_called) {
        for (const auto& [file, why] : passed_over)
            progress(fmt::format("passed over OpenCL driver {}: {}\n", file, why));
        // The loader looks once, and programs that are started from here look again.
        const std::string place = from_environment("OCL_ICD_VENDORS");
        const std::string more = from_environment("OCL_ICD_FILENAMES");
        tell_loader_of(known, base + "/good");
        cl_uint count = 0;
        clGetPlatformIDs(0, nullptr, &count);
        place.empty() ? unsetenv("OCL_ICD_VENDORS") : setenv("OCL_ICD_VENDORS", place.c_str(), 1);
        if (!more.empty()) setenv("OCL_ICD_FILENAMES", more.c_str(), 1);
    } else if (passed_over.empty()) {
        passed_over[kLoader] = problem;
    }
    if (!base.empty()) fs::remove_all(base, ignored);
    return can_be_called;
}

std::string no_room_for_pocl() {
    fs::path folder = from_environment("POCL_CACHE_DIR");
    for (const auto& [name, below] : {std::pair("XDG_CACHE_HOME", "pocl"), {"HOME", ".cache/pocl"}})
        if (const std::string base = from_environment(name); folder.empty() && !base.empty())
            folder = fs::path(base) / below;
    std::error_code error;
    fs::create_directories(folder, error);  // as PoCL does
    const fs::path room = folder / fmt::format("room-{}", getpid());
    const bool is_there = bool(std::ofstream(room) << std::string(1'000'000, 'x') << std::flush);
    fs::remove(room, error);
    if (is_there) return {};
    return fmt::format("PoCL cannot write to {}: POCL_CACHE_DIR names another folder",
                       folder.empty() ? "a home folder" : folder.string());
}

std::string why_no_device() {
    if (passed_over.count(kLoader) > 0) return fmt::format("{}: {}", kLoader, passed_over[kLoader]);
    std::vector<std::string> reasons;
    for (const Driver& driver : drivers()) {
        const auto bad = passed_over.find(driver.file);
        reasons.push_back(
            fmt::format("{}: {}", driver.file,
                        bad != passed_over.end() ? bad->second : why_it_finds_none(driver)));
    }
    if (reasons.empty())
        return fmt::format("{} names no driver (PoCL runs OpenCL on any CPU)", vendors().string());
    return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace common::opencl
