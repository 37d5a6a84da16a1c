// What the counts say by themselves, whatever the kernel looks like: whether something overflows,
// which bins have changed places, and which pixels are counted how often.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "common/tutor/diagnosis/model.hpp"

namespace common::diagnosis {
namespace {

using Cases = std::vector<const Case*>;
// Pixels of a run, of the first one, and of all that are looked at; conditions that are combined
// with every other one; and how many answers are enough.
constexpr std::size_t kAtMost = 1'200'000, kAtFirst = 6'000, kAllPixels = 40'000'000;
constexpr std::size_t kBest = 12, kSoMany = 3;

// ---- an overflow ----------------------------------------------------------------------------

// Whether a sum over bins that share a word is right in all words, but for what leaves the word.
bool is_kept(const Cases& runs, std::size_t fields, std::size_t apart, unsigned bits) {
    for (const Case* const run : runs) {
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            if (bin / apart % fields != 0) continue;
            std::uint32_t difference = 0;
            for (std::size_t field = 0; field < fields; ++field) {
                const std::size_t at = bin + field * apart;
                difference += (run->actual[0][at] - run->expected[at]) << field * bits;
            }
            if (fields > 1 && difference != 0) return false;
            // What begins at 0 again loses, and gains nothing.
            if (fields == 1 &&
                (difference % (1U << bits) != 0 || run->actual[0][bin] > run->expected[bin]))
                return false;
        }
    }
    return true;
}

std::vector<Measured> overflow(const Cases& runs) {
    for (const unsigned bits : {16U, 8U}) {
        std::vector<Measured> found;
        for (unsigned each = 8; each <= bits && is_kept(runs, 1, 1, bits); each += 8)
            found.push_back(
                {fmt::format("{}-bit-overflow", each),
                 fmt::format("A number of {} bits begins at 0 again (a counter, a sum, or how "
                             "many equal pixels there were): what is lost is a multiple of {}.",
                             each, 1U << bits)});
        if (!found.empty()) return found;
        const std::size_t fields = 32 / bits;
        for (const std::size_t apart : {std::size_t{1}, kBins / fields})
            if (is_kept(runs, fields, apart, bits))
                return {
                    {"packed-counters-carry",
                     fmt::format("Counters of {} bits share a word, and one that passes {} adds "
                                 "to its neighbour: the sums of the words are right.",
                                 bits, (1U << bits) - 1)}};
    }
    return {};
}

// ---- bins that change places ----------------------------------------------------------------

std::string range(std::size_t first, std::size_t behind) {
    return behind == first + 1 ? fmt::format("{}", first)
                               : fmt::format("{} to {}", first, behind - 1);
}

// Every bin holds what belongs to one or two bins, or nothing.
std::vector<Measured> moved(const Cases& runs) {
    std::array<std::size_t, kBins> place{};  // of each value
    place.fill(kBins);
    const auto holds = [&](std::size_t bin, std::size_t one, std::size_t other) {
        return std::all_of(runs.begin(), runs.end(), [&](const Case* run) {
            const auto of = [&](std::size_t value) {
                return value < kBins ? run->expected[value] : 0;
            };
            return run->actual[0][bin] == of(one) + of(other);
        });
    };
    for (std::size_t bin = 0; bin < kBins; ++bin)
        if (holds(bin, bin, kBins)) place[bin] = bin;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        bool is_found = place[bin] == bin || holds(bin, kBins, kBins);
        for (std::size_t one = 0; one < kBins && !is_found; ++one)
            for (std::size_t other = kBins; other > one && place[one] == kBins && !is_found;
                 --other)
                if ((other == kBins || place[other] == kBins) && holds(bin, one, other)) {
                    is_found = true;
                    place[one] = bin;
                    if (other < kBins) place[other] = bin;
                }
        if (!is_found) return {};
    }
    std::string text;
    bool is_lost = true;
    std::size_t parts = 0;
    for (std::size_t value = 0, behind = 0; value < kBins; value = behind) {
        const bool lost = place[value] == kBins;
        for (behind = value + 1; behind < kBins && (place[behind] == kBins) == lost &&
                                 (lost || place[behind] - behind == place[value] - value);)
            ++behind;
        if (!lost && place[value] == value) continue;
        is_lost = is_lost && lost;
        const std::string bins = range(place[value], place[value] + behind - value);
        if (++parts <= 3)
            text += fmt::format("{}of {} {}", text.empty() ? "Pixels " : ", ", range(value, behind),
                                lost ? "are counted nowhere" : "are counted in bin " + bins);
    }
    return {{is_lost ? "bins-left-out" : "wrong-bin", text + (parts > 3 ? ", and so on." : ".")}};
}

