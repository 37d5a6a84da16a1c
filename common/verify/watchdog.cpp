#include "common/verify/watchdog.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <new>

#include "common/process/status.hpp"

namespace common {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kOwnCrashes = false;
#else
constexpr bool kOwnCrashes = true;
#endif

constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::optional<unsigned> limit_given;  // seconds

// What a signal handler may use: memory that is there already, and write.
std::string crash_line;
std::string abort_line;
std::string memory_line;
std::string hang_line;
std::size_t memory_wanted = 0;
volatile std::sig_atomic_t memory_was_missing = 0;
std::string watched;  // the strategy
std::string at_work;  // what is done just now, by a driver; empty: nothing

// What `new` calls that gets none.
void note_missing_memory() {
    memory_was_missing = 1;
    throw std::bad_alloc();
}

// Whether this process could have so much more memory.
bool memory_is_left(std::size_t bytes) noexcept {
    void* const some =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return some != MAP_FAILED && munmap(some, bytes) == 0;
}

extern "C" void end_with_line(int signal) {
    // A driver that gets no memory may stop with an assertion, or use what it did not get.
    const bool lacks_memory =
        signal != SIGALRM && (memory_was_missing != 0 || !memory_is_left(memory_wanted));
    const std::string& line = lacks_memory        ? memory_line
                              : signal == SIGALRM ? hang_line
                              : signal == SIGABRT ? abort_line
                                                  : crash_line;
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
    _exit(kFailed);  // not exit: what hangs would be waited for
}

// A driver's library may end the program, with a status that means something else here.
void end_if_at_work() {
    if (at_work.empty()) return;
    say_why(at_work, "the driver has ended the program, and may have said why above");
    _exit(kFailed);
}

void begin_work(const std::string& what, unsigned seconds) {
    static const int registered = std::atexit(end_if_at_work);
    at_work = registered == 0 ? what : "";
    alarm(seconds);
}

void end_work() {
    alarm(0);
    at_work.clear();
}

}  // namespace

unsigned usual_time_limit(std::size_t pixels) {
    constexpr std::size_t kSlowest = std::size_t{4} << 20;  // pixels in a second
    return static_cast<unsigned>(60 + pixels / kSlowest);
}

void set_time_limit(std::optional<unsigned> seconds) {
    limit_given = seconds;
}

unsigned time_limit(std::size_t pixels) {
    return limit_given.value_or(usual_time_limit(pixels));
}

Watchdog::Watchdog(const std::string& what, std::size_t pixels) : seconds_(time_limit(pixels)) {
    if (kOwnCrashes) {
        constexpr std::size_t kOfADriver = std::size_t{64} << 20;
        const std::string kernel =
            "the kernel reads or writes outside of its memory (out-of-bounds), or needs more stack "
            "than there is. docs/race-detectors.md says how to find the line";
        memory_wanted = pixels + kOfADriver;
        memory_line = fmt::format(
            "\n{}: it crashed when memory had run out: this machine has too little, or a limit is "
            "too low (ulimit -v)\n",
            what);
        std::set_new_handler(note_missing_memory);
        crash_line = fmt::format("\n{}: it crashed; most likely {}\n", what, kernel);
        abort_line = fmt::format(
            "\n{}: the driver or the C library has given up (SIGABRT), and may have said why "
            "above; if not, most likely {}\n",
            what, kernel);
        // They stay: a kernel that has written where it should not may show only when that memory
        // is given back.
        static std::array<char, std::size_t{64} << 10>
            memory;  // the thread's own stack may be full
        const stack_t other{memory.data(), 0, memory.size()};
        sigaltstack(&other, nullptr);
        struct sigaction ends {};
        ends.sa_handler = end_with_line;
        ends.sa_flags = SA_ONSTACK;
        for (const int crash : kCrashes)
            sigaction(crash, &ends, nullptr);
    }
    hang_line =
        fmt::format("\n{}: a run has not ended after {} s: {}\n", what, seconds_, kDoesNotEnd);
    watched = what;
    std::signal(SIGALRM, end_with_line);
}

Watchdog::~Watchdog() {
    end_run();
}

void Watchdog::begin_run() const {
    begin_work(watched, seconds_);
}

void Watchdog::end_run() const {
    end_work();
}

Deadline::Deadline(const std::string& what, unsigned seconds) {
    hang_line =
        fmt::format("{}: not done after {} s: the device or its driver hangs\n", what, seconds);
    std::signal(SIGALRM, end_with_line);
    begin_work(what, seconds);
}

Deadline::~Deadline() {
    end_work();
}

}  // namespace common
