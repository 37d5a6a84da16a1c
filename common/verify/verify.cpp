#include "common/verify/verify.hpp"

#include <fmt/format.h>

#include "common/process/status.hpp"

namespace common {

std::string to_string(Check check) {
    return check == Check::kMatch ? "match" : check == Check::kMismatch ? "mismatch" : "skipped";
}

std::string to_string(const Launch& launch) {
    return fmt::format("{} group{} of {}", launch.groups, launch.groups == 1 ? "" : "s",
                       launch.group_size);
}

Result skipped(const std::string& variant, const std::string& reason) {
    progress(fmt::format("  {}: skipped, {}\n", variant, reason));
    return {variant, Check::kSkipped, reason, {}, std::nullopt};
}

void require_sensible(const Launch& launch, std::uint64_t pixels) {
    constexpr std::uint64_t kMany = std::uint64_t{1} << 28;
    const std::uint64_t items = std::uint64_t{launch.groups} * launch.group_size;
    if (items < kMany || items / 16 < pixels) return;
    throw BadInput(fmt::format("{} groups are far too many for {} pixels (--groups, --group-size)",
                               launch.groups, pixels));
}

}  // namespace common
