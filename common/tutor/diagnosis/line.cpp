// Where in a kernel's text a choice is made: its loops stand in the order in which the strategy
// goes through them, if there are as many.
#include <algorithm>
#include <regex>
#include <sstream>

#include "common/tutor/diagnosis/model.hpp"

namespace common::diagnosis {
namespace {

// The numbers of the lines that begin a loop, below the heading of a variant, or in all where there
// are no headings.
std::vector<std::size_t> loops_in(const RunContext& context) {
    static const std::regex loop(R"(\b(for|while)\s*\()");
    const std::string heading = "// ---- ";
    const std::string its = heading + context.variant + (context.blocked ? " with" : ":");
    const bool has_headings = context.kernel.find(its) != std::string::npos;
    bool is_inside = !has_headings;
    std::vector<std::size_t> found;
    std::istringstream text(context.kernel);
    std::string line;
    for (std::size_t number = 1; std::getline(text, line); ++number) {
        if (has_headings && line.starts_with(heading)) is_inside = line.starts_with(its);
        if (is_inside && std::regex_search(line.substr(0, line.find("//")), loop))
            found.push_back(number);
    }
    return found;
}

bool is_the_hosts(Label label, const RunContext& context) {
    const bool adds_up = context.variant == "local-buckets" || context.variant.starts_with("uchar");
    return label == kCount || label == kHistogram || label == kTables ||
           (adds_up && (label == kSum || label == kBinLoop));
}

}  // namespace

std::size_t line_of(const Change& change, const RunContext& context) {
    const Choice& choice = change.changed.choice;
    if (choice.label == kLayout || choice.part == kWidth || is_the_hosts(choice.label, context))
        return 0;
    // The loops of the strategy; and how many of them come before the choice.
    std::vector<Label> loops;
    std::size_t before = kLabels;
    for (const auto& [each, words] : choices_of(change.strategy, context)) {
        if (each.key() == choice.key()) before = std::min(before, loops.size());
        if (each.part == kStride && !is_the_hosts(each.label, context)) loops.push_back(each.label);
    }
    const auto its_loop = std::find(loops.begin(), loops.end(), choice.label);
    const bool is_barrier =
        choice.label == kZeroed || choice.label == kCounted || choice.label == kAgain;
    if (its_loop != loops.end()) {
        before = static_cast<std::size_t>(its_loop - loops.begin());
    } else if (!is_barrier) {  // inside of a loop; a barrier that is missing should stand before
                               // the next
        before -= std::min<std::size_t>(before, 1);
    }
    const std::vector<std::size_t> found = loops_in(context);
    return found.size() == loops.size() && before < found.size() ? found[before] : 0;
}

}  // namespace common::diagnosis
