// summary PROGRAMS RESULTS: the one table at the end of `./tutorial run`.
// PROGRAMS is the build's list of chapter programs (programs.tsv: chapter, API, program, why it was
// not built). RESULTS is a folder with, for each program that ran, CHAPTER-API.json, or, where it
// had nothing to run on, CHAPTER-API.skipped, or, where it broke off, CHAPTER-API.failed: a file
// with the reason.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/document.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"

namespace {

using Row = std::vector<std::string>;

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> fields;
    std::size_t from = 0;
    for (std::size_t tab = 0; tab != std::string::npos; from = tab + 1) {
        tab = line.find('\t', from);
        fields.push_back(line.substr(from, tab == std::string::npos ? tab : tab - from));
    }
    return fields;
}

// A whole program in one row, where it has no numbers.
Row row_of_all(const std::string& chapter, const std::string& api, const std::string& outcome,
               const std::string& device = "-") {
    return {chapter, "all", api, device, "-", "-", "-", outcome};
}

// The first line of a file, where there is one.
std::optional<std::string> first_line(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    std::string line;
    std::getline(file, line);
    return line;
}

// Whether a program has come to any end.
bool ended(const std::string& stem) {
    return std::filesystem::exists(stem + ".json") || std::filesystem::exists(stem + ".failed");
}

}  // namespace

int main(int argc, char** argv) try {
    common::require_standard_output("summary");
    if (argc != 3)
        throw common::BadInput(
            "takes two arguments: the list of programs and the folder of results");
    const std::filesystem::path results = argv[2];
    std::ifstream programs(argv[1]);
    if (!programs) throw common::BadInput(fmt::format("{}: cannot be read", argv[1]));

    std::vector<Row> rows;
    std::vector<std::string> devices;  // named under the table: their names are long and few
    std::string input;
    bool wrong = false, has_emulated = false;
    for (std::string line; std::getline(programs, line);) {
        const std::vector<std::string> fields = split(line);
        if (fields.size() != 4) continue;
        const std::string& chapter = fields[0];
        const std::string& api = fields[1];
        if (chapter.find('/') != std::string::npos) continue;  // a workshop: no row of the table
        const bool emulates = api == "CUDA-on-CPU";
        const auto stem_of = [&](const std::string& of) {
            return (results / fmt::format("{}-{}", chapter, of)).string();
        };
        const std::string stem = stem_of(api);
        // Runs where CUDA is skipped, and then stands in its place.
        if (emulates && !ended(stem)) continue;
        const bool is_emulated = api == "CUDA" && ended(stem_of("CUDA-on-CPU"));
        if (fields[2] == "-") {
            if (is_emulated) continue;
            rows.push_back(row_of_all(chapter, api, "skipped: " + fields[3]));
            continue;
        }
        if (const auto reason = first_line(stem + ".skipped")) {
            if (is_emulated) continue;
            rows.push_back(row_of_all(chapter, api, "skipped: " + *reason));
            continue;
        }
        if (const auto reason = first_line(stem + ".failed")) {
            rows.push_back(row_of_all(chapter, api, "FAILED: " + *reason));
            wrong = true;
            continue;
        }
        const common::RunDocument run = common::read_document(stem + ".json");
        input = fmt::format("{} ({} pixels)", common::shown(run.input_name), run.pixels);
        auto device = std::find(devices.begin(), devices.end(), run.device);
        if (device == devices.end()) device = devices.insert(device, run.device);
        const auto key = fmt::format("[{}]", device - devices.begin() + 1);
        has_emulated |= emulates;
        const bool all_match = std::ranges::all_of(run.results, [](const common::Result& result) {
            return result.check == common::Check::kMatch;
        });
        if (emulates && all_match) {  // which is all there is to say of them
            rows.push_back(row_of_all(chapter, "CUDA", "match", key));
            continue;
        }
        for (const common::Result& result : run.results) {
            const bool ran = result.kernel.runs > 0;
            wrong = wrong || result.check == common::Check::kMismatch;
            rows.push_back(
                {chapter, result.variant, emulates ? "CUDA" : api, key,
                 common::number(ran ? std::optional(result.kernel.median_ms) : std::nullopt),
                 common::number(run.gb_s(result)), common::number(run.speedup_over_serial(result)),
                 result.reason.empty() ? common::to_string(result.check)
                                       : common::to_string(result.check) + ": " + result.reason});
        }
    }
    if (wrong) common::note_mismatch();
    common::print(fmt::format("input: {}\n\n{}\n", input,
                              common::text_table({{"chapter"},
                                                  {"strategy"},
                                                  {"API"},
                                                  {"device"},
                                                  {"time ms", true},
                                                  {"GB/s", true},
                                                  {"x serial", true},
                                                  {"matches the CPU"}},
                                                 rows)));
    for (std::size_t i = 0; i < devices.size(); ++i)
        common::print(fmt::format("[{}] {}\n", i + 1, common::shown(devices[i])));
    if (!devices.empty())
        common::print(
            "\nA strategy is one way to count; time ms: the median of its runs; GB/s: pixels, a\n"
            "byte each, in that time; x serial: times as fast as the plain loop, `serial`.\n");
    if (has_emulated)
        common::print("On a processor most of what is made for a GPU is slower than that loop.\n");
    return wrong ? common::kMismatch : common::kEveryVariantMatches;
} catch (...) {
    return common::report_exception("summary");
}
