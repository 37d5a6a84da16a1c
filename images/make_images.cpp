// make_images: draws every sample picture of this repository and writes it as a BMP file.
//
//     build/images/make_images images
//
// The pictures are computed, not photographed, so that they need no licence and no download. They
// come out the same byte for byte with every compiler and on every machine (a test compares them
// with the committed files), and for that reason everything below is INTEGER arithmetic: floating
// point would differ wherever a compiler fuses a multiplication with an addition, and sin, exp and
// pow differ from one maths library to the next.

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

// ---------------------------------------------------------------------------------------------
// Fixed-point numbers: a 64-bit integer that counts steps of 1/65536.
// ---------------------------------------------------------------------------------------------

constexpr int fraction_bits = 16;
constexpr std::int64_t one_raw = std::int64_t{1} << fraction_bits;

struct Fixed {
    std::int64_t raw = 0;

    friend constexpr bool operator==(Fixed, Fixed) = default;
    // NOLINTNEXTLINE(modernize-use-nullptr): the comparison with 0 is the compiler's
    friend constexpr auto operator<=>(Fixed, Fixed) = default;
    friend constexpr Fixed operator+(Fixed a, Fixed b) { return {a.raw + b.raw}; }
    friend constexpr Fixed operator-(Fixed a, Fixed b) { return {a.raw - b.raw}; }
    friend constexpr Fixed operator-(Fixed a) { return {-a.raw}; }
    // C++20 defines >> of a negative number as rounding down, so this is portable.
    friend constexpr Fixed operator*(Fixed a, Fixed b) {
        return {(a.raw * b.raw) >> fraction_bits};
    }
    friend constexpr Fixed operator/(Fixed a, Fixed b) { return {a.raw * one_raw / b.raw}; }
    constexpr Fixed& operator+=(Fixed b) { return *this = *this + b; }
    constexpr Fixed& operator-=(Fixed b) { return *this = *this - b; }
    constexpr Fixed& operator*=(Fixed b) { return *this = *this * b; }
};

constexpr Fixed fixed(std::int64_t whole) {
    return {whole * one_raw};
}
constexpr Fixed ratio(int a, int b) {
    return {a * one_raw / b};
}
constexpr std::int64_t round_down(Fixed a) {
    return a.raw >> fraction_bits;
}

// Makes "0.25_f" a Fixed. It receives the characters of the literal, so that even the constants of
// this program never pass through a floating-point number.
consteval Fixed operator""_f(const char* text) {
    std::int64_t digits = 0;
    std::int64_t scale = 1;
    bool after_point = false;
    for (; *text != '\0'; ++text) {
        if (*text == '.') {
            after_point = true;
        } else if (*text >= '0' && *text <= '9') {
            digits = digits * 10 + (*text - '0');
            if (after_point) scale *= 10;
        } else {
            throw "a fixed-point literal has only digits and a point";
        }
    }
    return {(digits * one_raw + scale / 2) / scale};
}

constexpr Fixed zero = 0_f;
constexpr Fixed one = 1_f;

constexpr Fixed absolute(Fixed a) {
    return a < zero ? -a : a;
}
constexpr Fixed square(Fixed a) {
    return a * a;
}
constexpr Fixed mix(Fixed a, Fixed b, Fixed t) {
    return a + (b - a) * t;
}
constexpr Fixed saturate(Fixed a) {
    return std::clamp(a, zero, one);
}

// 0 at `low`, 1 at `high`, a smooth S between them and flat beyond; `low` may be the larger one.
constexpr Fixed smooth_step(Fixed low, Fixed high, Fixed a) {
    const Fixed t = saturate((a - low) / (high - low));
    return t * t * (3_f - 2_f * t);
}

// 1 at a = 0, falling smoothly and for ever: the bell used for glows and for hills.
constexpr Fixed bell(Fixed a, Fixed width) {
    return one / (one + square(a / width));
}

// The integer square root by Newton's method; the start lies above the root, so it only descends.
Fixed square_root(Fixed a) {
    if (a.raw <= 0) return zero;
    const auto n = static_cast<std::uint64_t>(a.raw) << fraction_bits;
    std::uint64_t root = std::uint64_t{1} << ((std::bit_width(n) + 1) / 2);
    for (;;) {
        const std::uint64_t next = (root + n / root) / 2;
        if (next >= root) return {static_cast<std::int64_t>(root)};
        root = next;
    }
}

// ---------------------------------------------------------------------------------------------
// Noise.
// ---------------------------------------------------------------------------------------------

// Scrambles a place and a seed into 32 bits that look random (unsigned overflow is well defined).
constexpr std::uint32_t hash(std::int64_t x, std::int64_t y, std::uint32_t seed) {
    std::uint32_t h = seed * 0x9e3779b9U + static_cast<std::uint32_t>(x) * 0x85ebca6bU;
    h = (h ^ (h >> 15)) * 0x2c1b3c6dU + static_cast<std::uint32_t>(y) * 0xc2b2ae35U;
    h = (h ^ (h >> 12)) * 0x297a2d39U;
    h = (h ^ (h >> 15)) * 0x7feb352dU;
    return h ^ (h >> 16);
}

// A number in [0, 1) for a place.
constexpr Fixed chance(std::int64_t x, std::int64_t y, std::uint32_t seed) {
    return {hash(x, y, seed) >> 16};
}

// About normally distributed, mean 0 and standard deviation 1: four dice, added.
constexpr Fixed grain(std::int64_t x, std::int64_t y, std::uint32_t seed) {
    const std::uint32_t a = hash(x, y, seed);
    const std::uint32_t b = hash(x, y, seed + 1);
    const std::int64_t sum = (a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16);
    return Fixed{sum - 2 * one_raw} * 1.732_f;
}

struct Slope {
    Fixed value, dx, dy;
};

// Value noise in [-1, 1] with its derivatives: random numbers on a square lattice, joined smoothly.
Slope noise(Fixed x, Fixed y, std::uint32_t seed) {
    const std::int64_t i = round_down(x);
    const std::int64_t j = round_down(y);
    const Fixed u = x - fixed(i);
    const Fixed v = y - fixed(j);
    const Fixed su = u * u * u * (u * (u * 6_f - 15_f) + 10_f);
    const Fixed sv = v * v * v * (v * (v * 6_f - 15_f) + 10_f);
    const Fixed du = 30_f * square(u * (u - one));
    const Fixed dv = 30_f * square(v * (v - one));
    const Fixed a = chance(i, j, seed) * 2_f - one;
    const Fixed b = chance(i + 1, j, seed) * 2_f - one;
    const Fixed c = chance(i, j + 1, seed) * 2_f - one;
    const Fixed d = chance(i + 1, j + 1, seed) * 2_f - one;
    const Fixed k = a - b - c + d;
    return {a + (b - a) * su + (c - a) * sv + k * su * sv, du * (b - a + k * sv),
            dv * (c - a + k * su)};
}

