/// @file
/// The kernels that may count, and the launches that each of them has. Nothing here calls OpenCL or
/// CUDA: the programs say what the device allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tuning {

/// The launches of a kernel that are worth a try: every group size with every number of groups.
struct Launches {
    std::vector<std::size_t> group_sizes;
    std::vector<std::size_t> groups_per_unit;
};

/// What a kernel is. There is one object of each kind, and all that differs stands in it.
struct Kernel {
    std::string name;      ///< as --kernel, the tables and the JSON have it
    std::string function;  ///< in OpenCL
    std::string file;      ///< in tune/, that has it in OpenCL; empty: the lesson's histogram.cl
    std::size_t max_group_size;  ///< in a group; 0: as many as the device allows
    unsigned max_copies;         ///< of its table, a power of two
    unsigned max_loads;          ///< that a work-item has under way at once
    std::size_t pixels_a_load;   ///< a work-item takes `loads` times as many in one step
    std::size_t bytes_a_copy;    ///< of local memory, for each copy, and
    std::size_t bytes_an_item;   ///< for each work-item of the group
    Launches on_gpus, on_cpus;   ///< none: not tried there

    [[nodiscard]] const Launches& launches(bool cpu) const { return cpu ? on_cpus : on_gpus; }
};

extern const Kernel kLaneBins;   ///< `tuned`: chapter 04's, and with one copy chapter 03's table
extern const Kernel kItemBins;   ///< `tuned` on a CPU (OpenCL): a table of 32-bit counters an item
extern const Kernel kLocal;      ///< chapter 03's, a byte a load; only the search has it
extern const Kernel kUcharBins;  ///< chapter 04's; only the search has it

/// All of them, in the order of the heat map.
const std::vector<const Kernel*>& all_kernels();

/// The kernel of this name, or null.
const Kernel* kernel_named(const std::string& name);

/// A kernel and how it is launched.
struct Choice {
    const Kernel* kernel = &kLaneBins;
    unsigned copies = 1;              ///< of the table
    unsigned loads = 1;               ///< that a work-item has under way at once
    std::size_t group_size = 1;       ///< work-items in a group
    std::size_t groups_per_unit = 1;  ///< groups for each multiprocessor (compute unit)

    bool operator==(const Choice&) const = default;

    /// "lane-bins, 32 copies", "local"
    [[nodiscard]] std::string kernel_text() const;
    /// "lane-bins, 32 copies, 4 loads, groups of 1024, 1 for each unit"
    [[nodiscard]] std::string text() const;
    /// "lane-bins, 32 copies, 4 loads, 264 groups of 512": what was launched, for the results.
    [[nodiscard]] std::string launch_text(std::size_t groups) const;

    /// Bytes of local memory that a group needs.
    [[nodiscard]] std::uint64_t local_bytes() const {
        return copies * kernel->bytes_a_copy + group_size * kernel->bytes_an_item;
    }
};

/// What decides which choices there are.
struct Facts {
    std::string api;        ///< "OpenCL" or "CUDA"
    std::string device;     ///< as it calls itself
    std::string driver;     ///< and its versions: another driver is another device
    bool cpu = false;       ///< a work-group runs on one core, and atomics are locked instructions
    std::size_t units = 1;  ///< multiprocessors, compute units
    std::size_t max_group_size = 1;                        ///< in a group
    std::uint64_t local_bytes = 0;                         ///< of local (shared) memory for a group
    std::vector<const Kernel*> kernels = {};               ///< those that the program has
    std::uint64_t picture_bytes = std::uint64_t{1} << 32;  ///< that a picture may have
};

/// Groups for a launch of this choice: as many as it says for each unit, but no more than have
/// work.
std::size_t groups_of(const Choice& choice, const Facts& facts, std::uint64_t pixels);

/// Why the facts rule it out, in one line; empty where they do not.
std::string objection(const Choice& choice, const Facts& facts);

/// Every launch of the program's kernels worth a try, those of one kernel and number of copies one
/// after the other. Those that the facts rule out are among them: a search counts them as refused.
std::vector<Choice> candidates(const Facts& facts);

/// The sizes of the pictures that are tuned for, in pixels, ascending; what suits a small picture
/// does not suit a large one.
std::vector<std::uint64_t> tuned_sizes(const Facts& facts);

/// What a kernel gets where nothing was measured: the largest groups that are tried and allowed,
/// one for each unit, and three loads. (A fourth gains little, and its registers leave no room for
/// groups of 1024 on every GPU.)
Choice usual_choice(const Kernel& kernel, const Facts& facts);

/// What is sound without measuring: lane-bins with as many copies as fit and one large group for
/// each unit, with one load for small pictures; on a CPU item-bins. Where the facts rule that out
/// it is the first candidate that they allow, if there is any.
Choice default_choice(const Facts& facts, std::uint64_t pixels);

/// "16 Mi pixels", "256 Ki pixels", "1000 pixels": never rounded.
std::string size_text(std::uint64_t pixels);

}  // namespace tuning
