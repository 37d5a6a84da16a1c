#include "05-launch-tuning/workshops/many/uses.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "common/report/canvas.hpp"
#include "common/report/picture.hpp"

using common::Histogram;
using common::kBins;

namespace many {

// As many across as down.
static std::size_t sheet_columns(std::size_t pictures) {
    return static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(pictures))));
}

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
    const auto picture = [&](std::span<const std::uint8_t> pixels) {
        return common::Picture{tiles.width, tiles.height, {pixels.begin(), pixels.end()}};
    };
    common::draw(canvas, picture(before), 0, 0);
    common::draw(canvas, picture(after), width + kGap, 0);
    return canvas.png();
}

std::size_t sheet_cell(std::size_t pictures) {
    constexpr std::size_t kSheet = 8192;
    return std::clamp<std::size_t>(kSheet / sheet_columns(pictures), 16, 160);
}

std::vector<std::size_t> by_brightness(std::span<const Histogram> histograms) {
    const auto brightness = [&](std::size_t p) {
        double sum = 0;
        for (std::size_t bin = 0; bin < kBins; ++bin)
            sum += static_cast<double>(bin) * histograms[p][bin];
        return sum / static_cast<double>(common::total(histograms[p]));
    };
    std::vector<std::size_t> order(histograms.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
        return brightness(one) < brightness(other);
    });
    return order;
}

std::vector<std::size_t> by_distance(std::span<const Histogram> histograms) {
    using Sums = std::array<float, kBins>;  // of each grey's part of the pixels
    std::vector<Sums> sums(histograms.size());
    for (std::size_t p = 0; p < sums.size(); ++p) {
        std::uint64_t sum = 0;
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            sum += histograms[p][bin];
            sums[p][bin] =
                static_cast<float>(sum) / static_cast<float>(common::total(histograms[p]));
        }
    }
    const auto distance = [&](std::size_t one, std::size_t other) {
        float all = 0;
        for (std::size_t bin = 0; bin < kBins; ++bin)
            all += std::abs(sums[one][bin] - sums[other][bin]);
        return all;
    };
    std::vector<std::size_t> order = by_brightness(histograms);
    for (auto last = order.begin(); order.end() - last > 2; ++last) {
        auto nearest = last + 1;
        float least = distance(*last, *nearest);
        for (auto other = nearest + 1; other != order.end(); ++other) {
            const float far = distance(*last, *other);
            if (far >= least) continue;
            least = far;
            nearest = other;
        }
        std::rotate(last + 1, nearest, nearest + 1);  // the others stay in their order
    }
    return order;
}

std::string sheet_png(const std::vector<common::Picture>& small,
                      std::span<const std::size_t> order) {
    const std::size_t columns = sheet_columns(small.size());
    const std::size_t cell = sheet_cell(small.size());
    common::Canvas canvas(static_cast<int>(columns * cell),
                          static_cast<int>((small.size() + columns - 1) / columns * cell));
    for (std::size_t place = 0; place < order.size(); ++place) {
        const common::Picture& picture = small[order[place]];
        common::draw(canvas, picture,
                     static_cast<int>(place % columns * cell + (cell - picture.width) / 2),
                     static_cast<int>(place / columns * cell + (cell - picture.height) / 2));
    }
    return canvas.png();
}

}  // namespace many
