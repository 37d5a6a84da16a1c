#include "common/run/serve.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "common/options/options.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/json.hpp"
#include "common/run/run.hpp"
#include "common/verify/watchdog.hpp"

namespace common {
namespace {

bool serving = false;
std::function<void(const RunDocument&)> take_results;

// The answer to one command line, but for its exit status where it ran.
Json refused(const char* kind, int status, const char* error) {
    return {{"status", status}, {"kind", kind}, {"error", error}};
}

Json answer_to(const std::string& line, const std::string& name, const RunOnce& run) try {
    const std::vector<std::string> words = parsed(line);
    const std::vector<const char*> argv = argv_of(name, words);
    Json answer{{"status", 0}, {"kind", "ran"}, {"error", ""}};
    take_results = [&](const RunDocument& document) {
        answer["run"] = parsed(to_json_text(document));
    };
    answer["status"] = run(static_cast<int>(argv.size()), argv.data());
    return answer;
} catch (const Unsupported& error) {
    return refused("unsupported", kBadInput, error.what());
} catch (const BadInput& error) {
    return refused("bad-input", kBadInput, error.what());
} catch (const DoesNotBuild& error) {
    return refused("does-not-build", kFailed, error.what());
} catch (const NothingToRunOn& error) {
    return refused("nothing-to-run-on", kNothingToRunOn, error.what());
} catch (const Finished&) {
    return refused("ran", kEveryVariantMatches, "");
} catch (const std::bad_alloc&) {
    return refused("bad-input", kBadInput, "out of memory");
} catch (const std::exception& error) {
    return refused("failed", kFailed, error.what());
}

}  // namespace

bool is_serving() {
    return serving;
}

const std::function<void(const RunDocument&)>& taker_of_results() {
    return take_results;
}

bool is_asked_to_serve(int argc, const char* const* argv) {
    const auto serves = [](const char* word) { return std::string_view(word) == "--serve"; };
    const char* const* const end = argv + argc;
    if (argc < 2 || std::none_of(argv + 1, end, serves)) return false;
    const auto other = std::find_if_not(argv + 1, end, serves);
    if (other == end) return true;
    throw BadInput(fmt::format("--serve takes no other option, not '{}'", *other));
}

int serve(const std::string& name, const RunOnce& run) {
    require_standard_output(name);
    be_silent();
    serving = true;
    end_by_signal();
    // Drivers and compilers may print whatever they like, but not among the answers.
    const int answers = dup(STDOUT_FILENO);
    if (answers < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        throw BadInput("--serve needs standard output and standard error");
    for (std::string line; std::getline(std::cin, line);) {
        const Json answer = answer_to(line, name, run);
        const std::string text = line_of(answer);
        for (std::size_t at = 0; at < text.size();) {
            const ssize_t written = write(answers, &text[at], text.size() - at);
            if (written <= 0) return kBadInput;  // nobody listens
            at += static_cast<std::size_t>(written);
        }
        if (answer["kind"] == "failed") return kFailed;
    }
    return kEveryVariantMatches;
}

}  // namespace common
