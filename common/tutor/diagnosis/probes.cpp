#include "common/tutor/diagnosis/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/inputs/inputs.hpp"

namespace common::diagnosis {
namespace {

// Of a run that compiles its kernels, on a busy machine; and after so many that take longer there
// is nothing more to learn.
constexpr std::chrono::seconds kPatience{15};
constexpr int kMaxNotFinished = 2;

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

// Sizes are not round, and 17,000,003 of one value are more than a float can count one by one. The
// pictures have rows that no group covers evenly, and gaps behind them. What the small ones
// contradict needs no larger one.
std::vector<Probe> probes(const Launch& wrong) {
    constexpr std::size_t small = 64;
    const std::size_t large = wrong.group_size > small ? wrong.group_size : 96;
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
    const auto picture = [](const char* path) {
        Options options;
        options.image = path;
        return options;
    };
    // clang-format off
    return {{random(701), {1, small}}, {random(100), {3, small}}, {random(5'003), {3, small}},
            {random(20'011), {1, small}}, {random(50'021), {2, large}},
            {picture(PICTURE_WITH_GAPS), {6, small}}, {constant(26'011), {2, small}},
            {picture(SMALL_PICTURE_WITH_GAPS), {12, small}}, {constant(75'011), {1, small}},
            {random(300'007), {4, large}, 3}, {constant(17'000'003), {1, small}, 1, true}};
    // clang-format on
}

}  // namespace

Observations observe(const Launch& launch, const Runner& runner) {
    Observations seen;
    bool wrong = false;
    int not_finished = 0;
    for (const Probe& probe : probes(launch)) {
        if ((wrong && probe.if_all_are_right) || not_finished == kMaxNotFinished) continue;
        Input input = load_input(probe.input);
        Case run;
        run.words = fmt::format("{} pixels, {}, {}", input.pixels.size(), input.name,
                                to_string(probe.launch));
        run.width = input.width;
        for (int time = 0; time < probe.times; ++time) {
            const Answer answer = runner(arguments_of(probe), kPatience);
            if (answer.kind == Answer::Kind::kCrashed) run.ended = Case::Ended::kCrashed;
            if (answer.kind == Answer::Kind::kCrashed || answer.kind == Answer::Kind::kBadInput)
                seen.troubles.push_back(fmt::format("{}: {}", run.words, answer.error));
            if (answer.kind == Answer::Kind::kNotFinished) {
                ++not_finished;
                run.ended = Case::Ended::kNot;
                seen.troubles.push_back(
                    fmt::format("{}: it is not finished after {} s", run.words, kPatience.count()));
            }
            run.expected = reference_histogram(input.pixels);
            if (run.ended != Case::Ended::kItself) {
                wrong = true;
                run.launch = probe.launch;
                run.actual.clear();
            }
            if (!answer.run || answer.run->results.size() != 1) break;
            const Result& result = answer.run->results.front();
            if (!result.launch || result.check == Check::kSkipped) break;
            run.launch = *result.launch;
            wrong = wrong || result.counts.has_value();
            run.actual.push_back(result.counts.value_or(run.expected));
            if (result.only_later) run.actual.push_back(run.expected);
        }
        if (run.actual.empty() && run.ended == Case::Ended::kItself) continue;
        run.pixels = input.pixels;
        seen.inputs.push_back(std::move(input));  // its pixels stay where they are
        seen.cases.push_back(std::move(run));
    }
    return seen;
}

}  // namespace common::diagnosis
