#include "common/report/document.hpp"

#include <fmt/format.h>

#include "common/report/json.hpp"

namespace common {
namespace {

template <typename T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

template <typename T>
std::optional<T> optional_at(const Json& json, const char* key) {
    const Json& value = json.at(key);
    return value.is_null() ? std::optional<T>() : std::optional<T>(value.get<T>());
}

Check check_from(const std::string& text) {
    return text == "match"      ? Check::kMatch
           : text == "mismatch" ? Check::kMismatch
                                : Check::kSkipped;
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

std::string counts_text(const Histogram& counts) {
    std::string text = "bin,count\n";
    for (std::size_t bin = 0; bin < kBins; ++bin)
        text += fmt::format("{},{}\n", bin, counts[bin]);
    return text;
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
        Json row;
        row["variant"] = result.variant;
        row["check"] = to_string(result.check);
        row["reason"] = result.reason;
        row["kernel_ms"] = nullptr;
        if (result.kernel.runs > 0) {
            row["kernel_ms"] = {{"median", result.kernel.median_ms},
                                {"min", result.kernel.min_ms},
                                {"max", result.kernel.max_ms},
                                {"runs", result.kernel.runs}};
        }
        row["clock"] = nullptr;
        if (result.kernel.runs > 0) {
            row["clock"] = document.api == "C++" || result.timed_by_host ? "host" : "device";
        }
        row["gb_s"] = or_null(document.gb_s(result));
        row["percent_of_ceiling"] = or_null(document.percent_of_ceiling(result));
        row["speedup_over_serial"] = or_null(document.speedup_over_serial(result));
        row["end_to_end_ms"] = or_null(result.end_to_end_ms);
        row["launch"] = result.launch_text;
        row["groups"] = nullptr;
        row["group_size"] = nullptr;
        if (result.launch) {
            row["groups"] = result.launch->groups;
            row["group_size"] = result.launch->group_size;
        }
        row["groups_across"] = nullptr;
        if (result.launch && result.launch->across > 0)
            row["groups_across"] = result.launch->across;
        row["only_later"] = result.only_later;
        row["diagnosis"] = result.diagnosis ? parsed(*result.diagnosis) : Json(nullptr);
        row["counts"] = or_null(result.counts);
        json["results"].push_back(std::move(row));
    }
    json["counts"] = document.counts;
    return line_of(json, 2);
}

RunDocument document_of(const std::string& text) {
    const Json json = parsed(text);
    RunDocument document;
    document.chapter = json.at("chapter");
    document.api = json.at("api");
    document.driver = json.at("driver");
    document.pixels = json.at("input").at("pixels");
    document.counts = json.at("counts");
    for (const Json& row : json.at("results")) {
        Result result;
        result.variant = row.at("variant");
        result.check = check_from(row.at("check"));
        if (const Json& groups = row.at("groups"); !groups.is_null())
            result.launch = {groups, row.at("group_size"),
                             optional_at<std::size_t>(row, "groups_across").value_or(0)};
        result.counts = optional_at<Histogram>(row, "counts");
        result.only_later = row.at("only_later");
        document.results.push_back(std::move(result));
    }
    return document;
}

}  // namespace common