// ---- pixels that are not counted once -------------------------------------------------------

// A pixel, and who counts it when.
struct Pixel {
    Number i = 0, v = 0, count = 0, width = 0, x = 0, columns = 0;  // columns of its row
    Number id = 0, item = 0, group = 0, size = 0, all = 0, groups = 0;
    Number turn = 0, turns = 0;   // of its work-item
    Number place = 0, equal = 0;  // among so many equal ones in a row of its work-item
    bool first_are_equal = false, last_are_equal = false;
};

// Which work-item counts a pixel.
enum Walks : std::uint8_t { kOneByOne, kByStretches, kByFours, kBySixteens, kByRows, kByPieces };
Number owner(Walks walks, Number i, const Pixel& of) {
    const Number each = walks == kByFours ? 4 : 16;
    const Number loads = of.count / each;
    const Number stretch = (of.count + of.all - 1) / of.all;
    switch (walks) {
        case kByStretches:
            return i / stretch;
        case kByFours:
        case kBySixteens:
            return i < loads * each ? i / each % of.all : (i - loads * each) % of.all;
        case kByPieces:
            return i / (255 * of.size) % of.groups * of.size + i % of.size;
        default:
            return i % of.all;
    }
}

template <typename Body>
void for_each_pixel(const Case& run, Walks walks, const Body& body) {
    Pixel pixel;
    pixel.count = static_cast<Number>(run.pixels.size());
    pixel.width = static_cast<Number>(std::max<std::size_t>(run.width, 1));
    pixel.size = static_cast<Number>(run.launch.group_size);
    pixel.groups = static_cast<Number>(run.launch.groups);
    pixel.all = pixel.groups * pixel.size;
    const auto across = static_cast<Number>(std::max<std::size_t>(run.launch.across, 1));
    std::vector<std::vector<std::uint32_t>> of(static_cast<std::size_t>(pixel.all));
    for (Number i = 0; i < pixel.count; ++i) {
        const Number row = i / pixel.width;
        const Number whose = walks == kByRows
                                 ? row % (pixel.groups / across) * across * pixel.size +
                                       i % pixel.width % (across * pixel.size)
                                 : owner(walks, i, pixel);
        of[static_cast<std::size_t>(whose)].push_back(static_cast<std::uint32_t>(i));
    }
    for (std::size_t id = 0; id < of.size(); ++id) {
        pixel.id = static_cast<Number>(id);
        pixel.item = pixel.id % pixel.size;
        pixel.group = pixel.id / pixel.size;
        pixel.turns = static_cast<Number>(of[id].size());
        std::size_t first = 0;
        for (std::size_t behind = 0; first < of[id].size(); first = behind) {
            const auto value = [&](std::size_t at) { return run.pixels[of[id][at]]; };
            while (behind < of[id].size() && value(behind) == value(first))
                ++behind;
            pixel.v = value(first);
            pixel.equal = static_cast<Number>(behind - first);
            pixel.first_are_equal = first == 0;
            pixel.last_are_equal = behind == of[id].size();
            for (std::size_t at = first; at < behind; ++at) {
                pixel.i = of[id][at];
                pixel.x = pixel.i % pixel.width;
                pixel.columns = std::min(pixel.width, pixel.count - pixel.i + pixel.x);
                pixel.turn = static_cast<Number>(at);
                pixel.place = static_cast<Number>(at - first);
                body(pixel);
            }
        }
    }
}

