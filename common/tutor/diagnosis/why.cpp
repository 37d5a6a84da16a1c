// Why a chapter's program counted wrongly: it starts this one (common/explanation/explanation.hpp),
// which has a second process of that program run the strategy a few times more, and says what fits
// all its runs. The exercises' grader asks it, too, about runs that it has seen itself.
#include <fmt/format.h>

#include <deque>
#include <iostream>
#include <memory>

#include "common/child/child_process.hpp"
#include "common/process/status.hpp"
#include "common/report/json.hpp"
#include "common/tutor/diagnosis/diagnosis.hpp"

namespace common::diagnosis {

namespace {

Json json_of(const std::vector<Finding>& findings) {
    Json json = Json::array();
    for (const Finding& finding : findings)
        json.push_back({{"name", finding.name},
                        {"sentence", finding.sentence},
                        {"evidence", finding.evidence},
                        {"read", finding.read},
                        {"certainty", finding.is_certain ? "predicted" : "pattern"}});
    return json;
}

// What a row of a run's JSON (docs/json.md) says of what was counted.
Result result_of(const Json& row) {
    Result result;
    result.variant = row.at("variant");
    if (row.at("check") == "skipped") result.check = Check::kSkipped;
    if (!row.at("groups").is_null()) result.launch = {row.at("groups"), row.at("group_size")};
    if (!row.at("counts").is_null()) result.counts = row.at("counts").get<Histogram>();
    result.only_later = row.at("only_later");
    return result;
}

Answer answer_of(const std::string& line) {
    static constexpr std::array kKinds{std::pair{"ran", Answer::Kind::kRan},
                                       std::pair{"failed", Answer::Kind::kFailed},
                                       std::pair{"crashed", Answer::Kind::kCrashed},
                                       std::pair{"not-finished", Answer::Kind::kNotFinished}};
    Answer answer;
    const Json json = parsed(line);
    answer.error = json.at("error");
    for (const auto& [name, kind] : kKinds)
        if (json.at("kind") == name) answer.kind = kind;
    if (json.contains("run"))
        for (const Json& row : json.at("run").at("results"))
            answer.results.push_back(result_of(row));
    return answer;
}

// The program in a second process, which runs what it is asked to.
class Worker {
 public:
    explicit Worker(std::string program) : program_(std::move(program)) {}

    // One run. Where it crashes, or takes longer than this, its process is ended and the next run
    // gets another.
    Answer ask(const std::vector<std::string>& words, std::chrono::milliseconds at_most) {
        const auto end = ChildProcess::Clock::now() + at_most;
        if (!process_)
            process_ = std::make_unique<ChildProcess>(std::vector<std::string>{
                "/usr/bin/env", "SERVE_COMMAND_LINES=1", "LD_PRELOAD=" SERVED_LIBRARY, program_});
        bool in_time = true;
        std::optional<std::string> line;
        if (process_->say(line_of(words), end)) line = process_->next_line(end, in_time);
        // One that ends without an answer was killed, or has crashed in a way that no handler sees.
        const Answer answer =
            line      ? answer_of(*line)
            : in_time ? Answer{Answer::Kind::kCrashed, "it crashes", {}}
                      : Answer{Answer::Kind::kNotFinished, "it is not finished in time", {}};
        if (answer.kind != Answer::Kind::kRan && answer.kind != Answer::Kind::kRefused)
            process_.reset();
        return answer;
    }

 private:
    std::string program_;
    std::unique_ptr<ChildProcess> process_;
};

PixelBuffer read_pixels(std::size_t count) {
    PixelBuffer pixels(count);
    std::cin.read(reinterpret_cast<char*>(pixels.data()), static_cast<std::streamsize>(count));
    return pixels;
}

// The strategy runs a few times more, on one device, and what fits all its runs is the answer.
Json explain(const Json& question, const Result& result, const PixelBuffer& pixels,
             Worker& worker) {
    if (!result.counts || !result.launch) return nullptr;
    const Json& run = question.at("run");
    const std::vector<std::string> words = question.at("words");
    const bool is_emulated = question.at("emulated");
    const auto given = [&](const char* option) {
        const auto its = std::ranges::find(words, option);
        return its == words.end() ? 0 : std::stoul(its[1]);
    };
    const std::size_t pitch = given("--pitch");
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
                          run.at("counts"),
                          {*result.counts}});
    if (result.only_later) seen.cases.back().actual.push_back(seen.cases.back().expected);
    const RunContext context{.chapter = run.at("chapter"),
                             .variant = result.variant,
                             .one_by_one = is_emulated || run.at("driver").get<std::string>().find(
                                                              "PoCL") != std::string::npos,
                             .in_cuda = run.at("api") == "CUDA",
                             .changes = result.changes};
    const auto diagnosed = [&](std::size_t group_size, const Diagnosis* before) {
        observe(seen, group_size, pitch, runner);
        for (Case& each : seen.cases)
            each.first = given("--offset");
        return diagnose(seen.cases, context, before);
    };
    // If one group size leaves it open, another one is tried.
    Diagnosis diagnosis = diagnosed(result.launch->group_size, nullptr);
    if (!diagnosis.is_settled)
        diagnosis = diagnosed(result.launch->group_size > 64 ? 64 : 96, &diagnosis);
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
    const Json& run = question.at("run");
    const PixelBuffer pixels = read_pixels(run.at("input").at("pixels"));
    if (reference_histogram(pixels) != run.at("counts").get<Histogram>())
        throw BadInput("these are other pixels");
    Json answers = Json::array();
    for (std::size_t i = 0; i < run.at("results").size(); ++i) {
        Result result = result_of(run.at("results").at(i));
        result.changes = question.at("changes").at(i);
        answers.push_back(explain(question, result, pixels, worker));
    }
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
        made.from_the_end = each.at("from_the_end");
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
    diagnosis::Worker worker(argv[1]);
    while (std::getline(std::cin, line))
        print(line_of(diagnosis::answer_to(parsed(line), worker)));
    return kEveryVariantMatches;
} catch (...) {
    return common::report_exception("why");
}
