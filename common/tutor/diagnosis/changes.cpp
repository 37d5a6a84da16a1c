// The table of choices and what they become, and what that is called.
#include "common/tutor/diagnosis/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>

namespace common::diagnosis {
namespace {

// What the choices are about, in words.
// clang-format off
constexpr std::array<const char*, kLabels> kWordsOfLabels{
    "the loop over the pixels", "the loop over the rows", "the loop over the columns",
    "the test for the end of a short last row", "the loop over the loads",
    "the loop over what is left", "the loop for the last pixels", "one of several in a turn",
    "a word of a load", "a byte of a word", "adding a run of equal pixels",
    "the length of a new run of equal pixels", "adding the last run of equal pixels", "the loop over the pieces of the picture",
    "the size of a piece", "the number of pixels", "the zeroing of the histogram",
    "the zeroing of the tables", "the loop that zeroes the group's row",
    "the loop that zeroes the table", "the barrier between zeroing and counting",
    "the barrier between counting and merging", "the barrier behind the merge",
    "the loop that merges the table", "the loop that adds up the work-items' counters",
    "the loop that adds up the copies", "setting the sum to zero", "the loop over the bins of the sum",
    "the loop that adds up the tables", "the step of the group that merges last", "every loop",
};

// Some labels, from one to another.
using Labels = std::pair<Label, Label>;
constexpr Labels kAllLabels{kPixels, kLabels}, kPixelLabels{kPixels, kCount},
    kBinLabels{kOverBins, kLabels};
constexpr Labels only(Label label) { return {label, label}; }

// What a part of a choice may become; X is what it was. The bits say how unusual that is.
struct Outcome {
    const char* words;
    Becomes becomes;
    double bits = 0;
};
struct Row {
    Part part;
    Labels labels;
    const char* name;
    std::vector<Outcome> outcomes;
};
#define OUTCOME(bits, ...)                                                                    \
    {#__VA_ARGS__, [](const Place& place, [[maybe_unused]] Number X) -> Number {              \
        [[maybe_unused]] const auto& [item, id, group, size, all, groups, tables, count,      \
                                      width, pitch, copies, v, where, turn, done, y, groupsY, \
                                      owner, itsBin] = place;                                 \
        return __VA_ARGS__; }, bits}
constexpr Number kOnce = Number{1} << 40;
// What any number may become: another one at hand, or its double, or a part of it.
#define AT_HAND                                                                                   \
    OUTCOME(8, item), OUTCOME(8, id), OUTCOME(8, group), OUTCOME(8, size), OUTCOME(8, all),       \
    OUTCOME(8, groups), OUTCOME(9, count), OUTCOME(8, 0), OUTCOME(8, 1), OUTCOME(9, v),           \
    OUTCOME(9, copies)
#define NEAR_IT                                                                                   \
    OUTCOME(8, X - item), OUTCOME(8, X - id), OUTCOME(8, X + item), OUTCOME(8, X + id),           \
    OUTCOME(8, X + group), OUTCOME(8, X - group), OUTCOME(8, X + size), OUTCOME(8, X - size),     \
    OUTCOME(8, X + all), OUTCOME(8, X - all), OUTCOME(8, X + 1), OUTCOME(8, X - 1),               \
    OUTCOME(9, X + done)
#define SCALED                                                                                    \
    OUTCOME(8, X * 2), OUTCOME(8, X / 2), OUTCOME(8, X * 4), OUTCOME(8, X / 4),                   \
    OUTCOME(8, X * 8), OUTCOME(8, X / 8), OUTCOME(8, X * 16), OUTCOME(8, X / 16),                 \
    OUTCOME(8, X * size), OUTCOME(8, X / size), OUTCOME(8, X * groups), OUTCOME(8, X / groups),   \
    OUTCOME(8, X * all), OUTCOME(8, X / all), OUTCOME(8, X % size), OUTCOME(9, X % groups),       \
    OUTCOME(8, X / 4 * 4), OUTCOME(8, X / 16 * 16), OUTCOME(9, X % 256), OUTCOME(9, X * 256),     \
    OUTCOME(9, 255 - X)
const std::vector<Row> kOutcomesOfParts{
    // whether it is done at all, and by whom
    {kTimes, kAllLabels, "missing", {OUTCOME(0, 0)}},
    {kTimes, kPixelLabels, "counted-several-times", {OUTCOME(2, 2)}},
    {kTimes, kBinLabels, "done-twice", {OUTCOME(2, 2)}},
    {kTimes, kBinLabels, "only-the-first-work-item", {OUTCOME(0, item == 0 ? X : 0),
        OUTCOME(0, id == 0 ? X : 0)}},
    {kTimes, kPixelLabels, "only-the-first-work-item", {OUTCOME(2, item == 0 ? X : 0),
        OUTCOME(2, id == 0 ? X : 0)}},
    {kTimes, kAllLabels, "only-the-last-work-item", {OUTCOME(2, item == size - 1 ? X : 0)}},
    {kTimes, kAllLabels, "first-work-item-left-out", {OUTCOME(2, item > 0 ? X : 0)}},
    {kTimes, kAllLabels, "last-work-item-left-out", {OUTCOME(2, item < size - 1 ? X : 0)}},
    {kTimes, kAllLabels, "only-some-work-items", {OUTCOME(2, item < 32 ? X : 0),
        OUTCOME(2, item < 16 ? X : 0), OUTCOME(2, item % 2 == 0 ? X : 0),
        OUTCOME(2, item < 256 ? X : 0)}},
    {kTimes, kBinLabels, "only-the-first-group", {OUTCOME(1, group == 0 ? X : 0)}},
    {kTimes, kPixelLabels, "only-the-first-group", {OUTCOME(3, group == 0 ? X : 0)}},
    {kTimes, kAllLabels, "only-the-last-group", {OUTCOME(1, group == groups - 1 ? X : 0)}},
    {kTimes, kAllLabels, "first-table-skipped", {OUTCOME(1, group > 0 ? X : 0)}},
    {kTimes, kAllLabels, "last-table-skipped", {OUTCOME(1, group < groups - 1 ? X : 0)}},
    {kTimes, only(kZero), "table-not-zeroed", {OUTCOME(0, turn == 0 ? X : 0)}},
    {kTimes, only(kLast), "last-run-lost", {OUTCOME(1, X > 1 ? X : 0)}},
    {kTimes, only(kShort), "last-row-taken-as-full", {OUTCOME(0, 1)}},
    // where a loop starts
    {kStart, kAllLabels, "wrong-start", {OUTCOME(0, id), OUTCOME(0, item), OUTCOME(0, group),
        OUTCOME(0, 0)}},
    {kStart, kAllLabels, "first-pixel-dropped", {OUTCOME(0, X + 1)}},
    {kStart, kPixelLabels, "wrong-start", {OUTCOME(3, group + item),
        OUTCOME(3, group * groups + item), OUTCOME(3, group * 256 + item),
        OUTCOME(3, item * groups + group), OUTCOME(3, group * all + item)}},
    {kStart, only(kTail), "wrong-start", {OUTCOME(1, X - id), OUTCOME(1, X - id + item)}},
    {kStart, only(kTail), "tail-begins-too-early", {OUTCOME(1, count / 16 + id),
        OUTCOME(1, count / 16 * 4 + id)}},
    // how it goes on
    {kStride, kAllLabels, "loop-runs-once", {OUTCOME(0, kOnce)}},
    {kStride, kAllLabels, "wrong-stride", {OUTCOME(0, all), OUTCOME(0, size), OUTCOME(0, groups),
        OUTCOME(0, 1), OUTCOME(1, 2), OUTCOME(1, 256), OUTCOME(1, X * 2), OUTCOME(2, X * 3),
        OUTCOME(1, X * 4), OUTCOME(2, X * 64), OUTCOME(3, X * size), OUTCOME(3, X / groups),
        OUTCOME(3, X * groups)}},
    {kStride, only(kRows), "wrong-stride", {OUTCOME(0, groups / groupsY),
        OUTCOME(1, size * groupsY)}},
    {kStart, only(kRows), "wrong-start", {OUTCOME(1, group % (groups / groupsY))}},
    // where it ends
    {kEnd, kAllLabels, "one-pixel-too-many", {OUTCOME(0, X + 1)}},
    {kEnd, kAllLabels, "last-pixel-dropped", {OUTCOME(0, X - 1)}},
    {kEnd, kAllLabels, "only-a-part", {OUTCOME(0, X / 2), OUTCOME(0, X / 4), OUTCOME(0, X / 8),
        OUTCOME(0, X / 16), OUTCOME(3, X / 3), OUTCOME(2, X / 32), OUTCOME(1, X / size),
        OUTCOME(1, X / groups)}},
    {kEnd, kPixelLabels, "tail-dropped", {OUTCOME(0, X / all * all),
        OUTCOME(0, X / groups * groups), OUTCOME(0, X / width * width), OUTCOME(0, X / 8 * 8),
        OUTCOME(0, X / 16 * 16), OUTCOME(0, X / 32 * 32), OUTCOME(0, X / 64 * 64),
        OUTCOME(1, X / 128 * 128), OUTCOME(0, X / 256 * 256), OUTCOME(1, X / 512 * 512),
        OUTCOME(1, X / 1024 * 1024), OUTCOME(1, X / (4 * all) * (4 * all)),
        OUTCOME(1, X / (16 * all) * (16 * all)), OUTCOME(2, X / (64 * all) * (64 * all)),
        OUTCOME(1, X / (255 * size) * (255 * size)), OUTCOME(1, X / (255 * all) * (255 * all)),
        OUTCOME(2, X - all)}},
    {kEnd, kAllLabels, "tail-dropped", {OUTCOME(0, X / size * size), OUTCOME(0, X / 4 * 4)}},
    {kEnd, only(kLoads), "one-pixel-too-many", {OUTCOME(2, X + 3 * all)}},
    {kEnd, only(kRows), "tail-dropped", {OUTCOME(0, count / width)}},
    {kEnd, kBinLabels, "tail-dropped", {OUTCOME(1, X / 2 * 2)}},
    {kEnd, kPixelLabels, "wrong-end", {OUTCOME(1, (X + all - 1) / all * all),
        OUTCOME(1, (X + size - 1) / size * size), OUTCOME(1, (X + 15) / 16 * 16)}},
    {kEnd, only(kColumns), "padding-counted", {OUTCOME(0, pitch)}},
    {kEnd, kBinLabels, "wrong-end", {OUTCOME(1, 1), OUTCOME(1, 2), OUTCOME(1, 16), OUTCOME(1, 32),
        OUTCOME(1, 64), OUTCOME(2, 127), OUTCOME(1, 128), OUTCOME(2, 192), OUTCOME(1, 254),
        OUTCOME(1, 256), OUTCOME(0, size), OUTCOME(1, groups), OUTCOME(1, all), OUTCOME(2, count),
        OUTCOME(1, 256 / size)}},
    {kEnd, only(kPixels), "tail-dropped", {OUTCOME(1, id + (X - id + all - 1) / all / 4 * 4 * all),
        OUTCOME(1, id + (X - id + all - 1) / all / 2 * 2 * all)}},
    // the number of pixels that the kernel gets
    {kNumber, only(kCount), "only-a-part", {OUTCOME(2, X / 2), OUTCOME(2, X / 4),
        OUTCOME(2, X / 8)}},
    {kNumber, only(kCount), "last-pixel-dropped", {OUTCOME(2, X - 1)}},
    {kNumber, only(kCount), "one-pixel-too-many", {OUTCOME(2, X + 1)}},
    {kNumber, only(kCount), "nothing-counted", {OUTCOME(2, 0)}},
    // a work-item's stretch
    {kNumber, only(kPixels), "tail-dropped", {OUTCOME(0, count / all), OUTCOME(2, X - 1)}},
    {kNumber, only(kPixels), "wrong-stride", {OUTCOME(2, count / groups),
        OUTCOME(2, count / size)}},
    {kEnd, only(kPixels), "last-pixel-dropped",
        { OUTCOME(1, std::min((id + 1) * ((count + all - 1) / all), count) - 1)}},
    // how many pixels of a piece an 8-bit counter may get
    {kNumber, only(kPiece), "8-bit-overflow", {OUTCOME(0, 256), OUTCOME(1, 257), OUTCOME(1, 512),
        OUTCOME(1, 1024)}},
    // what a pixel's value becomes on its way to its bin
    {kValue, kAllLabels, "bins-shifted", {OUTCOME(0, X + 1), OUTCOME(0, X - 1),
        OUTCOME(0, (X + 1) & 255), OUTCOME(0, (X - 1) & 255), OUTCOME(2, (X + 2) & 255),
        OUTCOME(2, (X - 2) & 255)}},
    {kValue, kAllLabels, "bins-reversed", {OUTCOME(0, 255 - X)}},
    {kValue, kAllLabels, "signed-values", {OUTCOME(0, X > 127 ? X - 256 : X),
        OUTCOME(1, X > 127 ? 0 : X), OUTCOME(1, X > 127 ? 256 - X : X), OUTCOME(1, X ^ 128)}},
    {kValue, kAllLabels, "half-of-the-values", {OUTCOME(0, X & 127), OUTCOME(1, X & 63),
        OUTCOME(1, X & 31), OUTCOME(1, X & 15), OUTCOME(1, X & 7), OUTCOME(1, X & 254),
        OUTCOME(1, X & 252), OUTCOME(1, X & 240)}},
    {kValue, kAllLabels, "wrong-bin", {OUTCOME(0, X / 2), OUTCOME(0, X / 4), OUTCOME(1, X / 8),
        OUTCOME(1, X / 16), OUTCOME(0, X * 2), OUTCOME(0, X * 2 & 255), OUTCOME(0, X * 4),
        OUTCOME(0, X * 4 & 255), OUTCOME(1, X ^ 1), OUTCOME(1, X | 1), OUTCOME(0, X % 255),
        OUTCOME(2, X % 254), OUTCOME(1, X % size)}},
    {kValue, kAllLabels, "last-bin-missing", {OUTCOME(1, X > 254 ? 256 : X)}},
    {kValue, kAllLabels, "first-bin-missing", {OUTCOME(1, X < 1 ? -1 : X)}},
    // which pixel it is
    {kBytes, kAllLabels, "wrong-element-type", {OUTCOME(1, 2), OUTCOME(1, 4)}},
    {kReadIndex, only(kShort), "pitch-not-used", {OUTCOME(0, width), OUTCOME(1, pitch * 2),
        OUTCOME(1, all)}},
    {kPitch, only(kShort), "pitch-in-the-test", {OUTCOME(0, pitch)}},
    {kAddress, kAllLabels, "misaligned-loads", {OUTCOME(0, X + 1), OUTCOME(0, X - 1),
        OUTCOME(1, X + 4), OUTCOME(1, X + 16), OUTCOME(1, X / 4)}},
    {kWhich, Labels{kLoad, kByte}, "counted-twice", {OUTCOME(0, 0), OUTCOME(0, 1), OUTCOME(0, 2),
        OUTCOME(0, 3)}},
    // whose counters
    {kWhich, kBinLabels, "merges-part-of-its-own", {OUTCOME(0, item), OUTCOME(1, 0),
        OUTCOME(1, item + done)}},
    {kWhich, only(kCopies), "merges-part-of-its-own", {OUTCOME(0, item % copies)}},
    {kWhich, only(kPixels), "counters-are-shared", {OUTCOME(0, 0), OUTCOME(2, item / 2)}},
    {kNumber, Labels{kPixels, kTail}, "wrong-copy", {OUTCOME(1, 0), OUTCOME(1, group % copies),
        OUTCOME(1, item)}},
    {kPitch, kAllLabels, "rows-overlap", {OUTCOME(0, X - 1), OUTCOME(1, X + 1), OUTCOME(2, X * 2),
        OUTCOME(1, X / 2), OUTCOME(1, X / 4), OUTCOME(0, size), OUTCOME(1, groups), OUTCOME(1, 1),
        OUTCOME(0, 0)}},
    // what is added, and how
    {kWeight, kAllLabels, "merge-adds-one", {OUTCOME(0, 1)}},
    {kWeight, kBinLabels, "merge-adds-one", {OUTCOME(1, X > 0)}},
    {kWeight, kAllLabels, "counted-several-times", {OUTCOME(1, X * 2), OUTCOME(1, X * 4),
        OUTCOME(2, X * 16), OUTCOME(1, X * size), OUTCOME(1, X * groups)}},
    {kWeight, kPixelLabels, "adds-the-value", {OUTCOME(1, v)}},
    {kWeight, kAllLabels, "nothing-counted", {OUTCOME(2, 0)}},
    {kHow, kAllLabels, "no-atomic", {OUTCOME(0, kPlain)}},
    {kHow, kAllLabels, "overwrites", {OUTCOME(0, kAssigned)}},
    {kHow, kAllLabels, "wrong-operation", {OUTCOME(1, kOr), OUTCOME(1, kXor), OUTCOME(1, kLarger),
        OUTCOME(1, kSubtracted), OUTCOME(2, kAnd), OUTCOME(2, kSmaller)}},
    {kEmpty, kBinLabels, "stops-at-an-empty-bin", {OUTCOME(1, kStops)}},
    {kEmpty, kBinLabels, "empty-bins-not-written", {OUTCOME(1, kPassedOver)}},
    {kWalk, kAllLabels, "wrong-start", {OUTCOME(1, kByItems), OUTCOME(1, kByAll),
        OUTCOME(1, kByGroups)}},
    {kWalk, kAllLabels, "counted-several-times", {OUTCOME(0, kByEach)}},
    {kFirst, kAllLabels, "first-turn-twice", {OUTCOME(1, 2)}},
    {kReturn, kAllLabels, "early-return", {OUTCOME(0, id >= count), OUTCOME(0, item >= 256)}},
    // whatever else it may become
    {kStart, kAllLabels, "wrong-start", {AT_HAND, NEAR_IT, SCALED}},
    {kStride, kAllLabels, "wrong-stride", {AT_HAND, NEAR_IT, SCALED}},
    {kEnd, kAllLabels, "wrong-end", {AT_HAND, NEAR_IT, SCALED}},
    {kReadIndex, kPixelLabels, "wrong-pixel", {AT_HAND, NEAR_IT, SCALED}},
    {kReadIndex, kBinLabels, "wrong-index", {AT_HAND, NEAR_IT, SCALED}},
    {kWriteIndex, kAllLabels, "wrong-index", {AT_HAND, NEAR_IT, SCALED}},
    {kAddress, kAllLabels, "misaligned-loads", {AT_HAND, NEAR_IT, SCALED}},
    {kNumber, kAllLabels, "wrong-number", {AT_HAND, NEAR_IT, SCALED}},
    {kPitch, kAllLabels, "rows-overlap", {AT_HAND, NEAR_IT, SCALED}},
    {kWeight, kAllLabels, "wrong-number-added", {AT_HAND, NEAR_IT, SCALED,
        OUTCOME(3, X > 1 ? X : 0), OUTCOME(4, X > 0 ? X - 1 : 0), OUTCOME(4, X > 255 ? 255 : X),
        OUTCOME(4, X & 65535)}},
    {kValue, kAllLabels, "wrong-bin", {AT_HAND, NEAR_IT, SCALED, OUTCOME(3, where & 255),
        OUTCOME(4, where), OUTCOME(5, X > 254 ? 254 : X), OUTCOME(5, X < 1 ? 1 : X),
        OUTCOME(5, X ^ 2), OUTCOME(5, (X & 15) << 4 | X >> 4), OUTCOME(5, (X + 128) & 255),
        OUTCOME(5, X / 3)}},
    {kReadIndex, only(kRows), "wrong-row", {OUTCOME(3, y + done), OUTCOME(3, y), OUTCOME(3, done)}},
    {kHow, Labels{kMerge, kBinLoop}, "adds-to-what-is-there", {OUTCOME(1, kAtomic)}},
    // where one of several counters lies
    {kTerm, kAllLabels, "wrong-layout", {OUTCOME(1, itsBin), OUTCOME(1, owner), OUTCOME(1, 0),
        OUTCOME(1, 1), OUTCOME(1, itsBin / 2), OUTCOME(1, itsBin / 8), OUTCOME(1, itsBin / 16),
        OUTCOME(1, itsBin / 64), OUTCOME(1, itsBin / 4), OUTCOME(1, itsBin % 4),
        OUTCOME(1, itsBin % 64), OUTCOME(1, owner % 4), OUTCOME(1, 32), OUTCOME(1, 64),
        OUTCOME(1, 256), OUTCOME(1, size), OUTCOME(2, X * 2), OUTCOME(2, X / 2), OUTCOME(2, X * 4),
        OUTCOME(3, X + 1), OUTCOME(3, 3 - X)}},
    {kPlace, kAllLabels, "wrong-layout", {OUTCOME(1, owner * 256 + itsBin),
        OUTCOME(1, itsBin * size + owner), OUTCOME(1, itsBin * tables + owner),
        OUTCOME(1, itsBin * copies + owner), OUTCOME(1, owner + itsBin),
        OUTCOME(1, (itsBin / 4 * size + owner) * 4 + itsBin % 4), OUTCOME(2, itsBin),
        OUTCOME(2, owner), OUTCOME(2, itsBin / 4 * size * 4 + owner + itsBin % 4),
        OUTCOME(2, itsBin / 4 * size + owner * 4 + itsBin % 4),
        OUTCOME(2, itsBin / 4 * size + owner),
        OUTCOME(2, (itsBin % 64 * size + owner) * 4 + itsBin / 64), OUTCOME(2, itsBin * 32 + owner),
        OUTCOME(2, (itsBin % 4 * size + owner) * 4 + itsBin / 4), OUTCOME(2, itsBin * 256 + owner),
        OUTCOME(2, itsBin * (copies + 1) + owner),
        OUTCOME(2, itsBin * copies + (owner + 1) % copies), OUTCOME(6, owner * 64 + itsBin),
        OUTCOME(6, owner * 4 + itsBin), OUTCOME(6, owner * 255 + itsBin),
        OUTCOME(6, owner * 257 + itsBin), OUTCOME(6, owner * size + itsBin),
        OUTCOME(6, owner * copies + itsBin)}},
    // how a counter is kept
    {kWidth, kAllLabels, "8-bit-overflow", {OUTCOME(0, k8), OUTCOME(1, kUpTo255), OUTCOME(1, k7)}},
    {kWidth, kAllLabels, "16-bit-overflow", {OUTCOME(0, k16)}},
    {kWidth, kAllLabels, "signed-counters", {OUTCOME(1, kSigned8), OUTCOME(1, kSigned16)}},
    {kWidth, kAllLabels, "float-counters", {OUTCOME(0, kFloat)}},
};

// Where a change has a name of its own: the first that fits; no words fit all.
struct Called {
    Label label;
    const char* name;
    const char* called;
    const char* words = "";
};
constexpr Called kNamesOfTheirOwn[] = {
    {kHistogram, "", "not-zeroed"}, {kTables, "rows-overlap", "rows-overlap"},
    {kTables, "", "not-zeroed"}, {kRow, "", "not-zeroed"}, {kZero, "", "table-not-zeroed"},
    {kZeroed, "early-return", "early-return"}, {kZeroed, "", "no-barrier-after-zeroing"},
    {kCounted, "missing", "no-barrier-before-merge"},
    {kCounted, "only-some-work-items", "no-barrier-before-merge"},
    {kAgain, "", "no-barrier-before-the-next-piece"}, {kPixels, "missing", "nothing-counted"},
    {kPixels, "no-atomic", "lost-updates"}, {kPixels, "merge-adds-one", "counted-once"},
    {kPixels, "overwrites", "counted-once"}, {kShort, "missing", "nothing-counted"},
    {kLoads, "missing", "only-the-tail"}, {kRows, "last-pixel-dropped", "tail-dropped"},
    {kColumns, "tail-dropped", "cropped"}, {kColumns, "only-a-part", "cropped"},
    {kSum, "tail-dropped", "tables-left-out"}, {kSum, "first-turn-twice", "first-table-twice"},
    {kColumns, "last-pixel-dropped", "cropped"}, {kRest, "missing", "tail-dropped"},
    {kLoad, "counted-twice", "load-counted-twice"}, {kLoad, "missing", "part-of-a-load-skipped"},
    {kWord, "counted-twice", "part-of-a-load-skipped"},
    {kWord, "missing", "part-of-a-load-skipped"}, {kByte, "counted-twice", "byte-counted-twice"},
    {kByte, "missing", "part-of-a-load-skipped"},
    {kByte, "half-of-the-values", "part-of-a-load-masked"}, {kByte, "no-atomic", "lost-updates"},
    {kLast, "missing", "last-run-lost"}, {kClear, "missing", "sum-goes-on"}, {kLength, "missing", "run-goes-on"},
    {kTail, "missing", "tail-dropped"}, {kTail, "only-a-part", "tail-dropped"},
    {kTail, "wrong-start", "tail-counted-twice"}, {kTail, "rows-overlap", "tail-in-wrong-bins"},
    {kTail, "no-atomic", "lost-updates"}, {kMerge, "wrong-end", "merge-without-a-loop", "size"},
    {kBinLoop, "wrong-end", "merge-without-a-loop", "size"}, {kMerge, "missing", "nothing-merged"},
    {kMerge, "wrong-stride", "merge-strided-globally", "all"},
    {kMerge, "loop-runs-once", "merge-without-a-loop"},
    {kMerge, "wrong-start", "merge-starts-globally", "id"},
    {kMerge, "no-atomic", "merge-without-atomic"}, {kMerge, "overwrites", "merge-overwrites"},
    {kMerge, "wrong-index", "bins-repeat", "item"},
    {kMerge, "last-pixel-dropped", "last-bin-missing"},
    {kMerge, "first-pixel-dropped", "first-bin-missing"},
    {kMerge, "only-the-first-work-item", "merged-by-one-work-item"},
    {kBinLoop, "missing", "nothing-written"}, {kBinLoop, "loop-runs-once", "merge-without-a-loop"},
    {kBinLoop, "last-pixel-dropped", "last-bin-missing"},
    {kBinLoop, "first-pixel-dropped", "first-bin-missing"}, {kSum, "missing", "nothing-merged"},
    {kSum, "overwrites", "merge-overwrites"}, {kSum, "loop-runs-once", "only-the-first-group"},
    {kSum, "last-pixel-dropped", "last-table-skipped"},
    {kSum, "first-pixel-dropped", "first-table-skipped"}, {kSum, "wrong-end", "tables-left-out"},
    {kSum, "only-a-part", "tables-left-out"}, {kSum, "wrong-stride", "tables-left-out"},
    {kHandover, "", "last-table-skipped"}, {kCopies, "missing", "nothing-merged"},
    {kCopies, "loop-runs-once", "only-the-first-copy"},
    {kCopies, "last-pixel-dropped", "last-copy-skipped"},
    {kCopies, "first-pixel-dropped", "first-copy-skipped"},
};

// How a part changes: {0} is what it is about, {1} what it was, {2} what it is. Some say it by what
// the number stands for.
constexpr std::pair<Part, const char*> kSentencesOfParts[] = {
    {kTimes, "{0} is done only where {2}."}, {kStart, "{0} starts at {2}, not at {1}."},
    {kStride, "{0} strides by {2}, not by {1}."}, {kEnd, "{0} ends before {2}, not before {1}."},
    {kFirst, "{0} does its first turn twice."}, {kBytes, "{0} takes {2} bytes for a pixel."},
    {kValue, "In {0} a pixel of value v is counted as if it were {2}."},
    {kWeight, "In {0} {2} is added, not {1}."}, {kWriteIndex, "{0} writes at {2}, not at {1}."},
    {kReadIndex, "{0} reads at {2}, not at {1}."}, {kWidth, "A counter has {2}."},
    {kPlace, "In {0} counters lie at {2}."},
    {kTerm, "In {0} {2} stands for {1} in a counter's place."},
    {kPitch, "In {0} a number is multiplied by {2}, not by {1}."},
    {kAddress, "In {0} a load begins at {2}, not at {1}."},
    {kNumber, "{0} takes {2} for {1}."}, {kWhich, "{0} takes {2} for {1}."},
    {kReturn, "Work-items for which {2} do not reach the barrier: they return before it, or it "
              "stands in an `if`."},
};
constexpr const char* kSentencesOfHow[] = {
    "{0} adds to what was there before.", "{0} adds without an atomic, and what others add in between is lost.",
    "{0} overwrites a count where it should be added.", "{0} takes `or` for an addition.",
    "{0} takes `xor` for an addition.", "{0} takes the larger of two counts, not their sum.",
    "{0} subtracts where it should add.", "{0} takes `and` for an addition.",
    "{0} takes the smaller of two counts, not their sum."};
constexpr const char* kSentencesOfWalk[] = {
    "", "{0} goes over the work-items of each group, not of the launch.",
    "{0} goes over the work-items of the launch, not of the group.", "{0} goes over the groups.",
    "{0} is done as a whole by each work-item."};
constexpr const char* kSentencesOfEmpty[] = {
    "", "{0} stops at the first bin that is empty.",
    "{0} does not write the bins that are empty, and they keep what was there."};
constexpr const char* kWordsOfWidth[] = {
    "", "16 bits: with 65536 or more it begins at 0 again",
    "8 bits: with 256 or more it begins at 0 again",
    "16 bits with a sign: from 32768 on it is negative",
    "8 bits with a sign: from 128 on it is negative",
    "a float, which beyond 16777216 cannot be increased by one", "8 bits, and stays at 255",
    "7 bits"};

// What a kernel says for the names of the table, in OpenCL and in CUDA.
using Word = std::array<const char*, 3>;
constexpr Word kNamesInKernels[] = {
    {{"item", "get_local_id(0)", "threadIdx.x"}},
    {{"id", "get_global_id(0)", "blockIdx.x * blockDim.x + threadIdx.x"}},
    {{"group", "get_group_id(0)", "blockIdx.x"}}, {{"size", "get_local_size(0)", "blockDim.x"}},
    {{"all", "get_global_size(0)", "gridDim.x * blockDim.x"}},
    {{"groups", "get_num_groups(0)", "gridDim.x"}}, {{"y", "get_group_id(1)", "blockIdx.y"}},
    {{"groupsY", "get_num_groups(1)", "gridDim.y"}}, {{"where", "i", "i"}},
    {{"itsBin", "bin", "bin"}}, {{"done", "(turns of the loop)", "(turns of the loop)"}},
};
// clang-format on

std::string sentence_of(Part part, const Outcome& outcome, Label label, const std::string& right,
                        bool in_cuda) {
    const std::string becomes = outcome.words;
    const std::string was = right.empty() ? "the count" : said(right, "", in_cuda);
    std::string now = said(becomes, part == kValue ? "v" : was, in_cuda);
    const auto number = [&] { return outcome.becomes({}, 0); };
    const char* form = "";
    for (const auto& [of, words] : kSentencesOfParts)
        if (of == part) form = words;
    if (part == kTimes) now = now.substr(0, now.find(" ?"));
    if (part == kWidth) now = kWordsOfWidth[number()];
    if (part == kHow) form = kSentencesOfHow[number()];
    if (part == kWalk) form = kSentencesOfWalk[number()];
    if (part == kEmpty) form = kSentencesOfEmpty[number()];
    if (part == kTimes && becomes.size() == 1)
        form = becomes == "2" ? "{0} is done twice." : "{0} is missing.";
    if (becomes == "kOnce") form = "{0} runs once: there is an `if` where a loop should be.";
    std::string text = fmt::format(fmt::runtime(form), kWordsOfLabels[label], was, now);
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

std::string name_of(const Row& row, const Outcome& outcome, Label label) {
    const std::string name = row.name;
    for (const Called& each : kNamesOfTheirOwn)
        if (each.label == label && (*each.name == 0 || name == each.name) &&
            (*each.words == 0 || std::string(outcome.words) == each.words) && row.part != kWidth)
            return each.called;
    return name;
}

}  // namespace

std::string said(const std::string& expression, const std::string& was, bool in_cuda) {
    static const std::regex name("[A-Za-z:]+");
    std::string text;
    auto behind = expression.begin();
    for (std::sregex_iterator at(expression.begin(), expression.end(), name), end; at != end;
         ++at) {
        const std::string word = at->str();
        const auto* const found =
            std::find_if(std::begin(kNamesInKernels), std::end(kNamesInKernels),
                         [&](const Word& each) { return word == each[0]; });
        std::string now = word == "X" ? was : word == "std::min" ? "min" : word;
        if (found != std::end(kNamesInKernels)) now = (*found)[in_cuda ? 2 : 1];
        if (now.find(' ') != std::string::npos && expression != word) now = "(" + now + ")";
        text.append(behind, (*at)[0].first).append(now);
        behind = (*at)[0].second;
    }
    return text.append(behind, expression.end());
}

std::vector<Change> changes(const RunContext& context) {
    std::vector<Change> all;
    double unusual = 0;
    for (const Played& strategy : strategies_of(context)) {
        for (const auto& [choice, right] : choices_of(strategy, context)) {
            // Another way of going over the pixels is right again where there are none.
            if ((strategy.way == kRotated && choice.label != kCopies) ||
                (unusual > 0 && strategy.way != kRotated && choice.label >= kCount) ||
                ((strategy.way == kEights || strategy.way == kSixteens) && choice.label == kByte))
                continue;
            std::set<std::string> seen;
            for (const Row& row : kOutcomesOfParts) {
                if (row.part != choice.part || choice.label < row.labels.first ||
                    choice.label > row.labels.second ||
                    (row.part == kPitch && choice.label == kShort && row.labels.first != kShort))
                    continue;
                for (const Outcome& outcome : row.outcomes)
                    if (right != outcome.words && seen.insert(outcome.words).second)
                        all.push_back(
                            {strategy,
                             {choice, outcome.becomes},
                             name_of(row, outcome, choice.label),
                             sentence_of(row.part, outcome, choice.label, right, context.in_cuda),
                             outcome.bits + unusual + (choice.label == kLayout ? 3 : 0)});
            }
        }
        unusual += 3;
    }
    return all;
}

std::string section_about(const std::string& name) {
    for (const char* const race :
         {"barrier", "atomic", "lost-", "early", "table-not", "overwrites"})
        if (name.find(race) != std::string::npos) return "the-race-conditions";
    for (const char* const start : {"wrong-", "bins-", "only-", "signed-v", "half-", "nothing-"})
        if (name.starts_with(start)) return "the-strategy";
    return "what-went-wrong-in-published-code";
}

}  // namespace common::diagnosis
