// Why results are wrong: a program of its own says it, where there is one.
//
//     EXPLAINER PROGRAM
//
// On standard input come a line of JSON
//
//     run       the document of the run (docs/json.md), its rows that do not match and no others
//     words     those of PROGRAM's command line that say how it counts, and not what: a device,
//               kernels, its own options
//     changes   for each of them, whether another run gave other counts
//     width     of the rows of pixels
//     emulated  whether the device is a processor that acts as one
//
// and behind it the pixels. It answers with a line of JSON, an array: for each row what it knows,
// null or {"variant", "text": lines for the reader, "findings": the same for programs, an array}.
// Another run may follow, until its standard input ends.
#pragma once

#include <chrono>
#include <filesystem>

#include "common/report/report.hpp"

namespace common {

/// Says why on standard error, and notes it in the results. An explainer that is not there is not
/// missed, and one that fails costs a line. Nothing is asked for C++, and under Oclgrind, which
/// says it better. @param at_most for each of the results
void explain_wrong(RunDocument& document, const Options& options, const Input& input,
                   const std::filesystem::path& explainer,
                   std::chrono::milliseconds at_most = std::chrono::minutes(5));

}  // namespace common
