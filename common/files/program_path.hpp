/// @file
/// Where the running program is.
#pragma once

#include <filesystem>

namespace common {

/// The path of the running program; empty where the system does not tell.
std::filesystem::path program_path();

}  // namespace common
