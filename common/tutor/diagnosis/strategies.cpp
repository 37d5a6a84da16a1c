// The strategies of chapters 02 to 05, each with its choices.
#include <algorithm>

#include "common/tutor/diagnosis/model.hpp"

namespace common::diagnosis {
namespace {

using std::min;  // its name is part of what a choice is called

class Strategy : public Model {
 public:
    using Model::Model;

    void zero_by_host(Label label, Array& counters, const NamedNumber& end) {
        loop(label, NAMED(0), end, NAMED(1), [&](Number bin) {
            set(label, counters, {"", bin}, 0);
        });
    }
    // One pixel after the other, in turns or each a stretch of its own; or four at a time.
    template <typename Count>
    void walk(Way way, const Count& count_it) {
        const auto one = [&](Number i) { count_it(pixel(kPixels, NAMED(i))); };
        if (way == kTurns) return loop(kPixels, NAMED(id), NAMED(count), NAMED(all), one);
        if (way == kShares) {
            const Number share = chosen(kPixels, kNumber, NAMED((count + groups - 1) / groups));
            return loop(kPixels, NAMED(group * share + item),
                        NAMED(min((group + 1) * share, count)), NAMED(size), one);
        }
        if (way == kStretches) {
            const Number stretch = chosen(kPixels, kNumber, NAMED((count + all - 1) / all));
            return loop(kPixels, NAMED(id * stretch), NAMED(min((id + 1) * stretch, count)),
                        NAMED(1), one);
        }
        const Number load = way == kFours ? 4 : way == kEights ? 8 : 16;
        loop(kLoads, NAMED(id), NAMED(count / load), NAMED(all), [&](Number i) {
            const Number first = chosen(kLoads, kAddress, NAMED(load * i));
            for (Number four_of = 0; four_of < load; four_of += 4)
                four(first + four_of, count_it);
        });
        loop(kTail, NAMED(count / load * load + id), NAMED(count), NAMED(all),
             [&](Number i) { count_it(pixel(kTail, NAMED(i))); });
    }
    template <typename Count>
    void four(Number first, const Count& count_it) {
        for (std::uint16_t byte = 0; byte < 4; ++byte) {
            if (chosen(kByte, kTimes, {"", 1}, byte) == 0) continue;
            const Number at = first + chosen(kByte, kWhich, NAMED(byte), byte);
            count_it(pixel(kByte, {"", at}, byte));
        }
    }
    // Each of a group's work-items takes its share of so many bins.
    template <typename Body>
    void shared_out(Label label, const NamedNumber& bins, const Body& body) {
        each([=, this] { loop(label, NAMED(item), bins, NAMED(size), body); });
    }
    void zero_table(Array& table, const NamedNumber& end) {
        if (is_as_usual({kLayout, kZero, kZeroed})) return zero(table);
        shared_out(kZero, end, [this, &table](Number bin) { set(kZero, table, NAMED(bin), 0); });
        barrier(kZeroed);
    }
    // With a histogram that the host zeroes, and a table for each group or work-item.
    template <typename Kernel>
    void with_table(Array::Of of, Number cells, const Kernel& kernel) {
        zero_by_host(kHistogram, histogram, NAMED(256));
        Array table = array(of, kCounted, cells);
        launch(groups, 0, {&table}, [&] { kernel(table); });
    }
    void merge(Array& table) {
        barrier(kCounted);
        shared_out(kMerge, NAMED(256), [this, &table](Number bin) {
            add(kMerge, histogram, NAMED(bin), get(kMerge, table, NAMED(bin)));
        });
    }
    void sum_by_host(const Array& rows) {
        zero_by_host(kHistogram, histogram, NAMED(256));
        loop(kSum, NAMED(0), NAMED(tables), NAMED(1), [&](Number row) {
            loop(kBinLoop, NAMED(0), NAMED(256), NAMED(1), [&](Number bin) {
                const Number right = chosen(kSum, kPitch, NAMED(256)) * row + bin;
                const Number at = place(kSum, row, bin, right);
                add(kSum, histogram, NAMED(bin), get(kSum, rows, NAMED(at)));
            });
        });
    }
    void sum_by_kernel(const Array& rows) {
        Array sum = array(Array::kPrivate, kSum, 1);
        launch((256 + size - 1) / size, 0, {&sum}, [&] {
            each([&] {
                loop(kBinLoop, NAMED(id), NAMED(256), NAMED(all), [&](Number bin) {
                    clear(sum);
                    loop(kSum, NAMED(0), NAMED(tables), NAMED(1), [&](Number row) {
                        const Number right = row * chosen(kSum, kPitch, NAMED(256)) + bin;
                        const Number at = place(kSum, row, bin, right);
                        add(kSum, sum, NAMED(0), get(kSum, rows, NAMED(at)));
                    });
                    set(kBinLoop, histogram, NAMED(bin), get(kBinLoop, sum, NAMED(0)));
                });
            });
        });
    }
    // Sixteen pixels from this one on.
    template <typename Count>
    void sixteen(Number first, const Count& count_it) {
        for (std::uint16_t word = 0; word < 4; ++word) {
            const Number its = chosen(kWord, kWhich, NAMED(word), word);
            if (chosen(kWord, kTimes, {"", 1}, word) != 0)
                four(chosen(kLoads, kAddress, NAMED(first)) + 4 * its, count_it);
        }
    }
    // What counts in this table.
    auto counts_in(Array& table) {
        return [this, &table](Number bin) { add(kPixels, table, {"", bin}, 1); };
    }

