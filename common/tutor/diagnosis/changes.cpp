// The table of choices and what they become, and what that is called.
#include "common/tutor/diagnosis/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace common::diagnosis {
namespace {

// What the choices are about, in words.
constexpr std::array<const char*, kLabels> kThings{
    "the loop over the pixels",
    "the loop over the rows",
    "the loop over the columns",
    "the test for the end of a short last row",
    "the loop over the loads of 16",
    "the loop over the loads that are left",
    "the loop for the last pixels",
    "a load of four",
    "a word of a load",
    "a byte of a word",
    "the loop over the pieces of the picture",
    "the size of a piece",
    "the number of pixels",
    "the zeroing of the histogram",
    "the zeroing of the tables",
    "the loop that zeroes the group's row",
    "the loop that zeroes the table",
    "the barrier between zeroing and counting",
    "the barrier between counting and merging",
    "the barrier behind the merge",
    "the loop that merges the table",
    "the loop that adds up the work-items' counters",
    "the loop that adds up the copies",
    "the loop over the bins of the sum",
    "the loop that adds up the tables",
    "the step of the group that merges last",
};

// Some labels, one after the other.
struct Labels {
    Label first;
    Label last;
};
constexpr Labels kAll{kPixels, kLabels};
constexpr Labels kOfPixels{kPixels, kCount};
constexpr Labels kOfBins{kOverBins, kLabels};
constexpr Labels kParts{kLoad, kByte};
constexpr Labels only(Label label) { return {label, label}; }

// What a part of a choice may become; X is what it was. The bits say how unusual that is.
struct Row {
    Part part;
    Labels labels;
    const char* name;
    const char* words;
    Becomes becomes;
    double bits = 0;
};
#define TO(...)                                                                                \
    #__VA_ARGS__, [](const Place& place, [[maybe_unused]] Number X) -> Number {                \
        [[maybe_unused]] const auto& [item, id, group, size, all, groups, tables, count,       \
                                      width, pitch, copies, v, y, groupsY] = place;        \
        return __VA_ARGS__;                                                                    \
    }
