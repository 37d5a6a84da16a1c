/// @file
/// Where a run's results go.
#pragma once

#include <functional>

#include "common/report/document.hpp"
#include "common/report/examination.hpp"

namespace common {

/// Usually a table for the reader and the files that were asked for.
struct Output {
    Examine examine = {};  ///< for results that are wrong; none: they are not explained
    /// Takes the results in place of table and files, for a process that has asked for them.
    std::function<void(const RunDocument& document)> deliver = {};
};

}  // namespace common
