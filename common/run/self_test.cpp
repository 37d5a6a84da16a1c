#include "common/run/self_test.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files/input_file.hpp"
#include "common/process/own_program.hpp"
#include "common/process/shown.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/run/worker.hpp"
#include "common/timing/timing.hpp"

namespace common {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// On an idle machine a case takes a tenth of a second, and compiling for it a few.
constexpr std::chrono::seconds kPatience{20};
constexpr int kMaxNotFinished = 3;

struct Case {
    std::string name;
    Words words;
    bool is_launch = false;
    bool of_choice = false;  // means something to some strategies only
    Words variants = {};     // to these; none: to all
};

// Adds each case of a file, and those with_choices again for each value of each choice.
void add_cases(std::vector<Case>& cases, const fs::path& file, const Program& program) {
    const auto json = nlohmann::json::parse(read_whole(file));
    for (const char* kind : {"inputs", "launches"}) {
        for (const auto& one : json.value(kind, nlohmann::json::array())) {
            Case each{one.at("name"), one.at("arguments"), kind == std::string("launches")};
            if (each.is_launch && program.api == "C++") continue;
            each.variants = one.value("variants", Words());
            if (one.contains("api") && one.at("api") != program.api) continue;
            if (is_emulated() && one.contains("emulated")) {  // where it takes long there
                if (one.at("emulated") == "never") continue;
                each.words = one.at("emulated");
            }
            for (std::string& word : each.words)
                if (word.starts_with("images/")) word = (fs::path(PROJECT_FOLDER) / word).string();
            cases.push_back(each);
            if (!one.value("with_choices", false)) continue;
            for (const Choice& choice : program.choices) {
                for (const std::string& value : choice.values) {
                    Case more = each;
                    more.name += fmt::format(" --{} {}", choice.name, value);
                    more.words.insert(more.words.end(), {"--" + choice.name, value});
                    more.of_choice = true;
                    more.variants = choice.variants;
                    cases.push_back(more);
                }
            }
        }
    }
}

// What all programs are tested on, and what only those of this folder are.
std::vector<Case> cases_for(const Program& program) {
    std::vector<Case> cases;
    add_cases(cases, CASES_FILE, program);
    const fs::path folder =
        fs::path(PROJECT_FOLDER) / program.chapter / fs::path(program.name).parent_path();
    const fs::path own = folder / "tests" / "cases.json";
    if (fs::exists(own)) add_cases(cases, own, program);
    return cases;
}

// The strategies that are asked for, and what else is the same in all cases.
struct Asked {
    Words variants;
    Words always;
    bool may_skip = false;  // a strategy that takes only some inputs
};

Asked asked_for(const Program& program, const Words& given) {
    Words words = given;
    const bool may_skip = std::erase(words, "--may-skip") > 0;
    const std::vector<const char*> argv = argv_of(program.name, words);
    const Options options = parse_options(static_cast<int>(argv.size()), argv.data(), program);
    if (options.image || options.tile || options.random || options.values || options.contention ||
        options.constant || options.ramp || options.groups || options.group_size ||
        !options.own.empty())
        throw BadInput("--self-test has inputs and launches of its own");
    if (options.json || options.plot || options.counts || options.list_devices)
        throw BadInput("--self-test writes no file and lists no devices");
    Asked asked{options.variants, {}, may_skip};
    if (!options.device.empty()) asked.always = {"--device", options.device};
    if (options.kernels)
        asked.always.insert(asked.always.end(), {"--kernels", options.kernels->string()});
    return asked;
}

// What came of the cases of one strategy.
struct Tally {
    int matched = 0;
    int skipped = 0;
    int failed = 0;
    std::string skipped_because;  // of an input, which is skipped only where all are

    void operator+=(const Tally& other) {
        matched += other.matched;
        skipped += other.skipped;
        failed += other.failed;
        if (skipped_because.empty()) skipped_because = other.skipped_because;
    }
};

class SelfTest {
 public:
    SelfTest(const Program& program, Asked asked)
        : asked_(std::move(asked)),
          cases_(cases_for(program)),
          is_device_(program.api != "C++"),
          worker_(own_program().string()) {}