constexpr Number kOnce = Number{1} << 40;
const Row kRows_[] = {
    // whether it is done at all, and by whom
    {kTimes, kAll, "missing", TO(0)},
    {kTimes, kOfPixels, "counted-several-times", TO(2), 2},
    {kTimes, kOfBins, "done-twice", TO(2), 2},
    {kTimes, kAll, "only-the-first-work-item", TO(item == 0 ? X : 0)},
    {kTimes, kAll, "only-the-first-work-item", TO(id == 0 ? X : 0)},
    {kTimes, kAll, "only-the-last-work-item", TO(item == size - 1 ? X : 0), 2},
    {kTimes, kAll, "first-work-item-left-out", TO(item > 0 ? X : 0), 2},
    {kTimes, kAll, "last-work-item-left-out", TO(item < size - 1 ? X : 0), 2},
    {kTimes, kAll, "only-some-work-items", TO(item < 32 ? X : 0), 2},
    {kTimes, kAll, "only-some-work-items", TO(item < 16 ? X : 0), 2},
    {kTimes, kAll, "only-some-work-items", TO(item % 2 == 0 ? X : 0), 2},
    {kTimes, kAll, "only-some-work-items", TO(item < 256 ? X : 0), 2},
    {kTimes, kAll, "only-the-first-group", TO(group == 0 ? X : 0)},
    {kTimes, kAll, "only-the-last-group", TO(group == groups - 1 ? X : 0)},
    {kTimes, kAll, "first-table-skipped", TO(group > 0 ? X : 0), 1},
    {kTimes, kAll, "last-table-skipped", TO(group < groups - 1 ? X : 0), 1},
    {kTimes, only(kShort), "last-row-taken-as-full", TO(1)},
    // where a loop starts
    {kStart, kAll, "wrong-start", TO(id)},
    {kStart, kAll, "wrong-start", TO(item)},
    {kStart, kAll, "wrong-start", TO(group)},
    {kStart, kAll, "wrong-start", TO(0)},
    {kStart, kAll, "first-pixel-dropped", TO(X + 1)},
    {kStart, kOfPixels, "wrong-start", TO(group + item), 3},
    {kStart, kOfPixels, "wrong-start", TO(group * groups + item), 3},
    {kStart, kOfPixels, "wrong-start", TO(group * 256 + item), 3},
    {kStart, kOfPixels, "wrong-start", TO(item * groups + group), 3},
    {kStart, kOfPixels, "wrong-start", TO(group * all + item), 3},
    {kStart, only(kTail), "wrong-start", TO(X - id), 1},
    {kStart, only(kTail), "wrong-start", TO(X - id + item), 1},
    {kStart, only(kTail), "tail-begins-too-early", TO(count / 16 + id), 1},
    {kStart, only(kTail), "tail-begins-too-early", TO(count / 16 * 4 + id), 1},
    // how it goes on
    {kStride, kAll, "loop-runs-once", TO(kOnce)},
    {kStride, kAll, "wrong-stride", TO(all)},
    {kStride, kAll, "wrong-stride", TO(size)},
    {kStride, kAll, "wrong-stride", TO(groups)},
    {kStride, only(kRows), "wrong-stride", TO(groups / groupsY)},
    {kStride, only(kRows), "wrong-stride", TO(size * groupsY), 1},
    {kStart, only(kRows), "wrong-start", TO(group % (groups / groupsY)), 1},
    {kStride, kAll, "wrong-stride", TO(1)},
    {kStride, kAll, "wrong-stride", TO(2), 1},
    {kStride, kAll, "wrong-stride", TO(256), 1},
    {kStride, kAll, "wrong-stride", TO(X * 2), 1},
    {kStride, kAll, "wrong-stride", TO(X * 3), 2},
    {kStride, kAll, "wrong-stride", TO(X * 4), 1},
    {kStride, kAll, "wrong-stride", TO(X * 8), 2},
    {kStride, kAll, "wrong-stride", TO(X * 16), 2},
    {kStride, kAll, "wrong-stride", TO(X * 64), 2},
    {kStride, kAll, "wrong-stride", TO(X / 2), 2},
    {kStride, kAll, "wrong-stride", TO(X / 4), 2},
    {kStride, kAll, "wrong-stride", TO(X / 8), 2},
    {kStride, kAll, "wrong-stride", TO(X / 16), 2},
    {kStride, kAll, "wrong-stride", TO(X + 1), 2},
    {kStride, kAll, "wrong-stride", TO(X - 1), 2},
    {kStride, kAll, "wrong-stride", TO(X * size), 3},
    {kStride, kAll, "wrong-stride", TO(X / groups), 3},
    {kStride, kAll, "wrong-stride", TO(X * groups), 3},
    // where it ends
    {kEnd, kAll, "one-pixel-too-many", TO(X + 1)},
    {kEnd, kAll, "last-pixel-dropped", TO(X - 1)},
    {kEnd, kAll, "only-a-part", TO(X / 2)},
    {kEnd, kAll, "only-a-part", TO(X / 4)},
    {kEnd, kAll, "only-a-part", TO(X / 8)},
    {kEnd, kAll, "only-a-part", TO(X / 16)},
    {kEnd, kAll, "only-a-part", TO(X / 3), 3},
    {kEnd, kAll, "only-a-part", TO(X / 32), 2},
    {kEnd, kAll, "only-a-part", TO(X / size), 1},
    {kEnd, kAll, "only-a-part", TO(X / groups), 1},
    {kEnd, kOfPixels, "tail-dropped", TO(X / all * all)},
    {kEnd, kAll, "tail-dropped", TO(X / size * size)},
    {kEnd, kOfPixels, "tail-dropped", TO(X / groups * groups)},
    {kEnd, kOfPixels, "tail-dropped", TO(X / width * width)},
    {kEnd, only(kRows), "tail-dropped", TO(count / width)},
    {kEnd, kAll, "tail-dropped", TO(X / 4 * 4)},
    {kEnd, kOfBins, "tail-dropped", TO(X / 2 * 2), 1},
    {kEnd, kOfPixels, "tail-dropped", TO(X / 8 * 8)},
    {kEnd, kOfPixels, "tail-dropped", TO(X / 16 * 16)},
    {kEnd, kOfPixels, "tail-dropped", TO(X / 32 * 32)},
    {kEnd, kOfPixels, "tail-dropped", TO(X / 64 * 64)},
    {kEnd, kOfPixels, "tail-dropped", TO(X / 128 * 128), 1},
    {kEnd, kOfPixels, "tail-dropped", TO(X / 256 * 256)},
    {kEnd, kOfPixels, "tail-dropped", TO(X / 512 * 512), 1},
    {kEnd, kOfPixels, "tail-dropped", TO(X / 1024 * 1024), 1},
    {kEnd, kOfPixels, "tail-dropped", TO(X / (4 * all) * (4 * all)), 1},
    {kEnd, kOfPixels, "tail-dropped", TO(X / (16 * all) * (16 * all)), 1},
    {kEnd, kOfPixels, "tail-dropped", TO(X / (64 * all) * (64 * all)), 2},
    {kEnd, kOfPixels, "tail-dropped", TO(X / (255 * size) * (255 * size)), 1},
    {kEnd, kOfPixels, "tail-dropped", TO(X / (255 * all) * (255 * all)), 1},
    {kEnd, kOfPixels, "tail-dropped", TO(X - all), 2},
    {kEnd, kOfPixels, "wrong-end", TO((X + all - 1) / all * all), 1},
    {kEnd, kOfPixels, "wrong-end", TO((X + size - 1) / size * size), 1},
    {kEnd, kOfPixels, "wrong-end", TO((X + 15) / 16 * 16), 1},
    {kEnd, only(kColumns), "padding-counted", TO(pitch)},
    {kEnd, kOfBins, "wrong-end", TO(1), 1},
    {kEnd, kOfBins, "wrong-end", TO(2), 1},
    {kEnd, kOfBins, "wrong-end", TO(16), 1},
    {kEnd, kOfBins, "wrong-end", TO(32), 1},
    {kEnd, kOfBins, "wrong-end", TO(64), 1},
    {kEnd, kOfBins, "wrong-end", TO(127), 2},
    {kEnd, kOfBins, "wrong-end", TO(128), 1},
    {kEnd, kOfBins, "wrong-end", TO(192), 2},
    {kEnd, kOfBins, "wrong-end", TO(254), 1},
    {kEnd, kOfBins, "wrong-end", TO(256), 1},
    {kEnd, kOfBins, "wrong-end", TO(size), 1},
    {kEnd, kOfBins, "wrong-end", TO(groups), 1},
    {kEnd, kOfBins, "wrong-end", TO(all), 1},
    {kEnd, kOfBins, "wrong-end", TO(count), 2},
    {kEnd, kOfBins, "wrong-end", TO(256 / size), 1},
    // the number of pixels that the kernel gets
    {kNumber, only(kCount), "only-a-part", TO(X / 2), 2},
    {kNumber, only(kCount), "only-a-part", TO(X / 4), 2},
    {kNumber, only(kCount), "only-a-part", TO(X / 8), 2},
    {kNumber, only(kCount), "last-pixel-dropped", TO(X - 1), 2},
    {kNumber, only(kCount), "one-pixel-too-many", TO(X + 1), 2},
    {kNumber, only(kCount), "nothing-counted", TO(0), 2},
    // a work-item's stretch
    {kNumber, only(kPixels), "tail-dropped", TO(count / all)},
    {kNumber, only(kPixels), "wrong-stride", TO(count / groups), 2},
    {kNumber, only(kPixels), "wrong-stride", TO(count / size), 2},
    {kNumber, only(kPixels), "tail-dropped", TO(X - 1), 2},
    {kEnd, only(kPixels), "last-pixel-dropped", TO(std::min((id + 1) * ((count + all - 1) / all), count) - 1), 1},
    // how many pixels of a piece an 8-bit counter may get
    {kNumber, only(kPiece), "8-bit-overflow", TO(256)},
    {kNumber, only(kPiece), "8-bit-overflow", TO(257), 1},
    {kNumber, only(kPiece), "8-bit-overflow", TO(300), 1},
    {kNumber, only(kPiece), "8-bit-overflow", TO(510), 1},
    {kNumber, only(kPiece), "8-bit-overflow", TO(512), 1},
    {kNumber, only(kPiece), "8-bit-overflow", TO(1000), 1},
    {kNumber, only(kPiece), "8-bit-overflow", TO(1024), 1},
    {kNumber, only(kPiece), "8-bit-overflow", TO(4096), 1},
    {kNumber, only(kPiece), "8-bit-overflow", TO(65535), 1},
    // what a pixel's value becomes on its way to its bin
    {kValue, kAll, "bins-shifted", TO(X + 1)},
    {kValue, kAll, "bins-shifted", TO(X - 1)},
    {kValue, kAll, "bins-shifted", TO((X + 1) & 255)},
    {kValue, kAll, "bins-shifted", TO((X - 1) & 255)},
    {kValue, kAll, "bins-shifted", TO((X + 2) & 255), 2},
    {kValue, kAll, "bins-shifted", TO((X - 2) & 255), 2},
    {kValue, kAll, "bins-reversed", TO(255 - X)},
    {kValue, kAll, "signed-values", TO(X > 127 ? X - 256 : X)},
    {kValue, kAll, "signed-values", TO(X > 127 ? 0 : X), 1},
    {kValue, kAll, "signed-values", TO(X > 127 ? 256 - X : X), 1},
    {kValue, kAll, "signed-values", TO(X ^ 128), 1},
    {kValue, kAll, "half-of-the-values", TO(X & 127)},
    {kValue, kAll, "half-of-the-values", TO(X & 63), 1},
    {kValue, kAll, "half-of-the-values", TO(X & 31), 1},
    {kValue, kAll, "half-of-the-values", TO(X & 15), 1},
    {kValue, kAll, "half-of-the-values", TO(X & 7), 1},
    {kValue, kAll, "half-of-the-values", TO(X & 254), 1},
    {kValue, kAll, "half-of-the-values", TO(X & 252), 1},
    {kValue, kAll, "half-of-the-values", TO(X & 240), 1},
    {kValue, kAll, "wrong-bin", TO(X / 2)},
    {kValue, kAll, "wrong-bin", TO(X / 4)},
    {kValue, kAll, "wrong-bin", TO(X / 8), 1},
    {kValue, kAll, "wrong-bin", TO(X / 16), 1},
    {kValue, kAll, "wrong-bin", TO(X * 2)},
    {kValue, kAll, "wrong-bin", TO(X * 2 & 255)},
    {kValue, kAll, "wrong-bin", TO(X * 4)},
    {kValue, kAll, "wrong-bin", TO(X * 4 & 255)},
    {kValue, kAll, "wrong-bin", TO(X ^ 1), 1},
    {kValue, kAll, "wrong-bin", TO(X | 1), 1},
    {kValue, kAll, "wrong-bin", TO(X % 255)},
    {kValue, kAll, "wrong-bin", TO(X % 254), 2},
    {kValue, kAll, "wrong-bin", TO(X % size), 1},
    {kValue, kAll, "last-bin-missing", TO(X > 254 ? 256 : X), 1},
    {kValue, kAll, "first-bin-missing", TO(X < 1 ? -1 : X), 1},
    // which pixel it is
    {kBytes, kAll, "wrong-element-type", TO(2), 1},
    {kBytes, kAll, "wrong-element-type", TO(4), 1},
    {kFrom, kOfPixels, "wrong-pixel", TO(X + 1), 1},
    {kFrom, kOfPixels, "wrong-pixel", TO(X - 1), 1},
    {kFrom, kOfPixels, "wrong-pixel", TO(X * 2), 1},
    {kFrom, kOfPixels, "wrong-pixel", TO(X * 4), 1},
    {kFrom, kOfPixels, "wrong-pixel", TO(X / 2), 1},
    {kFrom, kOfPixels, "wrong-pixel", TO(X / 4), 1},
    {kFrom, kOfPixels, "wrong-pixel", TO(id), 1},
    {kFrom, kOfPixels, "wrong-pixel", TO(item), 1},
    {kFrom, only(kShort), "pitch-not-used", TO(width)},
    {kFrom, only(kShort), "pitch-not-used", TO(pitch * 2), 1},
    {kFrom, only(kShort), "pitch-not-used", TO(all), 1},
    {kPitch, only(kShort), "pitch-in-the-test", TO(pitch)},
    {kAddress, kAll, "misaligned-loads", TO(X + 1)},
    {kAddress, kAll, "misaligned-loads", TO(X - 1)},
    {kAddress, kAll, "misaligned-loads", TO(X + 4), 1},
    {kAddress, kAll, "misaligned-loads", TO(X + 16), 1},
    {kAddress, kAll, "misaligned-loads", TO(X / 4), 1},
    {kWhich, kParts, "counted-twice", TO(0)},
    {kWhich, kParts, "counted-twice", TO(1)},
    {kWhich, kParts, "counted-twice", TO(2)},
    {kWhich, kParts, "counted-twice", TO(3)},
    // whose counters
    {kWhich, kOfBins, "merges-part-of-its-own", TO(item)},
    {kWhich, kOfBins, "merges-part-of-its-own", TO(0), 1},
    {kWhich, only(kCopies), "merges-part-of-its-own", TO(item % copies)},
    {kWhich, only(kPixels), "counters-are-shared", TO(0)},
    {kWhich, only(kPixels), "counters-are-shared", TO(item / 2), 2},
    {kNumber, kAll, "wrong-copy", TO(0), 1},
    {kNumber, kAll, "wrong-copy", TO(group % copies), 1},
    {kNumber, kAll, "wrong-copy", TO(item), 1},
    {kTo, only(kPixels), "wrong-layout", TO(X % copies * 256 + X / copies), 1},
    {kFrom, only(kCopies), "wrong-layout", TO(X % copies * 256 + X / copies), 1},
    {kFrom, only(kItems), "wrong-layout", TO(X % 256 * size + X / 256), 1},
    {kPitch, kAll, "rows-overlap", TO(X - 1)},
    {kPitch, kAll, "rows-overlap", TO(X + 1), 1},
    {kPitch, kAll, "rows-overlap", TO(X * 2), 2},
    {kPitch, kAll, "rows-overlap", TO(X / 2), 1},
    {kPitch, kAll, "rows-overlap", TO(X / 4), 1},
    {kPitch, kAll, "rows-overlap", TO(size)},
    {kPitch, kAll, "rows-overlap", TO(groups), 1},
    {kPitch, kAll, "rows-overlap", TO(1), 1},
    {kPitch, kAll, "rows-overlap", TO(0)},
    // what is added, and how
    {kWeight, kAll, "merge-adds-one", TO(1)},
    {kWeight, kOfBins, "merge-adds-one", TO(X > 0), 1},
    {kWeight, kAll, "counted-several-times", TO(X * 2), 1},
    {kWeight, kAll, "counted-several-times", TO(X * 4), 1},
    {kWeight, kAll, "counted-several-times", TO(X * 16), 2},
    {kWeight, kAll, "counted-several-times", TO(X * size), 1},
    {kWeight, kAll, "counted-several-times", TO(X * groups), 1},
    {kWeight, kOfPixels, "adds-the-value", TO(v), 1},
    {kWeight, kAll, "adds-less", TO(X - 1), 2},
    {kWeight, kAll, "adds-more", TO(X + 1), 2},
    {kWeight, kAll, "nothing-counted", TO(0), 2},
    {kHow, kAll, "no-atomic", TO(kPlain)},
    {kHow, kAll, "overwrites", TO(kAssigned)},
    {kHow, kAll, "wrong-operation", TO(kOr), 1},
    {kHow, kAll, "wrong-operation", TO(kXor), 1},
    {kHow, kAll, "wrong-operation", TO(kLarger), 1},
    {kHow, kAll, "wrong-operation", TO(kSubtracted), 1},
    {kTo, kOfBins, "wrong-index", TO(item), 1},
    {kTo, kOfBins, "wrong-index", TO(id), 1},
    {kTo, kOfBins, "wrong-index", TO(group), 2},
    {kTo, kOfBins, "wrong-index", TO(0), 2},
    {kTo, kOfBins, "wrong-index", TO(X + 1), 2},
    {kTo, kOfBins, "wrong-index", TO(X - 1), 2},
    {kTo, kOfBins, "wrong-index", TO(255 - X), 2},
    {kFrom, kOfBins, "wrong-index", TO(item), 1},
    {kFrom, kOfBins, "wrong-index", TO(id), 1},
    {kFrom, kOfBins, "wrong-index", TO(group), 2},
    {kFrom, kOfBins, "wrong-index", TO(0), 2},
    {kFrom, kOfBins, "wrong-index", TO(X + 1), 2},
    {kFrom, kOfBins, "wrong-index", TO(X - 1), 2},
    {kFrom, kOfBins, "wrong-index", TO(255 - X), 2},
    {kEmpty, kOfBins, "stops-at-an-empty-bin", TO(kStops), 1},
    {kEmpty, kOfBins, "empty-bins-not-written", TO(kPassedOver), 1},
    {kWalk, kAll, "wrong-start", TO(kByItems), 1},
    {kWalk, kAll, "wrong-start", TO(kByAll), 1},
    {kWalk, kAll, "wrong-start", TO(kByGroups), 1},
    {kWalk, kAll, "counted-several-times", TO(kByEach)},
    {kFirst, kAll, "first-turn-twice", TO(2), 1},
    {kReturn, kAll, "early-return", TO(id >= count)},
    {kReturn, kAll, "early-return", TO(item >= 256)},
    // how a counter is kept
    {kWidth, kAll, "8-bit-overflow", TO(k8)},
    {kWidth, kAll, "16-bit-overflow", TO(k16)},
    {kWidth, kAll, "signed-counters", TO(kSigned8), 1},
    {kWidth, kAll, "signed-counters", TO(kSigned16), 1},
    {kWidth, kAll, "float-counters", TO(kFloat)},
    {kWidth, kAll, "8-bit-overflow", TO(kUpTo255), 1},
    {kWidth, kAll, "8-bit-overflow", TO(k7), 1},
};

