// JSON of one kind. The slowest parts of its library are compiled once, in document.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace common {

using Json = nlohmann::ordered_json;

/// @throws Json::exception where the text is not JSON
Json parsed(const std::string& text);

/// One line; with an indent more of them. A device may call itself anything: what is not UTF-8 is
/// replaced rather than refused.
std::string line_of(const Json& json, int indent = -1);

}  // namespace common
