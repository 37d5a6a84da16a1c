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
    // Each group costs a processor a microsecond or two.
    constexpr std::uint64_t kManyItems = std::uint64_t{1} << 26;
    constexpr std::uint64_t kManyGroups = std::uint64_t{1} << 22;
    const std::uint64_t groups = launch.groups;
    const std::uint64_t items = groups * launch.group_size;
    const bool has_too_many = (items >= kManyItems && items / 16 >= pixels) ||
                              (groups >= kManyGroups && groups / 16 >= pixels);
    if (!has_too_many) return;
    throw BadInput(fmt::format("{} groups are far too many for {} pixels (--groups, --group-size)",
                               launch.groups, pixels));
}

}  // namespace common
