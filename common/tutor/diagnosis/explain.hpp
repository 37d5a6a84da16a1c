/// @file
/// Why a chapter's program counted wrongly: what its `main` hands to run_program.
#pragma once

#include "common/report/output.hpp"

namespace common::diagnosis {

/// Has a second process of this program run the strategy a few times more, on one device, and says
/// what fits all its runs. Nothing for C++, and under Oclgrind, which says it better and would take
/// minutes.
std::optional<Explanation> explain(const WrongResult& wrong);

}  // namespace common::diagnosis
