// Mistakes with the counters themselves, and what chapter 04 makes of them: bytes, copies, loads
// of 16.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "common/tutor/diagnosis/list.hpp"

namespace common::diagnosis {

namespace {

// Each work-item has 256 counters; a group takes a piece of the picture, adds the counters up and
// goes on to another piece. `add_piece` gets the counters of a piece, item by item.
template <typename AddPiece>
std::optional<Histogram> counted_in_pieces(const Case& run, std::size_t piece,
                                           const AddPiece& add_piece) {
    if (!has_launch(run) || run.launch.across > 0 || run.pixels.size() > kManyPixels)
        return std::nullopt;
    const std::size_t size = run.launch.group_size;
    const std::size_t pieces = (run.pixels.size() + piece - 1) / piece;
    Histogram histogram{};
    std::vector<std::uint32_t> counters(size * kBins);
    for (std::size_t group = 0; group < run.launch.groups; ++group) {
        std::fill(counters.begin(), counters.end(), 0);
        for (std::size_t p = group; p < pieces; p += run.launch.groups) {
            const std::size_t end = std::min((p + 1) * piece, run.pixels.size());
            for (std::size_t i = p * piece; i < end; ++i)
                ++counters[(i - p * piece) % size * kBins + run.pixels[i]];
            add_piece(counters, histogram);
        }
    }
    return histogram;
}

// The same in chapter 04's pieces, of 255 pixels for each work-item.
template <typename AddPiece>
std::optional<Histogram> counted_in_pieces(const Case& run, const AddPiece& add_piece) {
    return counted_in_pieces(run, 255 * run.launch.group_size, add_piece);
}

// Counters that go up to `limit` and begin again, of each work-item in each piece.
std::optional<Histogram> overflowing_pieces(const Case& run, std::size_t piece,
                                            std::uint32_t limit) {
    return counted_in_pieces(run, piece, [&](std::vector<std::uint32_t>& counters, Histogram& sum) {
        for (std::size_t at = 0; at < counters.size(); ++at)
            sum[at % kBins] += std::exchange(counters[at], 0) % limit;
    });
}

// The same without pieces: of each work-item over the whole picture.
std::optional<Histogram> overflowing_items(Walk walk, const Case& run, std::uint32_t limit) {
    if (!walks_here(walk, run) || work_items(run) > kManyItems) return std::nullopt;
    Histogram histogram{};
    for (const Histogram& table : tables_of_items(walk, run)) {
        for (std::size_t bin = 0; bin < kBins; ++bin)
            histogram[bin] += table[bin] % limit;
    }
    return histogram;
}

// Beyond it a float cannot be increased by one.
constexpr std::uint32_t kMax = 1U << 24;

}  // namespace

void add_overflows(List& list) {
    const auto add = [&](const char* name, const char* sentence, std::uint32_t limit) {
        list.about(name, sentence, kPublished);
        list.add([=](const Case& run, const RunContext&) {
            Histogram histogram = run.expected;
            for (std::uint32_t& count : histogram)
                count %= limit;
            return histogram;
        });
        for (const std::size_t pixels_each : {256U, 510U, 512U, 1024U, 4096U}) {
            list.add([=](const Case& run, const RunContext&) {
                return overflowing_pieces(run, run.launch.group_size * pixels_each, limit);
            });
        }
        for (const std::size_t piece : {kBins * 255, kBins * 256}) {
            list.add([=](const Case& run, const RunContext&) {
                return overflowing_pieces(run, piece, limit);
            });
        }
        list.add_for_tables([=](std::uint32_t count) { return count % limit; });
        for (const Walk walk : kWalks) {
            list.add([=](const Case& run, const RunContext&) {
                return overflowing_items(walk, run, limit);
            });
        }
    };
    add("8-bit-overflow",
        "A counter of 8 bits gets 256 or more equal pixels, and begins at 0 again.", 1U << 8);
    add("16-bit-overflow",
        "A counter of 16 bits gets 65536 or more equal pixels, and begins at 0 again.", 1U << 16);
    list.about("float-counters",
               "The counts are kept in floating-point numbers of 32 bits, which beyond 16777216 "
               "cannot be increased by one.",
               kPublished);
    list.add_bins([](const Histogram& expected) {
        Histogram histogram = expected;
        for (std::uint32_t& count : histogram)
            count = std::min(count, kMax);
        return histogram;
    });
    list.add_bins([](const Histogram& expected) {  // converted at the end
        Histogram histogram = expected;
        for (std::uint32_t& count : histogram)
            count = static_cast<std::uint32_t>(static_cast<float>(count));
        return histogram;
    });
    list.add_for_tables([](std::uint32_t count) { return std::min(count, kMax); },
                        std::numeric_limits<std::size_t>::max());
}

void add_bytes(List& list) {
    list.about("table-not-zeroed",
               "The counters are zeroed once, and not again for each piece of the picture.",
               kRaces);
    list.add([](const Case& run, const RunContext&) {
        return counted_in_pieces(run, [](std::vector<std::uint32_t>& counters, Histogram& sum) {
            for (std::size_t at = 0; at < counters.size(); ++at) {
                counters[at] %= 256;
                sum[at % kBins] += counters[at];
            }
        });
    });
    list.about("8-bit-overflow", "The counters of 8 bits are added up in 8 bits.", kPublished);
    list.add([](const Case& run, const RunContext&) {
        return counted_in_pieces(run, [](std::vector<std::uint32_t>& counters, Histogram& sum) {
            Histogram of_piece{};
            for (std::size_t at = 0; at < counters.size(); ++at)
                of_piece[at % kBins] += std::exchange(counters[at], 0);
            for (std::size_t bin = 0; bin < kBins; ++bin)
                sum[bin] += of_piece[bin] % 256;
        });
    });
    list.about("signed-counters",
               "The counters of 8 bits are signed: from 128 on they are negative.", kPublished);
    list.add([](const Case& run, const RunContext&) {
        return counted_in_pieces(run, [](std::vector<std::uint32_t>& counters, Histogram& sum) {
            for (std::size_t at = 0; at < counters.size(); ++at) {
                const std::uint32_t count = std::exchange(counters[at], 0) % 256;
                sum[at % kBins] += count < 128 ? count : count - 256;
            }
        });
    });
    list.about("wrong-stride",
               "Every group takes the next piece of the picture, not its own next one.", kStrategy);
    list.add_pixels([](const Case& run, std::size_t i) {
        return std::min(i / (255 * run.launch.group_size) + 1, run.launch.groups);
    });
    list.about("no-barrier-after-zeroing",
               "There is no barrier between zeroing the table and counting: work-items count while "
               "others still zero.",
               kRaces);
    list.add([](const Case& run, const RunContext& context) -> std::optional<Histogram> {
        if (!walks_here(in_pieces<255>, run) || !context.one_by_one) return std::nullopt;
        return count_if(run, [&](std::size_t i) {  // the words are zeroed in turn, four bins each
            const std::size_t item = in_pieces<255>(run, i).item;
            return (item * (kBins / 4) + run.pixels[i] / 4U) % run.launch.group_size <= item;
        });
    });
}

void add_copies(List& list) {
    for (const std::size_t copies : {2U, 4U, 8U, 16U, 32U}) {
        list.about("only-the-first-copy", "Of the copies of a table only the first is merged.",
                   kStrategy);
        const auto add = [&](const auto& is_merged) {
            list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
                if (!walks_here(in_vectors, run)) return std::nullopt;
                return count_if(run, [&](std::size_t i) {
                    return is_merged(in_vectors(run, i).item % copies);
                });
            });
        };
        add([](std::size_t copy) { return copy == 0; });
        list.about("last-copy-skipped", "Of the copies of a table the last is not merged.",
                   kStrategy);
        add([=](std::size_t copy) { return copy + 1 != copies; });
        list.about("tail-in-wrong-bins",
                   "The last pixels are counted in a table that is laid out in another way.",
                   kStrategy);
        list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
            if (!walks_here(in_vectors, run)) return std::nullopt;
            Histogram histogram{};
            for (std::size_t i = 0; i < run.pixels.size(); ++i) {
                const std::size_t copy = in_vectors(run, i).item % copies;
                const bool in_tail = i >= run.pixels.size() / 16 * 16;
                ++histogram[in_tail ? (run.pixels[i] + copy) / copies : run.pixels[i]];
            }
            return histogram;
        });
    }
}