// One octave finer: twice the scale, and turned by the 3-4-5 triangle so that the lattices of the
// octaves never line up.
void next_octave(Fixed& x, Fixed& y) {
    const Fixed turned = x * 1.6_f - y * 1.2_f;
    y = x * 1.2_f + y * 1.6_f;
    x = turned;
}

// Fractal noise, about [-1, 1].
Fixed fractal(Fixed x, Fixed y, int octaves, std::uint32_t seed) {
    Fixed sum = zero;
    Fixed weight = 0.5_f;
    for (int n = 0; n < octaves; ++n) {
        sum += weight * noise(x, y, seed + static_cast<std::uint32_t>(n)).value;
        weight *= 0.5_f;
        next_octave(x, y);
    }
    return sum;
}

// Fractal noise whose fine octaves fade where the coarse ones are steep. That is roughly what
// water does to rock: sharp crests, smooth valleys.
Fixed eroded(Fixed x, Fixed y, int octaves, std::uint32_t seed) {
    Fixed sum = zero;
    Fixed weight = 0.5_f;
    Fixed dx = zero;
    Fixed dy = zero;
    for (int n = 0; n < octaves; ++n) {
        const Slope s = noise(x, y, seed + static_cast<std::uint32_t>(n));
        dx += s.dx;
        dy += s.dy;
        sum += weight * s.value / (one + 0.35_f * (square(dx) + square(dy)));
        weight *= 0.5_f;
        next_octave(x, y);
    }
    return sum;
}

// ---------------------------------------------------------------------------------------------
// Colours and the BMP file.
// ---------------------------------------------------------------------------------------------

struct Colour {
    Fixed r, g, b;

    friend constexpr Colour operator+(Colour p, Colour q) {
        return {p.r + q.r, p.g + q.g, p.b + q.b};
    }
    friend constexpr Colour operator*(Colour p, Fixed k) { return {p.r * k, p.g * k, p.b * k}; }
    friend constexpr Colour operator*(Colour p, Colour q) {
        return {p.r * q.r, p.g * q.g, p.b * q.b};
    }
};

constexpr Colour mix(Colour p, Colour q, Fixed t) {
    return {mix(p.r, q.r, t), mix(p.g, q.g, t), mix(p.b, q.b, t)};
}

struct Rgb {
    std::uint8_t r, g, b;
};

std::uint8_t to_byte(Fixed a) {
    return static_cast<std::uint8_t>(std::clamp<std::int64_t>(round_down(a + 0.5_f), 0, 255));
}

// A picture as it goes into the file. Rows run from the top; a palette picture has one byte per
// pixel here (they are packed when written), a 24-bit one has three: blue, green, red.
struct Picture {
    int width = 0;
    int height = 0;
    int bits = 8;
    bool top_down = false;
    std::vector<Rgb> palette;
    std::vector<std::uint8_t> pixels;

    std::uint8_t& at(int x, int y) {
        return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                      static_cast<std::size_t>(x)];
    }
};

Picture palette_picture(int width, int height, int bits, std::vector<Rgb> palette) {
    Picture p{width, height, bits, false, std::move(palette), {}};
    p.pixels.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    return p;
}

Picture grey_picture(int width, int height) {
    std::vector<Rgb> greys;
    for (int n = 0; n < 256; ++n) {
        const auto level = static_cast<std::uint8_t>(n);
        greys.push_back({level, level, level});
    }
    return palette_picture(width, height, 8, std::move(greys));
}

// BMP is little-endian whatever the machine, so numbers go out byte by byte.
void put(std::string& out, std::int64_t value, int bytes) {
    for (int n = 0; n < bytes; ++n)
        out.push_back(static_cast<char>((value >> (8 * n)) & 0xff));
}

void write_bmp(const std::filesystem::path& path, const Picture& p) {
    const int row_bits = p.width * p.bits;
    const int stride = (row_bits + 31) / 32 * 4;  // rows are padded to four bytes
    const std::int64_t offset = 14 + 40 + 4 * static_cast<std::int64_t>(p.palette.size());
    const std::int64_t image_size = std::int64_t{stride} * p.height;

    std::string out;
    out += "BM";  // BITMAPFILEHEADER
    put(out, offset + image_size, 4);
    put(out, 0, 4);
    put(out, offset, 4);
    put(out, 40, 4);  // BITMAPINFOHEADER
    put(out, p.width, 4);
    put(out, p.top_down ? -p.height : p.height, 4);
    put(out, 1, 2);  // planes
    put(out, p.bits, 2);
    put(out, 0, 4);  // not compressed
    put(out, image_size, 4);
    put(out, 2835, 4);  // 72 dots per inch, in dots per metre
    put(out, 2835, 4);
    put(out, static_cast<std::int64_t>(p.palette.size()), 4);
    put(out, 0, 4);  // every palette entry is important
    for (const Rgb c : p.palette) {
        put(out, c.b, 1);
        put(out, c.g, 1);
        put(out, c.r, 1);
        put(out, 0, 1);
    }
    const std::size_t row_bytes = p.pixels.size() / static_cast<std::size_t>(p.height);
    for (int n = 0; n < p.height; ++n) {
        const auto y = static_cast<std::size_t>(p.top_down ? n : p.height - 1 - n);
        std::string row(static_cast<std::size_t>(stride), '\0');
        for (std::size_t i = 0; i < row_bytes; ++i) {
            const unsigned value = p.pixels[y * row_bytes + i];
            if (p.bits >= 8) {
                row[i] = static_cast<char>(value);
            } else {  // several pixels share a byte, the leftmost in its highest bits
                const auto bits = static_cast<std::size_t>(p.bits);
                const std::size_t place = i * bits / 8;
                const std::size_t shift = 8 - bits - i * bits % 8;
                row[place] = static_cast<char>(static_cast<unsigned char>(row[place]) |
                                               static_cast<unsigned char>(value << shift));
            }
        }
        out += row;
    }

    std::ofstream file(path, std::ios::binary);
    file.write(out.data(), static_cast<std::streamsize>(out.size()));
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path.string());
}

