#include "common/run/worker.hpp"

#include <sys/wait.h>

#include <array>
#include <csignal>
#include <utility>

#include "common/process/child_process.hpp"
#include "common/process/status.hpp"
#include "common/report/json.hpp"

namespace common {
namespace {

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
    const Json json = parsed(line);
    answer.error = json.at("error");
    for (const auto& [name, kind] : kKinds)
        if (json.at("kind") == name) answer.kind = kind;
    if (json.contains("run")) answer.run = document_of(line_of(json.at("run")));
    return answer;
}

// It ended before it had answered: what is not its kernel's fault is told.
Answer how_it_ended(ChildProcess& process) {
    const std::optional<int> status = process.status_at_its_end();
    if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == kBadInput)
        return {Answer::Kind::kBadInput, "it ended for want of memory", {}};
    if (status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL)
        return {Answer::Kind::kBadInput, "it was killed, perhaps for want of memory", {}};
    return {Answer::Kind::kCrashed, "it crashes", {}};
}

}  // namespace

Worker::Worker(std::string program) : program_(std::move(program)) {}

Worker::~Worker() = default;

Answer Worker::ask(const std::vector<std::string>& words, milliseconds at_most) {
    const auto end = ChildProcess::Clock::now() + at_most;
    if (!process_)
        process_ = std::make_unique<ChildProcess>(std::vector<std::string>{program_, "--serve"});
    bool in_time = true;
    std::optional<std::string> line;
    if (process_->say(line_of(words), end)) line = process_->next_line(end, in_time);
    Answer answer;
    if (line) {
        answer = answer_of(*line);
        if (answer.kind == Answer::Kind::kFailed) start_afresh();
        return answer;
    }
    answer = in_time ? how_it_ended(*process_)
                     : Answer{Answer::Kind::kNotFinished, "it is not finished in time", {}};
    start_afresh();
    return answer;
}

void Worker::start_afresh() {
    process_.reset();
}

}  // namespace common
