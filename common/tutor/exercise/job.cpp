#include "common/tutor/exercise/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/files/input_file.hpp"
#include "common/histogram/histogram.hpp"
#include "common/status/status.hpp"

namespace common::exercise {
namespace {

using Json = nlohmann::json;

// {"file": path}, {"words": n} (the poison) or {"words": n, "zero": true}. A buffer of nothing is
// an error in both APIs, so it has a word at least.
Buffer buffer_from(const Json& json) {
    if (json.contains("file")) {
        Buffer buffer{read_bytes(json.at("file").get<std::string>())};
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

Case case_from(const Json& json) {
    Case made;
    made.program = json.at("program");
    for (const auto& [name, buffer] : json.at("buffers").items())
        made.buffers[name] = buffer_from(buffer);
    for (const Json& step : json.at("steps")) {
        made.steps.push_back({step.at("kernel"), step.at("groups"), step.at("group_size"), {}});
        for (const Json& argument : step.at("arguments"))
            made.steps.back().arguments.push_back(argument_from(argument));
    }
    made.result = json.at("result");
    made.to = json.at("to").get<std::string>();
    made.rounds = json.value("rounds", std::size_t{1});
    return made;
}

}  // namespace

Job read_job(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) throw BadInput(fmt::format("{}: cannot be read", path.string()));
    try {
        const Json json = Json::parse(file);
        Job job{{}, json.at("device"), {}};
        for (const Json& each : json.at("programs"))
            job.programs.push_back({each.at("kernels"), each.at("options")});
        for (const Json& each : json.at("cases"))
            job.cases.push_back(case_from(each));
        return job;
    } catch (const Json::exception& error) {
        throw BadInput(fmt::format("{}: not a job: {}", path.string(), error.what()));
    }
}

std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path) try {
    const std::string text = read_whole(path);
    const auto* const first = reinterpret_cast<const std::uint8_t*>(text.data());
    return {first, first + text.size()};
} catch (const BadInput& why) {
    throw BadInput(fmt::format("{}: {}", path.string(), why.what()));
}

void write_bytes(const std::filesystem::path& path, const std::vector<std::uint8_t>& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw BadInput(fmt::format("{}: cannot be written", path.string()));
}

void run_rounds(const Case& each,
                const std::function<double(std::vector<std::uint8_t>& result)>& once) {
    std::vector<std::uint8_t> result(each.buffers.at(each.result).bytes.size());
    std::string times;
    for (std::size_t round = 0; round < each.rounds; ++round)
        times += fmt::format("{}\n", once(result));
    if (each.rounds > 1) {
        write_bytes(each.to.string() + ".ms",
                    std::vector<std::uint8_t>(times.begin(), times.end()));
    }
    write_bytes(each.to, result);
}

}  // namespace common::exercise
