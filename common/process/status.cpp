#include "common/process/status.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

namespace common {
namespace {

// What the end of the program has to know of its course; there is one standard output.
std::string program_name;
int output_error = 0;  // of the first write that failed
bool mismatch = false;
bool said_why = false;  // one line is enough
bool silent = false;
bool is_within_a_line = false;  // of standard error

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

// Where a library lets no exception out, memory that runs out still ends the program with a line.
[[noreturn]] void end_terminated() {
    try {
        if (const std::exception_ptr cause = std::current_exception())
            std::rethrow_exception(cause);
    } catch (const std::bad_alloc&) {
        say_why(program_name, "out of memory");
        _exit(kBadInput);
    } catch (...) {
    }
    std::abort();
}

}  // namespace

void print(const std::string& text) noexcept {
    if (silent) return;
    // Flushed here: a library that does so at the end keeps the reason to itself.
    const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    if (!written && output_error == 0) output_error = errno;
}

void progress(const std::string& text) noexcept {
    if (silent || text.empty()) return;
    std::fputs(text.c_str(), stderr);
    is_within_a_line = text.back() != '\n';
}

void say_why(const std::string& program, const char* why) noexcept {
    std::fflush(stdout);
    std::fprintf(stderr, "%s%s: %s\n", is_within_a_line ? "\n" : "", program.c_str(), why);
    is_within_a_line = false;
    said_why = true;
}

void be_silent() noexcept {
    silent = true;
}

void require_standard_output(const std::string& program) {
    std::signal(SIGXFSZ, SIG_IGN);  // the write is then an error, as on a full disk
    if (program_name.empty()) {
        std::atexit(end_with_lost_output);
        std::set_terminate(end_terminated);
    }
    program_name = program;
}

void note_mismatch() noexcept {
    mismatch = true;
}

std::string shown(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7F)
            line += c;
        else if (c == '\n')
            line += "\\n";
        else if (c == '\t')
            line += "\\t";
        else
            line += fmt::format("\\x{:02x}", byte);
    }
    return line;
}

int report_exception(const std::string& program) noexcept {
    const auto end = [&](int status, const char* why) {
        say_why(program, why);
        return status;
    };
    try {
        throw;
    } catch (const Finished&) {
        return kEveryVariantMatches;
    } catch (const BadInput& error) {
        return end(kBadInput, error.what());
    } catch (const NothingToRunOn& error) {
        return end(kNothingToRunOn, error.what());
    } catch (const std::bad_alloc&) {
        return end(kBadInput, "out of memory: this machine has too little for so many pixels");
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::resource_unavailable_try_again ||
            error.code() == std::errc::not_enough_memory)
            return end(kBadInput, "this machine has too little memory, or no more threads");
        return end(kFailed, shown(error.what()).c_str());  // a file's name may be part of it
    } catch (const std::exception& error) {
        return end(kFailed, error.what());
    } catch (...) {
        return end(kFailed, "failed for a reason that was not given");
    }
}

}  // namespace common
