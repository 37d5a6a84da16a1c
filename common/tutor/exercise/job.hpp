/// @file
/// What the grader asks of a student's kernels: buffers, launches, and which buffer comes back.
///
/// The grader (submitted_file.py) writes a job as JSON, a program runs it (run_opencl.cpp,
/// run_cuda.cpp, run_host.cpp), and the result comes back as a file of bytes. The comparison is the
/// grader's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
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
    std::string result;        ///< the buffer that comes back
    std::filesystem::path to;  ///< where its bytes are written
    /// How often; if more than once, each time in milliseconds is a line of the file `to`.ms.
    std::size_t rounds = 1;
};

/// A way to compile the kernels.
struct Program {
    std::string kernels;  ///< a path
    std::string options;  ///< for the compiler
};

struct Job {
    std::vector<Program> programs;
    std::string device;  ///< as --device takes it
    std::vector<Case> cases;
};

/// The exit status where the kernels do not compile.
inline constexpr int kDoesNotCompile = 3;

/// @throws BadInput where the file cannot be read or is no job
Job read_job(const std::filesystem::path& path);

/// The whole file. @throws BadInput
std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path);

/// Writes the whole file. @throws BadInput
void write_bytes(const std::filesystem::path& path, const std::vector<std::uint8_t>& bytes);

/// Runs a case as often as it says, and writes what came back, and the times.
/// @param once runs it once: how long the launches took, in ms, and the result's bytes
/// @throws BadInput where a file cannot be written
void run_rounds(const Case& each,
                const std::function<double(std::vector<std::uint8_t>& result)>& once);

}  // namespace common::exercise
