#include "common/run/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/json.hpp"
#include "common/timing/timing.hpp"

namespace common {
namespace {

std::string description_of(const Program& program) {
    Json json{{"chapter", program.chapter},
              {"program", program.name},
              {"api", program.api},
              {"emulated", is_emulated()}};
    json["variants"] = Json::array();
    for (const Variant& variant : program.variants)
        json["variants"].push_back({{"name", variant.name},
                                    {"summary", variant.summary},
                                    {"broken_on_purpose", variant.broken_on_purpose}});
    json["choices"] = Json::array();
    for (const Choice& choice : program.choices)
        json["choices"].push_back(
            {{"name", choice.name}, {"values", choice.values}, {"variants", choice.variants}});
    return line_of(json, 2);
}

}  // namespace

bool describes_itself(int argc, const char* const* argv, const Program& program) {
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    const auto is_asked_for = [&](const char* option) { return std::erase(words, option) > 0; };
    if (!is_asked_for("--describe")) return false;
    if (!words.empty())
        throw BadInput(fmt::format("--describe takes no other option, not '{}'", words.front()));
    require_standard_output(program.path());
    print(description_of(program));
    return true;
}

}  // namespace common
