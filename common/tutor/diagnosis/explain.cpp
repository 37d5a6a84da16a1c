#include "common/tutor/diagnosis/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/files/own_program.hpp"
#include "common/run/worker.hpp"
#include "common/status/status.hpp"
#include "common/terminal/shown.hpp"
#include "common/terminal/terminal.hpp"
#include "common/timing/timing.hpp"
#include "common/tutor/diagnosis/diagnosis.hpp"
#include "common/tutor/diagnosis/probes.hpp"

namespace common::diagnosis {
namespace {

namespace fs = std::filesystem;

// Another run of the strategy, but for its input and its launch.
std::vector<std::string> same_strategy(const Options& options, const std::string& variant) {
    std::vector<std::string> words{"--variant", variant,        "--repeat",
                                   "1",         "--no-ceiling", "--no-diagnosis"};
    if (!options.device.empty()) words.insert(words.end(), {"--device", options.device});
    if (options.kernels) words.insert(words.end(), {"--kernels", options.kernels->string()});
    words.insert(words.end(), options.own.begin(), options.own.end());
    return words;
}

std::string json_of(const std::vector<Finding>& findings) {
    auto json = nlohmann::ordered_json::array();
    for (const Finding& finding : findings) {
        const bool predicted = finding.certainty == Finding::Certainty::kPredicted;
        json.push_back({{"name", finding.name},
                        {"sentence", finding.sentence},
                        {"evidence", finding.evidence},
                        {"at", finding.at},
                        {"read", finding.read},
                        {"certainty", predicted ? "predicted" : "pattern"}});
    }
    return json.dump();
}

std::string text_in(const fs::path& file) {
    std::error_code unknown;
    if (!fs::is_regular_file(file, unknown)) return "";  // what is no file may have been read up
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

// What stands behind an option, or nothing.
std::string behind(const std::vector<std::string>& words, const std::string& option) {
    const auto at = std::find(words.begin(), words.end(), option);
    return at == words.end() || at + 1 == words.end() ? "" : *(at + 1);
}

}  // namespace

std::optional<Explanation> explain(const WrongResult& wrong) {
    const Result& result = wrong.result;
    const std::string self = own_program().string();
    if (self.empty() || wrong.program.api == "C++" || !result.counts || !result.launch ||
        wrong.device.find("Oclgrind") != std::string::npos)
        return std::nullopt;
    progress(
        fmt::format("{}: looking into it, with runs that tell mistakes apart\n", result.variant));
    // One for all wrong results of this process: its device is open, and its compiler is read.
    static Worker worker(self);
    const std::vector<std::string> same = same_strategy(wrong.options, result.variant);
    Observations seen = observe(
        *result.launch, [&](std::vector<std::string> words, std::chrono::milliseconds at_most) {
            words.insert(words.end(), same.begin(), same.end());
            return worker.ask(words, at_most);
        });
    seen.cases.push_back({"this run",
                          wrong.input.pixels,
                          wrong.input.width,
                          *result.launch,
                          wrong.expected,
                          {*result.counts}});
    if (result.only_later) seen.cases.back().actual.push_back(wrong.expected);
    const bool in_cuda = wrong.program.api == "CUDA";
    const fs::path lesson =
        fs::path(wrong.program.chapter) / (in_cuda ? "histogram.cuh" : "histogram.cl");
    const auto& own_kernels = wrong.options.kernels;
    const std::string copies = behind(wrong.options.own, "--copies");
    const Diagnosis diagnosis = diagnose(
        seen.cases, {.chapter = wrong.program.chapter,
                     .variant = result.variant,
                     .one_by_one = is_emulated() || wrong.driver.find("PoCL") != std::string::npos,
                     .in_cuda = in_cuda,
                     .changes = result.changes,
                     .copies = copies.empty() ? 32 : std::stoi(copies),
                     .blocked = behind(wrong.options.own, "--walk") == "blocked",
                     .kernel = text_in(own_kernels.value_or(PROJECT_FOLDER / lesson)),
                     .file = shown(own_kernels.value_or(lesson).string())});
    std::string text;
    for (const std::string& trouble : seen.troubles)
        text += fmt::format("  {}\n", trouble);
    text += text_of(diagnosis);
    if (is_emulated())
        text += "  the lines, where it is a race: docs/cuda-on-a-cpu.md#the-line-of-a-race\n";
    return Explanation{text, json_of(diagnosis.findings)};
}

}  // namespace common::diagnosis
