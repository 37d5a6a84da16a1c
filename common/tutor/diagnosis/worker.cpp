#include "common/tutor/diagnosis/worker.hpp"

#include <array>
#include <utility>

#include "common/child/child_process.hpp"
#include "common/report/json.hpp"

namespace common {
namespace {

using std::chrono::milliseconds;

Answer answer_of(const std::string& line) {
    static constexpr std::array kKinds{std::pair{"ran", Answer::Kind::kRan},
                                       std::pair{"failed", Answer::Kind::kFailed},
                                       std::pair{"crashed", Answer::Kind::kCrashed},
                                       std::pair{"not-finished", Answer::Kind::kNotFinished}};
    Answer answer;
    const Json json = parsed(line);
    answer.error = json.at("error");
    for (const auto& [name, kind] : kKinds)
        if (json.at("kind") == name) answer.kind = kind;
    if (json.contains("run")) answer.run = document_of(line_of(json.at("run")));
    return answer;
}

}  // namespace

Worker::Worker(std::string program) : program_(std::move(program)) {}

Worker::~Worker() = default;

Answer Worker::ask(const std::vector<std::string>& words, milliseconds at_most) {
    const auto end = ChildProcess::Clock::now() + at_most;
    if (!process_)
        process_ = std::make_unique<ChildProcess>(std::vector<std::string>{
            "/usr/bin/env", "SERVE_COMMAND_LINES=1", "LD_PRELOAD=" SERVED_LIBRARY, program_});
    bool in_time = true;
    std::optional<std::string> line;
    if (process_->say(line_of(words), end)) line = process_->next_line(end, in_time);
    // One that ends without an answer was killed, or has crashed in a way that no handler sees.
    const Answer answer =
        line      ? answer_of(*line)
        : in_time ? Answer{Answer::Kind::kCrashed, "it crashes", {}}
                  : Answer{Answer::Kind::kNotFinished, "it is not finished in time", {}};
    if (answer.kind != Answer::Kind::kRan && answer.kind != Answer::Kind::kRefused)
        process_.reset();
    return answer;
}

}  // namespace common
