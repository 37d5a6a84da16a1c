/// @file
/// What there is to search: kernels, launches, and what rules a launch out on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "05-launch-tuning/launch.hpp"

namespace tuning {

/// The launches of a kernel that are worth a try: every group size with every number of groups.
struct LaunchRange {
    std::vector<std::size_t> group_sizes;
    std::vector<std::size_t> groups_per_unit;
};

/// What a kernel is. There is one object of each kind, and all that differs stands in it.
struct Kernel {
    std::string name;              ///< as the tables and the JSON have it
    std::string function;          ///< in OpenCL
    std::size_t max_group_size;    ///< in a group; 0: as many as the device allows
    unsigned max_copies;           ///< of its table, a power of two
    unsigned max_loads;            ///< that a work-item has under way at once
    std::size_t pixels_a_load;     ///< a work-item takes `loads` times as many in one step
    std::size_t bytes_a_copy;      ///< of local memory, for each copy, and
    std::size_t bytes_an_item;     ///< for each work-item of the group
    LaunchRange on_gpus, on_cpus;  ///< none: not tried there

    [[nodiscard]] const LaunchRange& launches(bool cpu) const { return cpu ? on_cpus : on_gpus; }
};

extern const Kernel kReplicated;  ///< `tuned`: copies of the table in local memory
extern const Kernel kLocal;       ///< chapter 03's, a byte a load; only the search has it
extern const Kernel kUcharBins;   ///< chapter 04's; only the search has it

/// A kernel and how it is launched.
struct LaunchConfig {
    const Kernel* kernel = &kReplicated;
    unsigned copies = 1;              ///< of the table
    unsigned loads = 1;               ///< that a work-item has under way at once
    std::size_t group_size = 1;       ///< work-items in a group
    std::size_t groups_per_unit = 1;  ///< groups for each multiprocessor (compute unit)

    bool operator==(const LaunchConfig&) const = default;

    /// "replicated, 32 copies", "uchar-bins"
    [[nodiscard]] std::string kernel_text() const;
    /// "replicated, 32 copies, 4 loads, groups of 1024, 1 for each unit"
    [[nodiscard]] std::string text() const;
    /// "-DGROUP_X=512 -DGROUP_Y=1 -DCOPIES=32 -DLOADS=4": how OpenCL compiles it.
    [[nodiscard]] std::string macros() const;
    /// Bytes of local memory that a group needs.
    [[nodiscard]] std::uint64_t local_bytes() const {
        return copies * kernel->bytes_a_copy + group_size * kernel->bytes_an_item;
    }
    /// Groups for so many pixels: no more of them than have work.
    /// @param units multiprocessors (compute units) of the device
    [[nodiscard]] std::size_t groups(std::size_t units, std::uint64_t pixel_count) const;
};

/// What a search may try on a device.
struct Space {
    DeviceLimits device;
    std::vector<const Kernel*> kernels = {};  ///< those that the program has
    /// CUDA: how many threads a block may have when it runs this kernel. One that needs many
    /// registers leaves room for fewer.
    std::function<std::size_t(const LaunchConfig&)> max_threads = {};
};

/// Why the device or the program does not have such a launch, in one line; empty where it has.
std::string unsupported_reason(const LaunchConfig& config, const Space& space);

/// "16 Mi pixels", "256 Ki pixels", "1000 pixels": never rounded.
std::string size_text(std::uint64_t pixels);

}  // namespace tuning
