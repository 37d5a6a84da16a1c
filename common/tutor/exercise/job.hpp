/// @file
/// What the grader asks of a program that runs what students wrote: buffers, launches, and which
/// buffer comes back.
///
/// The grader (submitted_file.py) sends a job through a pipe, standard input: a line of JSON, and
/// behind it the bytes that the line speaks of. All of it is read before anything of a student's
/// is loaded. What was counted goes back through another pipe, standard output. No file is shared.
/// The comparison is the grader's. The programs are run_opencl.cpp, run_cuda.cpp, run_cpp.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace common::exercise {

using Bytes = std::vector<std::uint8_t>;

struct Local {
    std::size_t bytes;  ///< of local memory, for the group
};
struct Number {
    std::uint64_t value;
    std::size_t bytes;  ///< 4 (uint) or 8 (ulong)
};
/// A buffer's name, local memory, or a number.
using Argument = std::variant<std::string, Local, Number>;

/// A launch; for C++ a thread is a group.
struct Step {
    std::string kernel;
    std::size_t groups = 0;
    std::size_t group_size = 0;  ///< or as many as the device allows for this kernel
    std::vector<Argument> arguments;
};

/// Launches one after the other, on buffers of their own.
struct Case {
    std::size_t program = 0;               ///< which of the job's
    std::map<std::string, Bytes> buffers;  ///< what they hold at first: poison where nothing else
    std::vector<Step> steps;
    std::string result;  ///< the buffer that comes back
};

/// Kernels as a text, or as a library beside the program.
struct Program {
    std::string name;  ///< of the file: a library's, or as error messages call the text
    std::string text;
    std::string options;  ///< for the compiler
};

struct Job {
    std::vector<Program> programs;
    std::string device;   ///< as --device takes it
    std::string library;  ///< of a host program, which launches the kernels itself
    bool is_planted;  ///< C++: with a fault of the grader's own, which a detector at work reports
    std::vector<Case> cases;
};

/// The exit status where the kernels do not compile.
inline constexpr int kDoesNotCompile = 3;

/// Standard input: a line, and the bytes behind it.
struct Input {
    Input();
    std::string line;
    /// The next so many bytes. @throws BadInput where there are fewer
    Bytes take(std::size_t bytes);
};

/// Reads all of standard input. @throws BadInput where that is no job
Job read_job();

/// The names of the kernels that a job launches.
std::set<std::string> kernels_of(const Job& job);

/// The function of a library, whose own code begins to run with the first call.
/// @throws std::runtime_error with what is missing
void* find(const std::string& library, const std::string& function);

/// Where results go: what was standard output when this was made. What is printed from then on, by
/// a student's code perhaps, goes to standard error.
class Results {
 public:
    Results();
    /// A line with the number of bytes, the time in ms, and the size of the groups that ran; then
    /// the bytes. @throws BadInput
    void add(const Bytes& bytes, double time_ms = 0, std::size_t group_size = 0);
    /// For a job without cases: what it would run on.
    void add(const std::string& device) { add(Bytes(device.begin(), device.end())); }

 private:
    int to_;
};

}  // namespace common::exercise
