// The pixels of 16 bits that the programs count, and how a strategy shares out their counters.
// Nothing here calls OpenCL or CUDA.
#pragma once

#include "05-launch-tuning/launch.hpp"

namespace bins {

/// Pixels of 16 bits, each of which belongs to counter pixel >> shift.
struct Values {
    unsigned bins = 1024;  ///< a power of two
    unsigned shift = 0;
    std::vector<std::uint16_t> pixels = {};
    std::vector<std::uint32_t> expected = {};  ///< the right answer

    /// Adds --bins to the command line.
    void add_options(CLI::App& app);

    /// Loads what the command line asks for, and counts it.
    /// @return the upper halves of the pixels
    /// @throws common::BadInput
    common::Input load(const common::Options& options);

    [[nodiscard]] std::size_t bytes() const { return pixels.size() * sizeof pixels[0]; }

    /// Holds what a strategy has counted against the right answer.
    /// @return how many counters are wrong, and which is the first; empty where none is
    [[nodiscard]] std::string what_is_wrong(std::span<const std::uint32_t> counted) const;
};

// ---- how a strategy goes about it ---------------------------------------------------------------

/// Which counters a launch counts, as the kernels read it.
struct Slice {
    std::uint32_t shift = 0;     ///< as of the values
    std::uint32_t from = 0;      ///< the first counter
    std::uint32_t counters = 0;  ///< in a group's table
    std::uint32_t copies = 1;    ///< of it
};

struct Plan {
    Slice slice;          ///< the first
    unsigned slices = 1;  ///< passes
    std::size_t group_size = 1;
    std::size_t groups = 1;
    std::string unsupported_reason = {};  ///< why the device has no room for it; else empty

    [[nodiscard]] std::size_t local_bytes() const { return slice.counters * slice.copies * 4; }
    [[nodiscard]] std::string text() const;
};

/// @param group_size work-items in a group
Plan plan(const std::string& strategy, const Values& values, const common::Options& options,
          const DeviceLimits& limits, std::size_t group_size);

/// Into how many parts a table's rows are cut when they are added up: about 2^17 work-items have
/// one, but no more than 64 add to one counter of the result.
inline unsigned parts(unsigned counters, std::size_t row_count) {
    const auto most = static_cast<unsigned>(std::clamp<std::size_t>(row_count, 1, 64));
    return std::clamp((1U << 17) / counters, 1U, most);
}

}  // namespace bins
