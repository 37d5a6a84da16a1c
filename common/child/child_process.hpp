// A program that is started, told something on its standard input, and asked for a line. Its
// standard error is discarded.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace common {

class ChildProcess {
 public:
    using Clock = std::chrono::steady_clock;

    /// @param command the program's path and its arguments; one that cannot be started has ended
    explicit ChildProcess(std::vector<std::string> command);
    /// It is killed, if it still runs.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// False where it has not taken all of the text by then.
    bool say(std::string_view text, Clock::time_point end) const;

    /// The next line of its standard output; nothing where it ends before, or the time does.
    /// @param in_time which of them it was
    std::optional<std::string> next_line(Clock::time_point end, bool& in_time);

 private:
    pid_t id_ = 0;
    int own_end_ = -1;  ///< of a socket, whose other end the program reads and writes
    std::string read_;
};

}  // namespace common
