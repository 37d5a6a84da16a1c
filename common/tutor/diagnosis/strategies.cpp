// The strategies of chapters 02 to 05, each with its choices.
#include <algorithm>

#include "common/tutor/diagnosis/model.hpp"

namespace common::diagnosis {
namespace {

class Strategy : public Model {
 public:
    using Model::Model;

    void zero_by_host(Label label, Array& counters, const Said& end) {
        loop(label, AS(0), end, AS(1), [&](Number bin) { set(label, counters, {"", bin}, 0); });
    }
    // One pixel after the other, in turns or each a stretch of its own; or four at a time.
    template <typename Count>
    void walk(Way way, const Count& count_it) {
        const auto one = [&](Number i) { count_it(pixel(kPixels, AS(i))); };
        if (way == kTurns) return loop(kPixels, AS(id), AS(count), AS(all), one);
        if (way == kRuns) return collect(count_it);
        if (way == kTwoATurn || way == kFourATurn)
            return unrolled(way == kTwoATurn ? 2 : 4, count_it);
        if (way == kShares) {
            const Number share = is(kPixels, kNumber, AS((count + groups - 1) / groups));
            return loop(kPixels, AS(group * share + item), AS(std::min((group + 1) * share, count)),
                        AS(size), one);
        }
        if (way == kStretches) {
            const Number stretch = is(kPixels, kNumber, AS((count + all - 1) / all));
            return loop(kPixels, AS(id * stretch), AS(std::min((id + 1) * stretch, count)), AS(1),
                        one);
        }
        const Number load = way == kFours ? 4 : way == kEights ? 8 : 16;
        loop(kLoads, AS(id), AS(count / load), AS(all), [&](Number i) {
            const Number first = is(kLoads, kAddress, AS(load * i));
            for (Number four_of = 0; four_of < load; four_of += 4)
                four(first + four_of, count_it);
        });
        loop(kTail, AS(count / load * load + id), AS(count), AS(all),
             [&](Number i) { count_it(pixel(kTail, AS(i))); });
    }
    // So many turns of the loop in one, and then what is left.
    template <typename Count>
    void unrolled(Number turns, const Count& count_it) {
        Number next = id;
        loop(kPixels, AS(id), {"the last whole turn", count - (turns - 1) * all},
             {"so many turns", turns * all}, [&](Number i) {
                 for (std::uint16_t step = 0; step < turns; ++step) {
                     const Number its = is(kLoad, kWhich, AS(step), step);
                     if (is(kLoad, kTimes, {"", 1}, step) != 0)
                         count_it(pixel(kPixels, {"", i + its * all}));
                 }
                 next = i + turns * all;
             });
        loop(kRest, AS(next), AS(count), AS(all), [&](Number i) { count_it(pixel(kRest, AS(i))); });
    }
    // Equal pixels in a row are added at once.
    template <typename Count>
    void collect(const Count& count_it) {
        Number last = 0;
        Number length = 0;
        const auto add_run = [&] {
            count_it(is(kRun, kTo, AS(last)), is(kRun, kWeight, AS(length)));
        };
        loop(kPixels, AS(id), AS(count), AS(all), [&](Number i) {
            const Number value = pixel(kPixels, AS(i));
            if (value == last) {
                ++length;
                return;
            }
            add_run();
            last = value;
            if (is(kLength, kTimes, {"", 1}) != 0) length = is(kLength, kStart, AS(1));
        });
        if (is(kLast, kTimes, AS(length)) != 0) add_run();
    }
    template <typename Count>
    void four(Number first, const Count& count_it) {
        for (std::uint16_t byte = 0; byte < 4; ++byte) {
            if (is(kByte, kTimes, {"", 1}, byte) == 0) continue;
            const Number at = first + is(kByte, kWhich, AS(byte), byte);
            count_it(pixel(kByte, {"", at}, byte));
        }
    }
    // Each of a group's work-items takes its share of so many bins.
    template <typename Body>
    void shared_out(Label label, const Said& bins, const Body& body) {
        each([=, this] { loop(label, AS(item), bins, AS(size), body); });
    }
    void zero_table(Array& table, const Said& end) {
        if (is_as_usual({kLayout, kZero, kZeroed})) return zero(table);
        shared_out(kZero, end, [this, &table](Number bin) { set(kZero, table, AS(bin), 0); });
        barrier(kZeroed);
    }
    // With a histogram that the host zeroes, and a table for each group or work-item.
    template <typename Kernel>
    void with_table(Array::Of of, Number cells, const Kernel& kernel) {
        zero_by_host(kHistogram, histogram, AS(256));
        Array table = array(of, kCounted, cells);
        launch(groups, 0, {&table}, [&] { kernel(table); });
    }
    void merge(Array& table) {
        barrier(kCounted);
        shared_out(kMerge, AS(256), [this, &table](Number bin) {
            add(kMerge, histogram, AS(bin), get(kMerge, table, AS(bin)));
        });
    }
    void sum_by_host(const Array& rows) {
        zero_by_host(kHistogram, histogram, AS(256));
        loop(kSum, AS(0), AS(tables), AS(1), [&](Number row) {
            loop(kBinLoop, AS(0), AS(256), AS(1), [&](Number bin) {
                const Number right = is(kSum, kPitch, AS(256)) * row + bin;
                const Number at = place(kSum, row, bin, right);
                add(kSum, histogram, AS(bin), get(kSum, rows, AS(at)));
            });
        });
    }
    void sum_by_kernel(const Array& rows) {
        Array sum = array(Array::kPrivate, kSum, 1);
        launch((256 + size - 1) / size, 0, {&sum}, [&] {
            each([&] {
                loop(kBinLoop, AS(id), AS(256), AS(all), [&](Number bin) {
                    clear(sum);
                    loop(kSum, AS(0), AS(tables), AS(1), [&](Number row) {
                        const Number right = row * is(kSum, kPitch, AS(256)) + bin;
                        const Number at = place(kSum, row, bin, right);
                        add(kSum, sum, AS(0), get(kSum, rows, AS(at)));
                    });
                    set(kBinLoop, histogram, AS(bin), get(kBinLoop, sum, AS(0)));
                });
            });
        });
    }
    // Sixteen pixels from this one on.
    template <typename Count>
    void sixteen(Number first, const Count& count_it) {
        for (std::uint16_t word = 0; word < 4; ++word) {
            const Number its = is(kWord, kWhich, AS(word), word);
            if (is(kWord, kTimes, {"", 1}, word) != 0)
                four(is(kLoads, kAddress, AS(first)) + 4 * its, count_it);
        }
    }
    // What counts in this table.
    auto counts_in(Array& table) {
        return [this, &table](Number bin, Number times = 1) {
            add(kPixels, table, {"", bin}, times);
        };
    }

