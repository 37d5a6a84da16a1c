#include "05-launch-tuning/workshops/tune/result.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "common/files/input_file.hpp"
#include "common/files/output_file.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "common/timing/timing.hpp"

namespace tuning {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

// ---- what was found -----------------------------------------------------------------------------

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

std::string size_text(std::uint64_t pixels) {
    constexpr std::uint64_t kKi = 1024;
    if (pixels > 0 && pixels % (kKi * kKi) == 0)
        return fmt::format("{} Mi pixels", pixels / (kKi * kKi));
    if (pixels > 0 && pixels % kKi == 0) return fmt::format("{} Ki pixels", pixels / kKi);
    return fmt::format("{} pixels", pixels);
}

static std::string text_of(const TunedLaunch& launch) {
    return fmt::format("{} cop{}, {} load{}, groups of {}, {} for each unit", launch.copies,
                       launch.copies == 1 ? "y" : "ies", launch.loads, launch.loads == 1 ? "" : "s",
                       launch.group_size, launch.groups_per_unit);
}

std::string Trial::text() const {
    return fmt::format("{}, at {}", text_of(launch), size_text(pixels));
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

const Trial* Tuning::best(std::uint64_t pixels) const {
    const Trial* best = nullptr;
    for (const Trial& trial : trials) {
        if (trial.pixels != pixels || trial.outcome != Outcome::kMeasured) continue;
        if (best == nullptr || trial.worst_ms < best->worst_ms) best = &trial;
    }
    return best;
}

std::size_t Tuning::count(Outcome outcome) const {
    return static_cast<std::size_t>(
        std::count_if(trials.begin(), trials.end(),
                      [=](const Trial& trial) { return trial.outcome == outcome; }));
}

// ---- as text ------------------------------------------------------------------------------------

std::string summary_text(const Tuning& tuning) {
    std::vector<std::vector<std::string>> rows;
    for (const std::uint64_t pixels : tuning.sizes()) {
        const Trial* best = tuning.best(pixels);
        if (best == nullptr) {
            rows.push_back({size_text(pixels), "nothing was measured", "-", "-"});
            continue;
        }
        const TunedLaunch usual = rule_of_thumb(tuning.device, pixels);
        std::string percent = "-";
        for (const Trial& trial : tuning.trials)
            if (trial.pixels == pixels && trial.launch == usual &&
                trial.outcome == Outcome::kMeasured)
                percent = common::number(100 * best->worst_ms / trial.worst_ms);
        rows.push_back(
            {size_text(pixels), text_of(best->launch), common::number(best->gb_s()), percent});
    }
    std::string text = common::text_table(
        {{"pictures of"}, {"the best launch"}, {"GB/s", true}, {"rule of thumb, % of it", true}},
        rows);
    text += fmt::format("\n{} measured", tuning.count(Outcome::kMeasured));
    for (const Outcome outcome : {Outcome::kRefused, Outcome::kWrong, Outcome::kNotTried}) {
        const std::size_t count = tuning.count(outcome);
        if (count > 0) text += fmt::format(", {} {}", count, to_string(outcome));
    }
    text += fmt::format(" in {} s\n", common::number(tuning.seconds));
    std::set<std::string> reasons;  // a few, each of them many times
    for (const Trial& trial : tuning.trials) {
        if (trial.outcome == Outcome::kWrong)
            text += fmt::format("  WRONG: {}: {}\n", trial.text(), trial.reason);
        if (trial.outcome == Outcome::kRefused) reasons.insert(trial.reason);
    }
    for (const std::string& reason : reasons)
        text += fmt::format("  refused: {}\n", reason);
    return text;
}

// ---- as JSON ------------------------------------------------------------------------------------

static Json json_of(const Trial& trial) {
    const bool measured = trial.outcome == Outcome::kMeasured;
    return {{"pixels", trial.pixels},
            {"kernel", "replicated"},
            {"copies", trial.launch.copies},
            {"loads", trial.launch.loads},
            {"group_size", trial.launch.group_size},
            {"groups_per_unit", trial.launch.groups_per_unit},
            {"outcome", to_string(trial.outcome)},
            {"worst_ms", measured ? Json(trial.worst_ms) : Json(nullptr)},
            {"gb_s", measured ? Json(trial.gb_s()) : Json(nullptr)},
            {"reason", trial.reason}};
}

std::string to_json_text(const Tuning& tuning) {
    Json best = Json::array(), trials = Json::array();
    for (const std::uint64_t pixels : tuning.sizes()) {
        if (const Trial* trial = tuning.best(pixels)) {
            best.push_back(json_of(*trial));
            best.back().erase("outcome");
            best.back().erase("reason");
        }
    }
    for (const Trial& trial : tuning.trials)
        trials.push_back(json_of(trial));
    const Json json{{"format", "histogram-tutorials tuning 2"},
                    {"api", tuning.device.api},
                    {"device", tuning.device.device},
                    {"driver", tuning.device.driver},
                    {"date", tuning.date},
                    {"seconds", tuning.seconds},
                    {"best", best},
                    {"trials", trials}};
    // A device may call itself anything; what is not UTF-8 is replaced rather than refused.
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// ---- as chapter 05 reads it ---------------------------------------------------------------------

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
        const Trial* best = tuning.best(pixels);
        if (best == nullptr) continue;
        const TunedLaunch& launch = best->launch;
        kept += key_of(tuning.device) + fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", pixels,
                                                    launch.copies, launch.loads, launch.group_size,
                                                    launch.groups_per_unit, tuning.date);
    }
    common::write_whole(file, kept);
    return file;
}

