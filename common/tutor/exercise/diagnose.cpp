// Says what is most likely wrong with the counts of a few runs. For the exercises' grader.
//
//     diagnose       reads (job.hpp) chapter, variant, the kernel's text and file; whether
//                    work-items run one by one, in CUDA, and without a race as a detector says; and
//                    for each case its words, groups, group size, pixels and counts
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "common/process/status.hpp"
#include "common/tutor/diagnosis/diagnosis.hpp"
#include "common/tutor/exercise/job.hpp"

int main() try {
    using namespace common::exercise;
    common::diagnosis::RunContext context;
    for (std::string* const text :
         {&context.chapter, &context.variant, &context.kernel, &context.file})
        *text = read_text();
    for (bool* const is_so : {&context.one_by_one, &context.in_cuda, &context.race_free})
        *is_so = read_number() != 0;
    std::deque<Bytes> pixels;
    std::vector<common::diagnosis::Case> cases;
    for (std::uint64_t left = read_number(); left > 0; --left) {
        common::diagnosis::Case made;
        made.words = read_text();
        made.launch = {read_number(), read_number()};
        made.pixels = pixels.emplace_back(read_bytes());
        made.width = std::max<std::size_t>(made.pixels.size(), 1);
        made.expected = common::reference_histogram(made.pixels);
        const Bytes counts = read_bytes();
        std::memcpy(made.actual.emplace_back().data(), counts.data(), sizeof(common::Histogram));
        cases.push_back(std::move(made));
    }
    std::fputs(common::diagnosis::text_of(common::diagnosis::diagnose(cases, context)).c_str(),
               stdout);
    return 0;
} catch (...) {
    return common::report_exception("diagnose");
}