    // ---- chapter 02 ----

    void global(Way way) {
        zero_by_host(kHistogram, histogram, AS(256));
        launch(groups, 0, {}, [&] { each([&] { walk(way, counts_in(histogram)); }); });
    }
    void subhist(Way) {
        Array rows = array(Array::kGlobal, kTables, 256 * tables);
        zero_by_host(kTables, rows, AS(256 * tables));
        launch(groups, static_cast<Number>(run_.launch.across), {}, [&] {
            each([&] {
                const Number lines = (count + width - 1) / width;
                loop(kRows, AS(y), AS(lines), AS(groupsY), [&](Number its_row) {
                    const Number row = is(kRows, kFrom, {"row", its_row});
                    loop(kColumns, AS(id), AS(width), AS(all), [&](Number x) {
                        const Number of = is(kShort, kPitch, AS(width));
                        if (is(kShort, kTimes, AS(row * of + x < count)) == 0) return;
                        const Number at = row * is(kShort, kFrom, AS(pitch)) + x;
                        const Number bin = pixel(kPixels, AS(at));
                        const Number right = group * is(kTables, kPitch, AS(256)) + bin;
                        const Number to = bin < 0 ? bin : place(kPixels, group, bin, right);
                        add(kPixels, rows, {"", to}, 1);
                    });
                });
            });
        });
        sum_by_kernel(rows);
    }

    // ---- chapter 03 ----

