#include "common/child/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>

extern char** environ;  // NOLINT(readability-redundant-declaration): not in every unistd.h

namespace common {
// Waits until this end of a socket can be read or written.
static bool is_ready(int fd, short what, ChildProcess::Clock::time_point end) {
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - ChildProcess::Clock::now())
                .count();
        if (left <= 0) return false;
        pollfd waits{fd, what, 0};
        const int ready = poll(&waits, 1, static_cast<int>(std::min<long long>(left, INT_MAX)));
        if (ready >= 0 || errno != EINTR) return ready != 0;
    }
}

ChildProcess::ChildProcess(std::vector<std::string> command) {
    std::signal(SIGPIPE, SIG_IGN);  // one that has ended is noticed where its answer is missing
    std::array<int, 2> ends{-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return;
    own_end_ = ends[0];
    for (const int end : ends)
        fcntl(end, F_SETFD, FD_CLOEXEC);
    fcntl(own_end_, F_SETFL, O_NONBLOCK);  // one that does not read is not waited for
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (std::string& word : command)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (posix_spawn(&id_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) id_ = 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
}

ChildProcess::~ChildProcess() {
    if (own_end_ >= 0) close(own_end_);
    if (id_ <= 0) return;
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
}

bool ChildProcess::say(std::string_view text, Clock::time_point end) const {
    if (id_ <= 0) return false;
    while (!text.empty()) {
        const ssize_t written = write(own_end_, text.data(), text.size());
        if (written > 0)
            text.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR && (errno != EAGAIN || !is_ready(own_end_, POLLOUT, end)))
            return false;
    }
    return true;
}

std::optional<std::string> ChildProcess::next_line(Clock::time_point end, bool& in_time) {
    in_time = true;
    while (read_.find('\n') == std::string::npos) {
        in_time = is_ready(own_end_, POLLIN, end);
        if (!in_time) return std::nullopt;
        std::array<char, 8192> some{};
        const ssize_t got = read(own_end_, some.data(), some.size());
        if (got <= 0) return std::nullopt;
        read_.append(some.data(), static_cast<std::size_t>(got));
    }
    const std::size_t at = read_.find('\n');
    std::string line = read_.substr(0, at);
    read_.erase(0, at + 1);
    return line;
}

}  // namespace common
