/// @file
/// Finding the best kernel and launch for a device by measuring, and remembering it. Nothing here
/// calls OpenCL or CUDA: the programs say what the device allows and measure what they are asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tuning {

/// A kernel and how it is launched.
struct Choice {
    std::string kernel;               ///< "local", "lane-bins", "byte-bins" or "item-bins"
    unsigned copies = 1;              ///< of the table; more than one only for lane-bins
    unsigned loads = 1;               ///< that a work-item has on their way at once
    std::size_t group_size = 1;       ///< work-items in a group
    std::size_t groups_per_unit = 1;  ///< groups for each multiprocessor (compute unit)

    bool operator==(const Choice&) const = default;
};

/// "lane-bins, 32 copies, 4 loads, groups of 1024, 1 for each unit"
std::string to_string(const Choice& choice);

/// "lane-bins, 32 copies, 4 loads, 264 groups of 512": what was launched, for the results.
std::string launch_text(const Choice& choice, std::size_t groups);

/// "lane-bins, 32 copies", "local"
std::string kernel_text(const Choice& choice);

/// "16 Mi pixels", "256 Ki pixels", "1000 pixels": never rounded.
std::string size_text(std::uint64_t pixels);

/// What decides which choices there are.
struct Facts {
    std::string api;        ///< "OpenCL" or "CUDA"
    std::string device;     ///< as it calls itself
    std::string driver;     ///< and its versions: another driver is another device
    bool cpu = false;       ///< a work-group runs on one core, and atomics are locked instructions
    std::size_t units = 1;  ///< multiprocessors, compute units
    std::size_t most_items = 1;                            ///< in a group
    std::uint64_t local_bytes = 0;                         ///< of local (shared) memory for a group
    std::vector<std::string> kernels = {};                 ///< those that the program has
    std::uint64_t picture_bytes = std::uint64_t{1} << 32;  ///< that a picture may have, or two
};

/// The kernels that a Choice may name, in the order of the heat map.
const std::vector<std::string>& kernel_names();

/// The most loads on their way that any kernel is built for.
constexpr unsigned kMostLoads = 4;

/// What a GPU gets unmeasured. A fourth load gains little, and its registers leave no room for
/// groups of 1024 on every GPU.
constexpr unsigned kUsualLoads = 3;

/// The most loads that this kernel is built for: byte-bins loads a pixel at a time.
unsigned most_loads(const std::string& kernel);

/// The bytes of local memory that a group needs.
std::uint64_t local_bytes_of(const Choice& choice);

/// Why the facts rule it out, in one line; empty where they do not.
std::string objection(const Choice& choice, const Facts& facts);

/// Every launch of the program's kernels worth a try, those of one kernel and number of copies one
/// after the other. Those that the facts rule out are among them: a search counts them as refused.
std::vector<Choice> candidates(const Facts& facts);

/// The sizes of the pictures that are tuned for, in pixels, ascending; what suits a small picture
/// does not suit a large one.
std::vector<std::uint64_t> tuned_sizes(const Facts& facts);

/// What is sound without measuring: lane-bins with as many copies as fit and one large group for
/// each unit; on a CPU item-bins. For small pictures smaller groups and fewer copies. Where the
/// facts rule that out too it is the first candidate that they allow, if there is any.
Choice default_choice(const Facts& facts, std::uint64_t pixels);

/// The device cannot do it; the text says why.
class Refused : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// It ran, and did not match the CPU.
class Wrong : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Runs a choice on pictures of so many pixels, checks the result and returns the time in
/// milliseconds, that of the picture that took longest. A first time beyond `hopeless_ms` need not
/// be repeated for a median.
/// @throws Refused, Wrong
using Measure =
    std::function<double(const Choice& choice, std::uint64_t pixels, double hopeless_ms)>;

enum class Outcome { kMeasured, kRefused, kWrong, kNotTried };

/// "measured", "refused", "wrong" or "not tried", as in the JSON.
std::string to_string(Outcome outcome);

/// One choice at one size.
struct Trial {
    Choice choice;
    std::uint64_t pixels = 0;
    Outcome outcome = Outcome::kNotTried;
    double worst_ms = 0;  ///< where it was measured
    std::string reason;   ///< where it was refused or wrong, in one line

    /// GB/s (10^9 bytes of pixels a second) of the slowest picture; 0 where it was not measured.
    [[nodiscard]] double gb_s() const;
};

/// Everything that a search found.
struct Tuning {
    std::string api;
    std::string device;
    std::string driver;
    std::string date;    ///< when the search began, ISO 8601, UTC
    double seconds = 0;  ///< that the search took
    std::vector<Trial> trials;

    /// The sizes that were tried, ascending.
    [[nodiscard]] std::vector<std::uint64_t> sizes() const;
    /// The fastest trial of this size; null where none was measured.
    [[nodiscard]] const Trial* best(std::uint64_t pixels) const;
    [[nodiscard]] std::size_t count(Outcome outcome) const;
};

/// Tries every candidate at every size. Each kernel (with its number of copies) has a share of the
/// time by the number of its choices, and what it does not need goes to those after it; what is
/// left when its share is spent is not tried. What differs only in the number of groups or in the
/// size of the picture is tried together, for it is compiled once; what is compiled, in strides
/// through the list, so that any part of it is a fair sample. The default choice comes first at
/// each size, which soon shows which others are hopeless (four times as slow as the best). At the
/// end the best dozen of each size are measured nine times more, in turns, and get their median.
/// Says on standard error how far it is.
/// @param budget_s seconds, for all together; no measurement begins later
/// @return a trial for each candidate at each size, in the order of `tuned_sizes` and `candidates`
Tuning tune(const Facts& facts, double budget_s, const Measure& measure);

/// A heat map for each size, as lines for a terminal (UTF-8): a row for each kernel and number of
/// copies, a column for each group size and number of groups for a unit, each cell the best of the
/// loads in percent of the best of that size. Kernels that were tried in other groups stand in a
/// block of their own. Under each map its best choice; at the end how many were measured, refused,
/// wrong or not tried, and why.
std::string heat_map_text(const Tuning& tuning);

/// The same as the bytes of a PNG, with colours.
std::string heat_map_png(const Tuning& tuning);

/// docs/json.md describes the format.
std::string to_json_text(const Tuning& tuning);

/// @throws common::BadInput saying what is wrong with it, in one line
Tuning from_json_text(const std::string& text);

/// Where the result for this device is kept: a file in `histogram-tutorials` under
/// $XDG_CACHE_HOME, else ~/Library/Caches on macOS, %LOCALAPPDATA% on Windows, ~/.cache elsewhere.
/// Empty where none of them is known.
std::filesystem::path memory_file(const Facts& facts);

/// Keeps it there, whole or not at all, in place of what was kept before. Creates the folder.
/// @return the file
/// @throws common::BadInput where it cannot be written
std::filesystem::path remember(const Facts& facts, const Tuning& tuning);

/// What is kept for this device. A file that is damaged, or that belongs to another device or
/// driver, is passed over with a warning in one line on standard error.
std::optional<Tuning> recall(const Facts& facts);

/// The best choice known for a picture of so many pixels: that of the nearest tuned size, by ratio,
/// whose best one the facts allow; else the default.
Choice choose(const std::optional<Tuning>& known, const Facts& facts, std::uint64_t pixels);

}  // namespace tuning