    // False where it is of no use to go on.
    bool test(const std::string& variant, Tally& tally) {
        std::vector<const Case*> skipped_inputs;
        for (const Case& one : cases_) {
            if (!one.variants.empty() &&
                std::find(one.variants.begin(), one.variants.end(), variant) == one.variants.end())
                continue;
            Words words = one.words;
            words.insert(words.end(), {"--variant", variant});
            // One timed run is enough where the case does not say how many.
            if (std::find(words.begin(), words.end(), "--repeat") == words.end())
                words.insert(words.end(), {"--repeat", "1"});
            Answer answer = ask(words);
            std::string trouble;
            if (answer.kind == Answer::Kind::kCrashed) {
                // Perhaps it is the runs before that have written where they should not.
                worker_.start_afresh();
                answer = ask(words);
                if (answer.kind != Answer::Kind::kCrashed)
                    trouble = "it crashes behind other runs, not alone";
            }
            if (answer.kind == Answer::Kind::kNothingToRunOn) throw NothingToRunOn(answer.error);
            if (answer.kind == Answer::Kind::kDoesNotBuild) {
                print(fmt::format("FAILED {}: {}\n", variant, answer.error));
                ++tally.failed;
                return false;
            }
            const Result* const result =
                answer.run && answer.run->results.size() == 1 ? &answer.run->results[0] : nullptr;
            const bool is_skipped = answer.kind == Answer::Kind::kUnsupported ||
                                    (result != nullptr && result->check == Check::kSkipped);
            if (trouble.empty() && result != nullptr && result->check == Check::kMatch) {
                ++tally.matched;
            } else if (trouble.empty() && is_skipped) {
                ++tally.skipped;
                if (one.is_launch || one.of_choice) continue;
                skipped_inputs.push_back(&one);
                tally.skipped_because = result != nullptr ? result->reason : answer.error;
            } else {
                if (trouble.empty()) trouble = result != nullptr ? result->reason : answer.error;
                say_failed(variant, one, trouble, words);
                ++tally.failed;
                if (answer.kind == Answer::Kind::kNotFinished &&
                    ++not_finished_ == kMaxNotFinished) {
                    print(fmt::format("FAILED {}: no more cases are tried after {} like this\n",
                                      variant, kMaxNotFinished));
                    return false;
                }
            }
        }
        // One input that is skipped would go unnoticed among others that match.
        if (tally.matched > 0 && !asked_.may_skip) {
            for (const Case* one : skipped_inputs) {
                say_failed(variant, *one, "skipped, unlike others: " + tally.skipped_because,
                           one->words);
                ++tally.failed;
            }
        }
        return true;
    }

 private:
    Answer ask(Words words) {
        words.insert(words.end(), asked_.always.begin(), asked_.always.end());
        words.emplace_back("--no-ceiling");
        if (is_device_) words.emplace_back("--no-diagnosis");  // it is asked for by hand
        return worker_.ask(words, kPatience);
    }

    void say_failed(const std::string& variant, const Case& one, const std::string& why,
                    Words words) const {
        std::error_code ignored;
        std::string program = fs::proximate(own_program(), ignored).string();
        if (program.find('/') == std::string::npos) program = "./" + program;
        if (std::find(words.begin(), words.end(), "--variant") == words.end())
            words.insert(words.end(), {"--variant", variant});
        words.insert(words.begin(), program);
        words.insert(words.end(), asked_.always.begin(), asked_.always.end());
        for (std::string& word : words)
            word = shell_word(word);
        print(fmt::format("FAILED {} on {}: {}; again: {}\n", variant, one.name, why,
                          fmt::join(words, " ")));
    }

    Asked asked_;
    std::vector<Case> cases_;
    bool is_device_;
    int not_finished_ = 0;
    Worker worker_;
};

}  // namespace

int self_test(const Program& program, const Words& given) {
    const Asked asked = asked_for(program, given);
    SelfTest test(program, asked);
    Tally all;
    const double ms = wall_ms([&] {
        for (const std::string& variant : asked.variants) {
            Tally tally;
            const bool goes_on = test.test(variant, tally);
            if (tally.matched == 0 && tally.failed == 0)
                print(fmt::format("skipped {}: {}\n", variant, tally.skipped_because));
            all += tally;
            if (!goes_on) break;
        }
    });
    print(fmt::format("{} cases match, {} skipped, {} failed ({:.1f} s)\n", all.matched,
                      all.skipped, all.failed, ms / 1000));
    return all.failed > 0 ? kMismatch : all.matched > 0 ? kEveryVariantMatches : kNothingToRunOn;
}

}  // namespace common
