#include "common/explanation/explanation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <system_error>

#include "common/child/child_process.hpp"
#include "common/files/files.hpp"
#include "common/process/status.hpp"
#include "common/report/json.hpp"

namespace common {
namespace {

std::string question_about(const RunDocument& run, const Options& options, const Input& input) {
    // The options that choose how the pixels are counted, without those that choose the pixels.
    std::vector<std::string> words;
    if (!options.device.empty()) words.insert(words.end(), {"--device", options.device});
    if (options.kernels) words.insert(words.end(), {"--kernels", *options.kernels});
    words.insert(words.end(), options.program_options.begin(), options.program_options.end());
    Json question{{"run", parsed(to_json_text(run))},
                  {"words", words},
                  {"changes", Json::array()},
                  {"width", input.width},
                  {"emulated", is_emulated()}};
    for (const Result& result : run.results)
        question["changes"].push_back(result.changes);
    return line_of(question);
}

// One explainer answers for all runs of this process: it has its device open, and its compiler is
// read.
std::unique_ptr<ChildProcess> kept;
std::filesystem::path kept_program;

struct Explanation {
    std::string text;
    std::string findings;
};

// One for each result, or none at all.
std::vector<std::optional<Explanation>> answers_in(const std::string& line, std::size_t results) {
    const Json json = parsed(line);
    if (!json.is_array() || json.size() != results) throw std::invalid_argument("other results");
    std::vector<std::optional<Explanation>> answers;
    for (const auto& each : json) {
        answers.emplace_back();
        if (each.is_null()) continue;
        if (!each.at("findings").is_array()) throw std::invalid_argument("no findings");
        answers.back() = {each.at("text"), each.at("findings").dump()};
    }
    return answers;
}

}  // namespace

void explain_wrong(RunDocument& document, const Options& options, const Input& input,
                   const std::filesystem::path& explainer, std::chrono::milliseconds at_most) {
    std::error_code unknown;
    if (!options.diagnosis || document.api == "C++" ||
        document.device.find("Oclgrind") != std::string::npos ||
        !std::filesystem::exists(explainer, unknown))
        return;
    std::vector<Result*> wrong;
    std::vector<std::string> names;
    RunDocument asked = document;
    asked.results.clear();
    for (Result& result : document.results) {
        if (result.check != Check::kMismatch || !result.counts || !result.launch ||
            result.broken_on_purpose)
            continue;
        wrong.push_back(&result);
        names.push_back(result.variant);
        asked.results.push_back(result);
    }
    if (wrong.empty()) return;
    progress(fmt::format("{}: looking into it, with runs that tell mistakes apart\n",
                         fmt::join(names, ", ")));
    std::string why = "it gives no answer";
    try {
        std::unique_ptr<ChildProcess> child = std::move(kept);
        if (!child || kept_program != explainer)
            child = std::make_unique<ChildProcess>(
                std::vector{explainer.string(), program_path().string()});
        const auto end = ChildProcess::Clock::now() + at_most * wrong.size();
        const std::string question = question_about(asked, options, input);
        bool in_time = true;
        std::optional<std::string> line;
        const auto* const pixels = reinterpret_cast<const char*>(input.pixels.data());
        if (child->say(question, end) && child->say({pixels, input.pixels.size()}, end))
            line = child->next_line(end, in_time);
        if (!in_time) why = "it is not finished in time";
        if (line) {
            const auto answers = answers_in(*line, wrong.size());
            kept = std::move(child);
            kept_program = explainer;
            for (std::size_t i = 0; i < wrong.size(); ++i) {
                if (!answers[i]) continue;
                wrong[i]->diagnosis = answers[i]->findings;
                progress(answers[i]->text);
            }
            return;
        }
    } catch (const std::exception&) {
        why = "its answer makes no sense";
    }
    progress(fmt::format("no diagnosis by {}: {}\n", shown(explainer.string()), why));
}

}  // namespace common
