/// @file
/// What chapter 05's programs take beside the options that all chapters share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "05-launch-tuning/launch.hpp"
#include "05-launch-tuning/tuning/tuning.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"

/// The command line as the user gave it.
struct Arguments {
    common::Options common;
    bool tune = false;
    double seconds = 50;  ///< that the search may take
    bool end_to_end = false;
    std::uint64_t offset = 0;            ///< bytes in front of the first pixel
    std::optional<std::uint64_t> pitch;  ///< bytes from one row to the next
    std::optional<std::string> kernel;   ///< these three: how `tuned` is to count
    std::optional<unsigned> copies;
    std::optional<unsigned> loads;
    bool two_launches = false;  ///< OpenCL: as on devices that have no 64-bit atomics
    bool queued = false;        ///< peers: the device finds all commands of a run in its queue
};

/// Reads the command line.
/// @throws common::BadInput as common::parse_options, and for options that exclude each other
Arguments parse_arguments(int argc, const char* const* argv, const common::Program& program);

/// Where the picture is to lie in the device's buffer: without gaps at its beginning, if nothing
/// else was asked for.
/// @throws common::BadInput for a pitch below the picture's width, and where --end-to-end has
/// nothing to copy
Picture place_in_buffer(const Arguments& arguments, const common::Input& input);

/// The bytes of such a buffer: the rows in their places, and around them a pattern that nobody
/// should count.
common::PixelBuffer with_gaps(const common::Input& input, const Picture& picture);

/// How `tuned` counts here: as `known` or the defaults have it, changed as the command line says,
/// and with fewer copies or another kernel where that does not fit the device. Says on standard
/// error what it came to and why, if `tuned` is to run at all.
tuning::Choice choose_tuned(const Arguments& arguments, const std::optional<tuning::Tuning>& known,
                            const tuning::Facts& facts, std::uint64_t pixels);

/// Pixels that a work-item takes in one step.
std::size_t pixels_at_once(const tuning::Choice& choice);

/// Groups for a launch of this choice: as many as it says for each unit, but no more than have
/// work.
std::size_t groups_of(const tuning::Choice& choice, const tuning::Facts& facts,
                      std::uint64_t pixels);
