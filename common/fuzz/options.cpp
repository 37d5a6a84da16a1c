// Any lines as the words of a command line: they become options or a reason in one line.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "common/options/options.hpp"
#include "common/status/status.hpp"

namespace {

// Whether an output file could be written is tried: in a folder of its own.
bool in_an_empty_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "fuzz-options-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    std::filesystem::current_path(name);
    common::be_silent();
    static const std::string folder = name;
    return std::atexit([] { std::filesystem::remove_all(folder); }) == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    [[maybe_unused]] static const bool ready = in_an_empty_folder();
    const common::Program program{
        "03-local-atomics",
        "opencl",
        "OpenCL",
        "",
        {{"local", ""}, {"racy", "", true}},
        {{"walk", {"strided", "blocked"}, ""}, {"copies", {"1", "2"}, ""}}};
    std::string text(data, data + size);
    std::replace(text.begin(), text.end(), '/', '_');
    std::replace(text.begin(), text.end(), '\0', '_');
    std::istringstream lines(text);
    std::vector<std::string> words{"opencl"};
    for (std::string line; std::getline(lines, line);)
        words.push_back(line);
    std::vector<const char*> argv;
    for (const std::string& word : words)
        argv.push_back(word.c_str());
    try {
        const common::Options options =
            common::parse_options(static_cast<int>(argv.size()), argv.data(), program);
        if (options.variants.empty() || options.number("copies").value_or(1) > 2) std::abort();
    } catch (const common::BadInput& error) {
        if (*error.what() == '\0') std::abort();
    } catch (const common::Finished&) {
    }
    return 0;
}
