#include "05-launch-tuning/workshops/tune/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "05-launch-tuning/workshops/tune/heat_map.hpp"
#include "common/files/output_file.hpp"
#include "common/options/options.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"

namespace tuning {

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
    if (found.count(Outcome::kWrong) > 0) common::note_mismatch();
    common::print(fmt::format("{}, {} on {} ({})\n\n{}", "05-launch-tuning", found.device.api,
                              found.device.device, found.device.driver, heat_map_text(found)));
    if (request.json) common::write_whole(*request.json, to_json_text(found));
    if (found.count(Outcome::kMeasured) == 0) {
        common::progress("no launch could be measured; nothing is kept\n");
        return common::kMismatch;
    }
    const std::size_t missing = found.count(Outcome::kNotTried);
    if (missing > 0) {
        common::print(
            fmt::format("\n{} of {} launches were not tried: --seconds gives a search more time\n",
                        missing, found.trials.size()));
    }
    if (2 * missing > found.trials.size() && is_kept(found.device))
        common::print(fmt::format("an earlier search's result stays in {}\n",
                                  common::shown(launches_file().string())));
    else
        common::print(
            fmt::format("\nkept for `tuned` in {}\n", common::shown(save(found).string())));
    return found.count(Outcome::kWrong) > 0 ? common::kMismatch : common::kEveryVariantMatches;
}

}  // namespace tuning
