#include "common/inputs/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "common/image/image.hpp"
#include "common/process/status.hpp"

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

using Fill = PixelStream::Fill;

// Calls it for every block of pixels, on all cores.
void fill_blocks(PixelBuffer& pixels, const Fill& fill) {
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
constexpr std::size_t kDefaultCount = std::size_t{512} * 512;

// Each pixel is made of so many of 64 random bits.
template <typename Make>
void draw(std::uint8_t* first, const std::uint8_t* last, Random random, int bits_each,
          const Make& make) {
    while (first != last) {
        std::uint64_t bits = random.next();
        for (int used = 0; used < 64 && first != last; used += bits_each, bits >>= bits_each)
            *first++ = static_cast<std::uint8_t>(make(bits));
    }
}

Fill uniform(unsigned values, std::uint64_t seed) {
    return [=](std::uint8_t* first, std::uint8_t* last, std::uint64_t offset) {
        const Random random = random_of_block(seed, offset);
        if (values == 256) return draw(first, last, random, 8, [](auto bits) { return bits; });
        // The high half of 32 random bits times `values` is uniform to within 2^-24 of a value.
        draw(first, last, random, 32,
             [&](auto bits) { return ((bits & 0xFFFF'FFFF) * values) >> 32; });
    };
}

Fill contended(unsigned percent, std::uint64_t seed) {
    const std::uint64_t below = (std::uint64_t{percent} << 24) / 100;  // of 24 random bits
    const std::uint8_t hot = hot_value(seed);
    return [=](std::uint8_t* first, std::uint8_t* last, std::uint64_t offset) {
        draw(first, last, random_of_block(seed, offset), 32, [&](auto bits) {
            // A choice without a branch: nothing could predict it.
            const auto choose_hot = -static_cast<std::uint64_t>(((bits >> 8) & 0xFF'FFFF) < below);
            return (hot & choose_hot) | (bits & ~choose_hot);
        });
    };
}

Fill constant(std::uint8_t value) {
    return [=](std::uint8_t* first, std::uint8_t* last, std::uint64_t) {
        std::fill(first, last, value);
    };
}

Fill ramp() {
    return [](std::uint8_t* first, std::uint8_t* last, std::uint64_t offset) {
        for (; first != last; ++first, ++offset)
            *first = static_cast<std::uint8_t>(offset);
    };
}

// The picture's pixels over and over.
Fill tiled(const PixelBuffer& picture) {
    return [&](std::uint8_t* first, std::uint8_t* last, std::uint64_t offset) {
        for (std::size_t from = offset % picture.size(); first != last; from = 0) {
            const std::size_t length =
                std::min(picture.size() - from, static_cast<std::size_t>(last - first));
            first = std::copy_n(picture.data() + from, length, first);
        }
    };
}

PixelBuffer filled(std::size_t count, const Fill& fill) {
    PixelBuffer pixels(count);
    fill_blocks(pixels, fill);
    return pixels;
}

}  // namespace

PixelBuffer uniform_pixels(std::size_t count, unsigned values, std::uint64_t seed) {
    return filled(count, uniform(values, seed));
}

std::uint8_t hot_value(std::uint64_t seed) {
    return static_cast<std::uint8_t>(Random(~seed).next());
}

PixelBuffer contended_pixels(std::size_t count, unsigned percent, std::uint64_t seed) {
    return filled(count, contended(percent, seed));
}

PixelBuffer constant_pixels(std::size_t count, std::uint8_t value) {
    return filled(count, constant(value));
}

PixelBuffer ramp_pixels(std::size_t count) {
    return filled(count, ramp());
}

PixelStream::PixelStream(const Options& options) {
    if (!options.random && !options.constant && !options.ramp) {
        const std::filesystem::path path = options.image.value_or(SAMPLE_PICTURE);
        const auto picture = std::make_shared<Picture>(load_picture(path));
        width = picture->width;
        height = picture->height;
        size = options.tile.value_or(picture->pixels.size());
        if (size < picture->pixels.size())
            throw BadInput(
                fmt::format("--tile {}: the picture alone has {} pixels, and is never cropped",
                            size, picture->pixels.size()));
        name = fmt::format("{}, {} x {}{}", path.filename().string(), width, height,
                           options.tile ? ", tiled" : "");
        fill_ = [picture, fill = tiled(picture->pixels)](auto... where) { fill(where...); };
        return;
    }
    size = options.random.value_or(options.tile.value_or(kDefaultCount));
    width = std::clamp<std::size_t>(size, 1, kGeneratedWidth);
    height = std::min((size + width - 1) / width, width);
    if (options.constant) {
        name = fmt::format("constant {}", *options.constant);
        fill_ = constant(static_cast<std::uint8_t>(*options.constant));
    } else if (options.ramp) {
        name = "ramp";
        fill_ = ramp();
    } else if (options.contention) {
        name = fmt::format("contention {} % on value {}", *options.contention,
                           hot_value(options.seed));
        fill_ = contended(*options.contention, options.seed);
    } else {
        const unsigned values = options.values.value_or(256);
        name = values == 256 ? "uniform" : fmt::format("uniform over {} values", values);
        fill_ = uniform(values, options.seed);
    }
    if (options.constant || options.ramp) return;
    seed = options.seed;
    name += fmt::format(", seed {}", options.seed);
}

void PixelStream::read(std::uint64_t first, std::span<std::uint8_t> pixels) const {
    for (std::uint64_t behind = 0; !pixels.empty(); pixels = pixels.subspan(behind)) {
        const std::uint64_t before = first % kBlock;  // of the block, what is not asked for
        behind = std::min<std::uint64_t>(kBlock - before, pixels.size());
        if (before == 0) {
            fill_(pixels.data(), pixels.data() + behind, first);
        } else {
            PixelBuffer block(before + behind);
            fill_(block.data(), block.data() + block.size(), first - before);
            std::copy_n(block.data() + before, behind, pixels.data());
        }
        first += behind;
    }
}

Input load_input(const Options& options) {
    const PixelStream stream(options);
    return {stream.name, stream.width, stream.height, filled(stream.size, stream.fill()),
            stream.seed};
}

}  // namespace common
