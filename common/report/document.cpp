#include "common/report/report.hpp"

#include "common/report/json.hpp"

namespace common {
namespace {

template <typename T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

}  // namespace

Json parsed(const std::string& text) {
    return Json::parse(text);
}

std::string line_of(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::optional<double> RunDocument::serial_row_ms() const {
    for (const Result& result : results)
        if (result.variant == "serial" && result.check == Check::kMatch)
            return result.kernel.median_ms;
    return std::nullopt;
}

std::optional<double> RunDocument::gb_s(const Result& result) const {
    if (result.kernel.runs == 0 || result.check != Check::kMatch) return std::nullopt;
    return gigabytes_per_second(static_cast<double>(pixels) * pixel_bytes, result.kernel.median_ms);
}

std::optional<double> RunDocument::percent_of_ceiling(const Result& result) const {
    const std::optional<double> rate = gb_s(result);
    if (!rate || !read_ceiling_gb_s) return std::nullopt;
    return 100 * *rate / *read_ceiling_gb_s;
}

std::optional<double> RunDocument::speedup_over_serial(const Result& result) const {
    if (!gb_s(result) || !(serial_ms > 0) || !(result.kernel.median_ms > 0)) return std::nullopt;
    return serial_ms / result.kernel.median_ms;
}

std::string to_json_text(const RunDocument& document) {
    Json json;
    json["chapter"] = document.chapter;
    json["api"] = document.api;
    json["device"] = document.device;
    json["driver"] = document.driver;
    json["input"] = {{"name", document.input_name},
                     {"pixels", document.pixels},
                     {"seed", or_null(document.seed)}};
    if (document.pixel_bytes > 1) json["input"]["pixel_bytes"] = document.pixel_bytes;
    json["read_ceiling_gb_s"] = or_null(document.read_ceiling_gb_s);
    json["serial_ms"] = document.serial_ms > 0 ? Json(document.serial_ms) : Json(nullptr);
    json["results"] = Json::array();
    for (const Result& result : document.results) {
        const Timing& time = result.kernel;
        const bool ran = time.runs > 0, launched = result.launch.has_value();
        const bool by_host = document.api == "C++" || result.timed_by_host;
        json["results"].push_back(
            {{"variant", result.variant},
             {"check", to_string(result.check)},
             {"reason", result.reason},
             {"kernel_ms", !ran ? Json()
                                : Json{{"median", time.median_ms},
                                       {"min", time.min_ms},
                                       {"max", time.max_ms},
                                       {"runs", time.runs}}},
             {"clock", ran ? Json(by_host ? "host" : "device") : Json()},
             {"gb_s", or_null(document.gb_s(result))},
             {"percent_of_ceiling", or_null(document.percent_of_ceiling(result))},
             {"speedup_over_serial", or_null(document.speedup_over_serial(result))},
             {"end_to_end_ms", or_null(result.end_to_end_ms)},
             {"launch", result.launch_text},
             {"groups", launched ? Json(result.launch->groups) : Json()},
             {"group_size", launched ? Json(result.launch->group_size) : Json()},
             {"only_later", result.only_later},
             {"diagnosis", result.diagnosis ? parsed(*result.diagnosis) : Json()},
             {"counts", or_null(result.counts)}});
    }
    json["counts"] = document.counts;
    return line_of(json, 2);
}

}  // namespace common