// ---- the programs -------------------------------------------------------------------------------

Request parse_request(int argc, const char* const* argv, const std::string& program) {
    Request request;
    std::string json;
    common::require_standard_output(program);
    CLI::App app("looks for the best launch of `tuned` on a device, and keeps it", program);
    app.add_option("--seconds", request.seconds,
                   fmt::format("how long it may search (default: {})", request.seconds))
        ->check(CLI::Range(0.1, 3600.0))
        ->type_name("S");
    app.add_option("--device", request.device, "a device by number or part of its name");
    app.add_flag("--list-devices", request.list_devices, "list the devices and stop");
    app.add_option("--json", json, "write all measurements as JSON")->type_name("FILE");
    for (const char* const of_a_search : {"--seconds", "--device", "--json"})
        app.get_option("--list-devices")->excludes(app.get_option(of_a_search));
    common::parse_command_line(app, argc, argv);
    if (std::isnan(request.seconds)) throw common::BadInput("--seconds: nan is no time");
    if (app.count("--json") > 0) {
        common::require_output_files({{"--json", json}}, {});
        request.json = json;
    }
    return request;
}

int finish(const Request& request, const Tuning& found) {
    const bool wrong = found.count(Outcome::kWrong) > 0;
    if (wrong) common::note_mismatch();
    common::print(fmt::format("{}, {} on {} ({})\n\n{}", "05-launch-tuning", found.device.api,
                              found.device.device, found.device.driver, summary_text(found)));
    if (request.json) common::write_whole(*request.json, to_json_text(found));
    if (found.count(Outcome::kMeasured) == 0) {
        common::progress("no launch could be measured; nothing is kept\n");
        return wrong ? common::kMismatch : common::kFailed;
    }
    const std::size_t missing = found.count(Outcome::kNotTried);
    if (missing > 0) {
        common::print(
            fmt::format("\n{} of {} launches were not tried: --seconds gives a search more time\n",
                        missing, found.trials.size()));
    }
    common::print(fmt::format("\nkept for `tuned` in {}\n", common::shown(save(found).string())));
    return wrong ? common::kMismatch : common::kEveryVariantMatches;
}

}  // namespace tuning