    void count_in_table(Array& table, Way way) {
        zero_table(table, AS(256));
        each([=, this, &table] { walk(way, counts_in(table)); });
    }
    void local(Way way) {
        with_table(Array::kShared, 256, [&](Array& table) {
            count_in_table(table, way);
            merge(table);
        });
    }
    Array rows_of_tables(Way way) {
        Array rows = array(Array::kGlobal, kTables, 256 * tables);
        Array table = array(Array::kShared, kCounted, 256);
        launch(groups, 0, {&table}, [&] {
            count_in_table(table, way);
            barrier(kCounted);
            shared_out(kMerge, AS(256), [&](Number bin) {
                const Number right = group * is(kMerge, kPitch, AS(256)) + bin;
                const Number at = place(kMerge, group, bin, right);
                set(kMerge, rows, AS(at), get(kMerge, table, AS(bin)));
            });
        });
        return rows;
    }
    void local_buckets(Way way) { sum_by_host(rows_of_tables(way)); }
    void local_subhist(Way way) { sum_by_kernel(rows_of_tables(way)); }

    // ---- chapter 04 ----

    void own_counters(Way way) {
        with_table(Array::kPrivate, 256, [&](Array& counters) {
            each([&] {
                const bool is_quick = is_as_usual({kLayout, kZero, kMerge, kHistogram});
                const auto own = static_cast<std::ptrdiff_t>(256 * self_);
                if (is_quick) {
                    std::fill_n(counters.low.begin() + own, 256, 0);
                    std::fill_n(counters.more.begin() + own, 256, 0);
                } else {
                    loop(kZero, AS(0), AS(256), AS(1),
                         [&](Number bin) { set(kZero, counters, AS(bin), 0); });
                }
                walk(way, counts_in(counters));
                if (is_quick) {
                    std::transform(counters.low.begin() + own, counters.low.begin() + own + 256,
                                   histogram.low.begin(), histogram.low.begin(), std::plus<>());
                    seen_.steps += 64;
                    return;
                }
                loop(kMerge, AS(0), AS(256), AS(1), [&](Number bin) {
                    add(kMerge, histogram, AS(bin), get(kMerge, counters, AS(bin)));
                });
            });
        });
    }
    void bytes(Way way) {
        const bool banked = way == kBanked;
        Array rows = array(Array::kGlobal, kTables, 256 * tables);
        Array bins = array(Array::kShared, kCounted, 256 * size, k8);
        Array sum = array(Array::kPrivate, kSum, 1);
        const auto at = [=, this](Label label, Number whose, Number bin) {
            if (!banked) return place(label, whose, bin, whose * 256 + bin);
            owner = whose;
            itsBin = bin;
            const auto term = [&](const Said& right, std::uint16_t position) {
                const Number its = is(kLayout, kTerm, right, position);
                return is(label, kTerm, {right.words, its}, position);
            };
            const Number word = term(AS(bin / 4), 0) * term(AS(size), 1) + whose;
            return place(label, whose, bin, word * term(AS(4), 2) + term(AS(bin % 4), 3));
        };
        launch(groups, 0, {&bins, &sum}, [&] {
            shared_out(kRow, AS(256), [&](Number bin) {
                set(kRow, rows, {"", group * is(kTables, kPitch, AS(256)) + bin}, 0);
            });
            const Number at_once = size * is(kPiece, kNumber, AS(255));
            turn = 0;
            loop(kPieces, AS(group * at_once), AS(count), AS(groups * at_once), [&](Number first) {
                piece(rows, bins, sum, at, first, at_once, banked);
                ++turn;
            });
        });
        sum_by_host(rows);
    }
    template <typename At>
    void piece(Array& rows, Array& bins, Array& sum, const At& at, Number first, Number at_once,
               bool banked) {
        each([=, this, &bins] {
            if (is_as_usual({kLayout, kZero, kZeroed, kCounted, kAgain}) &&
                !(banked && !is_as_usual({kPixels, kLayout}))) {
                if (self_ == 0) zero(bins);
                return;
            }
            const auto zero_word = [&](Number word) {
                owner = item;
                itsBin = word;
                const Number its =
                    is(kZero, kPlace, {"its place", banked ? word * size + item : word});
                for (Number byte = 0; byte < 4; ++byte)
                    set(kZero, bins, {"", its * 4 + byte}, 0);
            };
            if (banked)
                loop(kZero, AS(0), AS(64), AS(1), zero_word);
            else
                loop(kZero, AS(item), AS(size * 64), AS(size), zero_word);
        });
        if (!banked) barrier(kZeroed);
        each([=, this, &bins] {
            const Number behind = first + is(kPiece, kEnd, {"at_once", at_once});
            loop(kPixels, AS(first + item), AS(std::min(behind, count)), AS(size), [&](Number i) {
                const Number bin = pixel(kPixels, AS(i));
                const Number whose = is(kPixels, kWhich, AS(item));
                add(kPixels, bins, {"", bin < 0 ? bin : at(kPixels, whose, bin)}, 1);
            });
        });
        barrier(kCounted);
        shared_out(kMerge, AS(256), [=, this, &rows, &bins, &sum](Number bin) {
            clear(sum);
            if (bin >= 0 && bin < 256 &&
                is_as_usual({kItems, kLayout, kSum, kZero, kZeroed, kCounted, kAgain})) {
                for (Number other = 0; other < size; ++other)
                    sum.low[static_cast<std::size_t>(self_)] += bins.low[static_cast<std::size_t>(
                        banked ? (bin / 4 * size + other) * 4 + bin % 4 : other * 256 + bin)];
                seen_.steps += size / 8;
            } else {
                loop(kItems, AS(0), AS(size), AS(1), [&](Number other) {
                    const Number right = banked ? (item + other) % size : other;
                    const Number whose = is(kItems, kWhich, {"its work-item", right});
                    add(kItems, sum, AS(0), get(kItems, bins, {"", at(kItems, whose, bin)}));
                });
            }
            const Number row = group * is(kMerge, kPitch, {"256", is(kTables, kPitch, AS(256))});
            add(kMerge, rows, {"", row + bin}, get(kMerge, sum, AS(0)));
        });
        barrier(kAgain);
    }
    void lane_bins(Way way) {
        with_table(Array::kShared, 256 * copies, [&](Array& table) {
            const auto count_it = [&](Number bin) {
                const Number copy = is(kPixels, kNumber, AS(item % copies));
                const Number right = bin * is(kPixels, kPitch, AS(copies)) + copy;
                const Number at = bin < 0 ? bin : place(kPixels, copy, bin, right);
                add(kPixels, table, {"", at}, 1);
            };
            zero_table(table, AS(256 * copies));
            each([=, this, &table] {
                const Number vectors = count / 16;
                Number next = id;
                loop(kLoads, AS(id), AS(vectors - 3 * all), AS(4 * all), [&](Number i) {
                    for (std::uint16_t load = 0; load < 4; ++load) {
                        const Number its = is(kLoad, kWhich, AS(load), load);
                        if (is(kLoad, kTimes, {"", 1}, load) != 0)
                            sixteen((i + its * all) * 16, count_it);
                    }
                    next = i + 4 * all;
                });
                loop(kRest, AS(next), AS(vectors), AS(all),
                     [&](Number i) { sixteen(i * 16, count_it); });
                loop(kTail, AS(vectors * 16 + id), AS(count), AS(all), [&](Number i) {
                    const Number at = pixel(kTail, AS(i)) * is(kTail, kPitch, AS(copies));
                    add(kTail, table, {"", at + is(kTail, kNumber, AS(item % copies))}, 1);
                });
            });
            barrier(kCounted);
            shared_out(kMerge, AS(256), [=, this, &table](Number bin) {
                if (done == 0 || is(kClear, kTimes, {"", 1}) != 0) sum_ = is(kClear, kStart, AS(0));
                if (bin >= 0 && bin < 256 &&
                    is_as_usual({kCopies, kLayout, kCounted, kZero, kZeroed})) {
                    for (Number copy = 0; copy < copies; ++copy)
                        sum_ += table.low[static_cast<std::size_t>(bin * copies + copy)];
                    seen_.steps += copies / 8;
                    return add(kMerge, histogram, AS(bin), sum_);
                }
                loop(kCopies, AS(0), AS(copies), AS(1), [&](Number n) {
                    const Number rotated = way == kRotated ? (item + n) % copies : n;
                    const Number copy = is(kCopies, kWhich, {"its copy", rotated});
                    const Number right = bin * is(kCopies, kPitch, AS(copies)) + copy;
                    const Number from = place(kCopies, copy, bin, right);
                    sum_ += get(kCopies, table, {"", from});
                });
                add(kMerge, histogram, AS(bin), sum_);
            });
        });
    }

