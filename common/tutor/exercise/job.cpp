#include "common/tutor/exercise/job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/histogram/histogram.hpp"
#include "common/process/status.hpp"

namespace common::exercise {
namespace {

using Json = nlohmann::json;

// {"bytes": n} (the next of the input), {"words": n} (the poison) or {"words": n, "zero": true}. A
// buffer of nothing is an error in both APIs, so it has a word at least.
Buffer buffer_from(const Json& json, Input& input) {
    if (json.contains("bytes")) {
        Buffer buffer{input.take(json.at("bytes"))};
        if (buffer.bytes.empty()) buffer.bytes.assign(4, kPoisonByte);
        return buffer;
    }
    const std::size_t bytes = json.at("words").get<std::size_t>() * 4;
    return {std::vector<std::uint8_t>(std::max<std::size_t>(bytes, 4),
                                      json.value("zero", false) ? 0 : kPoisonByte)};
}

Argument argument_from(const Json& json) {
    if (json.is_string()) return json.get<std::string>();
    if (json.contains("local")) return Local{json.at("local")};
    if (json.contains("uint")) return Number{json.at("uint"), 4};
    return Number{json.at("ulong"), 8};
}

Case case_from(const Json& json, Input& input) {
    Case made;
    made.program = json.at("program");
    for (const auto& [name, buffer] : json.at("buffers").items())
        made.buffers[name] = buffer_from(buffer, input);
    for (const Json& step : json.at("steps")) {
        made.steps.push_back({step.at("kernel"), step.at("groups"), step.at("group_size"), {}});
        for (const Json& argument : step.at("arguments"))
            made.steps.back().arguments.push_back(argument_from(argument));
    }
    made.result = json.at("result");
    return made;
}

}  // namespace

Input::Input() {
    std::getline(std::cin, line);
}

std::vector<std::uint8_t> Input::take(std::size_t bytes) {
    std::vector<std::uint8_t> taken(bytes);
    if (!std::cin.read(reinterpret_cast<char*>(taken.data()), static_cast<std::streamsize>(bytes)))
        throw BadInput("the input ends too early");
    return taken;
}

Job read_job() {
    Input input;
    try {
        const Json json = Json::parse(input.line);
        Job job{{}, json.at("device"), {}};
        for (const Json& each : json.at("programs")) {
            job.programs.push_back({each.at("name"), each.value("text", ""),
                                    input.take(each.value("binary", std::size_t{0})),
                                    each.at("options")});
        }
        for (const Json& each : json.at("cases"))
            job.cases.push_back(case_from(each, input));
        return job;
    } catch (const Json::exception& error) {
        throw BadInput(fmt::format("not a job: {}", error.what()));
    }
}

std::set<std::string> kernels_of(const Job& job) {
    std::set<std::string> names;
    for (const Case& each : job.cases)
        for (const Step& step : each.steps)
            names.insert(step.kernel);
    return names;
}

Results::Results() : to_(dup(STDOUT_FILENO)) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

void Results::add(const std::vector<std::uint8_t>& bytes, double time_ms) {
    std::string all = fmt::format("{} {}\n", bytes.size(), time_ms);
    all.append(bytes.begin(), bytes.end());
    for (std::size_t done = 0; done < all.size();) {
        const ssize_t wrote = write(to_, all.data() + done, all.size() - done);
        if (wrote < 0) throw BadInput("the results cannot be written");
        done += static_cast<std::size_t>(wrote);
    }
}

void say_launch(std::size_t group_size, std::size_t asked) {
    if (group_size < asked)
        std::fprintf(stderr, "on groups of %zu in place of %zu\n", group_size, asked);
}

}  // namespace common::exercise