// ---------------------------------------------------------------------------------------------
// The two landscapes: mountains behind a lake, seen from its near shore.
//
// Lengths on the picture are in picture heights, v = 0 at the horizon and growing upward, u = 0 in
// the middle. The camera stands at height `eye` above the water and looks along z, so that a point
// (x, height, z) of the world is seen at u = x / z, v = (height - eye) / z.
// ---------------------------------------------------------------------------------------------

constexpr int samples = 2;  // per pixel in each direction, averaged: smooth edges
constexpr Fixed eye = 0.11_f;

// One chain of mountains: how far away, how deep, and how high at the left and the right edge.
struct Range {
    Fixed z, depth, left, right;
    std::uint32_t seed;
};

struct Tree {
    Fixed u, foot, height;
};

struct Balloon {
    Fixed u, v, radius;
    Colour first, second;
};

struct Scene {
    int width, height;
    Fixed horizon;       // how far below the upper edge, in picture heights
    Fixed sun_u, sun_v;  // where the sun is seen
    Fixed sun_radius;
    std::uint32_t seed;
    Fixed cloud_cover;
    Fixed haze_distance;
    Colour zenith, low_sky, sun, cloud_light, cloud_shade;
    Colour haze, sunlight, ambient, snow, rock, forest, water, foreground;
    Fixed snow_line;
    std::vector<Range> ranges;
    std::vector<Tree> trees;
    std::vector<Balloon> balloons;
};

