/// @file
/// What the programs are asked for, and what they say and keep of a search.
#pragma once

#include <optional>
#include <string>

#include "05-launch-tuning/workshops/tune/search.hpp"

namespace tuning {

/// The command line as the user gave it.
struct Request {
    double seconds = 50;  ///< that the search may take
    std::string device;   ///< a number or part of a name; empty: the default
    bool list_devices = false;
    std::optional<std::string> json;
};

/// @throws common::BadInput in one line that names the option
Request parse_request(int argc, const char* const* argv, const std::string& program);

/// Prints the best launch for each size, writes the JSON that was asked for, and keeps the best for
/// `tuned` in place of what stood there for this device.
/// @return the exit status: 1 where a launch counted wrongly
int finish(const Request& request, const Tuning& found);

}  // namespace tuning
