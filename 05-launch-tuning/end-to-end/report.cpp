#include "05-launch-tuning/end-to-end/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/files/output_file.hpp"
#include "common/report/document.hpp"
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
    : program_(program),
      options_(options),
      input_(input),
      expected_(expected),
      device_(std::move(device)),
      driver_(std::move(driver)) {
    if (input.pixels.empty()) throw common::BadInput("there are no pixels to copy");
    if (options.time_limit) common::set_time_limit(std::chrono::seconds(*options.time_limit));
}

void EndToEnd::measure_copy(const std::function<void()>& copy) {
    const auto timed_copy = [&] {
        const common::Deadline deadline("copying", common::time_limit(input_.pixels.size()));
        return common::wall_ms(copy);
    };
    timed_copy();
    copy_ = common::measure(timed_copy, options_.repeat);
}

void EndToEnd::measure_way(const std::string& name,
                           const std::function<void(common::Histogram&)>& run) {
    if (!options_.wants(name)) return;
    ways_.push_back(common::verify_and_time(
        name, expected_, options_.repeat, [&](common::Histogram& histogram) -> common::RunTime {
            return {common::wall_ms([&] { run(histogram); }), std::nullopt};
        }));
}

double EndToEnd::gb_s(double milliseconds) const {
    return common::gigabytes_per_second(static_cast<double>(input_.pixels.size()), milliseconds);
}

// How fast a wrong answer comes is no speed.
std::optional<double> EndToEnd::gb_s(const common::Result& way) const {
    if (way.check != Check::kMatch) return std::nullopt;
    return gb_s(way.kernel.median_ms);
}

std::optional<double> EndToEnd::percent_of_copy(const common::Result& way) const {
    if (way.check != Check::kMatch || !(way.kernel.median_ms > 0)) return std::nullopt;
    return 100 * copy_.median_ms / way.kernel.median_ms;
}

int EndToEnd::finish() const {
    common::print(fmt::format("\n{}, {} on {} ({}), end to end\ninput: {} ({} pixels)\n",
                              program_.chapter, program_.api, common::shown(device_),
                              common::shown(driver_), common::shown(input_.name),
                              input_.pixels.size()));
    common::print(fmt::format("the copy from pinned memory alone: {} ms, {} GB/s\n\n",
                              number(copy_.median_ms), number(gb_s(copy_.median_ms))));
    std::vector<std::vector<std::string>> rows;
    for (const common::Result& way : ways_) {
        rows.push_back({way.variant, number(way.kernel.median_ms),
                        fmt::format("{}..{} ({})", number(way.kernel.min_ms),
                                    number(way.kernel.max_ms), way.kernel.runs),
                        number(gb_s(way)), number(percent_of_copy(way)),
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
    if (options_.counts) common::write_whole(*options_.counts, common::counts_text(expected_));
    if (options_.json) common::write_whole(*options_.json, json_text());
    if (std::all_of(ways_.begin(), ways_.end(),
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
    json["device"] = device_;
    json["driver"] = driver_;
    json["input"] = {{"name", input_.name},
                     {"pixels", input_.pixels.size()},
                     {"seed", input_.seed ? Json(*input_.seed) : Json(nullptr)}};
    json["pinned_copy_ms"] = copy_.median_ms;
    json["end_to_end"] = Json::array();
    for (const common::Result& way : ways_) {
        json["end_to_end"].push_back({{"variant", way.variant},
                                      {"check", to_string(way.check)},
                                      {"reason", way.reason},
                                      {"end_to_end_ms",
                                       {{"median", way.kernel.median_ms},
                                        {"min", way.kernel.min_ms},
                                        {"max", way.kernel.max_ms},
                                        {"runs", way.kernel.runs}}},
                                      {"gb_s", or_null(gb_s(way))},
                                      {"percent_of_pinned_copy", or_null(percent_of_copy(way))}});
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
