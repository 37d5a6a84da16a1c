#include "05-launch-tuning/launch.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>

#include "common/process/status.hpp"

namespace fs = std::filesystem;

std::string TunedLaunch::text(std::size_t groups) const {
    return fmt::format("{} cop{}, {} load{}, {} group{} of {}", copies, copies == 1 ? "y" : "ies",
                       loads, loads == 1 ? "" : "s", groups, groups == 1 ? "" : "s", group_size);
}

std::string TunedLaunch::macros() const {
    return fmt::format(" -DCOPIES={} -DLOADS={}", copies, loads);
}

std::string launches_file() {
    // As the base directory specification asks, a folder that is not given in full counts as none.
    const auto folder_from = [](const char* variable) {
        const char* const value = std::getenv(variable);
        const fs::path folder = value == nullptr ? "" : value;
        return folder.is_absolute() ? folder : fs::path();
    };
    fs::path folder = folder_from("XDG_CACHE_HOME");
    if (folder.empty() && !folder_from("HOME").empty()) folder = folder_from("HOME") / ".cache";
    return folder.empty() ? "" : (folder / "histogram-tutorials" / "launches.tsv").string();
}

std::string key_of(const DeviceLimits& device) {
    std::string key;
    for (std::string part : {device.api, device.device, device.driver}) {
        for (char& c : part)
            if (c == '\t' || c == '\n') c = ' ';
        key += part + '\t';
    }
    return key;
}

TunedLaunch launch_for(const DeviceLimits& device, const common::Options& options,
                       std::uint64_t pixels) {
    TunedLaunch launch = rule_of_thumb(device, pixels);
    std::string why = "the rule of thumb, as tune has not run here";
    // Of what tune has found, that for the size which is nearest by ratio.
    double nearest = std::numeric_limits<double>::infinity();
    std::ifstream file;
    if (std::error_code error; fs::is_regular_file(launches_file(), error))  // no pipe, which waits
        file.open(launches_file());
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key_of(device))) continue;
        std::istringstream fields(line.substr(key_of(device).size()));
        std::uint64_t size = 0;
        TunedLaunch found;
        std::string date;
        fields >> size >> found.copies >> found.loads >> found.group_size >>
            found.groups_per_unit >> date;
        // A line may be damaged, or another version's: then it names a launch that this device
        // does not have.
        const bool is_one = fields && size > 0 && std::has_single_bit(found.copies) &&
                            found.copies <= rule_of_thumb(device, pixels).copies &&
                            found.loads >= 1 && found.loads <= 4 && found.group_size >= 1 &&
                            found.group_size <= device.max_group_size && found.groups_per_unit >= 1;
        const double away = std::abs(std::log2(
            static_cast<double>(std::max<std::uint64_t>(pixels, 1)) / static_cast<double>(size)));
        if (!is_one || away >= nearest) continue;
        nearest = away;
        launch = found;
        why = "found by tune on " + date;
    }
    const TunedLaunch chosen = launch;
    launch.copies = options.number("copies").value_or(launch.copies);
    launch.loads = options.number("loads").value_or(launch.loads);
    launch.group_size = options.group_size.value_or(launch.group_size);
    if (launch.group_size > device.max_group_size)
        throw common::Unsupported(fmt::format("tuned, groups of {}: this device runs at most {}",
                                              launch.group_size, device.max_group_size));
    if (options.groups || launch.text(0) != chosen.text(0)) why += "; changed by the command line";
    while (launch.copies > 1 && launch.copies * sizeof(common::Histogram) >= device.local_bytes)
        launch.copies /= 2;
    common::progress(fmt::format(
        "  tuned, {} pixels: {} ({})\n", pixels,
        launch.text(options.groups.value_or(launch.groups(device.units, pixels))), why));
    return launch;
}
