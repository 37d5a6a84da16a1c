#include "common/status/status.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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

// The bytes of the character of UTF-8 that begins here; 0 where none does.
std::size_t character_size(std::string_view text) {
    const auto at = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const unsigned first = at(0);
    const std::size_t size = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
    for (std::size_t i = 1; i < size; ++i)
        if ((at(i) & 0xC0) != 0x80) return 0;
    // Longer than it need be, half a pair of UTF-16, or beyond the last character.
    const bool wrong = (first == 0xE0 && at(1) < 0xA0) || (first == 0xED && at(1) > 0x9F) ||
                       (first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) > 0x8F);
    return wrong ? 0 : size;
}

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

std::string shown(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const std::size_t size = character_size(text);
        const auto first = static_cast<unsigned char>(text[0]);
        // U+0080 to U+009F are to some terminals what ESC and a letter are to others.
        const bool controls = (size == 1 && (first < 0x20 || first == 0x7F)) ||
                              (size == 2 && first == 0xC2 && (text[1] & 0x20) == 0);
        const std::size_t taken = std::max(size, std::size_t{1});
        for (const char c : text.substr(0, taken)) {
            if (size > 0 && !controls)
                line += c;
            else if (c == '\n')
                line += "\\n";
            else if (c == '\t')
                line += "\\t";
            else
                line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
        text.remove_prefix(taken);
    }
    return line;
}

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
        say(shown(error.what()).c_str());  // a file's name may be part of it
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