void add_loads(List& list) {
    const auto in_loads = [](const Case& run) { return run.pixels.size() / 16 * 16; };
    list.about("misaligned-loads", "The loads begin one pixel too late.", kStrategy);
    list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
        if (run.pixels.size() % 16 == 0) return std::nullopt;  // a byte from behind the picture
        return count_if(run, [&](std::size_t i) {
            return i == 0 ? 0 : i == in_loads(run) ? 2 : 1;
        });
    });
    list.about("part-of-a-load-masked", "Of one of the pixels that a load brings a bit is lost.",
               kStrategy);
    for (std::size_t byte = 0; byte < 4; ++byte) {
        for (const unsigned mask : {0x7fU, 0x3fU, 0x0fU, 0xfeU}) {
            list.add([=](const Case& run, const RunContext&) -> std::optional<Histogram> {
                Histogram histogram{};
                for (std::size_t i = 0; i < run.pixels.size(); ++i) {
                    const bool masked = i < in_loads(run) && i % 4 == byte;
                    ++histogram[masked ? run.pixels[i] & mask : run.pixels[i]];
                }
                return histogram;
            });
        }
    }
    list.about("load-counted-twice",
               "Of the loads that are under way together one is counted twice, and another never.",
               kStrategy);
    for (std::size_t twice = 0; twice < 4; ++twice) {
        for (std::size_t never = 0; never < 4; ++never) {
            if (never == twice) continue;
            list.add_pixels([=](const Case& run, std::size_t i) {
                const std::size_t all = work_items(run);
                const std::size_t load = i / 16;
                const std::size_t round = load / all;
                const bool four = load % all + (round / 4 * 4 + 3) * all < run.pixels.size() / 16;
                if (i >= in_loads(run) || !four) return 1;
                return round % 4 == twice ? 2 : round % 4 == never ? 0 : 1;
            });
        }
    }
    list.about("tail-begins-too-early",
               "The loop for the last pixels begins too early: at the number of loads, not of the "
               "pixels in them.",
               kPublished);
    list.add_pixels([=](const Case& run, std::size_t i) {
        return i >= run.pixels.size() / 16 && i < in_loads(run) ? 2 : 1;
    });
}

}  // namespace common::diagnosis
