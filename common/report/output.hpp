/// @file
/// Where a run's results go.
#pragma once

#include <functional>

#include "common/report/document.hpp"

namespace common {

/// Usually a table for the reader and the files that were asked for.
struct Output {
    /// Takes the results in place of table and files, for a process that has asked for them.
    std::function<void(const RunDocument& document)> deliver = {};
};

}  // namespace common
