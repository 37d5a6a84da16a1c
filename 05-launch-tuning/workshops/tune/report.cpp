#include "05-launch-tuning/workshops/tune/search.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <set>
#include <sstream>
#include <system_error>

#include "common/files/files.hpp"
#include "common/process/status.hpp"
#include "common/report/json.hpp"
#include "common/report/report.hpp"

namespace tuning {

namespace {

using common::Json;

std::string size_text(std::uint64_t pixels) {
    return pixels % (1 << 20) == 0 ? fmt::format("{} Mi pixels", pixels >> 20)
                                   : fmt::format("{} Ki pixels", pixels >> 10);
}

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
        rows.push_back({size_text(pixels), best->text(), common::number(best->gb_s()), percent});
    }
    std::string text = common::text_table(
        {{"pictures of"}, {"the best launch"}, {"GB/s", true}, {"rule of thumb, % of it", true}},
        rows);
    text +=
        fmt::format("\n{} launches in {} s", tuning.trials.size(), common::number(tuning.seconds));
    for (std::size_t outcome = 0; outcome < kOutcomes.size(); ++outcome)
        if (const std::size_t count = tuning.count(static_cast<Outcome>(outcome)); count > 0)
            text += fmt::format(", {} {}", count, kOutcomes[outcome]);
    text += '\n';
    std::set<std::string> reasons;  // a few, each of them many times
    for (const Trial& trial : tuning.trials) {
        if (trial.outcome == Outcome::kWrong)
            text += fmt::format("  WRONG: {}, at {}: {}\n", trial.text(), size_text(trial.pixels),
                                trial.reason);
        if (trial.outcome == Outcome::kRefused) reasons.insert(trial.reason);
    }
    for (const std::string& reason : reasons)
        text += fmt::format("  refused: {}\n", reason);
    return text;
}

Json json_of(const Trial& trial) {
    const bool measured = trial.outcome == Outcome::kMeasured;
    return {{"pixels", trial.pixels},
            {"kernel", "replicated"},
            {"copies", trial.launch.copies},
            {"loads", trial.launch.loads},
            {"group_size", trial.launch.group_size},
            {"groups_per_unit", trial.launch.groups_per_unit},
            {"outcome", kOutcomes[static_cast<std::size_t>(trial.outcome)]},
            {"worst_ms", measured ? Json(trial.worst_ms) : Json(nullptr)},
            {"gb_s", measured ? Json(trial.gb_s()) : Json(nullptr)},
            {"reason", trial.reason}};
}

// docs/json.md describes the format.
std::string json_text(const Tuning& tuning) {
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
    return common::line_of(json, 1);
}

// Puts the best launches into the file that chapter 05 reads; what is there for other devices
// stays.
std::filesystem::path save(const Tuning& tuning) {
    const std::filesystem::path file = launches_file();
    const std::filesystem::path folder = file.parent_path();
    std::error_code error;
    create_directories(folder, error);
    if (error)
        throw common::BadInput(
            fmt::format("cannot create {}: {}", folder.string(), error.message()));
    std::string kept;
    std::istringstream before(exists(file) ? common::read_whole(file) : "");
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
    common::write_atomically(file, kept);
    return file;
}

}  // namespace

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
    if (request.list_devices) return request;
    const std::filesystem::path kept = launches_file();
    if (kept.empty())
        throw common::BadInput(
            "there is no folder to keep the tuning in: XDG_CACHE_HOME and the home folder are not "
            "set");
    std::vector<common::NamedFile> outputs;
    if (std::error_code error; exists(kept, error)) outputs.push_back({"the launches", kept});
    if (app.count("--json") > 0) outputs.push_back({"--json", request.json.emplace(json)});
    common::require_output_files(outputs, {{"the launches", kept}});
    return request;
}

int finish(const Request& request, const Tuning& found) {
    const bool wrong = found.count(Outcome::kWrong) > 0;
    if (wrong) common::note_mismatch();
    common::print(fmt::format("05-launch-tuning, {} on {} ({})\n\n{}", found.device.api,
                              found.device.device, found.device.driver, summary_text(found)));
    if (request.json) common::write_atomically(*request.json, json_text(found));
    if (found.count(Outcome::kMeasured) == 0) {
        common::progress("no launch could be measured; nothing is kept\n");
        return wrong ? common::kMismatch : common::kFailed;
    }
    common::print(fmt::format("\nkept for `tuned` in {}\n", common::shown(save(found).string())));
    return wrong ? common::kMismatch : common::kEveryVariantMatches;
}

}  // namespace tuning