class Landscape {
 public:
    explicit Landscape(const Scene& scene)
        : scene_(scene),
          width_(scene.width * samples),
          height_(scene.height * samples),
          canvas_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)),
          drop_(canvas_.size()),
          mirror_(canvas_.size()),
          shore_(static_cast<std::size_t>(width_)) {
        for (int x = 0; x < width_; ++x) {
            draw_sky(x);
            draw_mountains(x);
        }
        draw_balloons();
        for (int x = 0; x < width_; ++x)
            find_mirror(x);
        for (int x = 0; x < width_; ++x)
            draw_lake(x);
        for (int x = 0; x < width_; ++x)
            draw_foreground(x);
    }

    // The average of the samples of one pixel.
    Colour pixel(int x, int y) const {
        Colour sum{};
        for (int j = 0; j < samples; ++j) {
            for (int i = 0; i < samples; ++i) {
                sum = sum + canvas_[index(x * samples + i, y * samples + j)];
            }
        }
        return sum * (one / (fixed(samples) * fixed(samples)));
    }

 private:
    std::size_t index(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
               static_cast<std::size_t>(x);
    }
    Fixed u_of(int x) const { return ratio(2 * x + 1 - width_, 2 * height_); }
    Fixed v_of(int y) const { return scene_.horizon - ratio(2 * y + 1, 2 * height_); }
    int row_of(Fixed v) const {
        return static_cast<int>(round_down((scene_.horizon - v) * fixed(height_)));
    }

    Fixed sun_distance(Fixed u, Fixed v) const {
        return square_root(square(u - scene_.sun_u) + square(v - scene_.sun_v));
    }

    void draw_sky(int x) {
        const Fixed u = u_of(x);
        const int end = std::min(height_, row_of(-0.05_f));
        for (int y = 0; y < end; ++y) {
            const Fixed v = std::max(v_of(y), zero);
            const Fixed d = sun_distance(u, v);
            Colour c = mix(scene_.low_sky, scene_.zenith, smooth_step(0_f, 0.62_f, v + 0.04_f));
            c = c + scene_.sun * (0.30_f * square(bell(d, 0.30_f)) + 0.45_f * bell(d, 0.05_f));
            c = c +
                scene_.sun * (2_f * smooth_step(scene_.sun_radius, scene_.sun_radius * 0.8_f, d));

            // Clouds float on a plane overhead, so they crowd together toward the horizon.
            const Fixed far = one / (v + 0.10_f);
            const Fixed cx = u * far * 0.9_f;
            const Fixed cz = far * 1.5_f;
            const Fixed density = cloud(cx, cz, 7);
            const Fixed cover = smooth_step(0_f, 0.42_f, density);
            if (cover > zero) {
                // A little nearer to the sun: thinner there means that light comes through here.
                const Fixed side = std::clamp(scene_.sun_u - u, -0.16_f, 0.16_f);
                const Fixed sunward = cloud(cx + side, cz + 0.10_f, 4);
                Fixed light = saturate(0.52_f + (density - sunward) * 1.5_f - density * 0.35_f);
                light = saturate(light + 0.55_f * bell(d, 0.16_f));
                Colour lit = mix(scene_.cloud_shade, scene_.cloud_light, light);
                lit = lit + scene_.sun * (0.35_f * bell(d, 0.10_f));
                lit = mix(scene_.low_sky, lit, smooth_step(0_f, 0.16_f, v));
                c = mix(c, lit, cover * 0.94_f);
            }
            canvas_[index(x, y)] = c;
        }
    }

    Fixed cloud(Fixed x, Fixed z, int octaves) const {
        const Fixed warp = fractal(x * 0.7_f, z * 0.7_f, 3, scene_.seed + 70);
        return fractal(x + warp * 0.6_f, z - warp * 0.4_f, octaves, scene_.seed + 50) +
               scene_.cloud_cover;
    }

    // The height of the ground; negative is under the lake.
    Fixed ground(Fixed x, Fixed z, int octaves) const {
        Fixed envelope = zero;
        for (const Range& r : scene_.ranges) {
            const Fixed across = absolute(z - r.z) / r.depth;
            if (across >= one) continue;
            const Fixed crest =
                0.62_f + 0.50_f * fractal(x / r.depth * 0.55_f, z / r.depth * 0.25_f, 3, r.seed);
            const Fixed height = std::max(zero, mix(r.left, r.right, saturate(x / z + 0.5_f)));
            envelope = std::max(envelope, height * crest * smooth_step(one, zero, across));
        }
        if (envelope == zero) return -0.02_f;
        const Fixed rough = eroded(x * 0.42_f, z * 0.42_f, octaves, scene_.seed + 20);
        return envelope * (one + 0.95_f * rough) - 0.05_f;
    }

    // Conifers on the far shore: one cone in each cell of a grid, moved about inside the cell.
    Fixed forest(Fixed x, Fixed z, Fixed height) const {
        if (height <= zero || height > 0.75_f) return zero;
        const Fixed cell = 0.05_f;
        const std::int64_t i = round_down(x / cell);
        const std::int64_t j = round_down(z / cell);
        Fixed top = zero;
        for (std::int64_t di = -1; di <= 1; ++di) {
            const std::int64_t k = i + di;
            const Fixed mid = (fixed(k) + chance(k, j, 901)) * cell;
            const Fixed tall = 0.05_f + 0.06_f * chance(k, j, 902);
            top = std::max(top, tall - absolute(x - mid) * 4_f);
        }
        const Fixed woods = fractal(x * 1.5_f, z * 1.5_f, 3, scene_.seed + 90);
        return top * smooth_step(0.75_f, 0.35_f, height + 0.3_f * woods);
    }

    // Walks away from the camera, and draws whatever rises above all that was nearer. Where the
    // ground climbs so steeply that one step would paint a long streak, the steps get shorter.
    void draw_mountains(int x) {
        const Fixed u = u_of(x);
        int drawn = std::min(height_, row_of(-0.05_f));
        bool ashore = false;
        Fixed step = 0.01_f;
        for (Fixed z = 2.2_f; z < 46_f; z += step) {
            const Fixed wx = u * z;
            const Fixed base = ground(wx, z, 8);
            if (base <= zero) continue;
            if (!ashore) {
                ashore = true;
                drawn = std::min(drawn, row_of(-eye / z) + 1);
                shore_[static_cast<std::size_t>(x)] = drawn;
            }
            const Fixed trees = forest(wx, z, base);
            const int row = std::max(0, row_of((base + trees - eye) / z));
            if (drawn - row > 2 && step > z * 0.0008_f) {
                z -= step;
                step *= 0.4_f;
                continue;
            }
            step = std::min(step * 1.6_f, z * 0.0045_f);
            if (row >= drawn) continue;
            const Colour c = shade(u, wx, z, base, trees);
            for (int y = row; y < drawn; ++y) {
                canvas_[index(x, y)] = c;
                drop_[index(x, y)] = eye / z;
            }
            drawn = row;
        }
        if (!ashore) shore_[static_cast<std::size_t>(x)] = row_of(zero);
    }

    Colour shade(Fixed u, Fixed x, Fixed z, Fixed height, Fixed trees) const {
        const Fixed step = z * 0.002_f;
        const Fixed sx = (ground(x + step, z, 8) - height) / step;
        const Fixed sz = (ground(x, z + step, 8) - height) / step;
        const Fixed length = square_root(one + square(sx) + square(sz));

        // The light comes from the side of the sun and, a photographer's lie, a little from the
        // front; a sun truly behind the mountains would leave them flat and black.
        const Fixed lx = scene_.sun_u < zero ? -0.80_f : 0.80_f;
        const Fixed ly = 0.48_f;
        const Fixed lz = -0.36_f;
        Fixed lambert = saturate((ly - sx * lx - sz * lz) / length);
        Fixed lit = one;
        for (int n = 1; n <= 7 && lambert > zero; ++n) {
            const Fixed t = fixed(n) * fixed(n) * 0.045_f;
            const Fixed over = ground(x + lx * t, z + lz * t, 5) - (height + ly * t);
            lit = std::min(lit, smooth_step(0.12_f, 0_f, over - 0.02_f));
        }
        lambert *= lit;

        const Fixed patches = fractal(x * 2.3_f, z * 2.3_f, 4, scene_.seed + 110);
        const Fixed flat = one / length;
        const Fixed snow =
            smooth_step(-0.25_f, 0.35_f, height - scene_.snow_line + patches * 0.8_f) *
            smooth_step(0.42_f, 0.62_f, flat + patches * 0.12_f);
        const Fixed green = smooth_step(1.0_f, 0.45_f, height + patches * 0.5_f);
        Colour material = mix(scene_.rock * (one + patches * 0.6_f), scene_.forest, green);
        material = mix(material, scene_.snow, snow);
        Colour c = material * (scene_.sunlight * lambert + scene_.ambient * (0.5_f + 0.5_f * flat));
        if (trees > zero) {
            c = scene_.forest *
                (scene_.ambient * (0.4_f + trees * 8_f) + scene_.sunlight * (lit * trees * 5_f));
        }

        // Air: thicker with distance and in the valleys, and brighter in front of the sun.
        const Fixed air = z / scene_.haze_distance * (0.30_f + 0.55_f / (one + 2.2_f * height));
        const Fixed hidden = one - one / (one + 0.15_f * air + 2.2_f * square(air));
        const Fixed d = sun_distance(u, (height - eye) / z);
        const Colour veil = scene_.haze + scene_.sun * (0.30_f * square(bell(d, 0.22_f)));
        c = mix(c, veil, hidden);
        return c + scene_.sun * (0.22_f * bell(d, 0.06_f));
    }

    void draw_balloons() {
        for (const Balloon& b : scene_.balloons) {
            const int top = row_of(b.v + b.radius * 1.2_f);
            const int bottom = row_of(b.v - b.radius * 2.2_f);
            for (int y = std::max(top, 0); y < std::min(bottom, height_); ++y) {
                for (int x = 0; x < width_; ++x) {
                    const Fixed px = (u_of(x) - b.u) / b.radius;
                    const Fixed py = (v_of(y) - b.v) / b.radius;
                    if (absolute(px) > 1.1_f) continue;
                    draw_balloon(canvas_[index(x, y)], b, px, py);
                }
            }
        }
    }

    void draw_balloon(Colour& c, const Balloon& b, Fixed px, Fixed py) const {
        // The envelope: a circle above, and below it a cone down to the burner.
        Fixed half = zero;
        if (py > -0.45_f && py < one) half = square_root(one - square(py));
        if (py <= -0.45_f && py > -1.35_f) half = 0.893_f * (py + 1.62_f) / 1.17_f;
        if (absolute(px) < half) {
            // Gores narrow toward the edge as on a ball; this polynomial is close to arcsin.
            const Fixed across = px / half;
            const Fixed turn = across * (one + 0.36_f * across * across * across * across +
                                         0.10_f * across * across);
            const bool odd = (round_down(turn * 4.2_f + 20.5_f) & 1) != 0;
            const Fixed side = scene_.sun_u < b.u ? -across : across;
            const Fixed light = 0.50_f + 0.34_f * side + 0.16_f * py;
            const Colour cloth = odd ? b.first : b.second;
            c = cloth * (scene_.ambient * 0.9_f + scene_.sunlight * (light * 0.75_f));
        } else if (py < -1.62_f && py > -1.95_f && absolute(px) < 0.17_f) {
            c = scene_.foreground + Colour{0.05_f, 0.03_f, 0.02_f};  // the basket
        } else if (py <= -1.35_f && py >= -1.62_f && absolute(absolute(px) - 0.15_f) < 0.02_f) {
            c = scene_.foreground;  // its ropes
        }
    }

    // What stands at height h and distance z is seen at v = (h - eye) / z, and its mirror image in
    // the water at (-h - eye) / z = -v - 2 * eye / z. This finds, for each row of the lake, the row
    // mirrored there; going upward means going away, so what is found first hides the rest.
    void find_mirror(int x) {
        int next = shore_[static_cast<std::size_t>(x)];
        int y = next - 1;
        for (; y >= 0 && next < height_; --y) {
            const int row = row_of(-v_of(y) - 2_f * drop_[index(x, y)]);
            for (; next <= row && next < height_; ++next)
                mirror_[index(x, next)] = y;
        }
        for (; next < height_; ++next)
            mirror_[index(x, next)] = 0;
    }

    // The lake shows that mirror image, shaken by ripples.
    void draw_lake(int x) {
        const int shore = shore_[static_cast<std::size_t>(x)];
        for (int y = shore; y < height_; ++y) {
            const Fixed v = std::min(v_of(y), -0.004_f);
            const Fixed z = eye / -v;
            const Fixed wx = u_of(x) * z;
            const Fixed depth = ratio(y - shore, height_);
            // Ripples are small things on a wide water: seen flat, and finer with distance.
            const Fixed fine = fractal(wx * 26_f, z * 70_f, 3, scene_.seed + 130);
            const Fixed swell = fractal(wx * 5_f, z * 16_f, 3, scene_.seed + 140);
            const Fixed breeze =
                smooth_step(-0.15_f, 0.35_f, fractal(wx * 0.6_f, z * 2.2_f, 3, scene_.seed + 150));
            const Fixed strength = 0.25_f + breeze;
            const Fixed shake_v = (fine * 0.030_f + swell * 0.035_f) * strength *
                                  smooth_step(0_f, 0.10_f, depth + 0.01_f);
            const Fixed shake_u = fine * 0.010_f * strength;
            Colour seen{};
            for (int n = -2; n <= 2; ++n) {  // blurred upright, as water does
                const Fixed blur = fixed(n) * (0.001_f + depth * 0.014_f);
                const auto down = static_cast<int>(round_down((shake_v + blur) * fixed(height_)));
                const auto aside = static_cast<int>(round_down(shake_u * fixed(height_)));
                const int sx = std::clamp(x + aside, 0, width_ - 1);
                const int sy =
                    std::clamp(y + down, shore_[static_cast<std::size_t>(sx)], height_ - 1);
                seen = seen + canvas_[index(sx, mirror_[index(sx, sy)])];
            }
            // Looking down more steeply, one sees less of the mirror and more of the water.
            const Fixed mirror = mix(0.84_f, 0.36_f, smooth_step(0_f, 0.42_f, depth));
            Colour c = mix(scene_.water, seen * 0.2_f, mirror);
            const Fixed rim = bell(depth, 0.005_f);  // mist, and a pale line where water meets land
            c = mix(c, scene_.haze, 0.24_f * rim * breeze + 0.07_f * breeze);
            canvas_[index(x, y)] = c;
        }
    }

    void draw_foreground(int x) {
        const Fixed u = u_of(x);
        // The bank rises toward the sides, and grass stands on it.
        const Fixed edge = absolute(u + 0.04_f);
        const Fixed bank = scene_.horizon - one + 0.025_f + 0.30_f * square(edge) +
                           0.035_f * fractal(u * 5_f, zero, 4, scene_.seed + 160);
        for (int y = 0; y < height_; ++y) {
            const Fixed v = v_of(y);
            bool covered = v < bank || inside_grass(u, v - bank);
            for (const Tree& t : scene_.trees)
                covered = covered || inside_tree(t, u, v);
            if (!covered) continue;
            const Fixed light = fractal(u * 150_f, v * 50_f, 3, scene_.seed + 180);
            const Fixed low = smooth_step(0_f, -0.10_f, v - bank);
            canvas_[index(x, y)] =
                scene_.foreground * std::max(0.1_f, one + light * 1.9_f - low * 0.45_f);
        }
    }

    // Thin blades of random length, each bent to one side by the wind or by its own weight.
    bool inside_grass(Fixed u, Fixed rise) const {
        if (rise > 0.05_f) return false;
        const Fixed gap = 0.0022_f;
        const std::int64_t here = round_down(u / gap);
        for (std::int64_t n = here - 9; n <= here + 9; ++n) {
            const Fixed clump = 0.6_f + fractal(fixed(n) * 0.06_f, zero, 2, scene_.seed + 171);
            const Fixed length =
                clump * (0.008_f + 0.034_f * square(chance(n, 0, scene_.seed + 170)));
            if (rise >= length) continue;
            const Fixed part = rise / length;
            const Fixed bend = (chance(n, 1, scene_.seed + 170) - 0.35_f) * length;
            const Fixed middle = (fixed(n) + chance(n, 2, scene_.seed + 170)) * gap;
            if (absolute(u - middle - bend * square(part)) < 0.0013_f * (one - part)) return true;
        }
        return false;
    }

    // A conifer: whorls of branches that grow longer downward and hang at their ends.
    static bool inside_tree(const Tree& t, Fixed u, Fixed v) {
        const Fixed aside = (u - t.u) / t.height;
        if (absolute(aside) > 0.22_f) return false;
        Fixed down = one - (v - t.foot) / t.height;  // 0 at the tip, 1 at the foot
        if (down < zero || down > one) return false;
        if (absolute(aside) < 0.003_f + 0.009_f * down) return true;  // the trunk
        const std::int64_t side = aside < zero ? 1 : 0;
        const auto name = static_cast<std::uint32_t>(t.u.raw);
        down -= absolute(aside) * 0.35_f;
        if (down < zero || down > 0.93_f) return false;
        const Fixed whorl = down * 24_f + 4_f * square_root(down) +
                            fractal(aside * 30_f, down * 30_f, 2, name) * 0.7_f;
        const std::int64_t n = round_down(whorl);
        const Fixed part = whorl - fixed(n);
        const Fixed longest = (0.025_f + 0.165_f * down) * (0.62_f + 0.5_f * chance(n, side, name));
        const Fixed needles = chance(round_down(aside * 420_f), round_down(down * 300_f), name);
        return absolute(aside) < longest * (0.35_f + 0.65_f * part) * (0.80_f + 0.25_f * needles) &&
               needles > 0.06_f + absolute(aside) * 1.0_f;
    }

    const Scene& scene_;
    int width_, height_;
    std::vector<Colour> canvas_;
    std::vector<Fixed> drop_;  // eye / z of what is seen: 0 in the sky
    std::vector<int> mirror_;  // for the samples of the lake: the row that they mirror
    std::vector<int> shore_;   // per column: the first row of the lake
};

