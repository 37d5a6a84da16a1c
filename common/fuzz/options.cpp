// Any lines as the words of a command line: they become options or a reason in one line.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "common/options/options.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    common::be_silent();
    static const common::Program program{
        "03-local-atomics",
        "opencl",
        "OpenCL",
        "",
        {{"local", ""}, {"racy", "", true}},
        {{"walk", {"strided", "blocked"}, ""}, {"copies", {"1", "2"}, ""}}};
    static common::CommandLine command_line(program);
    std::string text(data, data + size);
    // The help is always the same, and takes longer than all else.
    if (text.find("-h") != std::string::npos) return 0;
    // Whether an output file could be written is tried: not with any name that comes along
    // (outputs.cpp has names for it).
    for (const char* output : {"--json", "--plot", "--counts"})
        if (text.find(output) != std::string::npos) return 0;
    std::replace(text.begin(), text.end(), '\0', '_');
    std::istringstream lines(text);
    std::vector<std::string> words{"opencl"};
    for (std::string line; std::getline(lines, line);)
        words.push_back(line);
    std::vector<const char*> argv;
    argv.reserve(words.size());
    for (const std::string& word : words)
        argv.push_back(word.c_str());
    try {
        const common::Options options =
            command_line.parse(static_cast<int>(argv.size()), argv.data());
        if (options.variants.empty() || options.number("copies").value_or(1) > 2) std::abort();
    } catch (const common::BadInput& error) {
        if (*error.what() == '\0') std::abort();
    } catch (const common::Finished&) {
    }
    return 0;
}
