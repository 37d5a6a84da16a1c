// The command line, the same for every program of every chapter (docs/command-line.md).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "common/histogram/histogram.hpp"

namespace CLI {
class App;
}

namespace common {

// ---- what a program says of itself ----

/// One strategy of a program, by the name that `--variant` takes.
struct Variant {
    std::string_view name;
    std::string_view summary;
    bool broken_on_purpose = false;  ///< runs only when it is named, never as part of `all`
};

/// An option that only some programs have: one of a few values.
struct Choice {
    std::string_view name;  ///< such as "walk", for `--walk`
    std::vector<std::string_view> values;
    std::string_view summary;
    std::vector<std::string_view> variants = {};  ///< to which it means something; none: to all
};

/// An option of all programs that means nothing to this one. It is not in the help.
struct UnsupportedOption {
    std::string_view option;  ///< such as "--plot"
    std::string_view reason;
};

/// What a program says of itself, for the help text, the table and the JSON. Words that stand in
/// its source are not copied: each host program would have code for it, which takes compilers long.
struct Program {
    std::string_view chapter;  ///< its folder, such as "01-cpu"
    std::string_view name;     ///< the program's file name, such as "cpu"
    std::string_view api;      ///< "C++", "OpenCL" or "CUDA"
    std::string_view summary;
    std::vector<Variant> variants;
    std::vector<Choice> choices = {};
    std::vector<UnsupportedOption> unsupported = {};
    std::uint64_t max_pixels = kMaxPixels;  ///< more than that only where 64-bit counters count
    bool beside_serial = true;  ///< whether its times are held against the serial loop's

    [[nodiscard]] std::string path() const;  ///< such as "01-cpu/cpu"
};

// ---- what it is asked for ----

/// The command line as the user gave it. An empty member was not given.
struct Options {
    std::optional<std::string> image;
    std::optional<std::uint64_t> tile;    ///< pixels
    std::optional<std::uint64_t> random;  ///< pixels
    std::optional<unsigned> values;       ///< 1 to 256
    std::optional<unsigned> contention;   ///< percent, 0 to 100
    std::optional<unsigned> constant;     ///< a pixel value
    bool ramp = false;
    std::uint64_t seed = 1;
    std::vector<std::string> variants;  ///< the names to run, in the program's order
    std::string device;                 ///< a number or part of a name; empty: the default
    bool list_devices = false;
    std::optional<std::size_t> group_size;
    std::optional<std::size_t> groups;
    std::optional<int> repeat;
    std::optional<std::string> kernels;  ///< OpenCL: a file in place of histogram.cl
    std::optional<unsigned> time_limit;  ///< seconds, of one run
    bool diagnosis = true;               ///< whether a result that is wrong is looked into
    bool read_ceiling = true;
    std::optional<std::string> json;
    std::optional<std::string> plot;
    std::map<std::string, std::string, std::less<>> choices;  ///< by name, those that were given
    std::vector<std::string>
        program_options;  ///< what was given of this program's own options, without files

    [[nodiscard]] bool wants(std::string_view variant) const;

    /// What was given of the program's choice of this name, such as "walk"; or of one between
    /// numbers.
    [[nodiscard]] std::optional<std::string> choice(std::string_view name) const;
    [[nodiscard]] std::optional<unsigned> number(std::string_view name) const;

    /// What was asked for of the launch, as on a command line: "--groups 1 --walk blocked".
    [[nodiscard]] std::string launch_text() const;
};

/// Parses what the options were added for. --help prints the help, and behind it `after_the_help`,
/// and throws Finished. @throws BadInput in one line
void parse_command_line(CLI::App& app, int argc, const char* const* argv,
                        const std::string& after_the_help = {});

/// Reads the command line; `add_more` adds the options that only this program has.
/// @throws Finished, BadInput in one line, also for an output file that could not be written
Options parse_options(int argc, const char* const* argv, const Program& program,
                      const std::function<void(CLI::App& app)>& add_more = {});

/// What `--device` means in every API: the index in `names` that `wanted` means, a number, or text
/// that a name contains in any case (the first that does). @throws BadInput where no device is
/// meant
std::size_t device_by_text(const std::string& wanted, const std::vector<std::string>& names,
                           const std::string& api);

/// A command line as `main` gets it. The words must outlive it.
std::vector<const char*> argv_of(const std::string& program, const std::vector<std::string>& words);

/// For `add_more`: no other file need include CLI11 for it, which takes compilers seconds. A whole
/// number, called `type` in the help; a flag; a file, which may be given several times.
void add_number(CLI::App& app, const std::string& name, const std::string& description,
                std::uint64_t least, std::uint64_t most, const std::string& type,
                const std::function<void(std::uint64_t)>& take);
void add_flag(CLI::App& app, const std::string& name, bool& given, const std::string& description);
void add_files(CLI::App& app, const std::string& name, std::vector<std::string>& files,
               const std::string& description);

}  // namespace common
