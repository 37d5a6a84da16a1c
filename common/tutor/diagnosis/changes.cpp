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
constexpr std::array<const char*, kLabels> kThings{
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
constexpr Labels kAll{kPixels, kLabels}, kOfPixels{kPixels, kCount}, kOfBins{kOverBins, kLabels};
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
#define TO(bits, ...)                                                                         \
    {#__VA_ARGS__, [](const Place& place, [[maybe_unused]] Number X) -> Number {              \
        [[maybe_unused]] const auto& [item, id, group, size, all, groups, tables, count,      \
                                      width, pitch, copies, v, where, turn, done, y, groupsY, \
                                      owner, itsBin] = place;                                 \
        return __VA_ARGS__; }, bits}
constexpr Number kOnce = Number{1} << 40;
// What any number may become: another one at hand, or its double, or a part of it.
#define AT_HAND TO(8, item), TO(8, id), TO(8, group), TO(8, size), TO(8, all), TO(8, groups),    \
    TO(9, count), TO(8, 0), TO(8, 1), TO(9, v), TO(9, copies)
#define NEAR_IT TO(8, X - item), TO(8, X - id), TO(8, X + item), TO(8, X + id), TO(8, X + group), \
    TO(8, X - group), TO(8, X + size), TO(8, X - size), TO(8, X + all), TO(8, X - all),          \
    TO(8, X + 1), TO(8, X - 1), TO(9, X + done)
#define SCALED TO(8, X * 2), TO(8, X / 2), TO(8, X * 4), TO(8, X / 4), TO(8, X * 8), TO(8, X / 8), \
    TO(8, X * 16), TO(8, X / 16), TO(8, X * size), TO(8, X / size), TO(8, X * groups),            \
    TO(8, X / groups), TO(8, X * all), TO(8, X / all), TO(8, X % size), TO(9, X % groups),        \
    TO(8, X / 4 * 4), TO(8, X / 16 * 16), TO(9, X % 256), TO(9, X * 256), TO(9, 255 - X)
