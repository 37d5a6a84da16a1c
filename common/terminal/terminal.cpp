#include "common/terminal/terminal.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/terminal/exit_status.hpp"

namespace common {
namespace {

// What the end of the program has to know of its course; there is one standard output.
std::string program_name;
int output_error = 0;  // of the first write that failed
bool mismatch = false;
bool said_why = false;  // one line is enough
bool silent = false;

// Runs after `main`, where it is the last to know. std::exit cannot be called again from here.
void end_with_lost_output() {
    if (std::fflush(stdout) != 0 && output_error == 0) output_error = errno;
    if (std::ferror(stdout) == 0 || said_why) return;
    std::fprintf(stderr, "%s: cannot write standard output%s%s\n", program_name.c_str(),
                 output_error == 0 ? "" : ": ",
                 output_error == 0       ? ""
                 : output_error == EBADF ? "it is closed"
                                         : std::strerror(output_error));
    _exit(mismatch ? kMismatch : kBadInput);
}

}  // namespace

void print(const std::string& text) noexcept {
    if (silent) return;
    // Flushed here: a library that does so at the end keeps the reason to itself.
    const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    if (!written && output_error == 0) output_error = errno;
}

void progress(const std::string& text) noexcept {
    if (!silent) std::fputs(text.c_str(), stderr);
}

void say_why(const std::string& program, const char* why) noexcept {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", program.c_str(), why);
    said_why = true;
}

void be_silent() noexcept {
    silent = true;
}

void require_output(const std::string& program) {
    std::signal(SIGXFSZ, SIG_IGN);  // the write is then an error, as on a full disk
    if (program_name.empty()) std::atexit(end_with_lost_output);
    program_name = program;
}

void note_mismatch() noexcept {
    mismatch = true;
}

}  // namespace common