// Where a change has a name of its own: the first that fits; no words fit all.
struct Called {
    Label label;
    const char* name;
    const char* called;
    const char* words = "";
};
constexpr Called kCalled[] = {
    {kHistogram, "", "not-zeroed"},
    {kTables, "rows-overlap", "rows-overlap"},
    {kTables, "", "not-zeroed"},
    {kRow, "", "not-zeroed"},
    {kZero, "", "table-not-zeroed"},
    {kZeroed, "early-return", "early-return"},
    {kZeroed, "", "no-barrier-after-zeroing"},
    {kCounted, "missing", "no-barrier-before-merge"},
    {kCounted, "only-some-work-items", "no-barrier-before-merge"},
    {kAgain, "", "no-barrier-before-the-next-piece"},
    {kPixels, "missing", "nothing-counted"},
    {kPixels, "no-atomic", "lost-updates"},
    {kPixels, "merge-adds-one", "counted-once"},
    {kPixels, "overwrites", "counted-once"},
    {kShort, "missing", "nothing-counted"},
    {kLoads, "missing", "only-the-tail"},
    {kRows, "last-pixel-dropped", "tail-dropped"},
    {kColumns, "tail-dropped", "cropped"},
    {kColumns, "only-a-part", "cropped"},
    {kSum, "tail-dropped", "tables-left-out"},
    {kSum, "first-turn-twice", "first-table-twice"},
    {kColumns, "last-pixel-dropped", "cropped"},
    {kRest, "missing", "tail-dropped"},
    {kLoad, "counted-twice", "load-counted-twice"},
    {kLoad, "missing", "part-of-a-load-skipped"},
    {kWord, "counted-twice", "part-of-a-load-skipped"},
    {kWord, "missing", "part-of-a-load-skipped"},
    {kByte, "counted-twice", "byte-counted-twice"},
    {kByte, "missing", "part-of-a-load-skipped"},
    {kByte, "half-of-the-values", "part-of-a-load-masked"},
    {kByte, "no-atomic", "lost-updates"},
    {kTail, "missing", "tail-dropped"},
    {kTail, "only-a-part", "tail-dropped"},
    {kTail, "wrong-start", "tail-counted-twice"},
    {kTail, "rows-overlap", "tail-in-wrong-bins"},
    {kTail, "no-atomic", "lost-updates"},
    {kMerge, "missing", "nothing-merged"},
    {kMerge, "wrong-stride", "merge-strided-globally", "all"},
    {kMerge, "loop-runs-once", "merge-without-a-loop"},
    {kMerge, "wrong-start", "merge-starts-globally", "id"},
    {kMerge, "no-atomic", "merge-without-atomic"},
    {kMerge, "overwrites", "merge-overwrites"},
    {kMerge, "wrong-index", "bins-repeat", "item"},
    {kMerge, "last-pixel-dropped", "last-bin-missing"},
    {kMerge, "first-pixel-dropped", "first-bin-missing"},
    {kMerge, "only-the-first-work-item", "merged-by-one-work-item"},
    {kBinLoop, "missing", "nothing-written"},
    {kBinLoop, "loop-runs-once", "merge-without-a-loop"},
    {kBinLoop, "last-pixel-dropped", "last-bin-missing"},
    {kBinLoop, "first-pixel-dropped", "first-bin-missing"},
    {kSum, "missing", "nothing-merged"},
    {kSum, "overwrites", "merge-overwrites"},
    {kSum, "loop-runs-once", "only-the-first-group"},
    {kSum, "last-pixel-dropped", "last-table-skipped"},
    {kSum, "first-pixel-dropped", "first-table-skipped"},
    {kSum, "wrong-end", "tables-left-out"},
    {kSum, "only-a-part", "tables-left-out"},
    {kSum, "wrong-stride", "tables-left-out"},
    {kHandover, "", "last-table-skipped"},
    {kCopies, "missing", "nothing-merged"},
    {kCopies, "loop-runs-once", "only-the-first-copy"},
    {kCopies, "last-pixel-dropped", "last-copy-skipped"},
    {kCopies, "first-pixel-dropped", "first-copy-skipped"},
};