// A film's response: straight in the shadows, gently saturating in the highlights.
Fixed film(Fixed light) {
    const Fixed a = std::max(light, zero) * 1.35_f;
    return a * (one + a * 0.10_f) / (a + 0.62_f);
}

// Stretches the levels so that all but a few pixels in a thousand lie between 0 and 255: what the
// "auto levels" of a photo editor does, by a histogram of course.
struct Levels {
    Fixed low, high;

    Levels(const std::vector<Fixed>& values, int dark_per_10000, int bright_per_10000) {
        std::vector<Fixed> sorted = values;
        std::sort(sorted.begin(), sorted.end());
        const auto at = [&](std::int64_t per_10000) {
            const auto last = static_cast<std::int64_t>(sorted.size()) - 1;
            return sorted[static_cast<std::size_t>(last * per_10000 / 10000)];
        };
        low = at(dark_per_10000);
        high = at(10000 - bright_per_10000);
    }
    Fixed operator()(Fixed a) const { return 255_f * (a - low) / (high - low); }
};

Scene grey_scene() {
    Scene s{};
    s.width = 512;
    s.height = 512;
    s.horizon = 0.62_f;
    s.sun_u = -0.17_f;
    s.sun_v = 0.215_f;
    s.sun_radius = 0.020_f;
    s.seed = 1839;
    s.cloud_cover = 0.02_f;
    s.haze_distance = 16_f;
    s.zenith = {0.13_f, 0.14_f, 0.16_f};
    s.low_sky = {0.66_f, 0.66_f, 0.66_f};
    s.sun = {1.5_f, 1.5_f, 1.5_f};
    s.cloud_light = {1.35_f, 1.35_f, 1.35_f};
    s.cloud_shade = {0.26_f, 0.26_f, 0.27_f};
    s.haze = {0.55_f, 0.55_f, 0.55_f};
    s.sunlight = {1.7_f, 1.7_f, 1.7_f};
    s.ambient = {0.26_f, 0.26_f, 0.26_f};
    s.snow = {0.95_f, 0.95_f, 0.95_f};
    s.rock = {0.22_f, 0.22_f, 0.22_f};
    s.forest = {0.06_f, 0.06_f, 0.06_f};
    s.water = {0.035_f, 0.035_f, 0.035_f};
    s.foreground = {0.024_f, 0.024_f, 0.024_f};
    s.snow_line = 1.5_f;
    s.ranges = {{3.4_f, 1.0_f, 0.30_f, -0.16_f, 300},
                {5.6_f, 1.7_f, -0.10_f, 0.75_f, 301},
                {9.5_f, 3.4_f, 1.65_f, 0.80_f, 302},
                {16_f, 6.0_f, 2.6_f, 4.0_f, 303},
                {30_f, 12_f, 6.6_f, 5.6_f, 304}};
    s.trees = {{0.445_f, -0.36_f, 0.62_f},
               {0.36_f, -0.37_f, 0.40_f},
               {0.50_f, -0.37_f, 0.47_f},
               {-0.47_f, -0.38_f, 0.36_f},
               {-0.40_f, -0.375_f, 0.22_f}};
    return s;
}

