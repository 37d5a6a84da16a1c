/// @file
/// What `--device` means, the same for every API.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace common {

/// The index in `names` that `wanted` means: a number, or text that a name contains in any case
/// (the first that does). @throws BadInput where no device is meant
std::size_t device_by_text(const std::string& wanted, const std::vector<std::string>& names,
                           const std::string& api);

}  // namespace common