// How a part changes: {0} is what it is about, {1} what it was, {2} what it is.
constexpr std::pair<Part, const char*> kSentences[] = {
    {kStart, "{0} starts at {2}, not at {1}."},
    {kStride, "{0} strides by {2}, not by {1}."},
    {kEnd, "{0} ends before {2}, not before {1}."},
    {kValue, "In {0} a pixel of value v is counted as if it were {2}."},
    {kBytes, "{0} takes {2} bytes for a pixel."},
    {kWeight, "In {0} {2} is added, not {1}."},
    {kTo, "{0} writes at {2}, not at {1}."},
    {kFrom, "{0} reads at {2}, not at {1}."},
    {kPitch, "In {0} a number is multiplied by {2}, not by {1}."},
    {kAddress, "In {0} a load begins at {2}, not at {1}."},
    {kNumber, "{0} takes {2} for {1}."},
    {kWhich, "{0} takes {2} for {1}."},
    {kReturn, "Work-items for which {2} return before the barrier, and their share of zeroing and merging is not done."},
};
constexpr const char* kHows[] = {"",
                                 "{0} adds without an atomic, and what others add in between is lost.",
                                 "{0} overwrites a count where it should be added.",
                                 "{0} takes `or` for an addition.",
                                 "{0} takes `xor` for an addition.",
                                 "{0} takes the larger of two counts, not their sum.",
                                 "{0} subtracts where it should add."};
