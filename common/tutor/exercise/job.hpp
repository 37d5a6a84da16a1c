/// @file
/// What the grader asks of a student's kernels: buffers, launches, and which buffer comes back.
///
/// The grader (submitted_file.py) sends a job on standard input: a line of JSON, and behind it the
/// bytes that the line speaks of. A program runs it (run_opencl.cpp, run_cuda.cpp, run_host.cpp),
/// and what was counted comes back on standard output. No file is shared, so that there is nothing
/// to be read or changed in one. The comparison is the grader's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace common::exercise {

struct Buffer {
    std::vector<std::uint8_t> bytes;  ///< what it holds at first; the poison where nothing else
};

struct Local {
    std::size_t bytes;  ///< of local memory, for the group
};
struct Number {
    std::uint64_t value;
    std::size_t bytes;  ///< 4 (uint) or 8 (ulong)
};
/// A buffer's name, local memory, or a number.
using Argument = std::variant<std::string, Local, Number>;

/// A launch.
struct Step {
    std::string kernel;
    std::size_t groups = 0;
    std::size_t group_size = 0;  ///< or as many as the device allows for this kernel
    std::vector<Argument> arguments;
};

/// Launches one after the other, on buffers of their own.
struct Case {
    std::size_t program = 0;  ///< which of the job's
    std::map<std::string, Buffer> buffers;
    std::vector<Step> steps;
    std::string result;  ///< the buffer that comes back
};

/// A way to compile the kernels.
struct Program {
    std::string name;                  ///< of the file, as error messages call it
    std::string text;                  ///< or nothing, where it is compiled already
    std::vector<std::uint8_t> binary;  ///< then this
    std::string options;               ///< for the compiler
};

struct Job {
    std::vector<Program> programs;
    std::string device;  ///< as --device takes it
    std::vector<Case> cases;
};

/// The exit status where the kernels do not compile.
inline constexpr int kDoesNotCompile = 3;

/// Standard input: a line, and the bytes behind it.
struct Input {
    Input();
    std::string line;
    /// The next so many bytes. @throws BadInput where there are fewer
    std::vector<std::uint8_t> take(std::size_t bytes);
};

/// Reads all of standard input. @throws BadInput where that is no job
Job read_job();

/// The names of the kernels that a job launches.
std::set<std::string> kernels_of(const Job& job);

/// Where results go: what was standard output when this was made. What is printed from then on, by
/// a student's code perhaps, goes to standard error.
class Results {
 public:
    Results();
    /// A line with the number of bytes and the time in ms, then the bytes. @throws BadInput
    void add(const std::vector<std::uint8_t>& bytes, double time_ms = 0);

 private:
    int to_;
};

/// Says on standard error, for the grader, that groups are smaller than was asked for, if they are.
void say_launch(std::size_t group_size, std::size_t asked);

}  // namespace common::exercise
