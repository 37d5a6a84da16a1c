/// @file
/// What a program counts: it is run on a machine that knows what is not certain.
///
/// The groups run one after the other, and in a group the work-items, each as far as the next
/// barrier. Where the order of a real device would matter, the machine says how far the counts may
/// differ: memory that nobody has written, counts that two groups write without an atomic, pixels
/// from behind the picture.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/tutor/diagnosis/description.hpp"
#include "common/tutor/diagnosis/diagnosis.hpp"

namespace common::diagnosis {

/// Whatever memory holds.
inline constexpr std::int64_t kAnything = std::int64_t{1} << 40;

struct Prediction {
    std::array<std::int64_t, kBins> low{};   ///< what a bin has at least
    std::array<std::int64_t, kBins> more{};  ///< and how much more it may have
    /// What the groups write to a bin without waiting for each other: it has one of these, or the
    /// sum of some of them. More than a few are not kept.
    std::array<std::vector<std::int64_t>, kBins> written{};
    std::array<bool, kBins> added{};
    std::int64_t stray = 0;     ///< counts that may be in any bin
    bool is_certain = true;     ///< every device counts this
    bool is_outside = false;    ///< it writes outside of its memory, or reads far outside
    bool is_endless = false;    ///< or too long to be run here
    bool is_divergent = false;  ///< a barrier that not all work-items reach
    bool is_unwritten = false;  ///< it reads memory that nobody has written

    /// What these counts leave open of it, in bits; nothing where they contradict it.
    [[nodiscard]] std::optional<double> open_bits(const Histogram& counts) const;
};

/// @param in_order as if the groups ran one after the other: what is lost between them is known
/// then
Prediction predict(const Description& program, const Case& run, const RunContext& context,
                   bool in_order = false);

}  // namespace common::diagnosis