    // ---- chapter 05 ----

    void vectors_in_table(Array& table) {
        zero_table(table, AS(256));
        each([=, this, &table] {
            const Number tail = count / 16 * 16;
            loop(kLoads, AS(16 * id), AS(tail), AS(16 * all),
                 [&](Number x) { sixteen(x, counts_in(table)); });
            loop(kTail, AS(tail + id), AS(count), AS(all),
                 [&](Number x) { counts_in(table)(pixel(kTail, AS(x))); });
        });
    }
    void vector(Way) {
        with_table(Array::kShared, 256, [&](Array& table) {
            vectors_in_table(table);
            merge(table);
        });
    }
    // The group that is the last to hand over a bin has the sum of all. Which group that is nobody
    // knows.
    void tuned(Way) {
        std::array<Number, kBins> least{};
        std::array<Number, kBins> most{};
        least.fill(kAnything);
        with_table(Array::kShared, 256, [&](Array& table) {
            vectors_in_table(table);
            merge(table);
            each([&] {
                for (std::size_t bin = 0; self_ == 0 && bin < kBins; ++bin) {
                    least[bin] = std::min(least[bin], table.low[bin]);
                    most[bin] = std::max(most[bin], table.low[bin]);
                }
            });
        });
        if (is(kHandover, kWeight, AS(1)) != 0) return;
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            histogram.low[bin] -= most[bin];
            histogram.more[bin] = most[bin] - least[bin];
        }
    }

