// What the grader asks of a program that runs what students wrote: buffers, launches, and which
// buffer comes back.
//
// The grader (submitted_file.py) sends a job through a pipe, standard input: a line of JSON, and
// behind it the bytes of the buffers. All of it is read before anything of a student's is loaded.
// The counts go back through another pipe, standard output. No file is shared. The
// comparison is the grader's. The programs are run_opencl.cpp, run_cuda.cpp, run_cpp.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace common::exercise {

using Bytes = std::vector<std::uint8_t>;

struct Argument {
    enum class Kind : std::uint8_t { kBuffer, kLocal, kUint, kUlong } kind;
    std::uint64_t value;  ///< which buffer, how many bytes of local memory, or the number
};

/// A launch; for C++ a thread is a group.
struct Step {
    std::string kernel;
    std::size_t groups = 0;
    std::size_t group_size = 0;  ///< or as many as the device allows for this kernel
    std::vector<Argument> arguments;
};

/// Launches one after the other, on buffers of their own, of which the first has the pixels.
struct Case {
    std::size_t program = 0;  ///< which of the job's
    std::size_t result = 0;   ///< the buffer that comes back
    std::vector<std::size_t> sizes;
    std::vector<Step> steps;
    std::vector<Bytes> buffers = {};  ///< of these sizes
};

/// Kernels as a text, or as a library beside the program.
struct Program {
    std::string name;  ///< of the file: a library's, or as error messages call the text
    std::string text, options;
};

struct Job {
    std::string device;        ///< as --device takes it
    std::string library;       ///< of a host program, which launches the kernels itself
    std::vector<Bytes> calls;  ///< C++: filters of system calls, while it is loaded and after that
    std::vector<Program> programs;
    std::vector<Case> cases;
};

/// The exit status where the kernels do not compile.
inline constexpr int kDoesNotCompile = 3;

/// Standard input. @throws BadInput where it ends too early
Job read_job();

/// The function of a library, whose own code begins to run with the first call.
/// @throws std::runtime_error with what is missing
void* find(const std::string& library, const std::string& function);

/// Where results go: standard output as it was when this was made. From then on everything that is
/// printed, by a student's code perhaps, goes to standard error.
class Results {
 public:
    Results();
    /// A line with the number of bytes; then the bytes. @throws BadInput
    void add(const Bytes& bytes);
    /// For a job without cases: what it would run on.
    void add(const std::string& device) { add(Bytes(device.begin(), device.end())); }
    /// What a host program counts, which `host` calls with the pixels, their number, and room for
    /// the counts.
    template <typename Host>
    void add_counted(const Case& each, const Host& host) {
        Bytes counts = each.buffers.at(each.result);
        const Step& step = each.steps.at(0);
        host(step, each.buffers[0].data(), step.arguments.at(0).value,
             reinterpret_cast<std::uint32_t*>(counts.data()));
        add(counts);
    }

 private:
    int to_;
};

}  // namespace common::exercise
