#include "05-launch-tuning/many/uses.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/report/canvas.hpp"

using common::Histogram;
using common::kBins;

namespace many {

std::vector<std::uint64_t> Tiles::sizes() const {
    std::vector<std::uint64_t> sizes;
    for (std::size_t row = 0; row < number; ++row) {
        for (std::size_t column = 0; column < number; ++column)
            sizes.push_back((left(column + 1) - left(column)) * (top(row + 1) - top(row)));
    }
    return sizes;
}

common::PixelBuffer Tiles::one_behind_the_other(std::span<const std::uint8_t> pixels) const {
    common::PixelBuffer tiled;
    tiled.reserve(pixels.size());
    for (std::size_t row = 0; row < number; ++row) {
        for (std::size_t column = 0; column < number; ++column) {
            for (std::size_t y = top(row); y < top(row + 1); ++y) {
                const auto line = pixels.subspan(y * width).first(width);
                tiled.insert(tiled.end(), line.begin() + static_cast<std::ptrdiff_t>(left(column)),
                             line.begin() + static_cast<std::ptrdiff_t>(left(column + 1)));
            }
        }
    }
    return tiled;
}

namespace {

using Map = std::array<double, kBins>;  // the new grey of each grey

Map map_of(const Histogram& histogram) {
    Map map;
    const auto pixels = static_cast<double>(common::total(histogram));
    if (pixels == 0) {
        for (std::size_t bin = 0; bin < kBins; ++bin)
            map[bin] = static_cast<double>(bin);
        return map;
    }
    const double limit = 3 * pixels / kBins;
    double cut = 0;
    for (const std::uint32_t count : histogram)
        cut += std::max(count - limit, 0.0);
    double sum = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        const double count = std::min<double>(histogram[bin], limit) + cut / kBins;
        map[bin] = (kBins - 1) * (sum + count / 2) / pixels;  // the middle of the bin's pixels
        sum += count;
    }
    return map;
}

// The two tiles between whose middles a pixel lies, in one direction, and how far it is from the
// first to the second. Beyond the last middle both are the same.
struct Between {
    std::size_t one, other;
    double part;
};

Between between(std::size_t at, std::size_t length, std::size_t number) {
    const double place = (static_cast<double>(at) + 0.5) * static_cast<double>(number) /
                             static_cast<double>(length) -
                         0.5;
    const double last = static_cast<double>(number - 1);
    const double one = std::floor(std::clamp(place, 0.0, last));
    return {static_cast<std::size_t>(one), static_cast<std::size_t>(std::min(one + 1, last)),
            std::clamp(place - one, 0.0, 1.0)};
}

}  // namespace

common::PixelBuffer equalized(const Tiles& tiles, std::span<const std::uint8_t> pixels,
                              std::span<const Histogram> histograms) {
    std::vector<Map> maps;
    for (const Histogram& histogram : histograms)
        maps.push_back(map_of(histogram));
    common::PixelBuffer after(pixels.size());
    for (std::size_t y = 0; y < tiles.height; ++y) {
        const Between down = between(y, tiles.height, tiles.number);
        for (std::size_t x = 0; x < tiles.width; ++x) {
            const Between across = between(x, tiles.width, tiles.number);
            const std::uint8_t grey = pixels[y * tiles.width + x];
            const auto in_row = [&](std::size_t row) {
                return std::lerp(maps[row * tiles.number + across.one][grey],
                                 maps[row * tiles.number + across.other][grey], across.part);
            };
            after[y * tiles.width + x] = static_cast<std::uint8_t>(
                std::lround(std::lerp(in_row(down.one), in_row(down.other), down.part)));
        }
    }
    return after;
}

std::string beside_png(const Tiles& tiles, std::span<const std::uint8_t> before,
                       std::span<const std::uint8_t> after) {
    constexpr int kGap = 16;
    const int width = static_cast<int>(tiles.width);
    common::Canvas canvas(2 * width + kGap, static_cast<int>(tiles.height));
    for (std::size_t i = 0; i < before.size(); ++i) {
        const int x = static_cast<int>(i % tiles.width);
        const int y = static_cast<int>(i / tiles.width);
        canvas.fill(x, y, 1, 1, {before[i], before[i], before[i]});
        canvas.fill(width + kGap + x, y, 1, 1, {after[i], after[i], after[i]});
    }
    return canvas.png();
}

}  // namespace many
