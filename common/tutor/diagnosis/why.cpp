// Why a chapter's program counted wrongly: it starts this one (common/explanation/explanation.hpp),
// which has a second process of that program run the strategy a few times more, and says what fits
// all its runs. The exercises' grader asks it, too, about runs that it has seen itself.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <string>
#include <vector>

#include "common/histogram/histogram.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/document.hpp"
#include "common/report/json.hpp"
#include "common/tutor/diagnosis/diagnosis.hpp"
#include "common/tutor/diagnosis/worker.hpp"

namespace common::diagnosis {

namespace {

Json json_of(const std::vector<Finding>& findings) {
    Json json = Json::array();
    for (const Finding& finding : findings) {
        json.push_back({{"name", finding.name},
                        {"sentence", finding.sentence},
                        {"evidence", finding.evidence},
                        {"read", finding.read},
                        {"certainty", finding.is_certain ? "predicted" : "pattern"}});
    }
    return json;
}

PixelBuffer read_pixels(std::size_t count) {
    PixelBuffer pixels(count);
    std::cin.read(reinterpret_cast<char*>(pixels.data()), static_cast<std::streamsize>(count));
    return pixels;
}

// The strategy runs a few times more, on one device, and what fits all its runs is the answer.
Json explain(const Json& question, const RunDocument& document, const Result& result,
             const PixelBuffer& pixels, Worker& worker) {
    if (!result.counts || !result.launch) return nullptr;
    const std::vector<std::string> words = question.at("words");
    const bool is_emulated = question.at("emulated");
    const auto its_pitch = std::ranges::find(words, "--pitch");
    const std::size_t pitch = its_pitch == words.end() ? 0 : std::stoul(its_pitch[1]);
    const Runner runner = [&](std::vector<std::string> arguments,
                              std::chrono::milliseconds at_most) {
        arguments.insert(arguments.end(), {"--variant", result.variant, "--repeat", "1",
                                           "--no-ceiling", "--no-diagnosis"});
        arguments.insert(arguments.end(), words.begin(), words.end());
        return worker.ask(arguments, at_most);
    };
    Observations seen;
    seen.cases.push_back({"this run",
                          pixels,
                          question.at("width"),
                          pitch,
                          *result.launch,
                          document.counts,
                          {*result.counts}});
    if (result.only_later) seen.cases.back().actual.push_back(document.counts);
    const bool in_cuda = document.api == "CUDA";
    const RunContext context{
        .chapter = document.chapter,
        .variant = result.variant,
        .one_by_one = is_emulated || document.driver.find("PoCL") != std::string::npos,
        .in_cuda = in_cuda,
        .changes = result.changes};
    // If one group size leaves it open, another one is tried.
    observe(seen, result.launch->group_size, pitch, runner);
    Diagnosis diagnosis = diagnose(seen.cases, context);
    if (!diagnosis.is_settled) {
        observe(seen, result.launch->group_size > 64 ? 64 : 96, pitch, runner);
        diagnosis = diagnose(seen.cases, context, &diagnosis);
    }
    std::string text;
    for (const std::string& trouble : seen.troubles)
        text += fmt::format("  {}\n", trouble);
    text += text_of(diagnosis);
    if (is_emulated)
        text += "  the lines, where it is a race: docs/cuda-on-a-cpu.md#the-line-of-a-race\n";
    return {{"variant", result.variant}, {"text", text}, {"findings", json_of(diagnosis.findings)}};
}

// The answer to a question, whose pixels stand behind it on standard input.
Json answer_to(const Json& question, Worker& worker) {
    RunDocument document = document_of(line_of(question.at("run")));
    for (std::size_t i = 0; i < document.results.size(); ++i)
        document.results[i].changes = question.at("changes").at(i);
    const PixelBuffer pixels = read_pixels(document.pixels);
    if (reference_histogram(pixels) != document.counts) throw BadInput("these are other pixels");
    Json answers = Json::array();
    for (const Result& result : document.results)
        answers.push_back(explain(question, document, result, pixels, worker));
    return answers;
}

// The same for the grader's runs (grading.py), whose pixels and counts stand behind the question.
std::string answer_about_cases(const Json& question) {
    RunContext context{.chapter = question.at("chapter"), .variant = question.at("variant")};
    context.one_by_one = question.at("one_by_one");
    context.in_cuda = question.at("in_cuda");
    context.race_free = question.at("race_free");
    std::deque<PixelBuffer> pixels;
    std::vector<Case> cases;
    for (const Json& each : question.at("cases")) {
        Case& made = cases.emplace_back();
        made.words = each.at("words");
        made.launch = {each.at("groups"), each.at("group_size")};
        made.pixels = pixels.emplace_back(read_pixels(each.at("pixels")));
        made.width = each.at("width");
        made.pitch = each.at("pitch");
        made.expected = reference_histogram(made.pixels);
        std::cin.read(reinterpret_cast<char*>(made.actual.emplace_back().data()),
                      sizeof(Histogram));
    }
    return text_of(diagnose(cases, context));
}

}  // namespace
}  // namespace common::diagnosis

int main(int argc, char** argv) try {
    using namespace common;
    std::string line;
    if (argc == 1 && std::getline(std::cin, line)) {
        print(diagnosis::answer_about_cases(parsed(line)));
        return kEveryVariantMatches;
    }
    if (argc != 2) throw BadInput("a program calls this one, when a result is wrong");
    // One for all wrong results: its device is open, and its compiler is read.
    Worker worker(argv[1]);
    while (std::getline(std::cin, line))
        print(line_of(diagnosis::answer_to(parsed(line), worker)));
    return kEveryVariantMatches;
} catch (...) {
    return common::report_exception("why");
}
