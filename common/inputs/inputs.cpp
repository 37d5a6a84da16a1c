#include "common/inputs/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "common/image/image.hpp"
#include "common/status/status.hpp"

namespace common {
namespace {

// splitmix64: a 64-bit counter and a mixing function.
class Random {
 public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9E37'79B9'7F4A'7C15;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
        z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
        return z ^ (z >> 31);
    }

 private:
    std::uint64_t state_;
};

constexpr std::size_t kBlock = std::size_t{1} << 20;

// A block's generator depends on the block alone, so the number of threads does not show.
Random random_of_block(std::uint64_t seed, std::size_t offset) {
    return Random(Random(seed).next() + offset / kBlock * 0x2545'F491'4F6C'DD1D);
}

// Calls fill(first, last, offset of first) for every block of pixels, on all cores.
template <typename Fill>
void fill_blocks(PixelBuffer& pixels, Fill fill) {
    const std::size_t blocks = (pixels.size() + kBlock - 1) / kBlock;
    const auto work = [&](std::size_t first_block, std::size_t step) {
        for (std::size_t block = first_block; block < blocks; block += step) {
            const std::size_t offset = block * kBlock;
            fill(pixels.data() + offset, pixels.data() + std::min(offset + kBlock, pixels.size()),
                 offset);
        }
    };
    const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1,
                                                        std::max<std::size_t>(blocks, 1));
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < threads; ++thread)
        others.emplace_back(work, thread, threads);
    work(0, threads);
}

constexpr std::size_t kGeneratedWidth = 4096;
constexpr std::size_t kDefaultCount = 512 * 512;

Input generated_input(const Options& options) {
    const std::size_t count = options.random.value_or(options.tile.value_or(kDefaultCount));
    Input input;
    input.width = std::clamp<std::size_t>(count, 1, kGeneratedWidth);
    input.height = std::min((count + input.width - 1) / input.width, input.width);
    if (options.constant) {
        input.name = fmt::format("constant {}", *options.constant);
        input.pixels = constant_pixels(count, static_cast<std::uint8_t>(*options.constant));
        return input;
    }
    if (options.ramp) {
        input.name = "ramp";
        input.pixels = ramp_pixels(count);
        return input;
    }
    input.seed = options.seed;
    if (options.contention) {
        input.name = fmt::format("contention {} % on value {}", *options.contention,
                                 hot_value(options.seed));
        input.pixels = contended_pixels(count, *options.contention, options.seed);
    } else {
        const unsigned values = options.values.value_or(256);
        input.name = values == 256 ? "uniform" : fmt::format("uniform over {} values", values);
        input.pixels = uniform_pixels(count, values, options.seed);
    }
    input.name += fmt::format(", seed {}", options.seed);
    return input;
}

// The picture's pixels over and over, `count` in all.
PixelBuffer tiled(const PixelBuffer& picture, std::size_t count) {
    PixelBuffer pixels(count);
    fill_blocks(pixels, [&](std::uint8_t* first, std::uint8_t* last, std::size_t offset) {
        for (std::size_t from = offset % picture.size(); first != last; from = 0) {
            const std::size_t length =
                std::min(picture.size() - from, static_cast<std::size_t>(last - first));
            first = std::copy_n(picture.data() + from, length, first);
        }
    });
    return pixels;
}

}  // namespace

PixelBuffer uniform_pixels(std::size_t count, unsigned values, std::uint64_t seed) {
    PixelBuffer pixels(count);
    fill_blocks(pixels, [=](std::uint8_t* first, std::uint8_t* last, std::size_t offset) {
        Random random = random_of_block(seed, offset);
        if (values == 256) {
            while (first != last) {
                std::uint64_t bits = random.next();
                for (int i = 0; i < 8 && first != last; ++i, bits >>= 8) {
                    *first++ = static_cast<std::uint8_t>(bits);
                }
            }
            return;
        }
        // The high half of 32 random bits times `values` is uniform to within 2^-24 of a value.
        while (first != last) {
            std::uint64_t bits = random.next();
            for (int i = 0; i < 2 && first != last; ++i, bits >>= 32) {
                *first++ = static_cast<std::uint8_t>(((bits & 0xFFFF'FFFF) * values) >> 32);
            }
        }
    });
    return pixels;
}

std::uint8_t hot_value(std::uint64_t seed) {
    return static_cast<std::uint8_t>(Random(~seed).next());
}

PixelBuffer contended_pixels(std::size_t count, unsigned percent, std::uint64_t seed) {
    PixelBuffer pixels(count);
    const std::uint64_t below = (std::uint64_t{percent} << 24) / 100;  // of 24 random bits
    const std::uint8_t hot = hot_value(seed);
    fill_blocks(pixels, [=](std::uint8_t* first, std::uint8_t* last, std::size_t offset) {
        Random random = random_of_block(seed, offset);
        while (first != last) {
            std::uint64_t bits = random.next();
            for (int i = 0; i < 2 && first != last; ++i, bits >>= 32) {
                // A choice without a branch: nothing could predict it.
                const auto choose_hot =
                    static_cast<std::uint8_t>(-static_cast<int>(((bits >> 8) & 0xFF'FFFF) < below));
                *first++ = static_cast<std::uint8_t>((hot & choose_hot) | (bits & ~choose_hot));
            }
        }
    });
    return pixels;
}

PixelBuffer constant_pixels(std::size_t count, std::uint8_t value) {
    PixelBuffer pixels(count);
    fill_blocks(pixels, [=](std::uint8_t* first, std::uint8_t* last, std::size_t) {
        std::fill(first, last, value);
    });
    return pixels;
}

PixelBuffer ramp_pixels(std::size_t count) {
    PixelBuffer pixels(count);
    fill_blocks(pixels, [](std::uint8_t* first, std::uint8_t* last, std::size_t offset) {
        for (; first != last; ++first, ++offset)
            *first = static_cast<std::uint8_t>(offset);
    });
    return pixels;
}

Input load_input(const Options& options) {
    if (options.random || options.constant || options.ramp) return generated_input(options);

    const std::filesystem::path path = options.image.value_or(SAMPLE_PICTURE);
    Picture picture = load_picture(path);
    Input input{fmt::format("{}, {} x {}", path.filename().string(), picture.width, picture.height),
                picture.width, picture.height, std::move(picture.pixels), std::nullopt};
    if (options.tile) {
        if (*options.tile < input.pixels.size()) {
            throw BadInput(
                fmt::format("--tile {}: the picture alone has {} pixels, and is never cropped",
                            *options.tile, input.pixels.size()));
        }
        input.pixels = tiled(input.pixels, *options.tile);
        input.name += ", tiled";
    }
    return input;
}

}  // namespace common
