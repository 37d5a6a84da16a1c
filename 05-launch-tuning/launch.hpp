/// @file
/// Where a picture lies in a buffer, and how a launch is laid over it. The same for both APIs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

/// A picture in a buffer: row y begins at byte `first + y * pitch` and has `width` pixels; the last
/// row may be short. Without gaps between its rows a picture is one long row.
struct Picture {
    std::uint64_t first = 0;  ///< bytes in front of the first pixel
    std::uint64_t count = 0;  ///< pixels
    std::uint64_t width = 0;  ///< pixels in a row
    std::uint64_t pitch = 0;  ///< bytes from one row to the next, at least `width`

    [[nodiscard]] std::uint64_t rows() const {
        return width == 0 ? 0 : (count + width - 1) / width;
    }

    /// The size of the buffer, with its gaps; at least 1, for a buffer of nothing is an error.
    [[nodiscard]] std::uint64_t bytes() const {
        const std::uint64_t full_rows = width == 0 ? 0 : count / width;
        const std::uint64_t short_row = width == 0 ? 0 : count % width;
        const std::uint64_t last = short_row > 0    ? full_rows * pitch + short_row
                                   : full_rows == 0 ? 0
                                                    : (full_rows - 1) * pitch + width;
        return std::max<std::uint64_t>(first + last, 1);
    }

    /// The same picture as one row, where there are no gaps.
    [[nodiscard]] Picture as_one_row() const {
        return pitch == width ? Picture{first, count, count, count} : *this;
    }
};

/// A launch in two dimensions: work-items in a group, and groups.
struct Shape {
    std::size_t items_x = 1;
    std::size_t items_y = 1;
    std::size_t groups_x = 1;
    std::size_t groups_y = 1;

    bool operator==(const Shape&) const = default;
};

/// Lays groups over a picture: one long row is walked by all of them side by side. In rows that are
/// shorter than a group is wide, 32 work-items walk a row together, for so many run in step, and a
/// group takes several rows at once. What is left of the groups after a row is covered goes on
/// below.
/// @param group_size work-items in a group
/// @param groups at most so many
/// @param at_once pixels that a work-item takes in one step
inline Shape lay_over(const Picture& picture, std::size_t group_size, std::size_t groups,
                      std::size_t at_once) {
    if (picture.rows() <= 1) return {group_size, 1, groups, 1};
    constexpr std::size_t kMostGroupsDown = 65535;  // CUDA's limit
    const std::size_t steps = (picture.width + at_once - 1) / at_once;
    const std::size_t across = steps >= group_size ? group_size : std::gcd(group_size, 32U);
    const std::size_t groups_x = std::clamp<std::size_t>((steps + across - 1) / across, 1, groups);
    return {across, group_size / across, groups_x, std::min(groups / groups_x, kMostGroupsDown)};
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
