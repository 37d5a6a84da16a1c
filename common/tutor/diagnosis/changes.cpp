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
constexpr Labels only(Label label) {
    return {label, label};
}

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
#define TO(bits, ...)                                                                 \
    Outcome {                                                                         \
#__VA_ARGS__, [](const Place& place, [[maybe_unused]] Number X) -> Number {         \
            [[maybe_unused]] const auto& [item, id, group, size, all, groups, tables, count, \
                                          width, pitch, copies, v, turn, y, groupsY] = place; \
            return __VA_ARGS__;                                                             \
        }, bits \
    }
Row row(Part part, Labels labels, const char* name, std::vector<Outcome> outcomes) {
    return {part, labels, name, std::move(outcomes)};
}
constexpr Number kOnce = Number{1} << 40;
// clang-format off
const std::vector<Row> kTable{
    // whether it is done at all, and by whom
    row(kTimes, kAll, "missing", {TO(0, 0)}),
    row(kTimes, kOfPixels, "counted-several-times", {TO(2, 2)}),
    row(kTimes, kOfBins, "done-twice", {TO(2, 2)}),
    row(kTimes, kAll, "only-the-first-work-item", {TO(0, item == 0 ? X : 0),
        TO(0, id == 0 ? X : 0)}),
    row(kTimes, kAll, "only-the-last-work-item", {TO(2, item == size - 1 ? X : 0)}),
    row(kTimes, kAll, "first-work-item-left-out", {TO(2, item > 0 ? X : 0)}),
    row(kTimes, kAll, "last-work-item-left-out", {TO(2, item < size - 1 ? X : 0)}),
    row(kTimes, kAll, "only-some-work-items", {TO(2, item < 32 ? X : 0), TO(2, item < 16 ? X : 0),
        TO(2, item % 2 == 0 ? X : 0), TO(2, item < 256 ? X : 0)}),
    row(kTimes, kAll, "only-the-first-group", {TO(0, group == 0 ? X : 0)}),
    row(kTimes, kAll, "only-the-last-group", {TO(0, group == groups - 1 ? X : 0)}),
    row(kTimes, kAll, "first-table-skipped", {TO(1, group > 0 ? X : 0)}),
    row(kTimes, kAll, "last-table-skipped", {TO(1, group < groups - 1 ? X : 0)}),
    row(kTimes, only(kZero), "table-not-zeroed", {TO(0, turn == 0 ? X : 0)}),
    row(kTimes, only(kShort), "last-row-taken-as-full", {TO(0, 1)}),
    // where a loop starts
    row(kStart, kAll, "wrong-start", {TO(0, id), TO(0, item), TO(0, group), TO(0, 0)}),
    row(kStart, kAll, "first-pixel-dropped", {TO(0, X + 1)}),
    row(kStart, kOfPixels, "wrong-start", {TO(3, group + item), TO(3, group * groups + item),
        TO(3, group * 256 + item), TO(3, item * groups + group), TO(3, group * all + item)}),
    row(kStart, only(kTail), "wrong-start", {TO(1, X - id), TO(1, X - id + item)}),
    row(kStart, only(kTail), "tail-begins-too-early", {TO(1, count / 16 + id),
        TO(1, count / 16 * 4 + id)}),
    // how it goes on
    row(kStride, kAll, "loop-runs-once", {TO(0, kOnce)}),
    row(kStride, kAll, "wrong-stride", {TO(0, all), TO(0, size), TO(0, groups), TO(0, 1), TO(1, 2),
        TO(1, 256), TO(1, X * 2), TO(2, X * 3), TO(1, X * 4), TO(2, X * 8), TO(2, X * 16),
        TO(2, X * 64), TO(2, X / 2), TO(2, X / 4), TO(2, X / 8), TO(2, X / 16), TO(2, X + 1),
        TO(2, X - 1), TO(3, X * size), TO(3, X / groups), TO(3, X * groups)}),
    row(kStride, only(kRows), "wrong-stride", {TO(0, groups / groupsY), TO(1, size * groupsY)}),
    row(kStart, only(kRows), "wrong-start", {TO(1, group % (groups / groupsY))}),
    // where it ends
    row(kEnd, kAll, "one-pixel-too-many", {TO(0, X + 1)}),
    row(kEnd, kAll, "last-pixel-dropped", {TO(0, X - 1)}),
    row(kEnd, kAll, "only-a-part", {TO(0, X / 2), TO(0, X / 4), TO(0, X / 8), TO(0, X / 16),
        TO(3, X / 3), TO(2, X / 32), TO(1, X / size), TO(1, X / groups)}),
    row(kEnd, kOfPixels, "tail-dropped", {TO(0, X / all * all), TO(0, X / groups * groups),
        TO(0, X / width * width), TO(0, X / 8 * 8), TO(0, X / 16 * 16), TO(0, X / 32 * 32),
        TO(0, X / 64 * 64), TO(1, X / 128 * 128), TO(0, X / 256 * 256), TO(1, X / 512 * 512),
        TO(1, X / 1024 * 1024), TO(1, X / (4 * all) * (4 * all)),
        TO(1, X / (16 * all) * (16 * all)), TO(2, X / (64 * all) * (64 * all)),
        TO(1, X / (255 * size) * (255 * size)), TO(1, X / (255 * all) * (255 * all)),
        TO(2, X - all)}),
    row(kEnd, kAll, "tail-dropped", {TO(0, X / size * size), TO(0, X / 4 * 4)}),
    row(kEnd, only(kRows), "tail-dropped", {TO(0, count / width)}),
    row(kEnd, kOfBins, "tail-dropped", {TO(1, X / 2 * 2)}),
    row(kEnd, kOfPixels, "wrong-end", {TO(1, (X + all - 1) / all * all),
        TO(1, (X + size - 1) / size * size), TO(1, (X + 15) / 16 * 16)}),
    row(kEnd, only(kColumns), "padding-counted", {TO(0, pitch)}),
    row(kEnd, kOfBins, "wrong-end", {TO(1, 1), TO(1, 2), TO(1, 16), TO(1, 32), TO(1, 64),
        TO(2, 127), TO(1, 128), TO(2, 192), TO(1, 254), TO(1, 256), TO(1, size), TO(1, groups),
        TO(1, all), TO(2, count), TO(1, 256 / size)}),
    // the number of pixels that the kernel gets
    row(kNumber, only(kCount), "only-a-part", {TO(2, X / 2), TO(2, X / 4), TO(2, X / 8)}),
    row(kNumber, only(kCount), "last-pixel-dropped", {TO(2, X - 1)}),
    row(kNumber, only(kCount), "one-pixel-too-many", {TO(2, X + 1)}),
    row(kNumber, only(kCount), "nothing-counted", {TO(2, 0)}),
    // a work-item's stretch
    row(kNumber, only(kPixels), "tail-dropped", {TO(0, count / all), TO(2, X - 1)}),
    row(kNumber, only(kPixels), "wrong-stride", {TO(2, count / groups), TO(2, count / size)}),
    row(kEnd, only(kPixels), "last-pixel-dropped", {
        TO(1, std::min((id + 1) * ((count + all - 1) / all), count) - 1)}),
    // how many pixels of a piece an 8-bit counter may get
    row(kNumber, only(kPiece), "8-bit-overflow", {TO(0, 256), TO(1, 257), TO(1, 300), TO(1, 510),
        TO(1, 512), TO(1, 1000), TO(1, 1024), TO(1, 4096), TO(1, 65535)}),
    // what a pixel's value becomes on its way to its bin
    row(kValue, kAll, "bins-shifted", {TO(0, X + 1), TO(0, X - 1), TO(0, (X + 1) & 255),
        TO(0, (X - 1) & 255), TO(2, (X + 2) & 255), TO(2, (X - 2) & 255)}),
    row(kValue, kAll, "bins-reversed", {TO(0, 255 - X)}),
    row(kValue, kAll, "signed-values", {TO(0, X > 127 ? X - 256 : X), TO(1, X > 127 ? 0 : X),
        TO(1, X > 127 ? 256 - X : X), TO(1, X ^ 128)}),
    row(kValue, kAll, "half-of-the-values", {TO(0, X & 127), TO(1, X & 63), TO(1, X & 31),
        TO(1, X & 15), TO(1, X & 7), TO(1, X & 254), TO(1, X & 252), TO(1, X & 240)}),
    row(kValue, kAll, "wrong-bin", {TO(0, X / 2), TO(0, X / 4), TO(1, X / 8), TO(1, X / 16),
        TO(0, X * 2), TO(0, X * 2 & 255), TO(0, X * 4), TO(0, X * 4 & 255), TO(1, X ^ 1),
        TO(1, X | 1), TO(0, X % 255), TO(2, X % 254), TO(1, X % size)}),
    row(kValue, kAll, "last-bin-missing", {TO(1, X > 254 ? 256 : X)}),
    row(kValue, kAll, "first-bin-missing", {TO(1, X < 1 ? -1 : X)}),
    // which pixel it is
    row(kBytes, kAll, "wrong-element-type", {TO(1, 2), TO(1, 4)}),
    row(kFrom, kOfPixels, "wrong-pixel", {TO(1, X + 1), TO(1, X - 1), TO(1, X * 2), TO(1, X * 4),
        TO(1, X / 2), TO(1, X / 4), TO(1, id), TO(1, item)}),
    row(kFrom, only(kShort), "pitch-not-used", {TO(0, width), TO(1, pitch * 2), TO(1, all)}),
    row(kPitch, only(kShort), "pitch-in-the-test", {TO(0, pitch)}),
    row(kAddress, kAll, "misaligned-loads", {TO(0, X + 1), TO(0, X - 1), TO(1, X + 4),
        TO(1, X + 16), TO(1, X / 4)}),
    row(kWhich, kParts, "counted-twice", {TO(0, 0), TO(0, 1), TO(0, 2), TO(0, 3)}),
    // whose counters
    row(kWhich, kOfBins, "merges-part-of-its-own", {TO(0, item), TO(1, 0)}),
    row(kWhich, only(kCopies), "merges-part-of-its-own", {TO(0, item % copies)}),
    row(kWhich, only(kPixels), "counters-are-shared", {TO(0, 0), TO(2, item / 2)}),
    row(kNumber, kAll, "wrong-copy", {TO(1, 0), TO(1, group % copies), TO(1, item)}),
    row(kTo, only(kPixels), "wrong-layout", {TO(1, X % copies * 256 + X / copies)}),
    row(kFrom, only(kCopies), "wrong-layout", {TO(1, X % copies * 256 + X / copies)}),
    row(kFrom, only(kItems), "wrong-layout", {TO(1, X % 256 * size + X / 256)}),
    row(kPitch, kAll, "rows-overlap", {TO(0, X - 1), TO(1, X + 1), TO(2, X * 2), TO(1, X / 2),
        TO(1, X / 4), TO(0, size), TO(1, groups), TO(1, 1), TO(0, 0)}),
    // what is added, and how
    row(kWeight, kAll, "merge-adds-one", {TO(0, 1)}),
    row(kWeight, kOfBins, "merge-adds-one", {TO(1, X > 0)}),
    row(kWeight, kAll, "counted-several-times", {TO(1, X * 2), TO(1, X * 4), TO(2, X * 16),
        TO(1, X * size), TO(1, X * groups)}),
    row(kWeight, kOfPixels, "adds-the-value", {TO(1, v)}),
    row(kWeight, kAll, "adds-less", {TO(2, X - 1)}),
    row(kWeight, kAll, "adds-more", {TO(2, X + 1)}),
    row(kWeight, kAll, "nothing-counted", {TO(2, 0)}),
    row(kHow, kAll, "no-atomic", {TO(0, kPlain)}),
    row(kHow, kAll, "overwrites", {TO(0, kAssigned)}),
    row(kHow, kAll, "wrong-operation", {TO(1, kOr), TO(1, kXor), TO(1, kLarger),
        TO(1, kSubtracted)}),
    row(kTo, kOfBins, "wrong-index", {TO(1, item), TO(1, id), TO(2, group), TO(2, 0), TO(2, X + 1),
        TO(2, X - 1), TO(2, 255 - X)}),
    row(kFrom, kOfBins, "wrong-index", {TO(1, item), TO(1, id), TO(2, group), TO(2, 0),
        TO(2, X + 1), TO(2, X - 1), TO(2, 255 - X)}),
    row(kEmpty, kOfBins, "stops-at-an-empty-bin", {TO(1, kStops)}),
    row(kEmpty, kOfBins, "empty-bins-not-written", {TO(1, kPassedOver)}),
    row(kWalk, kAll, "wrong-start", {TO(1, kByItems), TO(1, kByAll), TO(1, kByGroups)}),
    row(kWalk, kAll, "counted-several-times", {TO(0, kByEach)}),
    row(kFirst, kAll, "first-turn-twice", {TO(1, 2)}),
    row(kReturn, kAll, "early-return", {TO(0, id >= count), TO(0, item >= 256)}),
    // how a counter is kept
    row(kWidth, kAll, "8-bit-overflow", {TO(0, k8), TO(1, kUpTo255), TO(1, k7)}),
    row(kWidth, kAll, "16-bit-overflow", {TO(0, k16)}),
    row(kWidth, kAll, "signed-counters", {TO(1, kSigned8), TO(1, kSigned16)}),
    row(kWidth, kAll, "float-counters", {TO(0, kFloat)}),
};

