#include "05-launch-tuning/layout.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>

#include "common/histogram/histogram.hpp"
#include "common/options/whole_number.hpp"
#include "common/process/status.hpp"

void add_layout_options(CLI::App& app, LayoutOptions& layout) {
    app.add_option("--offset", layout.offset, "bytes in front of the first pixel")
        ->transform(common::whole_number(0, std::uint64_t{1} << 20))
        ->type_name("N");
    app.add_option("--pitch", layout.pitch, "bytes from one row of the picture to the next")
        ->transform(common::whole_number(1, std::uint64_t{1} << 20))
        ->type_name("N");
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
