// Where a picture's rows lie in a buffer, and how a launch is laid over them. The same for both
// APIs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>

#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/verify/verify.hpp"

/// A picture in a buffer: row y begins at byte `first + y * pitch` and has `width` pixels; the last
/// row may be short. Without gaps between its rows a picture is one long row.
struct Rows {
    std::uint64_t first = 0;  ///< bytes in front of the first pixel
    std::uint64_t count = 0;  ///< pixels
    std::uint64_t width = 0;  ///< pixels in a row
    std::uint64_t pitch = 0;  ///< bytes from one row to the next, at least `width`

    [[nodiscard]] std::uint64_t number() const {
        return width == 0 ? 0 : (count + width - 1) / width;
    }

    [[nodiscard]] bool have_gaps() const { return pitch != width && number() > 1; }

    /// The size of the buffer, with its gaps; at least 1, for a buffer of nothing is an error.
    [[nodiscard]] std::uint64_t bytes() const {
        const std::uint64_t before_last = count == 0 ? 0 : number() - 1;
        return std::max<std::uint64_t>(first + before_last * pitch + count - before_last * width,
                                       1);
    }

    /// The same pixels as one row, where there are no gaps.
    [[nodiscard]] Rows as_one() const {
        return have_gaps() ? *this : Rows{first, count, count, count};
    }
};

/// --offset and --pitch, as the user gave them.
struct LayoutOptions {
    std::uint64_t offset = 0;            ///< bytes in front of the first pixel
    std::optional<std::uint64_t> pitch;  ///< bytes from one row to the next
};
void add_layout_options(CLI::App& app, LayoutOptions& layout);

/// Where the rows are to lie in the device's buffer: without gaps at its beginning, if nothing else
/// was asked for.
/// @throws common::BadInput for a pitch below the picture's width
Rows lay_out(const common::Input& input, const LayoutOptions& layout);

/// The bytes of such a buffer: the rows where they lie, and around them a pattern that nobody
/// should count. Empty where these would be the pixels and nothing else.
common::PixelBuffer with_gaps(const common::Input& input, const Rows& rows);

/// A launch in two dimensions: work-items in a group, and groups.
struct Grid {
    unsigned items_x = 1;
    unsigned items_y = 1;
    unsigned groups_x = 1;
    unsigned groups_y = 1;

    /// How many groups of how many, for the report.
    [[nodiscard]] common::Launch launch() const {
        return {std::size_t{groups_x} * groups_y, std::size_t{items_x} * items_y};
    }

    /// "-DGROUP_X=32 -DGROUP_Y=8": how OpenCL compiles its kernels.
    [[nodiscard]] std::string macros() const {
        return "-DGROUP_X=" + std::to_string(items_x) + " -DGROUP_Y=" + std::to_string(items_y);
    }

    bool operator==(const Grid&) const = default;
};

/// The most groups that CUDA launches below each other.
inline constexpr std::size_t kMaxGroupsDown = 65535;

/// Groups of `group_size` side by side.
inline Grid side_by_side(std::size_t group_size, std::size_t groups) {
    return {static_cast<unsigned>(group_size), 1, static_cast<unsigned>(groups), 1};
}

/// Groups of `group_size` below each other.
inline Grid below_each_other(std::size_t group_size, std::size_t groups) {
    return {static_cast<unsigned>(group_size), 1, 1,
            static_cast<unsigned>(std::min(groups, kMaxGroupsDown))};
}

/// Lays groups over rows: one long row is walked by all of them side by side. In rows that are
/// shorter than a group is wide, 32 work-items walk a row together, for so many run in step, and a
/// group takes several rows at once. The groups that are left when a row is covered go on
/// below.
/// @param group_size work-items in a group
/// @param groups at most so many
/// @param at_once pixels that a work-item takes in one step
inline Grid lay_over(const Rows& rows, std::size_t group_size, std::size_t groups,
                     std::size_t at_once) {
    if (rows.number() <= 1) return side_by_side(group_size, groups);
    const std::size_t steps = (rows.width + at_once - 1) / at_once;
    const std::size_t across = steps >= group_size ? group_size : std::gcd(group_size, 32U);
    const std::size_t groups_x = std::clamp<std::size_t>((steps + across - 1) / across, 1, groups);
    return {static_cast<unsigned>(across), static_cast<unsigned>(group_size / across),
            static_cast<unsigned>(groups_x),
            static_cast<unsigned>(std::min(groups / groups_x, kMaxGroupsDown))};
}

/// As many groups as have work, but no more than `most` and at least one: a group beyond that would
/// only add its zeros to the result.
/// @param at_once pixels that a work-item takes in one step
inline std::size_t groups_with_work(std::uint64_t count, std::size_t group_size,
                                    std::size_t at_once, std::size_t most) {
    const std::uint64_t per_group = std::uint64_t{group_size} * at_once;
    return static_cast<std::size_t>(
        std::clamp<std::uint64_t>((count + per_group - 1) / per_group, 1, most));
}
