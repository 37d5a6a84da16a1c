#include "05-launch-tuning/layout.hpp"

#include <fmt/format.h>

#include <cstring>

#include "common/histogram/histogram.hpp"
#include "common/process/status.hpp"

void add_layout_options(CLI::App& app, LayoutOptions& layout) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
    common::add_number(app, "--offset", "bytes in front of the first pixel", 0, kMost, "N",
                       [&layout](std::uint64_t bytes) { layout.offset = bytes; });
    common::add_number(app, "--pitch", "bytes from one row of the picture to the next", 1, kMost,
                       "N", [&layout](std::uint64_t bytes) { layout.pitch = bytes; });
}

Rows lay_out(const common::Input& input, const LayoutOptions& layout) {
    const std::uint64_t pitch = layout.pitch.value_or(input.width);
    if (pitch < input.width) {
        throw common::BadInput(
            fmt::format("--pitch {}: a row of this picture has {} pixels", pitch, input.width));
    }
    return {layout.offset, input.pixels.size(), input.width, pitch};
}

common::PixelBuffer with_gaps(const common::Input& input, const Rows& rows) {
    if (rows.bytes() == rows.count) return {};
    common::PixelBuffer bytes(rows.bytes());
    std::memset(bytes.data(), common::kPoisonByte, bytes.size());
    for (std::uint64_t y = 0; y < rows.number(); ++y) {
        const std::uint64_t length = std::min(rows.width, rows.count - y * rows.width);
        std::memcpy(&bytes[rows.first + y * rows.pitch], &input.pixels[y * rows.width], length);
    }
    return bytes;
}
