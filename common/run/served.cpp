// Many runs in one process, from outside: a library for LD_PRELOAD, which no program knows of. The
// tests and the diagnosis load it, and only where SERVE_COMMAND_LINES is set it does something: in
// place of one call of `main` it makes one for each line of standard input, a JSON array of words,
// and answers each with a line of JSON on standard output:
//
//   status  what main has returned
//   kind    "ran"; "unsupported", where the device cannot do it; "does-not-build", the kernels;
//           "nothing-to-run-on"; or, and then this process ends: "failed", "crashed",
//           "not-finished"
//   error   why it is not "ran", as the program said it
//   run     what --json wrote (docs/json.md), where it ran
//
// What the program says on standard error is read back from there, if that is a file.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Main = int (*)(int, char**, char**);
Main program_main = nullptr;
int answers = -1;     // standard output as it was: drivers may print there whatever they like
off_t said_from = 0;  // where on standard error the present run's words begin
bool runs = false;    // a command line
pid_t server = 0;

void write_all(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(answers, text.data(), text.size());
        if (written <= 0) _exit(2);  // nobody listens
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

std::string text_of(int file, off_t from) {
    std::string text;
    std::array<char, 8192> some{};
    for (ssize_t got = 0; (got = pread(file, some.data(), some.size(), from)) > 0; from += got)
        text.append(some.data(), static_cast<std::size_t>(got));
    return text;
}

// Why the program ended: what it said behind its name, such as "03-local-atomics/opencl: ...".
std::string reason_in(const std::string& said, const std::string& program) {
    const std::string name = program.substr(program.rfind('/') + 1);
    for (std::size_t begin = 0; begin < said.size();) {
        const std::size_t end = std::min(said.find('\n', begin), said.size());
        const std::string line = said.substr(begin, end - begin);
        const std::size_t colon = line.find(": ");
        const std::size_t slash = line.rfind('/', colon);
        if (colon != std::string::npos && slash != std::string::npos &&
            program.find('/' + line.substr(0, slash + 1)) != std::string::npos)
            return said.substr(begin + colon + 2, said.find_last_not_of('\n') - begin - colon - 1);
        begin = end + 1;
    }
    return said.substr(0, said.find_last_not_of('\n') + 1);
}

std::string kind_of(int status, const std::string& reason) {
    if (status == 77) return "nothing-to-run-on";
    if (reason.find("this device") != std::string::npos) return "unsupported";
    const std::string first = reason.substr(0, reason.find('\n'));
    return first.find("does not build") != std::string::npos ? "does-not-build" : "failed";
}

nlohmann::json answer_to(const std::vector<std::string>& words, const std::string& program,
                         char** environment, int results) {
    const std::string json_file = "/proc/self/fd/" + std::to_string(results);
    std::vector<std::string> command{program};
    command.insert(command.end(), words.begin(), words.end());
    command.insert(command.end(), {"--json", json_file});
    std::vector<char*> argv;
    for (std::string& word : command)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    if (ftruncate(results, 0) != 0) _exit(2);
    said_from = lseek(STDERR_FILENO, 0, SEEK_END);
    runs = true;
    const int status = program_main(static_cast<int>(command.size()), argv.data(), environment);
    runs = false;
    std::fflush(nullptr);
    nlohmann::json answer{{"status", status}, {"kind", "ran"}, {"error", ""}};
    if (const std::string run = text_of(results, 0); !run.empty()) {
        answer["run"] = nlohmann::json::parse(run);
    } else if (status != 0) {
        answer["error"] = reason_in(text_of(STDERR_FILENO, said_from), program);
        answer["kind"] = kind_of(status, answer["error"]);
    }
    return answer;
}

int serve(int, char** argv, char** environment) {
    answers = dup(STDOUT_FILENO);
    server = getpid();
    struct stat about {};
    if (fstat(STDERR_FILENO, &about) != 0 || !S_ISREG(about.st_mode))
        dup2(memfd_create("said", MFD_CLOEXEC), STDERR_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    const int results = memfd_create("results", MFD_CLOEXEC);
    for (std::string line; std::getline(std::cin, line);) {
        const auto answer = answer_to(nlohmann::json::parse(line), argv[0], environment, results);
        write_all(answer.dump() + '\n');
        if (answer["kind"] == "failed") return 2;  // a device that has failed may do so again
    }
    return 0;
}

}  // namespace

// The programs' watchdog calls it where a run crashes or hangs, in a handler of signals.
extern "C" void _exit(int status) {
    if (runs && getpid() == server) {  // a child that a run has started ends by itself
        std::array<char, 4096> said{};
        const off_t end = lseek(STDERR_FILENO, 0, SEEK_END);
        const off_t from = std::max(said_from, end - static_cast<off_t>(said.size()) + 1);
        const ssize_t got = pread(STDERR_FILENO, said.data(), said.size() - 1, from);
        const auto has = [&](const char* words) {
            return got > 0 && std::strstr(said.data(), words) != nullptr;
        };
        write_all(has("when memory had run out")
                      ? R"({"status":2,"kind":"failed","error":"it ended for want of memory"})"
                        "\n"
                  : has("a run has not ended after")
                      ? R"({"status":2,"kind":"not-finished","error":"it is not finished in time"})"
                        "\n"
                      : R"({"status":2,"kind":"crashed","error":"it crashes"})"
                        "\n");
    }
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

// What the C library calls first, and what calls main.
extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*loader)(), void* stack) {
    using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
    const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
    if (getenv("SERVE_COMMAND_LINES") == nullptr)
        return start(main, argc, argv, init, fini, loader, stack);
    for (const char* its : {"SERVE_COMMAND_LINES", "LD_PRELOAD"})  // what it starts is no server
        unsetenv(its);
    program_main = main;
    return start(serve, argc, argv, init, fini, loader, stack);
}
