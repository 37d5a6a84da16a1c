#include "common/tutor/exercise/job.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/histogram/histogram.hpp"
#include "common/process/status.hpp"

namespace common::exercise {
namespace {

using Json = nlohmann::json;

// {"bytes": n} (the next of the input), {"words": n} (the poison) or {"words": n, "zero": true}.
Bytes buffer_from(const Json& json, Input& input) {
    if (json.contains("bytes")) return input.take(json.at("bytes"));
    Bytes bytes(json.at("words").get<std::size_t>() * 4);
    std::fill(bytes.begin(), bytes.end(), json.value("zero", false) ? 0 : kPoisonByte);
    return bytes;
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

Bytes Input::take(std::size_t bytes) {
    Bytes taken(bytes);
    if (!std::cin.read(reinterpret_cast<char*>(taken.data()), static_cast<std::streamsize>(bytes)))
        throw BadInput("the input ends too early");
    return taken;
}

Job read_job() {
    Input input;
    try {
        const Json json = Json::parse(input.line);
        Job job{{}, json.at("device"), json.at("library"), json.at("planted"), {}};
        for (const Json& each : json.at("programs"))
            job.programs.push_back({each.at("name"), each.at("text"), each.at("options")});
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

void* find(const std::string& library, const std::string& function) {
    void* const loaded = dlopen(library.c_str(), RTLD_NOW);
    void* const found = loaded == nullptr ? nullptr : dlsym(loaded, function.c_str());
    if (found == nullptr) throw std::runtime_error(dlerror());
    return found;
}

Results::Results() : to_(dup(STDOUT_FILENO)) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

void Results::add(const Bytes& bytes, double time_ms, std::size_t group_size) {
    std::string all = fmt::format("{} {} {}\n", bytes.size(), time_ms, group_size);
    all.append(bytes.begin(), bytes.end());
    for (std::size_t done = 0; done < all.size();) {
        const ssize_t wrote = write(to_, all.data() + done, all.size() - done);
        if (wrote < 0) throw BadInput("the results cannot be written");
        done += static_cast<std::size_t>(wrote);
    }
}

}  // namespace common::exercise
