// Says what is most likely wrong with the counts of a few runs. For the exercises' grader.
//
//     diagnose       reads {"chapter", "variant", "one_by_one", "in_cuda", "cases": [{"words",
//                    "pixels": how many, "groups", "group_size"}], "kernel": its text, "file",
//                    "race_free": whether a detector says so} in one line, and behind it for each
//                    case its pixels and its counts
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/process/status.hpp"
#include "common/tutor/diagnosis/diagnosis.hpp"
#include "common/tutor/exercise/job.hpp"

using Json = nlohmann::json;

int main() try {
    common::exercise::Input input;
    const Json json = Json::parse(input.line);
    std::deque<std::vector<std::uint8_t>> pixels;
    std::vector<common::diagnosis::Case> cases;
    for (const Json& each : json.at("cases")) {
        pixels.push_back(input.take(each.at("pixels")));
        common::diagnosis::Case made;
        made.words = each.at("words");
        made.pixels = pixels.back();
        made.width = std::max<std::size_t>(pixels.back().size(), 1);
        made.launch = {each.at("groups"), each.at("group_size")};
        made.expected = common::reference_histogram(pixels.back());
        common::Histogram actual{};
        const std::vector<std::uint8_t> counts = input.take(sizeof actual);
        std::memcpy(actual.data(), counts.data(), sizeof actual);
        made.actual = {actual};
        cases.push_back(std::move(made));
    }
    const common::diagnosis::RunContext context{.chapter = json.at("chapter"),
                                                .variant = json.at("variant"),
                                                .one_by_one = json.at("one_by_one"),
                                                .in_cuda = json.at("in_cuda"),
                                                .race_free = json.at("race_free"),
                                                .kernel = json.at("kernel"),
                                                .file = json.at("file")};
    std::fputs(common::diagnosis::text_of(common::diagnosis::diagnose(cases, context)).c_str(),
               stdout);
    return 0;
} catch (const Json::exception& error) {
    std::fprintf(stderr, "diagnose: %s\n", error.what());
    return common::kBadInput;
} catch (...) {
    return common::report_exception("diagnose");
}