// What may decide how often a pixel is counted, each for so many numbers n; and what it is called
// where a pixel is counted never, and where too often.
struct Feature {
    const char* words;
    const char* never;
    const char* more;
    Number number;
    bool (*of)(const Pixel& pixel, Number n);
};
// clang-format off
#define IN_WORDS(never, more, number, words, ...)                                             \
    {words, never, more, number, [](const Pixel& pixel, [[maybe_unused]] Number n) -> bool {  \
        [[maybe_unused]] const auto& [i, v, count, width, x, columns, id, item, group, size, all, groups, \
                                      turn, turns, place, equal, first_are_equal,             \
                                      last_are_equal] = pixel;                                \
        return __VA_ARGS__; }}
#define WHERE(never, more, number, ...) IN_WORDS(never, more, number, #__VA_ARGS__, __VA_ARGS__)
#define TAIL(...) WHERE("tail-dropped", "tail-counted-twice", __VA_ARGS__)
#define LOAD(...) WHERE("part-of-a-load-skipped", "load-counted-twice", __VA_ARGS__)
#define TURN(...) WHERE("turns-left-out", "turns-counted-twice", __VA_ARGS__)
#define ITEM(...) WHERE("only-some-work-items", "some-work-items-twice", __VA_ARGS__)
#define GROUP(...) WHERE("tables-left-out", "tables-counted-twice", __VA_ARGS__)
#define BINS(...) WHERE("bins-left-out", "bins-counted-twice", __VA_ARGS__)
#define EQUAL(...) IN_WORDS("equal-pixels-lost", "equal-pixels-twice", 1, __VA_ARGS__)
const Feature kFeatures[] = {
    WHERE("nothing-counted", "counted-several-times", 1, i >= 0),
    TAIL(11, i >= count / (1 << n) * (1 << n)), TAIL(8, i >= count / (all * (2 << n)) * (all * (2 << n))),
    TAIL(1, i >= count / size * size), TAIL(1, i >= count / all * all), TAIL(1, i >= count / width * width),
    TAIL(1, i >= count / (255 * size) * (255 * size)), TAIL(1, i >= count - all),
    TAIL(1, i >= count / (255 * all) * (255 * all)), TAIL(1, i == count - 1),
    TAIL(1, x >= columns / 4 * 4), TAIL(1, x >= columns / 16 * 16),
    TAIL(1, x == columns - 1), TAIL(1, i % (255 * size) >= 255),
    WHERE("first-pixel-dropped", "first-turn-twice", 1, i == 0),
    WHERE("first-pixel-dropped", "first-turn-twice", 1, i < all),
    LOAD(1, i % 2 == 1), LOAD(4, i % 4 == n), LOAD(8, i % 8 == n), LOAD(16, i % 16 == n),
    LOAD(4, i / 4 % 4 == n), LOAD(1, i / 2 % 2 == 1), LOAD(1, i / 4 % 2 == 1),
    LOAD(1, i / 8 % 2 == 1),
    TURN(1, turn % 2 == 1), TURN(4, turn % 4 == n), TURN(8, turn % 8 == n),
    TURN(1, turn == turns - 1), TURN(6, turn >= turns / (1 << n) * (1 << n)), TURN(1, turn == 0),
    ITEM(1, id == 0), ITEM(1, id == all - 1), ITEM(1, item == size - 1), ITEM(1, item % 2 == 1),
    ITEM(8, item >= (1 << n)), ITEM(1, item >= size / 2), ITEM(1, item >= size / 4),
    GROUP(1, group == groups - 1), GROUP(4, group > n), GROUP(1, group % 2 == 1),
    GROUP(1, group >= groups / 2), GROUP(1, group >= groups / 4 * 4),
    BINS(1, v == 0), BINS(1, v == 255), BINS(8, v >= (1 << n)), BINS(1, v >= 192), BINS(1, v >= 252),
    BINS(1, v >= 254), BINS(1, v % 2 == 1), BINS(4, v % 4 == n), BINS(1, v >= size), BINS(7, v >= size * (2 << n)),
    BINS(1, v / size % 2 == 1), BINS(4, v / size % 4 == n), BINS(1, v >= all), BINS(1, v >= groups),
    BINS(1, v % all >= size), BINS(1, v % size == 0), BINS(1, v % size == size - 1),
    BINS(1, v == item % 255), BINS(1, v == item % 256), BINS(1, v == id % 256), BINS(1, v >= 256 / size * size),
    EQUAL("the work-item has just counted an equal one", place > 0),
    EQUAL("the next one of the work-item is equal", place + 1 < equal),
    EQUAL("all behind it of the work-item are equal", last_are_equal),
    EQUAL("all before it of the work-item are equal", first_are_equal),
    EQUAL("no neighbour is equal", equal == 1),
    EQUAL("it is the second, fourth, ... of equal ones in a row", place % 2 == 1),
};

