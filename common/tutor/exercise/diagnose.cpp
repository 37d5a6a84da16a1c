// Says what is most likely wrong with the counts of a few runs. For the exercises' grader.
//
//     diagnose       reads a line of JSON: chapter, variant, whether work-items run one by one, in
//                    CUDA, and without a race as a detector says; and for each case its words,
//                    groups, group size, and number of pixels. Behind it the pixels and counts.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/process/status.hpp"
#include "common/tutor/diagnosis/diagnosis.hpp"
#include "common/tutor/exercise/job.hpp"

int main() try {
    using namespace common::exercise;
    std::string line;
    std::getline(std::cin, line);
    const auto asked = nlohmann::json::parse(line);
    common::diagnosis::RunContext context{asked.at("chapter"), asked.at("variant")};
    context.one_by_one = asked.at("one_by_one");
    context.in_cuda = asked.at("in_cuda");
    context.race_free = asked.at("race_free");
    std::deque<Bytes> pixels;
    std::vector<common::diagnosis::Case> cases;
    for (const auto& each : asked.at("cases")) {
        common::diagnosis::Case& made = cases.emplace_back();
        made.words = each.at("words");
        made.launch = {each.at("groups"), each.at("group_size")};
        made.pixels = pixels.emplace_back(read_bytes(each.at("pixels")));
        made.width = std::max<std::size_t>(made.pixels.size(), 1);
        made.expected = common::reference_histogram(made.pixels);
        std::memcpy(made.actual.emplace_back().data(), read_bytes(sizeof made.expected).data(),
                    sizeof made.expected);
    }
    std::fputs(common::diagnosis::text_of(common::diagnosis::diagnose(cases, context)).c_str(),
               stdout);
    return 0;
} catch (...) {
    return common::report_exception("diagnose");
}
