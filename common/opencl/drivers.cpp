#include "common/opencl/opencl.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "common/files/files.hpp"
#include "common/process/status.hpp"

namespace common::opencl {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kPatience = 30;  // seconds; eight GPUs that have to be woken take most of that

struct Driver {
    fs::path file;        // NAME.icd, or the library itself
    std::string library;  // as dlopen takes it
    std::string problem;  // why it is of no use, as far as that is known
};

std::vector<Driver> passed_over;

std::string from_environment(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

// Where the loader looks for drivers: mostly a folder, but it may be one driver's file.
fs::path vendors() {
    const fs::path usual = "/etc/OpenCL/vendors";
    for (const char* const name : {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"}) {
        const fs::path given = from_environment(name);
        if (given.empty()) continue;
        const bool is_bare = given.extension() == ".icd" && !given.has_parent_path();
        return is_bare && fs::exists(usual / given) ? usual / given : given;
    }
    return usual;
}

Driver driver_of(const fs::path& file) {
    if (file.extension() != ".icd") return {file, file.string(), ""};
    try {
        std::istringstream text(read_whole(file, std::size_t{1} << 16));
        std::string library;
        return std::getline(text, library) ? Driver{file, library, ""}
                                           : Driver{file, "", "an empty file"};
    } catch (const BadInput& reason) {
        return {file, "", reason.what()};
    }
}

std::vector<Driver> drivers() {
    std::vector<fs::path> files;
    const fs::path place = vendors();
    std::error_code ignored;
    if (fs::is_regular_file(place, ignored)) files.push_back(place);
    for (const fs::directory_entry& entry : fs::directory_iterator(place, ignored))
        if (entry.path().extension() == ".icd") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::istringstream more(from_environment("OCL_ICD_FILENAMES"));
    for (std::string file; std::getline(more, file, ':');)
        files.emplace_back(file);
    std::vector<Driver> all;
    for (const fs::path& file : files)
        all.push_back(driver_of(file));
    return all;
}

// From here on the loader of this process, which has not been called yet, knows these alone.
void tell_loader_of(const std::vector<Driver>& known, const fs::path& folder) {
    fs::create_directory(folder);
    for (std::size_t i = 0; i < known.size(); ++i)
        std::ofstream(folder / fmt::format("{:03}.icd", i)) << known[i].library << '\n';
    setenv("OCL_ICD_VENDORS", folder.c_str(), 1);
    for (const char* const name : {"OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"})
        unsetenv(name);
}

// A child that asks, and says nothing. What hangs in it is ended by the system's alarm.
pid_t start(
    const std::function<void()>& ask, const std::function<void()>& first = [] {}) {
    const pid_t child = fork();
    if (child != 0) return child;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
        std::signal(signal, SIG_DFL);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (const int output : {STDOUT_FILENO, STDERR_FILENO})
        if (std::freopen("/dev/null", "w", output == STDOUT_FILENO ? stdout : stderr) == nullptr)
            close(output);
    alarm(kPatience);
    try {
        first();
        ask();
    } catch (...) {  // an error is an answer, and this process will get it, too
    }
    std::quick_exit(0);  // and nothing that is to be done at the end of this process
}

std::string hint_of_memory() {
    rlimit memory{};
    return getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY
               ? "; there may be too little memory for it (ulimit -v)"
               : "";
}

// Empty where it has answered, or could not be started.
std::string problem_of(pid_t child) {
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return {};
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return fmt::format("it has not told its devices after {} s: it hangs", kPatience);
    if (WIFSIGNALED(status))
        return fmt::format("it crashes when it is asked for its devices ({}){}",
                           strsignal(WTERMSIG(status)), hint_of_memory());
    return WEXITSTATUS(status) == 0 ? "" : "it ends the program when it is asked for its devices";
}

bool is_pocl(const Driver& driver) {
    return driver.library.find("pocl") != std::string::npos;
}

// PoCL ends the program where it cannot look at the processor, and calls it too little memory.
std::string why_pocl_is_blind() {
    return fs::exists("/proc/self") && !fs::exists("/sys/devices/system/cpu")
               ? "PoCL needs /sys, which is not there: mount -t sysfs sysfs /sys"
               : "";
}

// Devices of the system without which a driver finds none.
std::string why_not_permitted() {
    for (const char* const node :
         {"/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dri/renderD128"})
        if (access(node, F_OK) == 0 && access(node, R_OK | W_OK) != 0)
            return fmt::format("no permission to use {}", node);
    return {};
}

std::string why_it_finds_none(const Driver& driver) {
    if (!driver.problem.empty()) return driver.problem;
    if (dlopen(driver.library.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr)
        return dlerror() + hint_of_memory();
    if (is_pocl(driver)) {
        const std::string wanted = from_environment("POCL_DEVICES");
        for (const std::string& why :
             {wanted.empty() ? "" : fmt::format("POCL_DEVICES={} names none of its", wanted),
              no_room_for_pocl()})
            if (!why.empty()) return why;
    }
    const std::string why = why_not_permitted();
    return why.empty() ? "it finds no device" : why;
}

}  // namespace

bool pass_over_bad_drivers(const std::function<void()>& ask) {
    static bool all_are_bad = false;
    static bool done = false;
    if (std::exchange(done, true)) return !all_are_bad;
    const std::string problem = problem_of(start(ask));
    if (problem.empty()) return true;
    std::string base = fs::temp_directory_path() / "opencl-drivers-XXXXXX";
    std::vector<Driver> known = drivers();
    if (known.empty() || mkdtemp(base.data()) == nullptr) {
        passed_over.push_back({"the loader, or one of its drivers", "", problem});
        all_are_bad = true;
        return false;
    }
    std::vector<pid_t> children;
    for (std::size_t i = 0; i < known.size(); ++i)
        children.push_back(
            start(ask, [&] { tell_loader_of({known[i]}, base + fmt::format("/{}", i)); }));
    for (std::size_t i = 0; i < known.size(); ++i) {
        std::string why = problem_of(children[i]);
        if (why.empty()) continue;
        if (is_pocl(known[i]) && !why_pocl_is_blind().empty()) why = why_pocl_is_blind();
        passed_over.push_back(known[i]);
        passed_over.back().problem = why;
    }
    std::erase_if(known, [](const Driver& driver) {
        return std::any_of(passed_over.begin(), passed_over.end(),
                           [&](const Driver& bad) { return bad.file == driver.file; });
    });
    // Each may answer alone, and two of them not in one process, as where both bring the same
    // library.
    while (known.size() > 1) {
        const auto together = [&] {
            tell_loader_of(known, base + fmt::format("/first-{}", known.size()));
        };
        const std::string why = problem_of(start(ask, together));
        if (why.empty()) break;
        passed_over.push_back(known.back());
        passed_over.back().problem = "beside the others " + why;
        known.pop_back();
    }
    all_are_bad = known.empty();
    if (!all_are_bad) {
        for (const Driver& bad : passed_over)
            progress(
                fmt::format("passed over OpenCL driver {}: {}\n", bad.file.string(), bad.problem));
        // The loader looks once, and programs that are started from here look again.
        std::map<const char*, std::string> was;
        for (const char* const name :
             {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"})
            if (std::getenv(name) != nullptr) was[name] = from_environment(name);
        tell_loader_of(known, base + "/good");
        cl_uint count = 0;
        clGetPlatformIDs(0, nullptr, &count);
        unsetenv("OCL_ICD_VENDORS");
        for (const auto& [name, value] : was)
            setenv(name, value.c_str(), 1);
    }
    std::error_code ignored;
    fs::remove_all(base, ignored);
    return !all_are_bad;
}

std::string no_room_for_pocl() {
    fs::path folder = from_environment("POCL_CACHE_DIR");
    for (const auto& [name, below] : {std::pair("XDG_CACHE_HOME", "pocl"), {"HOME", ".cache/pocl"}})
        if (const std::string base = from_environment(name); folder.empty() && !base.empty())
            folder = fs::path(base) / below;
    std::error_code error;
    fs::create_directories(folder, error);  // as PoCL does
    if (!error && access(folder.c_str(), W_OK) == 0) return {};
    return fmt::format("PoCL cannot write to {}: POCL_CACHE_DIR names another folder",
                       folder.empty() ? "a home folder" : folder.string());
}

std::string why_no_device() {
    std::vector<std::string> reasons;
    for (const Driver& bad : passed_over)
        reasons.push_back(fmt::format("{}: {}", bad.file.string(), bad.problem));
    for (const Driver& driver : drivers()) {
        const bool is_said = std::any_of(
            passed_over.begin(), passed_over.end(),
            [&](const Driver& bad) { return bad.file == driver.file || bad.library.empty(); });
        if (!is_said)
            reasons.push_back(
                fmt::format("{}: {}", driver.file.string(), why_it_finds_none(driver)));
    }
    if (reasons.empty())
        return fmt::format("{} names no driver (PoCL runs OpenCL on any CPU)", vendors().string());
    return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace common::opencl