// How often a pixel may be counted.
struct Rule {
    const char* words;
    Number (*of)(Number groups, Number size);
};
#define TIMES(words, ...) {words, []([[maybe_unused]] Number groups, [[maybe_unused]] Number size) \
                                      -> Number { return __VA_ARGS__; }}
constexpr Rule kRules[] = {
    TIMES("once", 1), TIMES("never", 0), TIMES("twice", 2),
    TIMES("as often as there are groups", groups),
    TIMES("as often as a group has work-items", size),
    TIMES("as often as there are work-items", groups * size), TIMES("three times", 3),
    TIMES("four times", 4), TIMES("8 times", 8), TIMES("16 times", 16), TIMES("256 times", 256),
};
// clang-format on
Number times(std::size_t rule, const Launch& launch) {
    return kRules[rule].of(static_cast<Number>(launch.groups),
                           static_cast<Number>(launch.group_size));
}

struct Condition {
    const Feature* feature;
    Number n;
    [[nodiscard]] bool of(const Pixel& pixel) const { return feature->of(pixel, n); }
};

// Two conditions make four classes of pixels. How many of each there are in each bin.
constexpr std::size_t kClasses = 4;
using Table = std::vector<std::array<Number, kClasses>>;

struct Solution {
    bool is_exact = true;
    std::array<bool, kClasses> is_known{};  // it cannot be otherwise
    double rest = 0;                        // what is not explained, squared
    std::array<double, kClasses> often{};
};

