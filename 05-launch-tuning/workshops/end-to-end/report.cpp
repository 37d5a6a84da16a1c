#include "05-launch-tuning/workshops/end-to-end/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/files/output_file.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"
#include "common/verify/watchdog.hpp"

using common::Check;
using common::number;
using Json = nlohmann::ordered_json;

EndToEnd::EndToEnd(const common::Program& program, const common::Options& options,
                   const common::Input& input, const common::Histogram& expected,
                   std::string device, std::string driver)
    : program_(program), options_(options) {
    ways_.device = std::move(device);
    ways_.driver = std::move(driver);
    ways_.input_name = input.name;
    ways_.pixels = input.pixels.size();
    ways_.seed = input.seed;
    ways_.counts = expected;
    if (input.pixels.empty()) throw common::BadInput("there are no pixels to copy");
    if (options.time_limit) common::set_time_limit(std::chrono::seconds(*options.time_limit));
}

void EndToEnd::measure_copy(const std::function<void()>& copy) {
    const auto timed_copy = [&] {
        const common::Deadline deadline("copying", common::time_limit(ways_.pixels));
        return common::wall_ms(copy);
    };
    timed_copy();
    copy_ = common::measure(timed_copy, options_.repeat);
    ways_.read_ceiling_gb_s =
        common::gigabytes_per_second(static_cast<double>(ways_.pixels), copy_.median_ms);
}

void EndToEnd::measure_way(const std::string& name,
                           const std::function<void(common::Histogram&)>& run) {
    if (!options_.wants(name)) return;
    ways_.results.push_back(common::verify_and_time(
        name, ways_.counts, options_.repeat, [&](common::Histogram& histogram) -> common::RunTime {
            return {common::wall_ms([&] { run(histogram); }), std::nullopt};
        }));
}

int EndToEnd::finish() const {
    common::print(fmt::format("\n{}, {} on {} ({}), end to end\ninput: {} ({} pixels)\n",
                              program_.chapter, program_.api, common::shown(ways_.device),
                              common::shown(ways_.driver), common::shown(ways_.input_name),
                              ways_.pixels));
    common::print(fmt::format("the copy from pinned memory alone: {} ms, {} GB/s\n\n",
                              number(copy_.median_ms), number(ways_.read_ceiling_gb_s)));
    std::vector<std::vector<std::string>> rows;
    for (const common::Result& way : ways_.results) {
        rows.push_back({way.variant, number(way.kernel.median_ms),
                        fmt::format("{}..{} ({})", number(way.kernel.min_ms),
                                    number(way.kernel.max_ms), way.kernel.runs),
                        number(ways_.gb_s(way)), number(ways_.percent_of_ceiling(way)),
                        way.reason.empty()
                            ? to_string(way.check)
                            : fmt::format("{}: {}", to_string(way.check), way.reason)});
    }
    common::print(common::text_table({{"way"},
                                      {"median ms", true},
                                      {"min..max (runs)", true},
                                      {"GB/s", true},
                                      {"% of the copy alone", true},
                                      {"check"}},
                                     rows));
    if (options_.counts) common::write_whole(*options_.counts, common::counts_text(ways_.counts));
    if (options_.json) common::write_whole(*options_.json, json_text());
    if (std::all_of(ways_.results.begin(), ways_.results.end(),
                    [](const common::Result& way) { return way.check == Check::kMatch; }))
        return common::kEveryVariantMatches;
    common::note_mismatch();
    return common::kMismatch;
}

std::string EndToEnd::json_text() const {
    const auto or_null = [](const std::optional<double>& value) {
        return value ? Json(*value) : Json(nullptr);
    };
    Json json;
    json["chapter"] = program_.chapter;
    json["api"] = program_.api;
    json["device"] = ways_.device;
    json["driver"] = ways_.driver;
    json["input"] = {{"name", ways_.input_name},
                     {"pixels", ways_.pixels},
                     {"seed", ways_.seed ? Json(*ways_.seed) : Json(nullptr)}};
    json["pinned_copy_ms"] = copy_.median_ms;
    json["end_to_end"] = Json::array();
    for (const common::Result& way : ways_.results) {
        json["end_to_end"].push_back(
            {{"variant", way.variant},
             {"check", to_string(way.check)},
             {"reason", way.reason},
             {"end_to_end_ms",
              {{"median", way.kernel.median_ms},
               {"min", way.kernel.min_ms},
               {"max", way.kernel.max_ms},
               {"runs", way.kernel.runs}}},
             {"gb_s", or_null(ways_.gb_s(way))},
             {"percent_of_pinned_copy", or_null(ways_.percent_of_ceiling(way))}});
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
