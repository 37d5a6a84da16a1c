/// @file
/// The pictures that the programs count, where each begins, and what came out of each. Nothing here
/// calls OpenCL or CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "05-launch-tuning/launch.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/verify/verify.hpp"

namespace many {

// ---- what is asked for --------------------------------------------------------------------------

/// What only these programs take.
struct PictureOptions {
    std::uint64_t least_side = 0;  ///< of a picture's two; 0: not said
    std::uint64_t most_side = 0;   ///< the same, or the end of a range

    /// Adds --side to the command line.
    void add_to(CLI::App& app);
};

/// "512", or "64..2048". @throws common::BadInput
void parse_sides(const std::string& text, PictureOptions& pictures);

// ---- pictures -----------------------------------------------------------------------------------

/// Pictures one behind the other, without a gap.
struct Batch {
    /// Where each begins, and at last where the last one ends.
    std::vector<std::uint64_t> first{0};
    std::vector<common::Histogram> expected = {};  ///< the right answer for each
    common::Histogram sum{};                       ///< of these

    [[nodiscard]] std::size_t size() const { return first.size() - 1; }
    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(first.back()); }

    /// Adds a picture that lies behind the others, and the answer for it.
    void add(std::uint64_t pixel_count, const common::Histogram& histogram);

    /// Holds the rows that a strategy has counted against the right ones: `result` becomes `sum`
    /// where each picture is right. Where one is wrong, standard error says which is the first, and
    /// how many are; and `result` is the sum as it would be with that one alone.
    void judge(const std::uint32_t* rows, common::Histogram& result) const;
};

/// How many pixels each picture has, so that they make `pixels` in all. Among those of a range,
/// every 64th has no pixel, and as many have one.
/// @param usual pixels of a picture where no side is asked for
std::vector<std::uint64_t> sizes(const PictureOptions& pictures, std::uint64_t usual,
                                 std::uint64_t seed, std::uint64_t pixels);

/// What the command line asks for, a picture or generated pixels, cut into pictures.
/// @return their pixels
/// @throws common::BadInput
common::Input load(const common::Options& options, const PictureOptions& pictures, Batch& batch);

// ---- shared out ---------------------------------------------------------------------------------

/// Where a share begins, as the kernels read it.
struct Place {
    std::uint64_t picture = 0;
    std::uint64_t byte = 0;         ///< of the picture; its first one, where it is not cut here
    std::uint32_t first_group = 0;  ///< that has a part of a picture that is cut here
    std::uint32_t groups = 0;       ///< that have one
};

/// What a picture costs beside its pixels, in pixels: to zero a table and to add it up.
inline constexpr std::uint64_t kTableCost = 8192;

/// Even shares for so many groups: `groups + 1` places, the last one behind the last picture. Large
/// pictures are cut, at addresses that 128 divides, small ones are packed. A share gives or takes
/// up to a quarter at each end, if no picture is then cut there.
std::vector<Place> share_out(const std::vector<std::uint64_t>& first, std::size_t groups);

// ---- launches -----------------------------------------------------------------------------------

/// How groups count, each as one of `tuned` does; or, where a group is one work-item, in OpenCL's
/// loop for a processor's core.
struct Launch : TunedLaunch {
    std::size_t groups = 1;  ///< in all

    [[nodiscard]] std::string text() const;
};

/// The three launches: of a picture alone, of a group for each, and of even shares.
struct Launches {
    Launch one, each, shared;
};
Launches launches(const Batch& batch, const common::Options& options, const DeviceLimits& limits);

}  // namespace many