// How often the pixels of each class are counted: least squares, and whole numbers.
Solution solved(const Table& table, const Histogram& actual, double if_unknown = 1) {
    std::array<std::array<double, kClasses + 1>, kClasses> rows{};
    std::array<bool, kClasses> is_there{};
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        for (std::size_t a = 0; a < kClasses; ++a) {
            const auto weight = static_cast<double>(table[bin][a]);
            is_there[a] = is_there[a] || weight > 0;
            for (std::size_t b = 0; b < kClasses; ++b)
                rows[a][b] += weight * static_cast<double>(table[bin][b]);
            rows[a][kClasses] += weight * static_cast<double>(actual[bin]);
        }
    }
    Solution solution;
    solution.often.fill(if_unknown);
    std::size_t row = 0;
    std::array<std::size_t, kClasses> pivots{};
    std::vector<std::size_t> unknown;
    for (std::size_t column = 0; column < kClasses; ++column) {
        std::size_t best = row;
        for (std::size_t other = row; other < kClasses; ++other)
            if (std::abs(rows[other][column]) > std::abs(rows[best][column])) best = other;
        if (std::abs(rows[best][column]) < 1e-3) {  // no pixels, or it may be another class
            for (auto& each : rows)
                each[kClasses] -= if_unknown * each[column];
            solution.is_known[column] = !is_there[column];
            if (is_there[column]) unknown.push_back(column);
            continue;
        }
        std::swap(rows[row], rows[best]);
        for (std::size_t other = 0; other < kClasses; ++other) {
            const double factor = other == row ? 0 : rows[other][column] / rows[row][column];
            for (std::size_t at = column; at <= kClasses && factor != 0; ++at)
                rows[other][at] -= factor * rows[row][at];
        }
        pivots[row++] = column;
    }
    for (std::size_t of = 0; of < row; ++of) {
        solution.often[pivots[of]] = rows[of][kClasses] / rows[of][pivots[of]];
        solution.is_known[pivots[of]] =
            std::all_of(unknown.begin(), unknown.end(), [&](std::size_t column) {
                return std::abs(rows[of][column]) < 1e-6 * std::abs(rows[of][pivots[of]]);
            });
    }
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        double rest = static_cast<double>(actual[bin]);
        Number exact = actual[bin];
        for (std::size_t each = 0; each < kClasses; ++each) {
            rest -= static_cast<double>(table[bin][each]) * solution.often[each];
            exact -= table[bin][each] * std::llround(solution.often[each]);
        }
        solution.rest += rest * rest;
        solution.is_exact = solution.is_exact && exact == 0;
    }
    return solution;
}

// Classes in words, {0} and {1} the conditions.
constexpr std::pair<unsigned, const char*> kPatterns[] = {
    {0b1111, ""},
    {0b1100, "{0}"},
    {0b1010, "{1}"},
    {0b0011, "not {0}"},
    {0b0101, "not {1}"},
    {0b1000, "{0} and {1}"},
    {0b1110, "{0} or {1}"},
    {0b0100, "{0} and not {1}"},
    {0b0010, "{1} and not {0}"},
    {0b0001, "neither {0} nor {1}"},
};

struct Shares {
    Condition one, other;
    std::array<std::uint32_t, kClasses> rules{~0U, ~0U, ~0U, ~0U};  // that are possible: bits
    unsigned seen = 0;                                              // classes: bits
    std::vector<unsigned> at_once{};                                // those of each run

