// The pictures that the programs count, where each begins, and what came out of each. Nothing here
// calls OpenCL or CUDA.
#pragma once

#include "05-launch-tuning/launch.hpp"

namespace many {

/// Pictures one behind the other, without a gap.
struct Batch {
    std::uint64_t side = 0;  ///< of each picture, as the command line has it; 0: not said
    /// Where each begins, and at last where the last one ends.
    std::vector<std::uint64_t> first{0};
    std::vector<common::Histogram> expected = {};  ///< the right answer for each

    [[nodiscard]] std::size_t size() const { return first.size() - 1; }
    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(first.back()); }

    /// Adds --side to the command line.
    void add_options(CLI::App& app);

    /// Cuts what the command line asks for, a picture or generated pixels, into pictures. The
    /// rest makes the last one.
    /// @return their pixels
    common::Input load(const common::Options& options);

    /// Holds the rows that a strategy has counted against the right ones.
    /// @return how many pictures are wrong, and which is the first; empty where none is
    [[nodiscard]] std::string what_is_wrong(const std::uint32_t* rows) const;
};

/// @throws std::runtime_error where the last launch has left anything else in its totals
void require_zeros(std::span<const unsigned long long> totals);

/// How groups count, each as one of `tuned` does.
struct BatchLaunch : TunedLaunch {
    std::size_t groups = 1;  ///< in all

    [[nodiscard]] std::string text() const { return TunedLaunch::text(groups); }
};

/// The two launches: of a picture alone, and of a group for each.
/// @param units multiprocessors
struct Launches {
    BatchLaunch one, each;
};
Launches launches(const Batch& batch, const common::Options& options, std::size_t units);

}  // namespace many