Scene colour_scene() {
    Scene s{};
    s.width = 1021;
    s.height = 683;
    s.horizon = 0.64_f;
    s.sun_u = 0.26_f;
    s.sun_v = 0.17_f;
    s.sun_radius = 0.022_f;
    s.seed = 2711;
    s.cloud_cover = -0.02_f;
    s.haze_distance = 15_f;
    s.zenith = {0.10_f, 0.19_f, 0.42_f};
    s.low_sky = {0.95_f, 0.52_f, 0.33_f};
    s.sun = {1.6_f, 0.95_f, 0.42_f};
    s.cloud_light = {1.45_f, 0.86_f, 0.58_f};
    s.cloud_shade = {0.34_f, 0.27_f, 0.40_f};
    s.haze = {0.58_f, 0.40_f, 0.44_f};
    s.sunlight = {1.75_f, 1.05_f, 0.62_f};
    s.ambient = {0.22_f, 0.25_f, 0.38_f};
    s.snow = {0.92_f, 0.93_f, 0.95_f};
    s.rock = {0.24_f, 0.20_f, 0.19_f};
    s.forest = {0.045_f, 0.075_f, 0.045_f};
    s.water = {0.03_f, 0.05_f, 0.08_f};
    s.foreground = {0.026_f, 0.028_f, 0.020_f};
    s.snow_line = 1.6_f;
    s.ranges = {{3.4_f, 1.0_f, -0.12_f, 0.26_f, 410},
                {5.6_f, 1.7_f, 0.70_f, 0.05_f, 411},
                {9.5_f, 3.4_f, 0.90_f, 1.40_f, 412},
                {16_f, 6.0_f, 4.0_f, 2.0_f, 413},
                {30_f, 12_f, 5.0_f, 5.0_f, 414}};
    s.trees = {{-0.66_f, -0.35_f, 0.62_f},
               {-0.58_f, -0.35_f, 0.42_f},
               {-0.73_f, -0.35_f, 0.50_f},
               {0.70_f, -0.35_f, 0.34_f},
               {0.63_f, -0.36_f, 0.20_f}};
    s.balloons = {{-0.22_f, 0.40_f, 0.062_f, {0.80_f, 0.12_f, 0.08_f}, {0.95_f, 0.85_f, 0.62_f}},
                  {0.03_f, 0.49_f, 0.034_f, {0.10_f, 0.30_f, 0.70_f}, {0.95_f, 0.75_f, 0.20_f}},
                  {-0.36_f, 0.27_f, 0.022_f, {0.15_f, 0.50_f, 0.35_f}, {0.92_f, 0.90_f, 0.80_f}}};
    return s;
}

