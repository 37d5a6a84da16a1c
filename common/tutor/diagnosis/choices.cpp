// The table of choices (choices.json): what they may become, and what that is called.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "common/tutor/diagnosis/model.hpp"

namespace common::diagnosis {

struct Outcome {
    std::string words;
    Becomes becomes;
    double bits;
};

namespace {

using Json = nlohmann::ordered_json;

// What a number may become: the table's expressions as functions, made from it.
// clang-format off
const std::map<std::string, Becomes>& expressions() {
    using std::min;
    static const std::map<std::string, Becomes> made = {
#include "expressions.inc"
    };
    return made;
}
// clang-format on

struct Row {
    Part part;
    std::vector<bool> at;  // of each place
    std::string name;
    std::vector<Outcome> outcomes;
};
struct Table {
    Json json;
    std::vector<std::pair<std::string, std::string>> places;  // their names and words, in order
    std::vector<Row> rows;
};

std::vector<Outcome> outcomes_of(const Json& json, const Json& becomes) {
    std::vector<Outcome> all;
    for (const Json& each : becomes) {
        if (each.is_string()) {
            for (Outcome& outcome : outcomes_of(json, json.at("lists").at(each.get<std::string>())))
                all.push_back(std::move(outcome));
            continue;
        }
        for (std::size_t i = 1; i < each.size(); ++i) {
            const std::string words = each[i];
            all.push_back({words, expressions().at(words), each[0]});
        }
    }
    return all;
}

const Table& table() {
    static const Table read = [] {
        std::ifstream file(PROJECT_FOLDER "/common/tutor/diagnosis/choices.json");
        Table made{Json::parse(file), {}, {}};
        const Json& json = made.json;
        std::vector<std::string> groups;  // each place's
        for (const auto& [group, its_places] : json.at("places").items()) {
            for (const auto& [place, words] : its_places.items()) {
                made.places.emplace_back(place, words);
                groups.push_back(group);
            }
        }
        for (const Json& each : json.at("outcomes")) {
            const auto& parts = json.at("parts");
            const auto part = parts.find(each.at("part"));
            Row row{static_cast<Part>(std::distance(parts.begin(), part)),
                    {},
                    each.at("name"),
                    outcomes_of(json, each.at("becomes"))};
            const Json& at = each.at("at");
            for (std::size_t i = 0; i < groups.size(); ++i)
                row.at.push_back(at == "any" || at == groups[i] ||
                                 std::count(at.begin(), at.end(), made.places[i].first) > 0);
            made.rows.push_back(std::move(row));
        }
        return made;
    }();
    return read;
}

std::string name_of(const Row& row, const Outcome& outcome, Label label) {
    const Json& called = table().json.at("called");
    const auto its = called.find(table().places[label].first);
    if (its != called.end() && row.part != kWidth)
        for (const std::string& name : {row.name + ": " + outcome.words, row.name, std::string()})
            if (const auto found = its->find(name); found != its->end()) return *found;
    return row.name;
}

// An expression of these names in the words of OpenCL or CUDA; X is what was right.
std::string said(const std::string& expression, const std::string& right, bool in_cuda) {
    const Json& numbers = table().json.at("numbers");
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

std::vector<Change> changes(const Played& strategy, const RunContext& context) {
    // Another way of going over the pixels is right again where there are none.
    const bool is_usual = strategy.way == strategies_of(context).front().way;
    std::vector<Change> all;
    for (const auto& [choice, right] : choices_of(strategy, context)) {
        if ((strategy.way == kRotated && choice.label != kCopies) ||
            (!is_usual && strategy.way != kRotated && choice.label >= kCount) ||
            ((strategy.way == kEights || strategy.way == kSixteens) && choice.label == kByte))
            continue;
        std::set<std::string> seen{right};
        for (const Row& row : table().rows) {
            if (row.part != choice.part || !row.at[choice.label]) continue;
            for (const Outcome& outcome : row.outcomes)
                if (seen.insert(outcome.words).second)
                    all.push_back({strategy,
                                   {choice, outcome.becomes},
                                   name_of(row, outcome, choice.label),
                                   &outcome,
                                   right,
                                   outcome.bits + (choice.label == kLayout ? 3 : 0)});
        }
    }
    return all;
}

std::string sentence_of(const Change& change, bool in_cuda) {
    const auto& [label, kind, position] = change.changed.choice;
    const Json& part = std::next(table().json.at("parts").begin(), kind).value();
    const std::string& becomes = change.outcome->words;
    const std::string right = change.right.empty() ? "the count" : said(change.right, "", in_cuda);
    std::string now = said(becomes, kind == kValue ? "v" : right, in_cuda);
    if (kind == kTimes) now = now.substr(0, now.find(" ?"));
    std::string form = part.value("says", "");
    if (part.contains("is")) form = part["is"].value(becomes, form);
    std::string text = fmt::format(fmt::runtime(form), table().places[label].second, right, now);
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

std::string section_about(const std::string& name) {
    for (const char* const race :
         {"barrier", "atomic", "lost-", "early", "table-not", "overwrites"})
        if (name.find(race) != std::string::npos) return "the-race-conditions";
    for (const char* const start : {"wrong-", "bins-", "only-", "signed-v", "half-", "nothing-"})
        if (name.starts_with(start)) return "the-strategy";
    return "what-went-wrong-in-published-code";
}

}  // namespace common::diagnosis
