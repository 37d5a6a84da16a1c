/// @file
/// A program in a second process, which runs what it is asked to (run/served.cpp).
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
    /// How a run ended; refused is what says nothing of the kernel, such as too large a group.
    enum class Kind { kRan, kRefused, kFailed, kCrashed, kNotFinished };
    Kind kind = Kind::kRefused;
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

 private:
    std::string program_;
    std::unique_ptr<ChildProcess> process_;
};

}  // namespace common