const std::vector<Row> kTable{
    // whether it is done at all, and by whom
    {kTimes, kAll, "missing", {TO(0, 0)}},
    {kTimes, kOfPixels, "counted-several-times", {TO(2, 2)}},
    {kTimes, kOfBins, "done-twice", {TO(2, 2)}},
    {kTimes, kOfBins, "only-the-first-work-item", {TO(0, item == 0 ? X : 0),
        TO(0, id == 0 ? X : 0)}},
    {kTimes, kOfPixels, "only-the-first-work-item", {TO(2, item == 0 ? X : 0),
        TO(2, id == 0 ? X : 0)}},
    {kTimes, kAll, "only-the-last-work-item", {TO(2, item == size - 1 ? X : 0)}},
    {kTimes, kAll, "first-work-item-left-out", {TO(2, item > 0 ? X : 0)}},
    {kTimes, kAll, "last-work-item-left-out", {TO(2, item < size - 1 ? X : 0)}},
    {kTimes, kAll, "only-some-work-items", {TO(2, item < 32 ? X : 0), TO(2, item < 16 ? X : 0),
        TO(2, item % 2 == 0 ? X : 0), TO(2, item < 256 ? X : 0)}},
    {kTimes, kOfBins, "only-the-first-group", {TO(1, group == 0 ? X : 0)}},
    {kTimes, kOfPixels, "only-the-first-group", {TO(3, group == 0 ? X : 0)}},
    {kTimes, kAll, "only-the-last-group", {TO(1, group == groups - 1 ? X : 0)}},
    {kTimes, kAll, "first-table-skipped", {TO(1, group > 0 ? X : 0)}},
    {kTimes, kAll, "last-table-skipped", {TO(1, group < groups - 1 ? X : 0)}},
    {kTimes, only(kZero), "table-not-zeroed", {TO(0, turn == 0 ? X : 0)}},
    {kTimes, only(kLast), "last-run-lost", {TO(1, X > 1 ? X : 0)}},
    {kTimes, only(kShort), "last-row-taken-as-full", {TO(0, 1)}},
    // where a loop starts
    {kStart, kAll, "wrong-start", {TO(0, id), TO(0, item), TO(0, group), TO(0, 0)}},
    {kStart, kAll, "first-pixel-dropped", {TO(0, X + 1)}},
    {kStart, kOfPixels, "wrong-start", {TO(3, group + item), TO(3, group * groups + item),
        TO(3, group * 256 + item), TO(3, item * groups + group), TO(3, group * all + item)}},
    {kStart, only(kTail), "wrong-start", {TO(1, X - id), TO(1, X - id + item)}},
    {kStart, only(kTail), "tail-begins-too-early", {TO(1, count / 16 + id),
        TO(1, count / 16 * 4 + id)}},
    // how it goes on
    {kStride, kAll, "loop-runs-once", {TO(0, kOnce)}},
    {kStride, kAll, "wrong-stride", {TO(0, all), TO(0, size), TO(0, groups), TO(0, 1), TO(1, 2),
        TO(1, 256), TO(1, X * 2), TO(2, X * 3), TO(1, X * 4), TO(2, X * 64), TO(3, X * size),
        TO(3, X / groups), TO(3, X * groups)}},
    {kStride, only(kRows), "wrong-stride", {TO(0, groups / groupsY), TO(1, size * groupsY)}},
    {kStart, only(kRows), "wrong-start", {TO(1, group % (groups / groupsY))}},
    // where it ends
    {kEnd, kAll, "one-pixel-too-many", {TO(0, X + 1)}},
    {kEnd, kAll, "last-pixel-dropped", {TO(0, X - 1)}},
    {kEnd, kAll, "only-a-part", {TO(0, X / 2), TO(0, X / 4), TO(0, X / 8), TO(0, X / 16),
        TO(3, X / 3), TO(2, X / 32), TO(1, X / size), TO(1, X / groups)}},
    {kEnd, kOfPixels, "tail-dropped", {TO(0, X / all * all), TO(0, X / groups * groups),
        TO(0, X / width * width), TO(0, X / 8 * 8), TO(0, X / 16 * 16), TO(0, X / 32 * 32),
        TO(0, X / 64 * 64), TO(1, X / 128 * 128), TO(0, X / 256 * 256), TO(1, X / 512 * 512),
        TO(1, X / 1024 * 1024), TO(1, X / (4 * all) * (4 * all)),
        TO(1, X / (16 * all) * (16 * all)), TO(2, X / (64 * all) * (64 * all)),
        TO(1, X / (255 * size) * (255 * size)), TO(1, X / (255 * all) * (255 * all)),
        TO(2, X - all)}},
    {kEnd, kAll, "tail-dropped", {TO(0, X / size * size), TO(0, X / 4 * 4)}},
    {kEnd, only(kLoads), "one-pixel-too-many", {TO(2, X + 3 * all)}},
    {kEnd, only(kRows), "tail-dropped", {TO(0, count / width)}},
    {kEnd, kOfBins, "tail-dropped", {TO(1, X / 2 * 2)}},
    {kEnd, kOfPixels, "wrong-end", {TO(1, (X + all - 1) / all * all),
        TO(1, (X + size - 1) / size * size), TO(1, (X + 15) / 16 * 16)}},
    {kEnd, only(kColumns), "padding-counted", {TO(0, pitch)}},
    {kEnd, kOfBins, "wrong-end", {TO(1, 1), TO(1, 2), TO(1, 16), TO(1, 32), TO(1, 64),
        TO(2, 127), TO(1, 128), TO(2, 192), TO(1, 254), TO(1, 256), TO(0, size), TO(1, groups),
        TO(1, all), TO(2, count), TO(1, 256 / size)}},
    {kEnd, only(kPixels), "tail-dropped", {TO(1, id + (X - id + all - 1) / all / 4 * 4 * all),
        TO(1, id + (X - id + all - 1) / all / 2 * 2 * all)}},
    // the number of pixels that the kernel gets
    {kNumber, only(kCount), "only-a-part", {TO(2, X / 2), TO(2, X / 4), TO(2, X / 8)}},
    {kNumber, only(kCount), "last-pixel-dropped", {TO(2, X - 1)}},
    {kNumber, only(kCount), "one-pixel-too-many", {TO(2, X + 1)}},
    {kNumber, only(kCount), "nothing-counted", {TO(2, 0)}},
    // a work-item's stretch
    {kNumber, only(kPixels), "tail-dropped", {TO(0, count / all), TO(2, X - 1)}},
    {kNumber, only(kPixels), "wrong-stride", {TO(2, count / groups), TO(2, count / size)}},
    {kEnd, only(kPixels), "last-pixel-dropped", {
        TO(1, std::min((id + 1) * ((count + all - 1) / all), count) - 1)}},
    // how many pixels of a piece an 8-bit counter may get
    {kNumber, only(kPiece), "8-bit-overflow", {TO(0, 256), TO(1, 257), TO(1, 512), TO(1, 1024)}},
    // what a pixel's value becomes on its way to its bin
    {kValue, kAll, "bins-shifted", {TO(0, X + 1), TO(0, X - 1), TO(0, (X + 1) & 255),
        TO(0, (X - 1) & 255), TO(2, (X + 2) & 255), TO(2, (X - 2) & 255)}},
    {kValue, kAll, "bins-reversed", {TO(0, 255 - X)}},
    {kValue, kAll, "signed-values", {TO(0, X > 127 ? X - 256 : X), TO(1, X > 127 ? 0 : X),
        TO(1, X > 127 ? 256 - X : X), TO(1, X ^ 128)}},
    {kValue, kAll, "half-of-the-values", {TO(0, X & 127), TO(1, X & 63), TO(1, X & 31),
        TO(1, X & 15), TO(1, X & 7), TO(1, X & 254), TO(1, X & 252), TO(1, X & 240)}},
    {kValue, kAll, "wrong-bin", {TO(0, X / 2), TO(0, X / 4), TO(1, X / 8), TO(1, X / 16),
        TO(0, X * 2), TO(0, X * 2 & 255), TO(0, X * 4), TO(0, X * 4 & 255), TO(1, X ^ 1),
        TO(1, X | 1), TO(0, X % 255), TO(2, X % 254), TO(1, X % size)}},
    {kValue, kAll, "last-bin-missing", {TO(1, X > 254 ? 256 : X)}},
    {kValue, kAll, "first-bin-missing", {TO(1, X < 1 ? -1 : X)}},
    // which pixel it is
    {kBytes, kAll, "wrong-element-type", {TO(1, 2), TO(1, 4)}},
    {kFrom, only(kShort), "pitch-not-used", {TO(0, width), TO(1, pitch * 2), TO(1, all)}},
    {kPitch, only(kShort), "pitch-in-the-test", {TO(0, pitch)}},
    {kAddress, kAll, "misaligned-loads", {TO(0, X + 1), TO(0, X - 1), TO(1, X + 4),
        TO(1, X + 16), TO(1, X / 4)}},
    {kWhich, Labels{kLoad, kByte}, "counted-twice", {TO(0, 0), TO(0, 1), TO(0, 2), TO(0, 3)}},
    // whose counters
    {kWhich, kOfBins, "merges-part-of-its-own", {TO(0, item), TO(1, 0), TO(1, item + done)}},
    {kWhich, only(kCopies), "merges-part-of-its-own", {TO(0, item % copies)}},
    {kWhich, only(kPixels), "counters-are-shared", {TO(0, 0), TO(2, item / 2)}},
    {kNumber, Labels{kPixels, kTail}, "wrong-copy", {TO(1, 0), TO(1, group % copies), TO(1, item)}},
    {kPitch, kAll, "rows-overlap", {TO(0, X - 1), TO(1, X + 1), TO(2, X * 2), TO(1, X / 2),
        TO(1, X / 4), TO(0, size), TO(1, groups), TO(1, 1), TO(0, 0)}},
    // what is added, and how
    {kWeight, kAll, "merge-adds-one", {TO(0, 1)}},
    {kWeight, kOfBins, "merge-adds-one", {TO(1, X > 0)}},
    {kWeight, kAll, "counted-several-times", {TO(1, X * 2), TO(1, X * 4), TO(2, X * 16),
        TO(1, X * size), TO(1, X * groups)}},
    {kWeight, kOfPixels, "adds-the-value", {TO(1, v)}},
    {kWeight, kAll, "nothing-counted", {TO(2, 0)}},
    {kHow, kAll, "no-atomic", {TO(0, kPlain)}},
    {kHow, kAll, "overwrites", {TO(0, kAssigned)}},
    {kHow, kAll, "wrong-operation", {TO(1, kOr), TO(1, kXor), TO(1, kLarger),
        TO(1, kSubtracted), TO(2, kAnd), TO(2, kSmaller)}},
    {kEmpty, kOfBins, "stops-at-an-empty-bin", {TO(1, kStops)}},
    {kEmpty, kOfBins, "empty-bins-not-written", {TO(1, kPassedOver)}},
    {kWalk, kAll, "wrong-start", {TO(1, kByItems), TO(1, kByAll), TO(1, kByGroups)}},
    {kWalk, kAll, "counted-several-times", {TO(0, kByEach)}},
    {kFirst, kAll, "first-turn-twice", {TO(1, 2)}},
    {kReturn, kAll, "early-return", {TO(0, id >= count), TO(0, item >= 256)}},
    // whatever else it may become
    {kStart, kAll, "wrong-start", {AT_HAND, NEAR_IT, SCALED}},
    {kStride, kAll, "wrong-stride", {AT_HAND, NEAR_IT, SCALED}},
    {kEnd, kAll, "wrong-end", {AT_HAND, NEAR_IT, SCALED}},
    {kFrom, kOfPixels, "wrong-pixel", {AT_HAND, NEAR_IT, SCALED}},
    {kFrom, kOfBins, "wrong-index", {AT_HAND, NEAR_IT, SCALED}},
    {kTo, kAll, "wrong-index", {AT_HAND, NEAR_IT, SCALED}},
    {kAddress, kAll, "misaligned-loads", {AT_HAND, NEAR_IT, SCALED}},
    {kNumber, kAll, "wrong-number", {AT_HAND, NEAR_IT, SCALED}},
    {kPitch, kAll, "rows-overlap", {AT_HAND, NEAR_IT, SCALED}},
    {kWeight, kAll, "wrong-number-added", {AT_HAND, NEAR_IT, SCALED, TO(3, X > 1 ? X : 0),
        TO(4, X > 0 ? X - 1 : 0), TO(4, X > 255 ? 255 : X), TO(4, X & 65535)}},
    {kValue, kAll, "wrong-bin", {AT_HAND, NEAR_IT, SCALED, TO(3, where & 255), TO(4, where),
        TO(5, X > 254 ? 254 : X), TO(5, X < 1 ? 1 : X), TO(5, X ^ 2),
        TO(5, (X & 15) << 4 | X >> 4), TO(5, (X + 128) & 255), TO(5, X / 3)}},
    {kFrom, only(kRows), "wrong-row", {TO(3, y + done), TO(3, y), TO(3, done)}},
    {kHow, Labels{kMerge, kBinLoop}, "adds-to-what-is-there", {TO(1, kAtomic)}},
    // where one of several counters lies
    {kTerm, kAll, "wrong-layout", {TO(1, itsBin), TO(1, owner), TO(1, 0), TO(1, 1), TO(1, itsBin / 2),
        TO(1, itsBin / 8), TO(1, itsBin / 16), TO(1, itsBin / 64), TO(1, itsBin / 4),
        TO(1, itsBin % 4), TO(1, itsBin % 64), TO(1, owner % 4), TO(1, 32), TO(1, 64), TO(1, 256),
        TO(1, size), TO(2, X * 2), TO(2, X / 2), TO(2, X * 4), TO(3, X + 1), TO(3, 3 - X)}},
    {kPlace, kAll, "wrong-layout", {TO(1, owner * 256 + itsBin), TO(1, itsBin * size + owner),
        TO(1, itsBin * tables + owner), TO(1, itsBin * copies + owner), TO(1, owner + itsBin),
        TO(1, (itsBin / 4 * size + owner) * 4 + itsBin % 4), TO(2, itsBin), TO(2, owner),
        TO(2, itsBin / 4 * size * 4 + owner + itsBin % 4),
        TO(2, itsBin / 4 * size + owner * 4 + itsBin % 4), TO(2, itsBin / 4 * size + owner),
        TO(2, (itsBin % 64 * size + owner) * 4 + itsBin / 64), TO(2, itsBin * 32 + owner),
        TO(2, (itsBin % 4 * size + owner) * 4 + itsBin / 4), TO(2, itsBin * 256 + owner),
        TO(2, itsBin * (copies + 1) + owner), TO(2, itsBin * copies + (owner + 1) % copies),
        TO(6, owner * 64 + itsBin), TO(6, owner * 4 + itsBin), TO(6, owner * 255 + itsBin),
        TO(6, owner * 257 + itsBin), TO(6, owner * size + itsBin), TO(6, owner * copies + itsBin)}},
    // how a counter is kept
    {kWidth, kAll, "8-bit-overflow", {TO(0, k8), TO(1, kUpTo255), TO(1, k7)}},
    {kWidth, kAll, "16-bit-overflow", {TO(0, k16)}},
    {kWidth, kAll, "signed-counters", {TO(1, kSigned8), TO(1, kSigned16)}},
    {kWidth, kAll, "float-counters", {TO(0, kFloat)}},
};

