// A library to preload (LD_PRELOAD): one process that runs a program's `main` with each of the
// command lines in the file that MANY_RUNS names, an argument a line, with an empty line after the
// last. Before PoCL compiles anything in a process it reads 9 MB of built-in functions, which takes
// longer than most kernels. So tests that would compile much have this done first, for all of them
// at once (KernelsAhead.cmake), and find it in PoCL's cache.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

using Main = int(int, char**, char**);
Main* program;

// PoCL keeps what it has read for as long as there is a context. False where there is no PoCL.
bool keep_a_context() {
    std::array<cl_platform_id, 16> platforms{};
    cl_uint count = 0;
    if (clGetPlatformIDs(platforms.size(), platforms.data(), &count) != CL_SUCCESS) return false;
    for (cl_uint i = 0; i < count && i < platforms.size(); ++i) {
        std::array<char, 100> name{};
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr);
        cl_device_id device = nullptr;
        if (std::string(name.data()) == "Portable Computing Language" &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS)
            return clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr) != nullptr;
    }
    return false;
}

int run_all(int, char** argv, char** environment) {
    unsetenv("LD_PRELOAD");  // programs that this one starts are run once
    if (!keep_a_context()) {
        std::puts("skipped: no PoCL (package pocl-opencl-icd)");
        return 77;
    }
    const char* const name = std::getenv("MANY_RUNS");
    std::ifstream file(name != nullptr ? name : "");
    std::vector<std::string> line{argv[0]};
    int runs = 0;
    for (std::string argument; std::getline(file, argument);) {
        if (!argument.empty()) {
            line.push_back(argument);
            continue;
        }
        std::vector<char*> words;
        words.reserve(line.size() + 1);
        for (std::string& word : line)
            words.push_back(word.data());
        words.push_back(nullptr);
        const int status = program(static_cast<int>(line.size()), words.data(), environment);
        if (status != 0 && status != 1 && status != 77)
            return status;  // refused: the list is wrong
        line.resize(1);
        ++runs;
    }
    std::printf("%d runs\n", runs);
    return runs > 0 ? 0 : 1;
}

}  // namespace

// What calls `main`: here it is told to call another.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is the C library's
extern "C" int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*end)(),
                                 void (*unload)(), void* stack) {
    program = main;
    const auto real =
        reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
    return real(run_all, argc, argv, init, end, unload, stack);
}
