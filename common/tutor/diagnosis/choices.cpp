// The table of choices (choices.json): what they may become, and what that is called.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/tutor/diagnosis/model.hpp"

namespace common::diagnosis {

/// What a part may become at some places.
struct Outcome {
    Part part;
    std::uint32_t places;  ///< a bit for each
    const char* name;
    const char* words;
    Becomes becomes;
    double bits;
};

namespace {

using Json = nlohmann::ordered_json;
using std::min;  // which an expression may name

// kPlaces, their names and words, and kOutcomes, both in the order of the table and made from it.
#include "outcomes.inc"

const Json& table() {
    static const Json read =
        Json::parse(std::ifstream(PROJECT_FOLDER "/common/tutor/diagnosis/choices.json"));
    return read;
}

std::string name_of(const Outcome& outcome, Label label) {
    const Json& called = table().at("called");
    const std::string name = outcome.name;
    const auto its = called.find(kPlaces[label][0]);
    if (its != called.end() && outcome.part != kWidth)
        for (const std::string& each : {name + ": " + outcome.words, name, std::string()})
            if (const auto found = its->find(each); found != its->end()) return *found;
    return name;
}

// An expression of these names in the words of OpenCL or CUDA; X is what was right.
std::string said(const std::string& expression, const std::string& right, bool in_cuda) {
    const Json& numbers = table().at("numbers");
    const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
    std::string text;
    for (auto at = expression.begin(); at != expression.end();) {
        const auto end = std::find_if_not(at, expression.end(), is_letter);
        std::string word(at, end);
        if (word == "X") {
            word = right;
        } else if (const auto found = numbers.find(word); found != numbers.end()) {
            word = (*found)[in_cuda ? 2 : 1];
        }
        const bool is_alone = at == expression.begin() && end == expression.end();
        text += word.find(' ') == std::string::npos || is_alone ? word : "(" + word + ")";
        if (at = end; at != expression.end()) text += *at++;
    }
    return text;
}

}  // namespace

std::vector<Change> changes(const RunContext& context) {
    std::vector<Change> all;
    for (const auto& [choice, right] : choices_of(context)) {
        std::set<std::string> seen{right};
        for (const Outcome& outcome : kOutcomes)
            if (outcome.part == choice.part && (outcome.places >> choice.label & 1U) != 0 &&
                seen.insert(outcome.words).second)
                all.push_back({{choice, outcome.becomes},
                               name_of(outcome, choice.label),
                               &outcome,
                               right,
                               outcome.bits + (choice.label == kLayout ? 3 : 0)});
    }
    return all;
}

std::string sentence_of(const Change& change, bool in_cuda) {
    const auto& [label, kind, position] = change.changed.choice;
    const Json& part = std::next(table().at("parts").begin(), kind).value();
    const std::string becomes = change.outcome->words;
    const std::string right = change.right.empty() ? "the count" : said(change.right, "", in_cuda);
    std::string now = said(becomes, kind == kValue ? "v" : right, in_cuda);
    if (kind == kTimes) now = now.substr(0, now.find(" ?"));
    std::string form = part.value("says", "");
    if (part.contains("is")) form = part["is"].value(becomes, form);
    std::string text = fmt::format(fmt::runtime(form), kPlaces[label][1], right, now);
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

}  // namespace common::diagnosis