Picture landscape() {
    const Scene scene = grey_scene();
    const Landscape view(scene);
    std::vector<Fixed> light;
    for (int y = 0; y < scene.height; ++y) {
        for (int x = 0; x < scene.width; ++x) {
            const Colour c = view.pixel(x, y);
            light.push_back(film(0.299_f * c.r + 0.587_f * c.g + 0.114_f * c.b));
        }
    }
    const Levels levels(light, 20, 20);
    Picture p = grey_picture(scene.width, scene.height);
    std::size_t n = 0;
    for (int y = 0; y < scene.height; ++y) {
        for (int x = 0; x < scene.width; ++x, ++n) {
            const Fixed a = levels(light[n]);
            // Little grain, strongest in the middle tones: neighbours are often equal, as in
            // photographs.
            const Fixed middle = saturate(a / 255_f) * (one - saturate(a / 255_f));
            p.at(x, y) = to_byte(a + grain(x, y, 35) * (0.3_f + 0.6_f * middle));
        }
    }
    return p;
}

Picture colour() {
    const Scene scene = colour_scene();
    const Landscape view(scene);
    std::vector<Fixed> light;
    for (int y = 0; y < scene.height; ++y) {
        for (int x = 0; x < scene.width; ++x) {
            const Colour c = view.pixel(x, y);
            for (const Fixed channel : {c.b, c.g, c.r})
                light.push_back(film(channel));
        }
    }
    const Levels levels(light, 20, 20);  // one stretch for all channels: it keeps the hues
    Picture p{scene.width, scene.height, 24, false, {}, {}};
    std::size_t n = 0;
    for (int y = 0; y < scene.height; ++y) {
        for (int x = 0; x < scene.width; ++x) {
            const Fixed film_grain = grain(x, y, 36) * 1.6_f;
            for (std::uint32_t channel = 0; channel < 3; ++channel, ++n) {
                const Fixed own_grain = grain(x, y, 37 + 2 * channel);
                p.pixels.push_back(to_byte(levels(light[n]) + film_grain + own_grain));
            }
        }
    }
    return p;
}

// ---------------------------------------------------------------------------------------------
// The small pictures, each for one difficulty.
// ---------------------------------------------------------------------------------------------

// A night sky: 64 stars in 65536 pixels, all others alike. Every thread wants the same bin.
Picture nearly_constant() {
    Picture p = grey_picture(256, 256);
    std::fill(p.pixels.begin(), p.pixels.end(), std::uint8_t{40});
    for (int n = 0; n < 64; ++n) {
        // One star in each square of an 8 x 8 board, so that no two share a pixel.
        const int x = n % 8 * 32 + static_cast<int>(hash(n, 0, 5) % 32);
        const int y = n / 8 * 32 + static_cast<int>(hash(n, 1, 5) % 32);
        p.at(x, y) = static_cast<std::uint8_t>(100 + hash(n, 2, 5) % 156);
    }
    return p;
}

// A Truchet tiling: each tile carries two quarter circles, turned by chance. The ribbons always
// join up, and the corners of the board of tiles tell which side of a ribbon one is on.
Picture four_values() {
    constexpr int tile = 32;
    Picture p = grey_picture(256, 256);
    for (int y = 0; y < p.height; ++y) {
        for (int x = 0; x < p.width; ++x) {
            const int i = x / tile;
            const int j = y / tile;
            const bool turned = (hash(i, j, 12) & 1) != 0;
            // Twice the distance from a corner, to stay with whole numbers at pixel centres.
            const int px = 2 * (x % tile) + 1;
            const int py = 2 * (y % tile) + 1;
            const int qx = turned ? 2 * tile - px : px;
            const int near = qx * qx + py * py;
            const int opposite =
                (2 * tile - qx) * (2 * tile - qx) + (2 * tile - py) * (2 * tile - py);
            const int distance = std::min(near, opposite);
            const auto between = [&](int low, int high) {
                return distance >= 4 * low * low && distance < 4 * high * high;
            };
            const bool inside = distance < 4 * 16 * 16;
            const bool light_side = (((i + j) & 1) != 0) != (turned != inside);
            std::uint8_t value = light_side ? 170 : 85;
            if (between(10, 22)) value = 0;
            if (between(12, 20)) value = 255;
            p.at(x, y) = value;
        }
    }
    return p;
}

Picture one_pixel() {
    return {1, 1, 24, false, {}, {32, 128, 224}};
}  // blue, green, red: orange

Picture one_column() {
    Picture p = grey_picture(1, 1000);
    for (int y = 0; y < p.height; ++y) {
        p.at(0, y) = to_byte(ratio(255 * y, 999) + grain(0, y, 60) * 6_f);
    }
    return p;
}

// A hot-air balloon under a dark sky and over pale ground: upside down it would be seen at once.
Picture top_down() {
    Picture p = grey_picture(200, 150);
    p.top_down = true;
    for (int y = 0; y < p.height; ++y) {
        for (int x = 0; x < p.width; ++x) {
            Fixed a = 70_f + fixed(y) * 0.95_f +
                      24_f * fractal(ratio(x, 45), ratio(y, 16), 4, 61);  // sky and thin cloud
            const Fixed hill =
                122_f + 14_f * fractal(ratio(x, 70), zero, 4, 62) - fixed(x) * 0.04_f;
            if (fixed(y) > hill) {
                a = 225_f - (fixed(y) - hill) * 1.5_f +
                    16_f * fractal(ratio(x, 9), ratio(y, 3), 3, 63);
            }
            const Fixed dx = ratio(2 * (x - 118) + 1, 2 * 34);
            const Fixed dy = ratio(2 * (y - 48) + 1, 2 * 34);
            const Fixed neck = (1.55_f - dy) / 1.35_f;
            const Fixed half = dy < 0.4_f ? square_root(one - square(dy)) : neck * 1.076_f;
            if (dy > -one && dy < 1.25_f && absolute(dx) < half) {
                const Fixed across = dx / half;
                const Fixed turn = across * (one + 0.40_f * square(across * across));
                const bool odd = (round_down(turn * 4_f + 20.5_f) & 1) != 0;
                a = (odd ? 205_f : 60_f) * (0.85_f - 0.35_f * across);
            } else if (dy > 1.25_f && dy < 1.55_f && absolute(absolute(dx) - 0.17_f) < 0.02_f) {
                a = 30_f;  // ropes
            } else if (dy >= 1.55_f && dy < 1.85_f && absolute(dx) < 0.19_f) {
                a = 26_f;  // basket
            }
            p.at(x, y) = to_byte(a + grain(x, y, 64) * 3_f);
        }
    }
    return p;
}