// Where a change has a name of its own: the first that fits; no words fit all.
struct Called {
    Label label;
    const char* name;
    const char* called;
    const char* words = "";
};
constexpr Called as(Label label, const char* name, const char* called, const char* words = "") {
    return {label, name, called, words};
}
constexpr Called kCalled[] = {
    as(kHistogram, "", "not-zeroed"), as(kTables, "rows-overlap", "rows-overlap"),
    as(kTables, "", "not-zeroed"), as(kRow, "", "not-zeroed"), as(kZero, "", "table-not-zeroed"),
    as(kZeroed, "early-return", "early-return"), as(kZeroed, "", "no-barrier-after-zeroing"),
    as(kCounted, "missing", "no-barrier-before-merge"),
    as(kCounted, "only-some-work-items", "no-barrier-before-merge"),
    as(kAgain, "", "no-barrier-before-the-next-piece"), as(kPixels, "missing", "nothing-counted"),
    as(kPixels, "no-atomic", "lost-updates"), as(kPixels, "merge-adds-one", "counted-once"),
    as(kPixels, "overwrites", "counted-once"), as(kShort, "missing", "nothing-counted"),
    as(kLoads, "missing", "only-the-tail"), as(kRows, "last-pixel-dropped", "tail-dropped"),
    as(kColumns, "tail-dropped", "cropped"), as(kColumns, "only-a-part", "cropped"),
    as(kSum, "tail-dropped", "tables-left-out"), as(kSum, "first-turn-twice", "first-table-twice"),
    as(kColumns, "last-pixel-dropped", "cropped"), as(kRest, "missing", "tail-dropped"),
    as(kLoad, "counted-twice", "load-counted-twice"),
    as(kLoad, "missing", "part-of-a-load-skipped"),
    as(kWord, "counted-twice", "part-of-a-load-skipped"),
    as(kWord, "missing", "part-of-a-load-skipped"),
    as(kByte, "counted-twice", "byte-counted-twice"),
    as(kByte, "missing", "part-of-a-load-skipped"),
    as(kByte, "half-of-the-values", "part-of-a-load-masked"),
    as(kByte, "no-atomic", "lost-updates"), as(kTail, "missing", "tail-dropped"),
    as(kTail, "only-a-part", "tail-dropped"), as(kTail, "wrong-start", "tail-counted-twice"),
    as(kTail, "rows-overlap", "tail-in-wrong-bins"), as(kTail, "no-atomic", "lost-updates"),
    as(kMerge, "missing", "nothing-merged"),
    as(kMerge, "wrong-stride", "merge-strided-globally", "all"),
    as(kMerge, "loop-runs-once", "merge-without-a-loop"),
    as(kMerge, "wrong-start", "merge-starts-globally", "id"),
    as(kMerge, "no-atomic", "merge-without-atomic"), as(kMerge, "overwrites", "merge-overwrites"),
    as(kMerge, "wrong-index", "bins-repeat", "item"),
    as(kMerge, "last-pixel-dropped", "last-bin-missing"),
    as(kMerge, "first-pixel-dropped", "first-bin-missing"),
    as(kMerge, "only-the-first-work-item", "merged-by-one-work-item"),
    as(kBinLoop, "missing", "nothing-written"),
    as(kBinLoop, "loop-runs-once", "merge-without-a-loop"),
    as(kBinLoop, "last-pixel-dropped", "last-bin-missing"),
    as(kBinLoop, "first-pixel-dropped", "first-bin-missing"),
    as(kSum, "missing", "nothing-merged"), as(kSum, "overwrites", "merge-overwrites"),
    as(kSum, "loop-runs-once", "only-the-first-group"),
    as(kSum, "last-pixel-dropped", "last-table-skipped"),
    as(kSum, "first-pixel-dropped", "first-table-skipped"),
    as(kSum, "wrong-end", "tables-left-out"), as(kSum, "only-a-part", "tables-left-out"),
    as(kSum, "wrong-stride", "tables-left-out"), as(kHandover, "", "last-table-skipped"),
    as(kCopies, "missing", "nothing-merged"), as(kCopies, "loop-runs-once", "only-the-first-copy"),
    as(kCopies, "last-pixel-dropped", "last-copy-skipped"),
    as(kCopies, "first-pixel-dropped", "first-copy-skipped"),
};
// clang-format on

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
    {kReturn,
     "Work-items for which {2} return before the barrier, and their share of zeroing and merging "
     "is not done."},
};
constexpr const char* kHows[] = {
    "",
    "{0} adds without an atomic, and what others add in between is lost.",
    "{0} overwrites a count where it should be added.",
    "{0} takes `or` for an addition.",
    "{0} takes `xor` for an addition.",
    "{0} takes the larger of two counts, not their sum.",
    "{0} subtracts where it should add."};
