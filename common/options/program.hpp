/// @file
/// What a program says of itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/histogram/histogram.hpp"

namespace common {

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

}  // namespace common
