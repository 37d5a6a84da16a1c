#include "common/tutor/diagnosis/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "common/files/own_program.hpp"
#include "common/inputs/inputs.hpp"
#include "common/report/document.hpp"
#include "common/status/status.hpp"

#if defined(__unix__) || defined(__APPLE__)
#define CAN_START_PROGRAMS
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;  // NOLINT(readability-redundant-declaration): not in every unistd.h
#endif

namespace common::diagnosis {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Probe {
    Options input;  // its pixels, and nothing else
    Launch launch;
    int times = 1;
    bool if_all_are_right = false;  // it takes as long as all others
};

std::vector<std::string> arguments_of(const Probe& probe) {
    std::vector<std::string> arguments{"--groups", std::to_string(probe.launch.groups),
                                       "--group-size", std::to_string(probe.launch.group_size)};
    const Options& input = probe.input;
    const auto add = [&](const char* option, const auto& value) {
        if (value) arguments.insert(arguments.end(), {option, std::to_string(*value)});
    };
    add("--random", input.random);
    add("--constant", input.constant);
    if (input.image) arguments.push_back(input.image->string());
    return arguments;
}

// Sizes are not round: what is lost at 1,000,003 shows, and 17,000,003 of one value are more than a
// float can count one by one, which is asked where nothing smaller goes wrong. The picture has rows
// that no group covers evenly, and gaps behind them. The first are the smallest that tell most
// mistakes apart.
std::vector<Probe> probes() {
    const auto random = [](std::uint64_t count) {
        Options options;
        options.random = count;
        return options;
    };
    const auto constant = [&](std::uint64_t count) {
        Options options = random(count);
        options.constant = 201;
        return options;
    };
    Options picture;
    picture.image = PICTURE_WITH_GAPS;
    return {
        {random(100'003), {1, 64}},
        {random(100'003), {2, 64}},
        {random(100'003), {3, 256}},
        {picture, {6, 64}},
        {random(100), {3, 64}},
        {constant(12'803), {1, 64}},
        {constant(1'000'003), {2, 64}},
        {random(1'000'003), {4, 256}, 4},
        {constant(17'000'003), {1, 64}, 1, true},
    };
}

}  // namespace

Observations observe(const Runner& runner, milliseconds at_most) {
    const Clock::time_point end = Clock::now() + at_most;
    Observations seen;
    bool wrong = false;
    for (const Probe& probe : probes()) {
        if (wrong && probe.if_all_are_right) continue;
        Input input = load_input(probe.input);
        Case run;
        run.words = fmt::format("{} pixels, {}, {}", input.pixels.size(), input.name,
                                to_string(probe.launch));
        run.width = input.width;
        for (int time = 0; time < probe.times; ++time) {
            const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
            if (left <= milliseconds(0)) return seen;
            const Outcome outcome = runner(arguments_of(probe), left);
            if (outcome.end == Outcome::End::kCrashed)
                seen.troubles.push_back(run.words + ": it crashes");
            // (On a busy machine compiling alone may take that long.)
            if (outcome.end == Outcome::End::kNotFinished && left > milliseconds(2000)) {
                seen.troubles.push_back(fmt::format("{}: it is not finished after {:.1f} s",
                                                    run.words,
                                                    static_cast<double>(left.count()) / 1000));
            }
            if (outcome.end != Outcome::End::kCounted) break;
            if (time == 0) run.expected = reference_histogram(input.pixels);
            run.launch = outcome.launch;
            wrong = wrong || outcome.counts.has_value();
            run.actual.push_back(outcome.counts.value_or(run.expected));
            if (outcome.only_later) run.actual.push_back(run.expected);
        }
        if (run.actual.empty()) continue;
        run.pixels = input.pixels;
        seen.inputs.push_back(std::move(input));  // its pixels stay where they are
        seen.cases.push_back(std::move(run));
    }
    return seen;
}

milliseconds usual_time() {
    const char* const given = std::getenv("TUTORIAL_DIAGNOSIS_SECONDS");
    const long seconds = given != nullptr ? std::strtol(given, nullptr, 10) : 0;
    return seconds > 0 ? milliseconds(1000 * seconds) : milliseconds(3500);
}

#ifdef CAN_START_PROGRAMS

namespace {

// Its exit status as waitpid gives it; nothing where it had to be stopped.
std::optional<int> run_program(const std::string& program, std::vector<std::string> arguments,
                               milliseconds at_most) {
    arguments.insert(arguments.begin(), program);
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments)
        pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int stream : {0, 1, 2})
        posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
    pid_t child = 0;
    const int error =
        posix_spawn(&child, program.c_str(), &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return std::nullopt;
    const Clock::time_point end = Clock::now() + at_most;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (Clock::now() > end) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return std::nullopt;
        }
        std::this_thread::sleep_for(milliseconds(2));
    }
    return status;
}

// A file that is gone at the end.
class TemporaryFile {
 public:
    TemporaryFile() {
        std::string name =
            (std::filesystem::temp_directory_path() / "histogram-tutorials-XXXXXX").string();
        const int file = mkstemp(name.data());
        if (file < 0) return;
        close(file);
        path = name;
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
    std::filesystem::path path;  // empty where none can be made
};

}  // namespace

std::optional<Runner> own_runner(const Program& program, const Options& options,
                                 const std::string& variant) {
    const std::filesystem::path self = own_program();
    if (self.empty() || program.api == "C++") return std::nullopt;
    std::vector<std::string> always{"--variant", variant,        "--repeat",
                                    "1",         "--no-ceiling", "--no-diagnosis"};
    if (!options.device.empty()) always.insert(always.end(), {"--device", options.device});
    if (options.kernels) always.insert(always.end(), {"--kernels", options.kernels->string()});
    always.insert(always.end(), options.own.begin(), options.own.end());
    return [=](const std::vector<std::string>& arguments, milliseconds at_most) -> Outcome {
        const TemporaryFile json;
        std::vector<std::string> all = always;
        all.insert(all.end(), arguments.begin(), arguments.end());
        all.insert(all.end(), {"--json", json.path.string()});
        const std::optional<int> status = run_program(self.string(), all, at_most);
        if (!status) return {Outcome::End::kNotFinished, {}, {}};
        if (WIFSIGNALED(*status)) return {Outcome::End::kCrashed, {}, {}};
        if (WEXITSTATUS(*status) != kEveryVariantMatches && WEXITSTATUS(*status) != kMismatch)
            return {};
        try {
            const RunDocument document = read_document(json.path);
            if (document.results.size() != 1 || !document.results.front().launch) return {};
            const Result& result = document.results.front();
            if (result.check == Check::kSkipped) return {};
            return {Outcome::End::kCounted, *result.launch, result.counts, result.only_later};
        } catch (const BadInput&) {
            return {};
        }
    };
}

#else

std::optional<Runner> own_runner(const Program&, const Options&, const std::string&) {
    return std::nullopt;
}

#endif

}  // namespace common::diagnosis
