// The runs that tell mistakes apart.
#include <fmt/format.h>

#include "common/tutor/diagnosis/diagnosis.hpp"

namespace common::diagnosis {
namespace {

// Of a run that compiles its kernels, on a busy machine. A run that takes longer says nothing;
// after so many the others are left out.
constexpr std::chrono::seconds kPatience{60};
constexpr int kMaxNotFinished = 2;

// Inputs of sizes that are not round. The picture has rows that no group covers evenly, and gaps
// behind them.
struct Probe {
    std::vector<std::string> input;
    std::size_t groups = 1;
    int times = 1;
};
const Probe kProbes[] = {
    {{"--random", "701"}},         {{"--random", "100"}, 3},
    {{"--random", "5003"}, 3},     {{"--random", "20011"}},
    {{"--random", "50021"}, 2},    {{"--constant", "201", "--random", "26011"}, 2},
    {{PICTURE_WITH_GAPS}, 6},      {{"--constant", "201", "--random", "75011"}},
    {{"--random", "300007"}, 4, 3}};

}  // namespace

void observe(Observations& seen, std::size_t group_size, std::size_t pitch, const Runner& runner) {
    int not_finished = 0;
    for (const Probe& probe : kProbes) {
        if (not_finished == kMaxNotFinished) return;
        std::vector<std::string> arguments = probe.input;
        const std::vector<const char*> argv = argv_of("probe", probe.input);
        Input input = load_input(parse_options(static_cast<int>(argv.size()), argv.data(), {}));
        arguments.insert(arguments.end(), {"--groups", std::to_string(probe.groups), "--group-size",
                                           std::to_string(group_size)});
        Case run;
        run.words = fmt::format("{} pixels, {}, {}", input.pixels.size(), input.name,
                                to_string(Launch{probe.groups, group_size}));
        run.width = input.width;
        run.pitch = pitch;
        run.expected = reference_histogram(input.pixels);
        for (int time = 0; time < probe.times; ++time) {
            const Answer answer = runner(arguments, kPatience);
            if (answer.kind == Answer::Kind::kCrashed || answer.kind == Answer::Kind::kFailed)
                seen.troubles.push_back(fmt::format("{}: {}", run.words, answer.error));
            if (answer.kind == Answer::Kind::kNotFinished) {
                ++not_finished;
                seen.troubles.push_back(
                    fmt::format("{}: it is not finished after {} s", run.words, kPatience.count()));
            }
            if (answer.results.size() != 1) break;
            const Result& result = answer.results.front();
            if (!result.launch || result.check == Check::kSkipped) break;
            run.launch = *result.launch;
            run.actual.push_back(result.counts.value_or(run.expected));
            if (result.only_later) run.actual.push_back(run.expected);
        }
        if (run.actual.empty()) continue;
        run.pixels = input.pixels;
        seen.inputs.push_back(std::move(input));  // its pixels stay where they are
        seen.cases.push_back(std::move(run));
    }
}

}  // namespace common::diagnosis
