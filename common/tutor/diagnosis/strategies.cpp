// Strategies of the chapters, each with its choices.

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
    // One pixel after the other, in turns.
    template <typename Count>
    void walk(const Count& count_it) {
        loop(kPixels, NAMED(id), NAMED(count), NAMED(all),
             [&](Number i) { count_it(pixel(kPixels, NAMED(i))); });
    }
    // Over a picture's rows, of which the last may be short; and along one of them.
    template <typename Body>
    void over_rows(const NamedNumber& start, const NamedNumber& stride, const Body& body) {
        const Number lines = (count + width - 1) / width;
        loop(kRows, start, NAMED(lines), stride, body);
    }
    template <typename Count>
    void columns(Number its_row, const NamedNumber& start, const NamedNumber& stride,
                 const Count& count_it) {
        const Number row = chosen(kRows, kReadIndex, {"row", its_row});
        loop(kColumns, start, NAMED(width), stride, [&](Number x) {
            const Number of = chosen(kShort, kWhich, NAMED(width));
            if (chosen(kShort, kTimes, NAMED(row * of + x < count)) == 0) return;
            const Number at = row * chosen(kShort, kReadIndex, NAMED(pitch)) + x;
            count_it(pixel(kPixels, NAMED(at)));
        });
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
        launch(groups, {&table}, [&] { kernel(table); });
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
        launch((256 + size - 1) / size, {&sum}, [&] {
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

    void global() {
        zero_by_host(kHistogram, histogram, NAMED(256));
        launch(groups, {}, [&] { each([&] { walk(counts_in(histogram)); }); });
    }
    // `walk` counts pixels in the table of its group, which it is given.
    template <typename Walk>
    void with_tables(const Walk& walk_over) {
        Array rows = array(Array::kGlobal, kTables, 256 * tables);
        zero_by_host(kTables, rows, NAMED(256 * tables));
        launch(groups, {}, [&] {
            each([&] {
                walk_over([&](Number bin) {
                    const Number right = group * chosen(kTables, kPitch, NAMED(256)) + bin;
                    const Number to = bin < 0 ? bin : place(kPixels, group, bin, right);
                    add(kPixels, rows, {"", to}, 1);
                });
            });
        });
        sum_by_kernel(rows);
    }
    void subhist() {
        with_tables([&](const auto& count_it) { walk(count_it); });
    }
    // Its exercise: a picture whose rows lie a pitch apart.
    void pitched_rows() {
        with_tables([&](const auto& count_it) {
            over_rows(NAMED(group), NAMED(groups),
                      [&](Number row) { columns(row, NAMED(item), NAMED(size), count_it); });
        });
    }

    // ---- chapter 03 ----

    void count_in_table(Array& table) {
        zero_table(table, NAMED(256));
        each([=, this, &table] { walk(counts_in(table)); });
    }
    void local() {
        with_table(Array::kShared, 256, [&](Array& table) {
            count_in_table(table);
            merge(table);
        });
    }
    Array rows_of_tables() {
        Array rows = array(Array::kGlobal, kTables, 256 * tables);
        Array table = array(Array::kShared, kCounted, 256);
        launch(groups, {&table}, [&] {
            count_in_table(table);
            barrier(kCounted);
            shared_out(kMerge, NAMED(256), [&](Number bin) {
                const Number right = group * chosen(kMerge, kPitch, NAMED(256)) + bin;
                const Number at = place(kMerge, group, bin, right);
                set(kMerge, rows, NAMED(at), get(kMerge, table, NAMED(bin)));
            });
        });
        return rows;
    }
    void local_buckets() { sum_by_host(rows_of_tables()); }
    void local_subhist() { sum_by_kernel(rows_of_tables()); }

    // ---- chapter 04 ----

    void own_counters() {
        with_table(Array::kPrivate, 256, [&](Array& own) {
            each([=, this, &own] {
                loop(kZero, NAMED(0), NAMED(256), NAMED(1),
                     [&](Number bin) { set(kZero, own, NAMED(bin), 0); });
                walk(counts_in(own));
                loop(kMerge, NAMED(0), NAMED(256), NAMED(1), [&](Number bin) {
                    add(kMerge, histogram, NAMED(bin), get(kMerge, own, NAMED(bin)));
                });
            });
        });
    }
    // One for each core: a stretch of the picture, read at six places side by side.
    void cores() {
        with_table(Array::kPrivate, 6 * 256, [&](Array& own) {
            each([=, this, &own] {
                loop(kZero, NAMED(0), {"6 * 256", 6 * 256}, NAMED(1),
                     [&](Number word) { set(kZero, own, NAMED(word), 0); });
                const Number begin = count * id / all;
                const Number end = count * (id + 1) / all;
                const Number length = (end - begin) / 6;
                loop(kPixels, NAMED(begin), NAMED(begin + length), NAMED(1), [&](Number i) {
                    for (Number place = 0; place < 6; ++place) {
                        const Number bin = pixel(kPixels, NAMED(i + place * length));
                        add(kPixels, own, {"", bin < 0 ? bin : place * 256 + bin}, 1);
                    }
                });
                loop(kTail, NAMED(begin + 6 * length), NAMED(end), NAMED(1), [&](Number i) {
                    add(kTail, own, {"", pixel(kTail, NAMED(i))}, 1);
                });
                loop(kMerge, NAMED(0), NAMED(256), NAMED(1), [&](Number bin) {
                    Number sum = 0;
                    loop(kCopies, NAMED(0), {"6", 6}, NAMED(1), [&](Number place) {
                        sum += get(kCopies, own, {"", place * 256 + bin});
                    });
                    add(kMerge, histogram, NAMED(bin), sum);
                });
            });
        });
    }
    void bytes() {
        Array rows = array(Array::kGlobal, kTables, 256 * tables);
        Array bins = array(Array::kShared, kCounted, 256 * size, k8);
        Array sum = array(Array::kPrivate, kSum, 1);
        launch(groups, {&bins, &sum}, [&] {
            shared_out(kRow, NAMED(256), [&](Number bin) {
                set(kRow, rows, {"", group * chosen(kTables, kPitch, NAMED(256)) + bin}, 0);
            });
            const Number at_once = size * chosen(kPiece, kNumber, NAMED(255));
            turn = 0;
            if (chosen(kPiece, kTimes, {"", 1}) == 0) return piece(rows, bins, sum, 0, 0);
            loop(kPieces, NAMED(group * at_once), NAMED(count), NAMED(groups * at_once),
                 [&](Number first) {
                     piece(rows, bins, sum, first, at_once);
                     ++turn;
                 });
        });
        sum_by_host(rows);
    }
    // Nothing at once: there are no pieces, and each work-item counts all that is its own.
    void piece(Array& rows, Array& bins, Array& sum, Number first, Number at_once) {
        const auto at = [this](Label label, Number whose, Number bin) {
            return place(label, whose, bin, whose * 256 + bin);
        };
        each([=, this, &bins] {
            if (is_as_usual({kLayout, kZero, kZeroed, kCounted, kAgain})) {
                if (self_ == 0) zero(bins);
                return;
            }
            loop(kZero, NAMED(item), NAMED(size * 64), NAMED(size), [&](Number word) {
                const Number its = chosen(kZero, kPlace, {"its place", word});
                for (Number byte = 0; byte < 4; ++byte)
                    set(kZero, bins, {"", its * 4 + byte}, 0);
            });
        });
        barrier(kZeroed);
        each([=, this, &bins] {
            const Number behind = first + chosen(kPiece, kEnd, {"at_once", at_once});
            const bool whole = at_once == 0;
            loop(kPixels, {"first + item", whole ? id : first + item},
                 {"min(behind, count)", whole ? count : min(behind, count)},
                 {"size", whole ? all : size}, [&](Number i) {
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
                    sum.low[static_cast<std::size_t>(self_)] +=
                        bins.low[static_cast<std::size_t>(other * 256 + bin)];
                seen_.steps += size / 8;
            } else {
                loop(kItems, NAMED(0), NAMED(size), NAMED(1), [&](Number other) {
                    const Number whose =
                        chosen(kItems, kWhich, {"the one whose turn it is", other});
                    add(kItems, sum, NAMED(0), get(kItems, bins, {"", at(kItems, whose, bin)}));
                });
            }
            const Number row =
                group * chosen(kMerge, kPitch, {"256", chosen(kTables, kPitch, NAMED(256))});
            add(kMerge, rows, {"", row + bin}, get(kMerge, sum, NAMED(0)));
        });
        barrier(kAgain);
    }
    void lane_bins() {
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
                Number sum = 0;
                if (bin >= 0 && bin < 256 &&
                    is_as_usual({kCopies, kLayout, kCounted, kZero, kZeroed})) {
                    for (Number copy = 0; copy < copies; ++copy)
                        sum += table.low[static_cast<std::size_t>(bin * copies + copy)];
                    seen_.steps += copies / 8;
                    return add(kMerge, histogram, NAMED(bin), sum);
                }
                loop(kCopies, NAMED(0), NAMED(copies), NAMED(1), [&](Number n) {
                    const Number copy = chosen(kCopies, kWhich, {"its copy", n});
                    const Number right = bin * chosen(kCopies, kPitch, NAMED(copies)) + copy;
                    const Number from = place(kCopies, copy, bin, right);
                    sum += get(kCopies, table, {"", from});
                });
                add(kMerge, histogram, NAMED(bin), sum);
            });
        });
    }

    // ---- chapter 05 ----

    // Groups lie below each other, and each work-item takes eight rows at once.
    void occupancy() {
        with_table(Array::kShared, 256, [&](Array& table) {
            zero_table(table, NAMED(256));
            each([=, this, &table] {
                over_rows({"y * 8", group * 8}, {"groupsY * 8", groups * 8}, [&](Number first) {
                    for (Number row = first; row < first + 8; ++row)
                        columns(row, {"id", item}, {"all", size}, counts_in(table));
                });
            });
            merge(table);
        });
    }

    // Up to the first address that 16 divides single pixels, then vectors, and single pixels behind
    // the last. Rows with gaps have one of each. (`tuned` also has copies and totals, which count
    // the same.)
    void vectors() {
        with_table(Array::kShared, 256, [&](Array& table) {
            zero_table(table, NAMED(256));
            each([=, this, &table] {
                const Number across = pitch == width ? count : width;
                for (Number y = 0; y * across < count; ++y) {
                    const Number row = y * pitch, length = min(across, count - y * across);
                    const Number first = static_cast<Number>(run_.first) + row;
                    const Number head = min((16 - first % 16) % 16, length);
                    const Number tail = head + (length - head) / 16 * 16;
                    const auto one_by_one = [&](Label label, const NamedNumber& start,
                                                const NamedNumber& end) {
                        loop(label, start, end, NAMED(all), [&](Number x) {
                            counts_in(table)(pixel(label, {"row + x", row + x}));
                        });
                    };
                    one_by_one(kHead, NAMED(id), NAMED(head));
                    loop(kLoads, NAMED(head + 16 * id), NAMED(tail), NAMED(16 * all),
                         [&](Number x) { sixteen(row + x, counts_in(table)); });
                    one_by_one(kTail, NAMED(tail + id), NAMED(length));
                }
            });
            merge(table);
        });
    }

    Prediction played(void (Strategy::*kernel)()) {
        try {
            (this->*kernel)();
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

struct Kernel {
    const char* variant;
    void (Strategy::*play)();
    const char* section;  // of its chapter's page
};
const Kernel kKernels[] = {
    {"global", &Strategy::global, "global-one-atomic-addition-for-each-pixel"},
    {"subhist", &Strategy::subhist, "subhist-a-table-for-each-work-group"},
    {"pitched-rows", &Strategy::pitched_rows, "subhist-a-table-for-each-work-group"},
    {"local", &Strategy::local, "local-the-five-steps"},
    {"two-per-sm", &Strategy::local, "two-per-sm-where-we-start"},
    {"local-buckets", &Strategy::local_buckets,
     "local-buckets-a-row-for-each-group-added-by-the-host"},
    {"local-subhist", &Strategy::local_subhist,
     "local-subhist-a-row-for-each-group-added-by-a-second-kernel"},
    {"private", &Strategy::own_counters,
     "private-256-counters-for-each-work-item-and-where-they-end-up"},
    {"core-bins", &Strategy::cores, "core-bins-one-work-item-for-each-core"},
    {"uchar-bins", &Strategy::bytes, "uchar-bins-8-bit-counters-in-local-memory"},
    {"uchar-overflow", &Strategy::bytes, "uchar-bins-8-bit-counters-in-local-memory"},
    {"uchar-bins-banked", &Strategy::bytes,  // whose counters lie otherwise, and count the same
     "uchar-bins-banked-each-work-item-in-a-bank-of-its-own"},
    {"lane-bins", &Strategy::lane_bins,
     "lane-bins-sixteen-pixels-a-load-four-loads-at-once-a-table-for-each-lane"},
    {"occupancy", &Strategy::occupancy, "occupancy-as-many-work-items-as-the-device-holds"},
    {"vector", &Strategy::vectors, "vector-16-pixels-per-load"},
    {"tuned", &Strategy::vectors, "tuned-what-is-left"},
};

const Kernel* kernel_of(const RunContext& context) {
    for (const Kernel& each : kKernels)
        if (context.variant == each.variant) return &each;
    return nullptr;
}

}  // namespace

bool is_known(const RunContext& context) {
    return kernel_of(context) != nullptr;
}

std::string section_of(const RunContext& context) {
    return kernel_of(context)->section;
}

Prediction predict(const Changed* changed, const Case& run, const RunContext& context,
                   bool in_order) {
    return Strategy(run, context, changed, in_order).played(kernel_of(context)->play);
}

void ask(const Case& run, const RunContext& context, const Asked& asked) {
    Strategy(run, context, nullptr, false, &asked).played(kernel_of(context)->play);
}

std::vector<std::pair<Decision, std::string>> choices_of(const RunContext& context) {
    // Enough for four loads of sixteen to each work-item, and for a tail.
    static const std::vector<std::uint8_t> pixels(16 * 4 * 4 + 43, 1);
    Case run;
    run.pixels = pixels;
    run.width = 50;
    run.launch = {2, 2};
    std::vector<std::pair<Decision, std::string>> all;
    std::set<std::uint32_t> known;
    ask(run, context, [&](const ItemState&, const Decision& choice, const NamedNumber& right) {
        if (known.insert(choice.key()).second) all.emplace_back(choice, right.words);
    });
    return all;
}

}  // namespace common::diagnosis
