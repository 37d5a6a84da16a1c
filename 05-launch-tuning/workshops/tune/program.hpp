/// @file
/// What the programs that search, in OpenCL and in CUDA, have in common: the command line and the
/// end.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "05-launch-tuning/workshops/tune/cache.hpp"

namespace tuning {

/// The command line as the user gave it.
struct Request {
    double seconds = 50;  ///< that the search may take
    std::string device;   ///< a number or part of a name; empty: the default
    bool list_devices = false;
    std::optional<std::filesystem::path> json;
};

/// @param program what the help calls it, such as "05-launch-tuning/workshops/tune/opencl"
/// @throws common::BadInput in one line that names the option, also for an output file that could
///         not be written
Request parse_request(int argc, const char* const* argv, const std::string& program);

/// Prints the heat map, keeps the result for `tuned`, and writes what --json asks for. A search
/// that had no time for half of its launches does not replace what is kept.
/// @return the exit status
int finish(const Request& request, const Tuning& found);

}  // namespace tuning
