#include "common/options/device_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>

#include "common/process/status.hpp"

namespace common {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

}  // namespace

std::size_t device_by_text(const std::string& wanted, const std::vector<std::string>& names,
                           const std::string& api) {
    std::size_t number = 0;
    const char* const end = wanted.data() + wanted.size();
    const auto [rest, error] = std::from_chars(wanted.data(), end, number);
    if (!wanted.empty() && rest == end) {
        if (error == std::errc() && number < names.size()) return number;
        throw BadInput(fmt::format("--device {}: the {} devices here are numbered 0 to {}", wanted,
                                   api, names.size() - 1));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (lower(names[i]).find(lower(wanted)) != std::string::npos) return i;
    }
    throw BadInput(fmt::format("--device: no {} device is called '{}' (--list-devices shows them)",
                               api, wanted));
}

}  // namespace common
