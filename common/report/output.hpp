/// @file
/// Where a run's results go, and what a report asks for where one is wrong. Who can answer hands it
/// in; without one a report says what is wrong, and not why.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/report/document.hpp"

namespace common {

/// A result that does not match, and all that is known of its run.
struct WrongResult {
    const Program& program;
    const Options& options;
    const Input& input;
    const Histogram& expected;
    const std::string& device;
    const std::string& driver;
    const Result& result;
};

/// Why it may be wrong.
struct Explanation {
    std::string text;  ///< lines for the reader
    std::string json;  ///< the same for programs: an array (docs/json.md)
};

using Examine = std::function<std::optional<Explanation>(const WrongResult&)>;

/// Usually a table for the reader and the files that were asked for.
struct Output {
    Examine examine = {};  ///< for results that are wrong; none: they are not explained
    /// Takes the results in place of table and files, for a process that has asked for them.
    std::function<void(const RunDocument& document)> deliver = {};
};

}  // namespace common