// Where a change has a name of its own: the first that fits; no words fit all.
struct Called {
    Label label;
    const char* name;
    const char* called;
    const char* words = "";
};
constexpr Called kCalled[] = {
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
constexpr std::pair<Part, const char*> kSentences[] = {
    {kTimes, "{0} is done only where {2}."}, {kStart, "{0} starts at {2}, not at {1}."},
    {kStride, "{0} strides by {2}, not by {1}."}, {kEnd, "{0} ends before {2}, not before {1}."},
    {kFirst, "{0} does its first turn twice."}, {kBytes, "{0} takes {2} bytes for a pixel."},
    {kValue, "In {0} a pixel of value v is counted as if it were {2}."},
    {kWeight, "In {0} {2} is added, not {1}."}, {kTo, "{0} writes at {2}, not at {1}."},
    {kFrom, "{0} reads at {2}, not at {1}."}, {kWidth, "A counter has {2}."},
    {kPlace, "In {0} counters lie at {2}."},
    {kTerm, "In {0} {2} stands for {1} in a counter's place."},
    {kPitch, "In {0} a number is multiplied by {2}, not by {1}."},
    {kAddress, "In {0} a load begins at {2}, not at {1}."},
    {kNumber, "{0} takes {2} for {1}."}, {kWhich, "{0} takes {2} for {1}."},
    {kReturn, "Work-items for which {2} do not reach the barrier: they return before it, or it "
              "stands in an `if`."},
};
constexpr const char* kHows[] = {
    "{0} adds to what was there before.", "{0} adds without an atomic, and what others add in between is lost.",
    "{0} overwrites a count where it should be added.", "{0} takes `or` for an addition.",
    "{0} takes `xor` for an addition.", "{0} takes the larger of two counts, not their sum.",
    "{0} subtracts where it should add.", "{0} takes `and` for an addition.",
    "{0} takes the smaller of two counts, not their sum."};
constexpr const char* kWalks[] = {
    "", "{0} goes over the work-items of each group, not of the launch.",
    "{0} goes over the work-items of the launch, not of the group.", "{0} goes over the groups.",
    "{0} is done as a whole by each work-item."};
constexpr const char* kEmpties[] = {
    "", "{0} stops at the first bin that is empty.",
    "{0} does not write the bins that are empty, and they keep what was there."};
constexpr const char* kWidths[] = {
    "", "16 bits: with 65536 or more it begins at 0 again",
    "8 bits: with 256 or more it begins at 0 again",
    "16 bits with a sign: from 32768 on it is negative",
    "8 bits with a sign: from 128 on it is negative",
    "a float, which beyond 16777216 cannot be increased by one", "8 bits, and stays at 255",
    "7 bits"};

// What a kernel says for the names of the table, in OpenCL and in CUDA.
using Word = std::array<const char*, 3>;
constexpr Word kWords[] = {
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
    for (const auto& [of, words] : kSentences)
        if (of == part) form = words;
    if (part == kTimes) now = now.substr(0, now.find(" ?"));
    if (part == kWidth) now = kWidths[number()];
    if (part == kHow) form = kHows[number()];
    if (part == kWalk) form = kWalks[number()];
    if (part == kEmpty) form = kEmpties[number()];
    if (part == kTimes && becomes.size() == 1)
        form = becomes == "2" ? "{0} is done twice." : "{0} is missing.";
    if (becomes == "kOnce") form = "{0} runs once: there is an `if` where a loop should be.";
    std::string text = fmt::format(fmt::runtime(form), kThings[label], was, now);
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

std::string name_of(const Row& row, const Outcome& outcome, Label label) {
    const std::string name = row.name;
    for (const Called& each : kCalled)
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
        const auto* const found = std::find_if(std::begin(kWords), std::end(kWords),
                                               [&](const Word& each) { return word == each[0]; });
        std::string now = word == "X" ? was : word == "std::min" ? "min" : word;
        if (found != std::end(kWords)) now = (*found)[in_cuda ? 2 : 1];
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
            for (const Row& row : kTable) {
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
