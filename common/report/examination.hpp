/// @file
/// What a report asks for where a result is wrong. Who can answer hands it in; without one a report
/// says what is wrong, and not why.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/verify/verify.hpp"

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

}  // namespace common
