// The four numbers of a launch of `tuned`: copies of the table, loads under way, work-items in a
// group, groups. They are those that tune has found on this device, or else a rule of thumb, and
// in place of each what the command line says. Nothing here calls OpenCL or CUDA.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "05-launch-tuning/layout.hpp"

/// What decides which launches there are.
struct DeviceLimits {
    std::string api = {}, device = {}, driver = {};  ///< another driver is another device
    bool cpu = false;                ///< a work-group runs on one core, work-item by work-item
    std::size_t units = 1;           ///< multiprocessors, compute units
    std::size_t max_group_size = 1;  ///< work-items in a group
    std::uint64_t local_bytes = 0;   ///< of local (shared) memory for a group
};

struct TunedLaunch {
    unsigned copies = 32;             ///< of the table, in local memory: 1, 2, 4 ... 32
    unsigned loads = 3;               ///< of 16 pixels that a work-item has under way: 1 to 4
    std::size_t group_size = 1024;    ///< work-items in a group
    std::size_t groups_per_unit = 1;  ///< groups for each multiprocessor (compute unit)

    bool operator==(const TunedLaunch&) const = default;
    /// "32 copies, 3 loads, 132 groups of 1024"
    [[nodiscard]] std::string text(std::size_t groups) const;
    /// " -DCOPIES=32 -DLOADS=3": how OpenCL compiles it.
    [[nodiscard]] std::string macros() const;
    /// Groups for so many pixels: no more of them than have work.
    [[nodiscard]] std::size_t groups(std::size_t units, std::uint64_t pixels) const {
        return groups_with_work(pixels, group_size, 16 * loads, groups_per_unit * units);
    }
};

/// 64-bit words of the totals: 256 of them, as far apart as the kernels have them.
inline constexpr std::size_t kTotalWords = common::kBins * std::size_t{16};

/// One large group for each unit, as many copies as fit beside what a compiler may keep, and three
/// loads; on a GPU one for small pictures, which are over before more are under way.
inline TunedLaunch rule_of_thumb(const DeviceLimits& device, std::uint64_t pixels) {
    TunedLaunch launch;
    while (launch.copies > 1 && launch.copies * sizeof(common::Histogram) >= device.local_bytes)
        launch.copies /= 2;
    if (!device.cpu && pixels < 8 << 20) launch.loads = 1;
    launch.group_size = std::min<std::size_t>(device.cpu ? 256 : 1024, device.max_group_size);
    return launch;
}

/// Where tune keeps what it finds: under $XDG_CACHE_HOME or ~/.cache. Empty where neither is known.
std::string launches_file();

/// What stands at the beginning of this device's lines there. Behind it: pixels, copies, loads,
/// group size, groups for each unit, and the date, between tabs.
std::string key_of(const DeviceLimits& device);

/// The launch for so many pixels, as said above. Says on standard error what it came to, and why.
TunedLaunch launch_for(const DeviceLimits& device, const common::Options& options,
                       std::uint64_t pixels);
