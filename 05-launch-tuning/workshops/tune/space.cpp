#include "05-launch-tuning/workshops/tune/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tuning {

// clang-format off
const Kernel kReplicated{
    .name = "replicated", .function = "histogram_tuned",
    .max_group_size = 0, .max_copies = 32, .max_loads = 4,
    .pixels_a_load = 16, .bytes_a_copy = sizeof(common::Histogram), .bytes_an_item = 0,
    .on_gpus = {{128, 256, 512, 1024}, {1, 2, 4, 8}}, .on_cpus = {{64, 256}, {1, 4}}};
const Kernel kLocal{
    .name = "local", .function = "histogram_bytes",
    .max_group_size = 0, .max_copies = 1, .max_loads = 4,
    .pixels_a_load = 1, .bytes_a_copy = sizeof(common::Histogram), .bytes_an_item = 0,
    .on_gpus = {{128, 256, 512, 1024}, {1, 2, 4, 8}}, .on_cpus = {{64, 256}, {1, 4}}};
const Kernel kUcharBins{
    .name = "uchar-bins", .function = "histogram_uchar",
    .max_group_size = 0, .max_copies = 1, .max_loads = 1,
    .pixels_a_load = 255, .bytes_a_copy = sizeof(common::Histogram), .bytes_an_item = common::kBins,
    .on_gpus = {{32, 64, 128}, {1, 2, 4, 8}}, .on_cpus = {{8, 32, 128}, {1, 4}}};
// clang-format on

namespace {

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = 1024 * kKi;

std::string counted(std::size_t count, const std::string& thing, const std::string& things) {
    return fmt::format("{} {}", count, count == 1 ? thing : things);
}

}  // namespace

std::string LaunchConfig::kernel_text() const {
    if (kernel->max_copies == 1) return kernel->name;
    return kernel->name + ", " + counted(copies, "copy", "copies");
}

std::string LaunchConfig::text() const {
    return fmt::format("{}, {}, groups of {}, {} for each unit", kernel_text(),
                       counted(loads, "load", "loads"), group_size, groups_per_unit);
}

std::string LaunchConfig::macros() const {
    return fmt::format("-DGROUP_X={} -DGROUP_Y=1 -DCOPIES={} -DLOADS={}", group_size, copies,
                       loads);
}

std::size_t LaunchConfig::groups(std::size_t units, std::uint64_t pixel_count) const {
    return groups_with_work(pixel_count, group_size, kernel->pixels_a_load * loads,
                            groups_per_unit * units);
}

std::string size_text(std::uint64_t pixels) {
    if (pixels > 0 && pixels % kMi == 0) return fmt::format("{} Mi pixels", pixels / kMi);
    if (pixels > 0 && pixels % kKi == 0) return fmt::format("{} Ki pixels", pixels / kKi);
    return fmt::format("{} pixels", pixels);
}

std::string unsupported_reason(const LaunchConfig& config, const Space& space) {
    const Kernel& kernel = *config.kernel;
    const auto groups_of = [&](const std::string& most) {
        return fmt::format("groups of {}: {}", config.group_size, most);
    };
    if (std::find(space.kernels.begin(), space.kernels.end(), &kernel) == space.kernels.end())
        return fmt::format("this program has no kernel '{}'", kernel.name);
    if (!std::has_single_bit(config.copies) || config.copies > kernel.max_copies ||
        config.loads < 1 || config.loads > kernel.max_loads || config.group_size < 1 ||
        config.groups_per_unit < 1)
        return "there is no such launch";
    if (config.group_size > space.device.max_group_size)
        return groups_of(fmt::format("this device runs at most {}", space.device.max_group_size));
    if (kernel.max_group_size > 0 && config.group_size > kernel.max_group_size)
        return groups_of(fmt::format("{} takes at most {}", kernel.name, kernel.max_group_size));
    if (config.local_bytes() > space.device.local_bytes)
        return fmt::format("{} bytes of local memory: this device has {}", config.local_bytes(),
                           space.device.local_bytes);
    if (space.max_threads && config.group_size > space.max_threads(config))
        return groups_of(fmt::format("its registers allow at most {}", space.max_threads(config)));
    return {};
}

}  // namespace tuning
