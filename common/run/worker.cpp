#include "common/run/worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "common/status/status.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): not in every unistd.h

namespace common {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

Answer answer_of(const std::string& line) {
    static constexpr std::array kKinds{
        std::pair{"ran", Answer::Kind::kRan},
        std::pair{"bad-input", Answer::Kind::kBadInput},
        std::pair{"unsupported", Answer::Kind::kUnsupported},
        std::pair{"does-not-build", Answer::Kind::kDoesNotBuild},
        std::pair{"nothing-to-run-on", Answer::Kind::kNothingToRunOn},
    };
    Answer answer;
    const nlohmann::json json = nlohmann::json::parse(line);
    answer.error = json.at("error");
    for (const auto& [name, kind] : kKinds)
        if (json.at("kind") == name) answer.kind = kind;
    if (json.contains("run")) answer.run = document_of(json.at("run").dump(), "an answer");
    return answer;
}

}  // namespace

// The process, and a pipe to it and from it. What it says on standard error nobody hears.
class Worker::Process {
 public:
    Process(std::string program, std::string serve) {
        std::array<int, 2> in{-1, -1};
        std::array<int, 2> out{-1, -1};
        if (pipe(in.data()) == 0 && pipe(out.data()) == 0) {
            for (const int end : {in[0], in[1], out[0], out[1]})
                fcntl(end, F_SETFD, FD_CLOEXEC);
            posix_spawn_file_actions_t actions;
            posix_spawn_file_actions_init(&actions);
            posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
            posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
            std::array<char*, 3> arguments{program.data(), serve.data(), nullptr};
            if (posix_spawn(&id_, program.c_str(), &actions, nullptr, arguments.data(), environ) !=
                0)
                id_ = 0;
            posix_spawn_file_actions_destroy(&actions);
        }
        if (in[0] >= 0) close(in[0]);
        if (out[1] >= 0) close(out[1]);
        to_ = in[1];
        from_ = out[0];
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    ~Process() {
        for (const int end : {to_, from_})
            if (end >= 0) close(end);
        if (id_ <= 0) return;
        kill(id_, SIGKILL);
        waitpid(id_, nullptr, 0);
    }

    // How it ended, before it had answered: what is not its kernel's fault is told.
    Answer how_it_ended() {
        int status = 0;
        pid_t ended = 0;
        for (int tries = 0; id_ > 0 && ended == 0 && tries < 100; ++tries) {
            if (tries > 0) std::this_thread::sleep_for(milliseconds(10));
            ended = waitpid(id_, &status, WNOHANG);
        }
        if (ended != 0) id_ = 0;
        if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == kBadInput)
            return {Answer::Kind::kBadInput, "it ended for want of memory", {}};
        if (ended > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
            return {Answer::Kind::kBadInput, "it was killed, perhaps for want of memory", {}};
        return {Answer::Kind::kCrashed, "it crashes", {}};
    }

    bool say(const std::string& line) const {
        return id_ > 0 && write(to_, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    }

    // Its next line. Nothing where it ends before, or the time does.
    std::optional<std::string> next_line(Clock::time_point end, bool& in_time) {
        in_time = true;
        while (read_.find('\n') == std::string::npos) {
            const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
            pollfd waits{from_, POLLIN, 0};
            in_time = left > 0 && poll(&waits, 1, static_cast<int>(left)) != 0;
            if (!in_time) return std::nullopt;
            std::array<char, 8192> some{};
            const ssize_t got = read(from_, some.data(), some.size());
            if (got <= 0) return std::nullopt;
            read_.append(some.data(), static_cast<std::size_t>(got));
        }
        const std::size_t at = read_.find('\n');
        std::string line = read_.substr(0, at);
        read_.erase(0, at + 1);
        return line;
    }

 private:
    pid_t id_ = 0;
    int to_ = -1;
    int from_ = -1;
    std::string read_;
};

Worker::Worker(std::string program) : program_(std::move(program)) {
    std::signal(SIGPIPE, SIG_IGN);  // one that has ended is noticed where its answer is missing
}

Worker::~Worker() = default;

Answer Worker::ask(const std::vector<std::string>& words, milliseconds at_most) {
    const Clock::time_point end = Clock::now() + at_most;
    if (!process_) process_ = std::make_unique<Process>(program_, "--serve");
    bool in_time = true;
    std::optional<std::string> line;
    using Json = nlohmann::json;
    if (process_->say(Json(words).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'))
        line = process_->next_line(end, in_time);
    Answer answer;
    if (line) {
        answer = answer_of(*line);
        if (answer.kind == Answer::Kind::kFailed) start_afresh();
        return answer;
    }
    answer = in_time ? process_->how_it_ended()
                     : Answer{Answer::Kind::kNotFinished, "it is not finished in time", {}};
    start_afresh();
    return answer;
}

void Worker::start_afresh() {
    process_.reset();
}

}  // namespace common
