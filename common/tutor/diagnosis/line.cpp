// Where in a kernel's text a choice is made: its loops stand in the order in which the strategy
// goes through them, if there are as many.
#include <algorithm>
#include <regex>
#include <sstream>

#include "common/tutor/diagnosis/model.hpp"

namespace common::diagnosis {
namespace {

struct Line {
    std::size_t number;
    std::string code;
};

// The lines of a variant: those below its heading, or all where there are no headings.
std::vector<Line> section_of(const RunContext& context) {
    const std::string heading = "// ---- ";
    const std::string its = heading + context.variant + (context.blocked ? " with" : ":");
    const bool has_headings = context.kernel.find(its) != std::string::npos;
    bool is_inside = !has_headings;
    std::vector<Line> section;
    std::istringstream text(context.kernel);
    std::string line;
    for (std::size_t number = 1; std::getline(text, line); ++number) {
        if (has_headings && line.starts_with(heading)) is_inside = line.starts_with(its);
        if (is_inside) section.push_back({number, line.substr(0, line.find("//"))});
    }
    return section;
}

bool is_the_hosts(Label label, const RunContext& context) {
    const bool adds_up = context.variant == "local-buckets" || context.variant.starts_with("uchar");
    return label == kHistogram || label == kTables ||
           (adds_up && (label == kSum || label == kBinLoop));
}

}  // namespace

std::size_t line_of(const Change& change, const RunContext& context) {
    const auto& [choice, becomes] = change.changed;
    if (choice.label == kCount || choice.label >= kLayout || choice.part == kWidth ||
        is_the_hosts(choice.label, context))
        return 0;
    // The loops of the kernel; and how many of them come before the choice.
    std::vector<Label> loops;
    std::size_t before = kLabels;
    for (const auto& [each, words] : choices_of(change.strategy, context)) {
        if (each.key() == choice.key()) before = std::min(before, loops.size());
        if (each.part == kStride && !is_the_hosts(each.label, context)) loops.push_back(each.label);
    }
    const auto its_loop = std::find(loops.begin(), loops.end(), choice.label);
    const bool is_loop = its_loop != loops.end();
    if (is_loop) before = static_cast<std::size_t>(its_loop - loops.begin());
    const bool is_barrier =
        choice.label == kZeroed || choice.label == kCounted || choice.label == kAgain;

    const std::vector<Line> section = section_of(context);
    using At = std::vector<Line>::const_iterator;
    const auto all_like = [&](const char* words) {
        const std::regex like(words);
        std::vector<At> found;
        for (At line = section.begin(); line != section.end(); ++line)
            if (std::regex_search(line->code, like)) found.push_back(line);
        return found;
    };
    if (choice.part == kReturn) {
        const std::vector<At> returns = all_like(R"(\breturn\b)");
        return returns.empty() ? 0 : returns.front()->number;
    }
    const std::vector<At> found = all_like(R"(\b(for|while)\s*\()");
    const bool one_is_missing = is_loop && found.size() + 1 == loops.size();
    if (!one_is_missing && found.size() != loops.size()) return 0;
    if (!is_loop && !is_barrier) before -= std::min<std::size_t>(before, 1);  // inside of it
    if (one_is_missing && (choice.part != kTimes || (*becomes)({}, 1) != 0)) {
        for (const At each : all_like(R"(\bif\s*\()"))  // in place of the loop
            if (before == 0 || each > found[before - 1]) return each->number;
        return 0;
    }
    // What is missing should stand before the next loop.
    if (before >= found.size()) return 0;
    auto line = found[before];
    const bool is_in_the_body = !is_barrier && (!is_loop || choice.part > kFirst);
    while (is_in_the_body && std::next(line) != section.end() &&
           (line == found[before] || line->code.find('[') == std::string::npos))
        ++line;
    return line->number;
}

}  // namespace common::diagnosis
