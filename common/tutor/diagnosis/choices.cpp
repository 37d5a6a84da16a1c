// The table of choices (choices.json): what they may become, and what that is called.
#include <fmt/format.h>

#include <cctype>

#include "common/tutor/diagnosis/model.hpp"

namespace common::diagnosis {

/// What a part may become at some places.
struct Outcome {
    Part part;
    std::uint32_t places;  ///< a bit for each
    const char* name;
    const char* words;
    const char* sentence;  ///< of the place {0}, what was right {1}, and what became of it {2}
    Becomes becomes;
    double bits;
};

namespace {

using std::min;  // which an expression may name

// Made from the table, and in its order: kPlaces, their names and words; kNumbers, the names in
// expressions, as OpenCL and as CUDA says them; kCalled, {place, what, what that is called there};
// and kOutcomes.
#include "outcomes.inc"

std::string name_of(const Outcome& outcome, Label label) {
    const std::string name = outcome.name, place = kPlaces[label][0];
    if (outcome.part == kWidth) return name;
    for (const std::string& what : {name + ": " + outcome.words, name, std::string()})
        for (const auto& [where, each, called] : kCalled)
            if (where == place && each == what) return called;
    return name;
}

// An expression of these names in the words of OpenCL or CUDA; X is what was right.
std::string said(const std::string& expression, const std::string& right, bool in_cuda) {
    const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
    std::string text;
    for (auto at = expression.begin(); at != expression.end();) {
        const auto end = std::find_if_not(at, expression.end(), is_letter);
        std::string word(at, end);
        const auto* const number = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                                [&](const auto& each) { return each[0] == word; });
        if (word == "X") {
            word = right;
        } else if (number != std::end(kNumbers)) {
            word = (*number)[in_cuda ? 2 : 1];
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
    const std::string becomes = change.outcome->words;
    const std::string right = change.right.empty() ? "the count" : said(change.right, "", in_cuda);
    std::string now = said(becomes, kind == kValue ? "v" : right, in_cuda);
    if (kind == kTimes) now = now.substr(0, now.find(" ?"));
    std::string text =
        fmt::format(fmt::runtime(change.outcome->sentence), kPlaces[label][1], right, now);
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

}  // namespace common::diagnosis