    [[nodiscard]] std::size_t rule(std::size_t of_class) const {  // the simplest
        std::size_t found = 0;
        while ((rules[of_class] >> found & 1U) == 0)
            ++found;
        return found;
    }
    Table table(const Case& run, Walks walks) const {
        Table table(kBins);
        for_each_pixel(run, walks, [&](const Pixel& pixel) {
            ++table[static_cast<std::size_t>(pixel.v)][one.of(pixel) * 2 + other.of(pixel)];
        });
        return table;
    }
    // Whether this run may be so, too. Where that leaves it open how often a class is counted it is
    // what another run says, once, or never.
    bool take(const Case& run, Walks walks) {
        const Table of_run = table(run, walks);
        const Solution solution = solved(of_run, run.actual[0]);
        unsigned here = 0;
        for (std::size_t each = 0; each < kClasses; ++each) {
            if (std::none_of(of_run.begin(), of_run.end(),
                             [&](const auto& bin) { return bin[each] > 0; }))
                continue;
            here |= 1U << each;
            for (std::size_t i = 0; i < std::size(kRules) && solution.is_known[each]; ++i)
                if (times(i, run.launch) != std::llround(solution.often[each]))
                    rules[each] &= ~(1U << i);
            if (rules[each] << (32 - std::size(kRules)) == 0) return false;
        }
        seen |= here;
        at_once.push_back(here);
        return solution.is_exact || solution.is_known != std::array{true, true, true, true};
    }
    [[nodiscard]] bool predicts(const Case& run, Walks walks) const {
        const Table of_run = table(run, walks);
        Histogram counted{};
        for (std::size_t bin = 0; bin < kBins; ++bin)
            for (std::size_t each = 0; each < kClasses; ++each)
                counted[bin] +=
                    static_cast<std::uint32_t>(of_run[bin][each] * times(rule(each), run.launch));
        return std::all_of(run.actual.begin(), run.actual.end(),
                           [&](const Histogram& actual) { return actual == counted; });
    }
    [[nodiscard]] std::vector<Shares> or_never() const {
        std::vector<Shares> all{*this};
        for (std::size_t each = 0; each < kClasses; ++each)
            for (std::size_t i = all.size(); rules[each] == ~0U && i > 0; --i) {
                all.push_back(all[i - 1]);
                all.back().rules[each] = 0b10;
            }
        return all;
    }
    [[nodiscard]] std::optional<Measured> in_words(bool in_cuda) const {
        const auto words_of = [&](const Condition& condition) {
            std::string words = condition.feature->words;
            if (words.find_first_of("<=>") == std::string::npos) return words;
            const auto put = [&](const char* what, Number number) {
                words = std::regex_replace(words, std::regex(what), std::to_string(number));
            };
            put("\\(1 << n\\)", Number{1} << condition.n);
            put("\\(2 << n\\)", Number{2} << condition.n);
            put("\\bn\\b", condition.n);
            return said(words, "", in_cuda);
        };
        Measured measured;
        for (std::size_t of = 1; of < std::size(kRules); ++of) {
            unsigned classes = 0;
            for (std::size_t each = 0; each < kClasses; ++each)
                classes |= (seen >> each & 1U) != 0 && rule(each) == of ? 1U << each : 0;
            const auto* const found =
                std::find_if(std::begin(kPatterns), std::end(kPatterns),
                             [&](const auto& each) { return (each.first & seen) == classes; });
            if (classes == 0) continue;
            if (found == std::end(kPatterns)) return std::nullopt;
            const std::string words = found->second;
            const bool by_one = words.find("{0}") != std::string::npos || words.empty();
            const Feature& named = *(by_one ? one : other).feature;
            if (measured.name.empty()) measured.name = of == 1 ? named.never : named.more;
            measured.sentence +=
                fmt::format("{} a pixel is counted {}{}", measured.sentence.empty() ? "" : ", and",
                            kRules[of].words, words.empty() ? "" : " where ");
            measured.sentence += fmt::format(fmt::runtime(words), words_of(one), words_of(other));
        }
        if (measured.name.empty()) return std::nullopt;
        measured.sentence = "A" + measured.sentence.substr(2) + ".";
        return measured;
    }
};

// What fits one run: each condition alone, or two together.
std::vector<Shares> shares_of(const Case& run, Walks walks) {
    std::vector<Condition> conditions;
    for (const Feature& feature : kFeatures)
        for (Number n = 0; n < feature.number; ++n)
            conditions.push_back({&feature, n});
    std::vector<std::vector<bool>> holds(conditions.size());
    std::vector<std::uint8_t> values;
    for_each_pixel(run, walks, [&](const Pixel& pixel) {
        values.push_back(static_cast<std::uint8_t>(pixel.v));
        for (std::size_t c = 0; c < conditions.size(); ++c)
            holds[c].push_back(conditions[c].of(pixel));
    });
    const auto solution_of = [&](std::size_t one, std::size_t other) {
        Table table(kBins);
        for (std::size_t i = 0; i < values.size(); ++i)
            ++table[values[i]][holds[one][i] * 2U + holds[other][i]];
        const Solution solution = solved(table, run.actual[0]);
        return solution.is_exact ? solution : solved(table, run.actual[0], 0);
    };
    std::vector<Shares> found;
    std::vector<std::pair<double, std::size_t>> rests;
    for (std::size_t one = 0; one < conditions.size(); ++one) {
        const Solution solution = solution_of(one, one);
        if (solution.is_exact) found.push_back({conditions[one], conditions[one]});
        rests.emplace_back(solution.rest, one);
    }
    std::stable_sort(rests.begin(), rests.end());
    rests.resize(kBest);
    for (const auto& [rest, one] : rests)
        for (std::size_t other = 1; other < conditions.size(); ++other)
            if (one != other && solution_of(one, other).is_exact)
                found.push_back({conditions[one], conditions[other]});
    return found;
}

