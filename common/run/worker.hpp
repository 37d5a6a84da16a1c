/// @file
/// The other side of serve.hpp: a second process of this program, which runs what it is asked to.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/report/document.hpp"

namespace common {

class ChildProcess;

struct Answer {
    /// How a run ended, in the order of the kinds of serve.hpp; and the two ends of its process.
    enum class Kind {
        kRan,
        kBadInput,
        kUnsupported,
        kDoesNotBuild,
        kNothingToRunOn,
        kFailed,
        kCrashed,
        kNotFinished
    };
    Kind kind = Kind::kFailed;
    std::string error;               ///< why it did not run
    std::optional<RunDocument> run;  ///< where it ran
};

class Worker {
 public:
    /// @param program its path
    explicit Worker(std::string program);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// One run. Where it crashes, or takes longer than this, its process is ended and the next run
    /// gets another.
    Answer ask(const std::vector<std::string>& words, std::chrono::milliseconds at_most);

    /// The next run gets a process of its own.
    void start_afresh();

 private:
    std::string program_;
    std::unique_ptr<ChildProcess> process_;
};

}  // namespace common
