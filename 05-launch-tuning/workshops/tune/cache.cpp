#include "05-launch-tuning/workshops/tune/cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "common/files/input_file.hpp"
#include "common/files/output_file.hpp"
#include "common/process/status.hpp"
#include "common/timing/timing.hpp"

namespace tuning {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

// A device may call itself anything; what is not UTF-8 is replaced rather than refused.
std::string dumped(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const Trial& trial) {
    const bool measured = trial.outcome == Outcome::kMeasured;
    return {{"pixels", trial.pixels},
            {"kernel", trial.config.kernel->name},
            {"copies", trial.config.copies},
            {"loads", trial.config.loads},
            {"group_size", trial.config.group_size},
            {"groups_per_unit", trial.config.groups_per_unit},
            {"outcome", to_string(trial.outcome)},
            {"worst_ms", measured ? Json(trial.worst_ms) : Json(nullptr)},
            {"gb_s", measured ? Json(trial.gb_s()) : Json(nullptr)},
            {"reason", trial.reason}};
}

}  // namespace

std::string to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::kMeasured:
            return "measured";
        case Outcome::kRefused:
            return "refused";
        case Outcome::kWrong:
            return "wrong";
        case Outcome::kNotTried:
            return "not tried";
    }
    return {};
}

double Trial::gb_s() const {
    return common::gigabytes_per_second(static_cast<double>(pixels), worst_ms);
}

std::vector<std::uint64_t> Tuning::sizes() const {
    std::set<std::uint64_t> all;
    for (const Trial& trial : trials)
        all.insert(trial.pixels);
    return {all.begin(), all.end()};
}

const Trial* Tuning::best(std::uint64_t pixels, const Kernel* of) const {
    const Trial* best = nullptr;
    for (const Trial& trial : trials) {
        if (trial.pixels != pixels || trial.outcome != Outcome::kMeasured) continue;
        if (of != nullptr && trial.config.kernel != of) continue;
        if (best == nullptr || trial.worst_ms < best->worst_ms) best = &trial;
    }
    return best;
}

std::size_t Tuning::count(Outcome outcome) const {
    return static_cast<std::size_t>(
        std::count_if(trials.begin(), trials.end(),
                      [=](const Trial& trial) { return trial.outcome == outcome; }));
}

std::string to_json_text(const Tuning& tuning) {
    const auto line = [](const char* key, const Json& value) {
        return fmt::format("  \"{}\": {},\n", key, dumped(value));
    };
    // A line for each row: a search has a thousand of them, of ten fields.
    const auto array = [](const char* key, const std::vector<Json>& rows) {
        std::string lines;
        for (const Json& row : rows)
            lines += (lines.empty() ? "\n    " : ",\n    ") + dumped(row);
        return fmt::format("  \"{}\": [{}{}]", key, lines, lines.empty() ? "" : "\n  ");
    };
    std::vector<Json> best;
    for (const std::uint64_t pixels : tuning.sizes()) {
        if (const Trial* trial = tuning.best(pixels)) {
            best.push_back(json_of(*trial));
            best.back().erase("outcome");
            best.back().erase("reason");
        }
    }
    std::vector<Json> trials;
    for (const Trial& trial : tuning.trials)
        trials.push_back(json_of(trial));
    return "{\n" + line("format", "histogram-tutorials tuning 2") + line("api", tuning.device.api) +
           line("device", tuning.device.device) + line("driver", tuning.device.driver) +
           line("date", tuning.date) + line("seconds", tuning.seconds) + array("best", best) +
           ",\n" + array("trials", trials) + "\n}\n";
}

bool is_kept(const DeviceLimits& device) {
    std::ifstream file(launches_file());
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key_of(device))) return true;
    return false;
}

fs::path save(const Tuning& tuning) {
    const fs::path file = launches_file();
    if (file.empty()) {
        throw common::BadInput(
            "there is no folder to keep the tuning in: XDG_CACHE_HOME and the home folder are not "
            "set");
    }
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) {
        throw common::BadInput(
            fmt::format("cannot create {}: {}", file.parent_path().string(), error.message()));
    }
    std::string kept;
    std::istringstream before(fs::exists(file) ? common::read_whole(file) : "");
    for (std::string line; std::getline(before, line);)
        if (!line.starts_with(key_of(tuning.device))) kept += line + '\n';
    for (const std::uint64_t pixels : tuning.sizes()) {
        const Trial* best = tuning.best(pixels, &kReplicated);
        if (best == nullptr) continue;
        const LaunchConfig& launch = best->config;
        kept += key_of(tuning.device) + fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", pixels,
                                                    launch.copies, launch.loads, launch.group_size,
                                                    launch.groups_per_unit, tuning.date);
    }
    common::write_whole(file, kept);
    return file;
}

}  // namespace tuning