constexpr const char* kWalks[] = {
    "", "{0} goes over the work-items of each group, and not of the launch, from the first to the last.",
    "{0} goes over the work-items of the launch, and not of the group.",
    "{0} goes over the groups.", "{0} is done as a whole by each work-item."};
constexpr const char* kEmpties[] = {"", "{0} stops at the first bin that is empty.",
                                    "{0} does not write the bins that are empty, and they keep what was there."};
constexpr const char* kWidths[] = {"",
                                   "16 bits: with 65536 or more it begins at 0 again",
                                   "8 bits: with 256 or more it begins at 0 again",
                                   "16 bits with a sign: from 32768 on it is negative",
                                   "8 bits with a sign: from 128 on it is negative",
                                   "a float, which beyond 16777216 cannot be increased by one",
                                   "8 bits, and stays at 255",
                                   "7 bits"};

// What a kernel says for the names of the table, in OpenCL and in CUDA.
struct Word {
    const char* name;
    const char* opencl;
    const char* cuda;
};
constexpr Word kWords[] = {
    {"item", "get_local_id(0)", "threadIdx.x"},
    {"id", "get_global_id(0)", "blockIdx.x * blockDim.x + threadIdx.x"},
    {"group", "get_group_id(0)", "blockIdx.x"},
    {"size", "get_local_size(0)", "blockDim.x"},
    {"all", "get_global_size(0)", "gridDim.x * blockDim.x"},
    {"groups", "get_num_groups(0)", "gridDim.x"},
    {"y", "get_group_id(1)", "blockIdx.y"},
    {"groupsY", "get_num_groups(1)", "gridDim.y"},
};

