/// @file
/// What chapter 05's programs take beside the options that all chapters share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "05-launch-tuning/layout.hpp"
#include "05-launch-tuning/tune/choice.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"

/// The command line as the user gave it.
struct Arguments {
    common::Options common;
    std::uint64_t offset = 0;                ///< bytes in front of the first pixel
    std::optional<std::uint64_t> pitch;      ///< bytes from one row to the next
    const tuning::Kernel* kernel = nullptr;  ///< these three: how `tuned` is to count
    std::optional<unsigned> copies;
    std::optional<unsigned> loads;
    bool two_launches = false;  ///< `tuned` as on devices without 64-bit atomics: zeroed before
};

/// Reads the command line of a program that runs `tuned`.
/// @param add_more adds the options that only this program has, with variables of its own
/// @throws common::BadInput as common::parse_options, and for options that exclude each other
Arguments parse_arguments(int argc, const char* const* argv, const common::Program& program,
                          const std::function<void(CLI::App& app, Arguments& arguments)>& add_more);

/// --offset and --pitch, for the lesson's programs; and what became programs of their own, which
/// these then name.
void add_places(CLI::App& app, Arguments& arguments);

/// Where the rows are to lie in the device's buffer: without gaps at its beginning, if nothing else
/// was asked for.
/// @throws common::BadInput for a pitch below the picture's width
Rows place_rows(const Arguments& arguments, const common::Input& input);

/// The bytes of such a buffer: the rows in their places, and around them a pattern that nobody
/// should count.
common::PixelBuffer with_gaps(const common::Input& input, const Rows& rows);

/// How `tuned` counts here: as the search found it or by default, changed as the command line says,
/// and with fewer copies where that does not fit the device. Says on standard error what it came to
/// and why.
/// @throws common::BadInput where the device cannot run what the command line asks for
tuning::Choice choose_tuned(const Arguments& arguments, const tuning::Facts& facts,
                            std::uint64_t pixels);