std::vector<Measured> shares(const Cases& wrong, const Cases& all, const RunContext& context) {
    std::size_t left = kAllPixels;
    std::vector<Walks> ways{kOneByOne, kByFours, kBySixteens};
    if (context.variant == "subhist") ways = {kByRows};
    if (context.variant.starts_with("uchar")) ways = {kByPieces, kOneByOne};
    if (context.blocked) ways.insert(ways.begin(), kByStretches);
    std::vector<Measured> found;
    const Case* first = wrong.front();  // small, and with many pixels to tell apart
    for (const Case* const run : wrong)
        if (run->pixels.size() <= kAtFirst && run->pixels.size() > first->pixels.size())
            first = run;
    if (first->pixels.size() > 10 * kAtFirst) return found;
    for (const Walks way : ways) {
        for (Shares& each : shares_of(*first, way)) {
            const auto fits = [&](const auto& ask) {
                return std::all_of(all.begin(), all.end(), [&](const Case* run) {
                    if (run->pixels.size() > kAtMost) return true;
                    if (run->pixels.size() > left) return false;
                    left -= run->pixels.size();
                    return ask(*run);
                });
            };
            const bool is_pair =
                each.one.feature != each.other.feature || each.one.n != each.other.n;
            if ((is_pair && !found.empty()) ||
                !fits([&](const Case& run) { return each.take(run, way); }))
                continue;
            // Runs that never show all classes side by side may differ by something else.
            if (std::count(each.at_once.begin(), each.at_once.end(), each.seen) == 0) continue;
            for (const Shares& one : each.or_never()) {
                if (!fits([&](const Case& run) { return one.predicts(run, way); })) continue;
                const std::optional<Measured> said = one.in_words(context.in_cuda);
                const auto is_same = [&](const Measured& other) {
                    return other.name == said->name;
                };
                if (said && std::none_of(found.begin(), found.end(), is_same))
                    found.push_back(*said);
                break;
            }
            if (found.size() == kSoMany) break;
        }
        if (!found.empty()) break;
    }
    return found;
}

}  // namespace

std::vector<Measured> measured(const Cases& wrong, const Cases& all, const RunContext& context) {
    // A bin that nobody has written, in none of the tables, has no counts.
    std::vector<Case> cleaned;
    bool some = false;
    for (const Case* const run : all) {
        if (run->actual.empty() || run->changes() || run->ended != Case::Ended::kItself) return {};
        cleaned.push_back(*run);
        for (Histogram& counts : cleaned.back().actual)
            for (std::uint32_t& count : counts)
                if (count == kPoison || count == run->launch.groups * kPoison) {
                    count = 0;
                    some = true;
                }
    }
    Cases all_cleaned;
    Cases wrong_cleaned;
    for (const Case& run : cleaned)
        all_cleaned.push_back(&run);
    for (const Case* const run : wrong)
        wrong_cleaned.push_back(&cleaned[static_cast<std::size_t>(
            std::find(all.begin(), all.end(), run) - all.begin())]);
    std::vector<Measured> found = overflow(all_cleaned);
    if (found.empty()) found = moved(all_cleaned);
    if (found.empty()) found = shares(wrong_cleaned, all_cleaned, context);
    for (Measured& each : found)
        if (some) each.sentence += " Nobody writes the bins that are never counted.";
    return found;
}

bool is_all_measured(const Cases& all) {
    return std::all_of(all.begin(), all.end(),
                       [](const Case* run) { return run->pixels.size() <= kAtMost; });
}

}  // namespace common::diagnosis