    Number sum_ = 0;  // of the copies, by one work-item

    Prediction played(void (Strategy::*kernel)(Way), Way way) {
        try {
            (this->*kernel)(way);
        } catch (const Stop&) {
            seen_.is_certain = false;
        }
        std::copy(histogram.low.begin(), histogram.low.end(), seen_.low.begin());
        std::copy(histogram.more.begin(), histogram.more.end(), seen_.more.begin());
        for (const Number more : seen_.more)
            seen_.is_certain = seen_.is_certain && more == 0;
        return seen_;
    }
};

const std::vector<Way> kWays{kTurns,  kStretches, kFours,    kEights,   kSixteens,
                             kShares, kRuns,      kTwoATurn, kFourATurn};
struct Kernel {
    const char* variant;
    void (Strategy::*play)(Way);
    std::vector<Way> ways{kTurns};  // in which it may be played
};
const Kernel kKernels[] = {
    {"global", &Strategy::global, kWays},
    {"subhist", &Strategy::subhist},
    {"local", &Strategy::local, kWays},
    {"two-per-sm", &Strategy::local},
    {"local-buckets", &Strategy::local_buckets, kWays},
    {"local-subhist", &Strategy::local_subhist, kWays},
    {"private", &Strategy::own_counters, kWays},
    {"uchar-bins", &Strategy::bytes},
    {"uchar-bins-banked", &Strategy::bytes, {kBanked}},
    {"lane-bins", &Strategy::lane_bins, {kTurns, kRotated}},
    {"vector", &Strategy::vector},
    {"tuned", &Strategy::tuned},
};

}  // namespace

Prediction predict(const Played& played, const Changed* changed, const Case& run,
                   const RunContext& context, bool in_order, std::vector<Becomes>* same) {
    return Strategy(run, context, changed, in_order, same)
        .played(kKernels[played.strategy].play, played.way);
}

std::vector<Played> strategies_of(const RunContext& context) {
    std::vector<Played> found;
    for (std::size_t i = 0; i < std::size(kKernels); ++i)
        for (const Way way : kKernels[i].ways)
            if (context.variant == kKernels[i].variant) found.push_back({i, way});
    if (context.blocked && found.size() > 1) std::swap(found[0], found[1]);
    return found;
}

std::vector<std::pair<Choice, std::string>> choices_of(const Played& played,
                                                       const RunContext& context) {
    // Enough for four loads of sixteen to each work-item, and for a tail.
    static const std::vector<std::uint8_t> pixels(16 * 4 * 4 + 43, 1);
    Case run;
    run.pixels = pixels;
    run.width = 50;
    run.launch = {2, 2, context.variant == "subhist" ? std::size_t{1} : std::size_t{0}};
    std::vector<std::pair<Choice, std::string>> asked;
    Strategy(run, context, nullptr, false, nullptr, &asked)
        .played(kKernels[played.strategy].play, played.way);
    return asked;
}

}  // namespace common::diagnosis