// The words of an expression; X is what it was.
std::string said(const std::string& expression, const std::string& was, bool in_cuda) {
    std::string text;
    for (std::size_t i = 0; i < expression.size();) {
        std::string word;
        while (i < expression.size() && (std::isalnum(static_cast<unsigned char>(expression[i])) != 0 || expression[i] == ':'))
            word += expression[i++];
        if (word.empty()) {
            text += expression[i++];
            continue;
        }
        const auto* const found = std::find_if(std::begin(kWords), std::end(kWords),
                                               [&](const Word& each) { return word == each.name; });
        const std::string in_kernel = word == "X"             ? was
                                      : found == std::end(kWords) ? word
                                      : in_cuda                   ? found->cuda
                                                                  : found->opencl;
        const bool composed = in_kernel.find(' ') != std::string::npos && expression != word;
        text += word == "std::min" ? "min" : composed ? "(" + in_kernel + ")" : in_kernel;
    }
    return text;
}

std::string sentence_of(const Row& row, const Choice& choice, const std::string& right, bool in_cuda) {
    const std::string thing = kThings[choice.label];
    const std::string was = said(right, "", in_cuda);
    const std::string becomes = row.words;
    const char* form = "{0} is missing.";
    std::string now = said(becomes, row.part == kValue ? "v" : was.empty() ? "the count" : was, in_cuda);
    if (row.part == kTimes && becomes == "2") form = "{0} is done twice.";
    else if (row.part == kTimes && becomes == "1") form = "{0} is missing.";
    else if (row.part == kTimes && becomes != "0") {
        form = "{0} is done only where {2}.";
        now = now.substr(0, now.find(" ?"));
    } else if (row.part == kStride && becomes == "kOnce") form = "{0} runs once: there is an `if` where a loop should be.";
    else if (row.part == kWalk) form = kWalks[row.becomes({}, 0)];
    else if (row.part == kEmpty) form = kEmpties[row.becomes({}, 0)];
    else if (row.part == kFirst) form = "{0} does its first turn twice.";
    else if (row.part == kHow) form = kHows[row.becomes({}, 0)];
    else if (row.part == kWidth) {
        form = "A counter has {2}.";
        now = kWidths[row.becomes({}, 0)];
    } else if (row.part != kTimes) {
        form = std::find_if(std::begin(kSentences), std::end(kSentences),
                            [&](const auto& each) { return each.first == row.part; })->second;
    }
    std::string text = fmt::format(fmt::runtime(form), thing, was.empty() ? "the count" : was, now);
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

std::string name_of(const Row& row, Label label) {
    const std::string name = row.name;
    for (const Called& each : kCalled)
        if (each.label == label && (*each.name == 0 || name == each.name) &&
            (*each.words == 0 || std::string(row.words) == each.words) && row.part != kWidth)
            return each.called;
    return name;
}

}  // namespace

std::vector<Change> changes(const RunContext& context) {
    std::vector<Change> all;
    double unusual = 0;
    for (const Played& strategy : strategies_of(context)) {
        for (const auto& [choice, right] : choices_of(strategy, context)) {
            for (const Row& row : kRows_) {
                if (row.part != choice.part || choice.label < row.labels.first ||
                    choice.label > row.labels.last || right == row.words)
                    continue;
                all.push_back({strategy,
                               {choice, row.becomes},
                               name_of(row, choice.label),
                               sentence_of(row, choice, right, context.in_cuda),
                               row.bits + unusual});
            }
        }
        unusual += 3;
    }
    return all;
}

std::string section_about(const std::string& name) {
    for (const char* const race : {"barrier", "atomic", "lost-", "early", "table-not", "overwrites"})
        if (name.find(race) != std::string::npos) return "the-race-conditions";
    for (const char* const start : {"wrong-", "bins-", "only-", "signed-v", "half-", "nothing-"})
        if (name.starts_with(start)) return "the-strategy";
    return "what-went-wrong-in-published-code";
}

}  // namespace common::diagnosis
