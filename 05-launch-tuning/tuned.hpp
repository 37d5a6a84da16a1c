/// @file
/// How `tuned` is launched on this device: as `tune` has measured it, else by a rule of thumb, and
/// changed as the command line says. Nothing here calls OpenCL or CUDA: the programs say what the
/// device allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/histogram/histogram.hpp"
#include "common/options/options.hpp"

namespace tuning {

/// The launches of a kernel that are worth a try: every group size with every number of groups.
struct LaunchRange {
    std::vector<std::size_t> group_sizes;
    std::vector<std::size_t> groups_per_unit;
};

/// What a kernel is. There is one object of each kind, and all that differs stands in it.
struct Kernel {
    std::string name;              ///< as --kernel, the tables and the JSON have it
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
extern const Kernel kItemBins;    ///< `tuned` on a CPU (OpenCL): a table for each work-item

/// A kernel and how it is launched.
struct LaunchConfig {
    const Kernel* kernel = &kReplicated;
    unsigned copies = 1;              ///< of the table
    unsigned loads = 1;               ///< that a work-item has under way at once
    std::size_t group_size = 1;       ///< work-items in a group
    std::size_t groups_per_unit = 1;  ///< groups for each multiprocessor (compute unit)

    bool operator==(const LaunchConfig&) const = default;

    /// "replicated, 32 copies", "item-bins"
    [[nodiscard]] std::string kernel_text() const;
    /// "replicated, 32 copies, 4 loads, groups of 1024, 1 for each unit"
    [[nodiscard]] std::string text() const;
    /// "replicated, 32 copies, 4 loads, 264 groups of 512": what was launched, for the results.
    [[nodiscard]] std::string launch_text(std::size_t groups) const;
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

/// What decides which launches there are.
struct DeviceLimits {
    std::string api = {};     ///< "OpenCL" or "CUDA"
    std::string device = {};  ///< as it calls itself
    std::string driver = {};  ///< and its versions: another driver is another device
    bool cpu = false;       ///< a work-group runs on one core, and atomics are locked instructions
    std::size_t units = 1;  ///< multiprocessors, compute units
    std::size_t max_group_size = 1;           ///< work-items in a group
    std::uint64_t local_bytes = 0;            ///< of local (shared) memory for a group
    std::vector<const Kernel*> kernels = {};  ///< those that the program has
    /// CUDA: how many threads a block may have when it runs this kernel. One that needs many
    /// registers leaves room for fewer.
    std::function<std::size_t(const LaunchConfig&)> max_threads = {};
};

/// What a block may have on every CUDA device, with what it gets unless it asks for more.
inline constexpr std::size_t kMaxCudaThreads = 1024;
inline constexpr std::uint64_t kCudaSharedBytes = 48 << 10;

/// 64-bit words of the totals: 256 of them, as far apart as the kernels have them.
inline constexpr std::size_t kTotalWords = common::kBins * std::size_t{16};

/// What the command line says of `tuned`.
struct TunedOptions {
    std::string kernel_name;         ///< empty: not said
    const Kernel* kernel = nullptr;  ///< that kernel, or null
    std::optional<unsigned> copies;
    std::optional<unsigned> loads;
    bool two_launches = false;  ///< as on devices without 64-bit atomics: zeroed before
};

/// The options of a program that runs `tuned`, and, when they have been parsed, which kernel they
/// name.
/// @throws common::BadInput for options that exclude each other
void add_options(CLI::App& app, TunedOptions& tuned, const common::Program& program);
void check_options(TunedOptions& tuned, const common::Options& options);

/// Reads the command line of a program that runs `tuned`.
/// @param add_more adds the options that only this program has, with variables of its own
/// @throws common::BadInput as common::parse_options, and for options that exclude each other
common::Options parse_options(int argc, const char* const* argv, const common::Program& program,
                              TunedOptions& tuned,
                              const std::function<void(CLI::App& app)>& add_more = {});

/// Why the device or the program does not have such a launch, in one line; empty where it has.
std::string unsupported_reason(const LaunchConfig& config, const DeviceLimits& limits);

/// The largest groups of those worth a try that fit, one for each unit, with as many copies as fit
/// beside what a compiler may keep, and three loads. (A fourth gains little.)
LaunchConfig largest_fitting(const Kernel& kernel, const DeviceLimits& limits);

/// Where nothing was measured: the largest that fits of `replicated`, on a CPU of `item-bins`, with
/// one load for small pictures.
LaunchConfig fallback(const DeviceLimits& limits, std::uint64_t pixel_count);

/// What tune has measured on this device and keeps for `tuned`.
struct Cache {
    struct Measured {
        LaunchConfig config;
        std::uint64_t pixels = 0;
        double worst_ms = 0;
    };
    std::string date;  ///< of the search, ISO 8601, UTC
    std::vector<Measured> launches = {};
};

/// The first line of the file.
inline constexpr const char* kCacheFormat = "histogram-tutorials tuning 2";

/// Where it is: a file in `histogram-tutorials` under $XDG_CACHE_HOME, else ~/Library/Caches on
/// macOS, %LOCALAPPDATA% on Windows, ~/.cache elsewhere. Empty where none of them is known.
std::filesystem::path cache_file(const DeviceLimits& limits);

/// Reads it, as far as it is about kernels that the program has. A file that cannot be used, or
/// that belongs to another device or driver, is passed over with one line on standard error.
std::optional<Cache> load(const DeviceLimits& limits);

/// The fastest launch of the nearest size, by ratio, that the program and the device have; else
/// the fallback.
LaunchConfig lookup(const std::optional<Cache>& cache, const DeviceLimits& limits,
                    std::uint64_t pixel_count);

/// How `tuned` is launched here: what `lookup` finds, changed as the command line says, and with
/// fewer copies or smaller blocks where it does not fit the device. Says on standard error what it
/// came to and why.
/// @throws common::BadInput where the device cannot run what the command line asks for
LaunchConfig resolve(const TunedOptions& tuned, const common::Options& options,
                     const DeviceLimits& limits, std::uint64_t pixel_count);

/// "16 Mi pixels", "256 Ki pixels", "1000 pixels": never rounded.
std::string size_text(std::uint64_t pixels);

}  // namespace tuning