void fill(Picture& p, int x, int y, int width, int height, std::uint8_t index) {
    for (int j = y; j < y + height; ++j) {
        for (int i = x; i < x + width; ++i)
            p.at(i, j) = index;
    }
}

// The order in which a 4 x 4 square of pixels fills up when a tone grows (Bayer's matrix).
constexpr std::array<int, 16> bayer = {0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5};

int bayer_at(int x, int y) {
    return bayer[static_cast<std::size_t>(y % 4 * 4 + x % 4)];
}

// An evening in sixteen colours, in the manner of a home computer of the eighties.
Picture palette_scene() {
    Picture p = palette_picture(160, 120, 4,
                                {{18, 16, 38},  // 0 night
                                 {40, 32, 74},  // 1 to 6: the sky, downward
                                 {84, 46, 100},
                                 {146, 62, 104},
                                 {208, 92, 92},
                                 {240, 142, 88},
                                 {252, 200, 120},
                                 {255, 240, 190},    // 7 the sun
                                 {62, 44, 92},       // 8 far hills
                                 {38, 34, 70},       // 9 near hills
                                 {20, 44, 52},       // 10 trees
                                 {34, 78, 66},       // 11 meadow
                                 {66, 118, 74},      // 12 meadow, lit
                                 {112, 60, 60},      // 13 walls
                                 {60, 34, 48},       // 14 roof
                                 {255, 226, 120}});  // 15 window
    for (int y = 0; y < p.height; ++y) {
        for (int x = 0; x < p.width; ++x) {
            // The sky: six tones, dithered into one another.
            const int tone = y * 16 * 6 / 84 + bayer_at(x, y);
            p.at(x, y) = static_cast<std::uint8_t>(std::clamp(tone / 16, 0, 6));
            if (y < 34 && hash(x, y, 80) % 150 == 0) p.at(x, y) = 7;  // stars
            const int dx = 2 * x - 2 * 104 + 1;
            const int dy = 2 * y - 2 * 66 + 1;
            const bool slit = y > 62 && (y - 62) % 5 < (y - 58) / 6;
            if (dx * dx + dy * dy < 4 * 21 * 21 && !slit) p.at(x, y) = 7;
            const auto above = [&](int middle, int size, int width, std::uint32_t seed) {
                return fixed(y) >
                       fixed(middle) - fixed(size) * fractal(ratio(x, width), zero, 4, seed);
            };
            if (above(74, 22, 34, 83)) p.at(x, y) = 8;
            if (above(85, 12, 26, 82)) p.at(x, y) = 9;
            if (above(97, 7, 60, 86)) {
                const int light = 10 + (x - 40) / 8 - (y - 94) / 2;
                p.at(x, y) = bayer_at(x, y) < light ? 12 : 11;
                if (hash(x, y, 85) % 23 == 0) p.at(x, y) = 10;
            }
        }
    }
    // The house.
    fill(p, 30, 82, 26, 18, 13);
    for (int n = 0; n < 10; ++n)
        fill(p, 27 + n, 81 - n, 32 - 2 * n, 1, 14);
    fill(p, 49, 68, 4, 9, 14);
    fill(p, 34, 86, 5, 5, 15);
    fill(p, 47, 86, 5, 5, 15);
    fill(p, 41, 89, 4, 11, 14);
    fill(p, 36, 86, 1, 5, 14);
    fill(p, 49, 86, 1, 5, 14);
    // The firs: triangles on triangles.
    for (const auto& [x, foot, size] : {std::array{14, 106, 11}, std::array{66, 102, 8},
                                        std::array{144, 109, 12}, std::array{130, 103, 7}}) {
        fill(p, x, foot - 4, 2, 4, 14);
        for (int part = 0; part < 3; ++part) {
            const int reach = size - 2 * part;
            for (int n = 0; n < reach; ++n) {
                fill(p, x - n / 2, foot - 4 - part * size * 2 / 3 - reach + n, n / 2 * 2 + 2, 1,
                     10);
            }
        }
    }
    return p;
}

// A histogram drawn in ink on paper. Index 0 is the LIGHT colour: a reader that takes the bits for
// black and white, without looking at the palette, shows the negative.
Picture two_tone() {
    Picture p = palette_picture(123, 45, 1, {{246, 238, 216}, {38, 44, 78}});
    for (int x = 3; x < 120; ++x) {
        const int column = (x - 3) / 3;
        if ((x - 3) % 3 == 2) continue;  // the gap between two bars
        const Fixed c = fixed(column);
        const Fixed bar = 27_f * square(bell(c - 11_f, 6_f)) + 20_f * square(bell(c - 28_f, 5_f)) +
                          2.5_f * (one + grain(column, 0, 91) * 0.5_f);
        const int rise = static_cast<int>(round_down(bar));
        for (int n = 0; n < rise; ++n) {
            p.at(x, 40 - n) = 1;
        }
    }
    fill(p, 2, 41, 119, 1, 1);
    fill(p, 0, 0, 123, 1, 1);
    fill(p, 0, 44, 123, 1, 1);
    fill(p, 0, 0, 1, 45, 1);
    fill(p, 122, 0, 1, 45, 1);
    return p;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: make_images FOLDER (an existing folder, for the pictures)\n", stderr);
        return 2;
    }
    try {
        const std::filesystem::path folder = argv[1];
        write_bmp(folder / "one-pixel.bmp", one_pixel());
        write_bmp(folder / "one-column.bmp", one_column());
        write_bmp(folder / "two-tone.bmp", two_tone());
        write_bmp(folder / "palette.bmp", palette_scene());
        write_bmp(folder / "top-down.bmp", top_down());
        write_bmp(folder / "four-values.bmp", four_values());
        write_bmp(folder / "nearly-constant.bmp", nearly_constant());
        write_bmp(folder / "landscape.bmp", landscape());
        write_bmp(folder / "colour.bmp", colour());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "make_images: %s\n", error.what());
        return 2;
    }
    return 0;
}