    // ---- chapter 02 ----

    void global(Way way) {
        zero_by_host(kHistogram, histogram, NAMED(256));
        launch(groups, 0, {}, [&] { each([&] { walk(way, counts_in(histogram)); }); });
    }
    void subhist(Way) {
        Array rows = array(Array::kGlobal, kTables, 256 * tables);
        zero_by_host(kTables, rows, NAMED(256 * tables));
        launch(groups, static_cast<Number>(run_.launch.across), {}, [&] {
            each([&] {
                const Number lines = (count + width - 1) / width;
                loop(kRows, NAMED(y), NAMED(lines), NAMED(groupsY), [&](Number its_row) {
                    const Number row = chosen(kRows, kReadIndex, {"row", its_row});
                    loop(kColumns, NAMED(id), NAMED(width), NAMED(all), [&](Number x) {
                        const Number of = chosen(kShort, kWhich, NAMED(width));
                        if (chosen(kShort, kTimes, NAMED(row * of + x < count)) == 0) return;
                        const Number at = row * chosen(kShort, kReadIndex, NAMED(pitch)) + x;
                        const Number bin = pixel(kPixels, NAMED(at));
                        const Number right = group * chosen(kTables, kPitch, NAMED(256)) + bin;
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
        zero_table(table, NAMED(256));
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
            shared_out(kMerge, NAMED(256), [&](Number bin) {
                const Number right = group * chosen(kMerge, kPitch, NAMED(256)) + bin;
                const Number at = place(kMerge, group, bin, right);
                set(kMerge, rows, NAMED(at), get(kMerge, table, NAMED(bin)));
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
                    loop(kZero, NAMED(0), NAMED(256), NAMED(1),
                         [&](Number bin) { set(kZero, counters, NAMED(bin), 0); });
                }
                walk(way, counts_in(counters));
                if (is_quick) {
                    std::transform(counters.low.begin() + own, counters.low.begin() + own + 256,
                                   histogram.low.begin(), histogram.low.begin(), std::plus<>());
                    seen_.steps += 512;
                    return;
                }
                loop(kMerge, NAMED(0), NAMED(256), NAMED(1), [&](Number bin) {
                    add(kMerge, histogram, NAMED(bin), get(kMerge, counters, NAMED(bin)));
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
            const auto term = [&](const NamedNumber& right, std::uint16_t position) {
                const Number its = chosen(kLayout, kTerm, right, position);
                return chosen(label, kTerm, {right.words, its}, position);
            };
            const Number word = term(NAMED(bin / 4), 0) * term(NAMED(size), 1) + whose;
            return place(label, whose, bin, word * term(NAMED(4), 2) + term(NAMED(bin % 4), 3));
        };
        launch(groups, 0, {&bins, &sum}, [&] {
            shared_out(kRow, NAMED(256), [&](Number bin) {
                set(kRow, rows, {"", group * chosen(kTables, kPitch, NAMED(256)) + bin}, 0);
            });
            const Number at_once = size * chosen(kPiece, kNumber, NAMED(255));
            turn = 0;
            loop(kPieces, NAMED(group * at_once), NAMED(count), NAMED(groups * at_once),
                 [&](Number first) {
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
                    chosen(kZero, kPlace, {"its place", banked ? word * size + item : word});
                for (Number byte = 0; byte < 4; ++byte)
                    set(kZero, bins, {"", its * 4 + byte}, 0);
            };
            if (banked)
                loop(kZero, NAMED(0), NAMED(64), NAMED(1), zero_word);
            else
                loop(kZero, NAMED(item), NAMED(size * 64), NAMED(size), zero_word);
        });
        if (!banked) barrier(kZeroed);
        each([=, this, &bins] {
            const Number behind = first + chosen(kPiece, kEnd, {"at_once", at_once});
            loop(kPixels, NAMED(first + item), NAMED(min(behind, count)), NAMED(size),
                 [&](Number i) {
                     const Number bin = pixel(kPixels, NAMED(i));
                     const Number whose = chosen(kPixels, kWhich, NAMED(item));
                     add(kPixels, bins, {"", bin < 0 ? bin : at(kPixels, whose, bin)}, 1);
                 });
        });
        barrier(kCounted);
        shared_out(kMerge, NAMED(256), [=, this, &rows, &bins, &sum](Number bin) {
            clear(sum);
            if (bin >= 0 && bin < 256 &&
                is_as_usual({kItems, kLayout, kSum, kZero, kZeroed, kCounted, kAgain})) {
                for (Number other = 0; other < size; ++other)
                    sum.low[static_cast<std::size_t>(self_)] += bins.low[static_cast<std::size_t>(
                        banked ? (bin / 4 * size + other) * 4 + bin % 4 : other * 256 + bin)];
                seen_.steps += size / 8;
            } else {
                loop(kItems, NAMED(0), NAMED(size), NAMED(1), [&](Number other) {
                    const Number right = banked ? (item + other) % size : other;
                    const Number whose =
                        chosen(kItems, kWhich, {"the one whose turn it is", right});
                    add(kItems, sum, NAMED(0), get(kItems, bins, {"", at(kItems, whose, bin)}));
                });
            }
            const Number row =
                group * chosen(kMerge, kPitch, {"256", chosen(kTables, kPitch, NAMED(256))});
            add(kMerge, rows, {"", row + bin}, get(kMerge, sum, NAMED(0)));
        });
        barrier(kAgain);
    }
    void lane_bins(Way way) {
        with_table(Array::kShared, 256 * copies, [&](Array& table) {
            const auto count_it = [&](Number bin) {
                const Number copy = chosen(kPixels, kNumber, NAMED(item % copies));
                const Number right = bin * chosen(kPixels, kPitch, NAMED(copies)) + copy;
                const Number at = bin < 0 ? bin : place(kPixels, copy, bin, right);
                add(kPixels, table, {"", at}, 1);
            };
            zero_table(table, NAMED(256 * copies));
            each([=, this, &table] {
                const Number vectors = count / 16;
                Number next = id;
                loop(kLoads, NAMED(id), NAMED(vectors - 3 * all), NAMED(4 * all), [&](Number i) {
                    for (std::uint16_t load = 0; load < 4; ++load) {
                        const Number its = chosen(kLoad, kWhich, NAMED(load), load);
                        if (chosen(kLoad, kTimes, {"", 1}, load) != 0)
                            sixteen((i + its * all) * 16, count_it);
                    }
                    next = i + 4 * all;
                });
                loop(kRest, NAMED(next), NAMED(vectors), NAMED(all),
                     [&](Number i) { sixteen(i * 16, count_it); });
                loop(kTail, NAMED(vectors * 16 + id), NAMED(count), NAMED(all), [&](Number i) {
                    const Number at = pixel(kTail, NAMED(i)) * chosen(kTail, kPitch, NAMED(copies));
                    add(kTail, table, {"", at + chosen(kTail, kNumber, NAMED(item % copies))}, 1);
                });
            });
            barrier(kCounted);
            shared_out(kMerge, NAMED(256), [=, this, &table](Number bin) {
                if (done == 0 || chosen(kClear, kTimes, {"", 1}) != 0)
                    sum_ = chosen(kClear, kStart, NAMED(0));
                if (bin >= 0 && bin < 256 &&
                    is_as_usual({kCopies, kLayout, kCounted, kZero, kZeroed})) {
                    for (Number copy = 0; copy < copies; ++copy)
                        sum_ += table.low[static_cast<std::size_t>(bin * copies + copy)];
                    seen_.steps += copies / 8;
                    return add(kMerge, histogram, NAMED(bin), sum_);
                }
                loop(kCopies, NAMED(0), NAMED(copies), NAMED(1), [&](Number n) {
                    const Number rotated = way == kRotated ? (item + n) % copies : n;
                    const Number copy = chosen(kCopies, kWhich, {"its copy", rotated});
                    const Number right = bin * chosen(kCopies, kPitch, NAMED(copies)) + copy;
                    const Number from = place(kCopies, copy, bin, right);
                    sum_ += get(kCopies, table, {"", from});
                });
                add(kMerge, histogram, NAMED(bin), sum_);
            });
        });
    }

    // ---- chapter 05 ----

    void vectors_in_table(Array& table) {
        zero_table(table, NAMED(256));
        each([=, this, &table] {
            const Number tail = count / 16 * 16;
            loop(kLoads, NAMED(16 * id), NAMED(tail), NAMED(16 * all),
                 [&](Number x) { sixteen(x, counts_in(table)); });
            loop(kTail, NAMED(tail + id), NAMED(count), NAMED(all),
                 [&](Number x) { counts_in(table)(pixel(kTail, NAMED(x))); });
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
        if (chosen(kHandover, kWeight, NAMED(1)) != 0) return;
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

const std::vector<Way> kWays{kTurns, kStretches, kFours, kEights, kSixteens, kShares};
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
    {"core-bins", &Strategy::own_counters, {kShares}},
    {"vector", &Strategy::vector},
    {"tuned", &Strategy::tuned},
};

}  // namespace

Prediction predict(const Played& played, const Changed* changed, const Case& run,
                   const RunContext& context, bool in_order) {
    return Strategy(run, context, changed, in_order)
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

void ask(const Played& played, const Case& run, const RunContext& context, const Asked& asked) {
    Strategy(run, context, nullptr, false, &asked)
        .played(kKernels[played.strategy].play, played.way);
}

std::vector<std::pair<Choice, std::string>> choices_of(const Played& played,
                                                       const RunContext& context) {
    // Enough for four loads of sixteen to each work-item, and for a tail.
    static const std::vector<std::uint8_t> pixels(16 * 4 * 4 + 43, 1);
    Case run;
    run.pixels = pixels;
    run.width = 50;
    run.launch = {2, 2, context.variant == "subhist" ? std::size_t{1} : std::size_t{0}};
    std::vector<std::pair<Choice, std::string>> all;
    std::set<std::uint32_t> known;
    ask(played, run, context, [&](const Place&, const Choice& choice, const NamedNumber& right) {
        if (known.insert(choice.key()).second) all.emplace_back(choice, right.words);
    });
    return all;
}

}  // namespace common::diagnosis
