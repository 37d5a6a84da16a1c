#include "common/status/status.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

namespace common {
namespace {

// What the end of the program has to know of its course; there is one standard output.
std::string guarded_program;
int output_error = 0;  // of the first write that failed
bool mismatch = false;
bool said_why = false;  // one line is enough
bool silent = false;

// Runs after `main`, where it is the last to know. std::exit cannot be called again from here.
void end_with_lost_output() {
    if (std::fflush(stdout) != 0 && output_error == 0) output_error = errno;
    if (std::ferror(stdout) == 0 || said_why) return;
    std::fprintf(stderr, "%s: cannot write standard output%s%s\n", guarded_program.c_str(),
                 output_error == 0 ? "" : ": ",
                 output_error == 0       ? ""
                 : output_error == EBADF ? "it is closed"
                                         : std::strerror(output_error));
    _exit(mismatch ? kMismatch : kBadInput);
}

}  // namespace

int report_exception(const std::string& program) noexcept {
    const auto say = [&](const char* text) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s: %s\n", program.c_str(), text);
        said_why = true;
    };
    try {
        throw;
    } catch (const Finished&) {
        return kEveryVariantMatches;
    } catch (const BadInput& error) {
        say(error.what());
        return kBadInput;
    } catch (const NothingToRunOn& error) {
        say(error.what());
        return kNothingToRunOn;
    } catch (const std::bad_alloc&) {
        say("out of memory: this machine has too little for so many pixels");
        return kBadInput;
    } catch (const std::system_error& error) {
        // fmt::print throws where it cannot write: a lost result, not a wrong one.
        if (std::ferror(stdout) != 0) {
            if (output_error == 0) output_error = error.code().value();
            return kBadInput;
        }
        say(error.what());
        return kMismatch;
    } catch (const std::exception& error) {
        say(error.what());
        return kMismatch;
    } catch (...) {
        say("failed for a reason that was not given");
        return kMismatch;
    }
}

void guard_streams(const std::string& program) {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(stream, F_GETFD) != -1) continue;
        // Opened for reading, standard output fails like a closed one: its loss is noticed. That of
        // standard error need not be. The lowest free number is the stream's own.
        [[maybe_unused]] const int place =
            open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    }
    // A file that would grow too large (ulimit -f) is then an error like a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
    if (guarded_program.empty()) std::atexit(end_with_lost_output);
    guarded_program = program;
}

void print(const std::string& text) noexcept {
    if (silent) return;
    // Flushed here: a library that does so at the end keeps the reason to itself.
    const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    if (!written && output_error == 0) output_error = errno;
}

void progress(const std::string& text) noexcept {
    if (!silent) std::fputs(text.c_str(), stderr);
}

void be_silent() noexcept {
    silent = true;
}

void note_mismatch() noexcept {
    mismatch = true;
}

}  // namespace common
