#include "common/tutor/diagnosis/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace common::diagnosis {
namespace {

// Of a run that compiles its kernels, on a busy machine. A run that takes longer says nothing;
// after so many the others are left out.
constexpr std::chrono::seconds kPatience{60};
constexpr int kMaxNotFinished = 2;

struct Probe {
    std::optional<std::uint64_t> random = {};  // pixels
    const char* image = nullptr;
    std::size_t groups = 1;
    bool is_constant = false;
    int times = 1;
};

// Sizes are not round. The pictures have rows that no group covers evenly, and gaps behind them.
const Probe kProbes[] = {{.random = 701},
                         {.random = 100, .groups = 3},
                         {.random = 5'003, .groups = 3},
                         {.random = 20'011},
                         {.random = 50'021, .groups = 2},
                         {.image = PICTURE_WITH_GAPS, .groups = 6},
                         {.random = 26'011, .groups = 2, .is_constant = true},
                         {.image = SMALL_PICTURE_WITH_GAPS, .groups = 12},
                         {.random = 75'011, .is_constant = true},
                         {.random = 300'007, .groups = 4, .times = 3}};

}  // namespace

void observe(Observations& seen, std::size_t group_size, const Runner& runner) {
    int not_finished = 0;
    for (const Probe& probe : kProbes) {
        if (not_finished == kMaxNotFinished) return;
        Options options;
        options.random = probe.random;
        if (probe.is_constant) options.constant = 201;
        if (probe.image != nullptr) options.image = probe.image;
        std::vector<std::string> arguments{"--groups", std::to_string(probe.groups), "--group-size",
                                           std::to_string(group_size)};
        if (probe.random)
            arguments.insert(arguments.end(), {"--random", std::to_string(*probe.random)});
        if (probe.is_constant) arguments.insert(arguments.end(), {"--constant", "201"});
        if (probe.image != nullptr) arguments.emplace_back(probe.image);
        Input input = load_input(options);
        Case run;
        run.words = fmt::format("{} pixels, {}, {}", input.pixels.size(), input.name,
                                to_string(Launch{probe.groups, group_size}));
        run.width = input.width;
        run.expected = reference_histogram(input.pixels);
        for (int time = 0; time < probe.times; ++time) {
            const Answer answer = runner(arguments, kPatience);
            if (answer.kind == Answer::Kind::kCrashed || answer.kind == Answer::Kind::kBadInput)
                seen.troubles.push_back(fmt::format("{}: {}", run.words, answer.error));
            if (answer.kind == Answer::Kind::kNotFinished) {
                ++not_finished;
                seen.troubles.push_back(
                    fmt::format("{}: it is not finished after {} s", run.words, kPatience.count()));
            }
            if (!answer.run || answer.run->results.size() != 1) break;
            const Result& result = answer.run->results.front();
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