constexpr const char* kWalks[] = {
    "",
    "{0} goes over the work-items of each group, and not of the launch, from the first to the "
    "last.",
    "{0} goes over the work-items of the launch, and not of the group.",
    "{0} goes over the groups.", "{0} is done as a whole by each work-item."};
constexpr const char* kEmpties[] = {
    "", "{0} stops at the first bin that is empty.",
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
        while (
            i < expression.size() &&
            (std::isalnum(static_cast<unsigned char>(expression[i])) != 0 || expression[i] == ':'))
            word += expression[i++];
        if (word.empty()) {
            text += expression[i++];
            continue;
        }
        const auto* const found = std::find_if(std::begin(kWords), std::end(kWords),
                                               [&](const Word& each) { return word == each.name; });
        const std::string in_kernel = word == "X"                 ? was
                                      : found == std::end(kWords) ? word
                                      : in_cuda                   ? found->cuda
                                                                  : found->opencl;
        const bool composed = in_kernel.find(' ') != std::string::npos && expression != word;
        text += word == "std::min" ? "min" : composed ? "(" + in_kernel + ")" : in_kernel;
    }
    return text;
}

std::string sentence_of(const Row& row, const Outcome& outcome, const Choice& choice,
                        const std::string& right, bool in_cuda) {
    const std::string thing = kThings[choice.label];
    const std::string was = said(right, "", in_cuda);
    const std::string becomes = outcome.words;
    const char* form = "{0} is missing.";
    std::string now = said(becomes,
                           row.part == kValue ? "v"
                           : was.empty()      ? "the count"
                                              : was,
                           in_cuda);
    if (row.part == kTimes && becomes == "2")
        form = "{0} is done twice.";
    else if (row.part == kTimes && becomes == "1")
        form = "{0} is missing.";
    else if (row.part == kTimes && becomes != "0") {
        form = "{0} is done only where {2}.";
        now = now.substr(0, now.find(" ?"));
    } else if (row.part == kStride && becomes == "kOnce")
        form = "{0} runs once: there is an `if` where a loop should be.";
    else if (row.part == kWalk)
        form = kWalks[outcome.becomes({}, 0)];
    else if (row.part == kEmpty)
        form = kEmpties[outcome.becomes({}, 0)];
    else if (row.part == kFirst)
        form = "{0} does its first turn twice.";
    else if (row.part == kHow)
        form = kHows[outcome.becomes({}, 0)];
    else if (row.part == kWidth) {
        form = "A counter has {2}.";
        now = kWidths[outcome.becomes({}, 0)];
    } else if (row.part != kTimes) {
        form = std::find_if(std::begin(kSentences), std::end(kSentences), [&](const auto& each) {
                   return each.first == row.part;
               })->second;
    }
    std::string text = fmt::format(fmt::runtime(form), thing, was.empty() ? "the count" : was, now);
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

std::vector<Change> changes(const RunContext& context) {
    std::vector<Change> all;
    double unusual = 0;
    for (const Played& strategy : strategies_of(context)) {
        for (const auto& [choice, right] : choices_of(strategy, context)) {
            for (const Row& row : kTable) {
                if (row.part != choice.part || choice.label < row.labels.first ||
                    choice.label > row.labels.last ||
                    (strategy.way == kRotated && choice.label != kCopies) ||
                    (row.part == kPitch && choice.label == kShort && row.labels.first != kShort))
                    continue;
                for (const Outcome& outcome : row.outcomes)
                    if (right != outcome.words)
                        all.push_back({strategy,
                                       {choice, outcome.becomes},
                                       name_of(row, outcome, choice.label),
                                       sentence_of(row, outcome, choice, right, context.in_cuda),
                                       outcome.bits + unusual});
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
