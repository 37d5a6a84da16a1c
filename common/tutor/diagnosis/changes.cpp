#include "common/tutor/diagnosis/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace common::diagnosis {
namespace {

// What a part of a program may become; X is what it was. The bits say how unusual that is.
struct Becomes {
    const char* part;
    const char* name;
    const char* expression;
    double bits = 0;
};
constexpr Becomes kBecomes[] = {
    // where a loop starts
    {"start", "wrong-start", "id"},
    {"start", "wrong-start", "item"},
    {"start", "wrong-start", "group"},
    {"start", "wrong-start", "0"},
    {"start", "first-pixel-dropped", "X + 1"},
    {"start of pixels", "wrong-start", "group + item", 3},
    {"start of pixels", "wrong-start", "group * groups + item", 3},
    {"start of pixels", "wrong-start", "group * 256 + item", 3},
    {"start of pixels", "wrong-start", "group * all + item", 3},
    // how it goes on
    {"stride", "loop-runs-once", "1099511627776"},
    {"stride", "wrong-stride", "all"},
    {"stride", "wrong-stride", "size"},
    {"stride", "wrong-stride", "groups"},
    {"stride", "wrong-stride", "1"},
    {"stride", "wrong-stride", "2", 1},
    {"stride", "wrong-stride", "256", 1},
    {"stride", "wrong-stride", "X * 2", 1},
    {"stride", "wrong-stride", "X * 3", 2},
    {"stride", "wrong-stride", "X * 4", 1},
    {"stride", "wrong-stride", "X * 8", 2},
    {"stride", "wrong-stride", "X * 16", 2},
    {"stride", "wrong-stride", "X * 64", 2},
    {"stride", "wrong-stride", "X / 2", 2},
    {"stride", "wrong-stride", "X + 1", 2},
    {"stride", "wrong-stride", "X - 1", 2},
    {"stride", "wrong-stride", "X * size", 3},
    {"stride", "wrong-stride", "X * groups", 3},
    // where it ends
    {"end", "one-pixel-too-many", "X + 1"},
    {"end", "last-pixel-dropped", "X - 1"},
    {"end", "only-a-part", "X / 2"},
    {"end", "only-a-part", "X / 4"},
    {"end", "only-a-part", "X / 8"},
    {"end", "only-a-part", "X / 16"},
    {"end", "only-a-part", "X / 3", 3},
    {"end", "only-a-part", "X / 32", 2},
    {"end", "only-a-part", "X / size", 1},
    {"end", "only-a-part", "X / groups", 1},
    {"end of pixels", "tail-dropped", "X / all * all"},
    {"end of pixels", "tail-dropped", "X / size * size"},
    {"end of pixels", "tail-dropped", "X / groups * groups"},
    {"end of pixels", "tail-dropped", "X / width * width"},
    {"end of pixels", "tail-dropped", "X / 4 * 4"},
    {"end of pixels", "tail-dropped", "X / 8 * 8"},
    {"end of pixels", "tail-dropped", "X / 16 * 16"},
    {"end of pixels", "tail-dropped", "X / 32 * 32"},
    {"end of pixels", "tail-dropped", "X / 64 * 64"},
    {"end of pixels", "tail-dropped", "X / 128 * 128", 1},
    {"end of pixels", "tail-dropped", "X / 256 * 256"},
    {"end of pixels", "tail-dropped", "X / 512 * 512", 1},
    {"end of pixels", "tail-dropped", "X / 1024 * 1024", 1},
    {"end of pixels", "tail-dropped", "X / (4 * all) * (4 * all)", 1},
    {"end of pixels", "tail-dropped", "X / (16 * all) * (16 * all)", 1},
    {"end of pixels", "tail-dropped", "X / (64 * all) * (64 * all)", 2},
    {"end of pixels", "tail-dropped", "X / (16 * size) * (16 * size)", 2},
    {"end of pixels", "tail-dropped", "X / (255 * size) * (255 * size)", 1},
    {"end of pixels", "tail-dropped", "X / (255 * all) * (255 * all)", 1},
    {"end of pixels", "wrong-end", "(X + all - 1) / all * all", 1},
    {"end of pixels", "wrong-end", "(X + size - 1) / size * size", 1},
    {"end of pixels", "wrong-end", "(X + 15) / 16 * 16", 1},
    {"end of pixels", "wrong-end", "(X + 255) / 256 * 256", 2},
    {"end of bins", "wrong-end", "1", 1},
    {"end of bins", "wrong-end", "2", 1},
    {"end of bins", "wrong-end", "16", 1},
    {"end of bins", "wrong-end", "32", 1},
    {"end of bins", "wrong-end", "63", 2},
    {"end of bins", "wrong-end", "64", 1},
    {"end of bins", "wrong-end", "127", 2},
    {"end of bins", "wrong-end", "128", 1},
    {"end of bins", "wrong-end", "192", 2},
    {"end of bins", "wrong-end", "254", 1},
    {"end of bins", "wrong-end", "size", 1},
    {"end of bins", "wrong-end", "groups", 1},
    {"end of bins", "wrong-end", "all", 1},
    {"end of bins", "wrong-end", "count", 2},
    {"end of bins", "wrong-end", "(255 + size) / size"},
    // the count that the kernel gets
    {"count", "only-a-part", "X / 2", 2},
    {"count", "only-a-part", "X / 4", 2},
    {"count", "only-a-part", "X / 8", 2},
    {"count", "only-a-part", "X / 16", 2},
    {"count", "last-pixel-dropped", "X - 1", 2},
    {"count", "one-pixel-too-many", "X + 1", 2},
    {"count", "too-many-pixels", "X * 4", 2},
    {"count", "nothing-counted", "0", 2},
    // what a pixel's value becomes on its way to its bin
    {"value", "bins-shifted", "X + 1"},
    {"value", "bins-shifted", "X - 1"},
    {"value", "bins-shifted", "X + 1 & 255"},
    {"value", "bins-shifted", "X - 1 & 255"},
    {"value", "bins-shifted", "X + 2 & 255", 2},
    {"value", "bins-shifted", "X - 2 & 255", 2},
    {"value", "bins-reversed", "255 - X"},
    {"value", "signed-values", "X - 256 * (X > 127)"},
    {"value", "signed-values", "X - X * (X > 127)", 1},
    {"value", "signed-values", "X + (256 - 2 * X) * (X > 127)", 1},
    {"value", "signed-values", "X ^ 128", 1},
    {"value", "half-of-the-values", "X & 127"},
    {"value", "half-of-the-values", "X & 63", 1},
    {"value", "half-of-the-values", "X & 31", 1},
    {"value", "half-of-the-values", "X & 15", 1},
    {"value", "half-of-the-values", "X & 7", 1},
    {"value", "half-of-the-values", "X & 254", 1},
    {"value", "half-of-the-values", "X & 252", 1},
    {"value", "half-of-the-values", "X & 240", 1},
    {"value", "wrong-bin", "X / 2"},
    {"value", "wrong-bin", "X / 4"},
    {"value", "wrong-bin", "X / 8", 1},
    {"value", "wrong-bin", "X / 16", 1},
    {"value", "wrong-bin", "X * 2"},
    {"value", "wrong-bin", "X * 2 & 255"},
    {"value", "wrong-bin", "X * 4"},
    {"value", "wrong-bin", "X * 4 & 255"},
    {"value", "wrong-bin", "X ^ 1", 1},
    {"value", "wrong-bin", "X % 255"},
    {"value", "wrong-bin", "X % 254", 2},
    {"value", "wrong-bin", "X | 1", 1},
    {"value", "last-bin-missing", "X + (X > 254)", 1},
    {"value", "first-bin-missing", "X - (X < 1)", 1},
    // where a load begins
    {"address", "misaligned-loads", "X + 1"},
    {"address", "misaligned-loads", "X - 1"},
    {"address", "misaligned-loads", "X + 4", 1},
    {"address", "misaligned-loads", "X + 16", 1},
    // what is added
    {"weight", "merge-adds-one", "1"},
    {"weight", "merge-adds-one", "X > 0", 1},
    {"weight", "counted-several-times", "X * 2", 1},
    {"weight", "counted-several-times", "X * 4", 1},
    {"weight", "counted-several-times", "X * 16", 2},
    {"weight", "counted-several-times", "X * size", 1},
    {"weight", "counted-several-times", "X * groups", 1},
    // a number or a name
    {"number", "", "X - 1", 2},
    {"number", "", "X + 1", 2},
    {"number", "", "X * 2", 2},
    {"number", "", "X / 2", 2},
    {"number", "", "X * 4", 2},
    {"number", "", "X / 4", 2},
    {"number", "", "0", 2},
    {"number", "", "1", 2},
    {"number", "", "2", 2},
    {"number", "", "3", 2},
    {"number", "", "15", 3},
    {"number", "", "63", 3},
    {"number", "", "64", 3},
    {"number", "", "127", 3},
    {"number", "", "254", 3},
    {"number", "", "256", 2},
    {"number", "", "512", 2},
    {"number", "", "1024", 3},
    {"number", "", "size", 3},
    {"number", "", "groups", 4},
    {"index", "", "id", 2},
    {"index", "", "item", 1},
    {"index", "", "group", 2},
    {"index", "", "0", 2},
    {"index", "", "X + 1", 3},
    {"index", "", "X - 1", 3},
    {"size", "", "size", 1},
    {"size", "", "all", 1},
    {"size", "", "groups", 1},
    {"size", "", "256", 2},
    {"size", "", "1", 1},
    {"amount", "", "count", 1},
    {"amount", "", "width", 1},
    {"amount", "", "pitch", 1},
};

// Who alone does something, or does not.
constexpr Becomes kOnly[] = {
    {"each group's first work-item", "only-the-first-work-item", "item == 0"},
    {"the first work-item of all", "only-the-first-work-item", "id == 0"},
    {"each group's last work-item", "only-the-last-work-item", "item == size - 1", 2},
    {"all but each group's first work-item", "first-work-item-left-out", "item > 0", 2},
    {"all but each group's last work-item", "last-work-item-left-out", "item < size - 1", 2},
    {"each group's first 32 work-items", "only-some-work-items", "item < 32", 2},
    {"each group's first 16 work-items", "only-some-work-items", "item < 16", 2},
    {"the first group", "only-the-first-group", "group == 0"},
    {"the last group", "only-the-last-group", "group == groups - 1"},
    {"all groups but the first", "first-table-skipped", "group > 0", 1},
    {"all groups but the last", "last-table-skipped", "group < groups - 1"},
};

// How a counter may be kept.
struct Kept {
    Width width;
    const char* name;
    const char* words;
};
constexpr Kept kKept[] = {
    {Width::k8, "8-bit-overflow", "8 bits: with 256 or more it begins at 0 again"},
    {Width::k16, "16-bit-overflow", "16 bits: with 65536 or more it begins at 0 again"},
    {Width::kSigned8, "signed-counters", "8 bits with a sign: from 128 on it is negative"},
    {Width::kSigned16, "signed-counters", "16 bits with a sign: from 32768 on it is negative"},
    {Width::kFloat, "float-counters", "a float, which beyond 16777216 cannot be increased by one"},
    {Width::kUpTo255, "8-bit-overflow", "8 bits, and stays at 255"},
    {Width::k7, "8-bit-overflow", "7 bits"},
};

// What the statements are for, and how their changes are called where not as above: the first that
// fits; `called` without a name is all of them.
struct Thing {
    const char* label;
    const char* words;
    std::vector<std::pair<std::string, std::string>> called;
};
const std::vector<Thing>& things() {
    static const std::vector<Thing> all{
        {"histogram", "the zeroing of the histogram", {{"", "not-zeroed"}}},
        {"tables", "the zeroing of the tables", {{"", "not-zeroed"}}},
        {"row", "the loop that zeroes the group's row", {{"", "not-zeroed"}}},
        {"zero", "the loop that zeroes the table", {{"", "table-not-zeroed"}}},
        {"zeroed", "the barrier between zeroing and counting", {{"", "no-barrier-after-zeroing"}}},
        {"counted", "the barrier between counting and merging", {{"", "no-barrier-before-merge"}}},
        {"again", "the barrier behind the merge", {{"", "no-barrier-before-the-next-piece"}}},
        {"pixels", "the loop over the pixels", {}},
        {"pieces", "the loop over the pieces of the picture", {{"wrong-number", "8-bit-overflow"}}},
        {"piece", "the size of a piece", {{"wrong-number", "8-bit-overflow"}}},
        {"rows", "the loop over the rows", {{"last-pixel-dropped", "tail-dropped"}}},
        {"columns",
         "the loop over the columns",
         {{"tail-dropped", "cropped"},
          {"only-a-part", "cropped"},
          {"last-pixel-dropped", "cropped"},
          {"wrong-end=pitch", "padding-counted"}}},
        {"eight", "the loop over the rows of a step", {}},
        {"short",
         "the count of a pixel of a row",
         {{"no-test", "last-row-taken-as-full"},
          {"wrong-test=pitch", "pitch-in-the-test"},
          {"wrong-index=width", "pitch-not-used"}}},
        {"loads",
         "the loop over the loads of 16",
         {{"wrong-number", "load-counted-twice"}, {"wrong-call", "load-counted-twice"}}},
        {"rest", "the loop over the loads that are left", {{"missing", "tail-dropped"}}},
        {"four",
         "the count of four pixels of a load",
         {{"half-of-the-values", "part-of-a-load-masked"},
          {"missing", "part-of-a-load-skipped"},
          {"wrong-number", "byte-counted-twice"},
          {"wrong-call", "byte-counted-twice"},
          {"wrong-index", "byte-counted-twice"},
          {"wrong-mask", "part-of-a-load-masked"}}},
        {"tail",
         "the loop for the last pixels",
         {{"missing", "tail-dropped"},
          {"too-early", "tail-begins-too-early"},
          {"only-a-part", "tail-dropped"},
          {"wrong-start", "tail-counted-twice"},
          {"wrong-index", "tail-in-wrong-bins"},
          {"wrong-number", "tail-in-wrong-bins"}}},
        {"merge",
         "the loop that merges the table",
         {{"wrong-stride=all", "merge-strided-globally"},
          {"loop-runs-once", "merge-without-a-loop"},
          {"wrong-start=id", "merge-starts-globally"},
          {"no-atomic", "merge-without-atomic"},
          {"assigned", "merge-overwrites"},
          {"wrong-index=item", "bins-repeat"},
          {"wrong-index", "rows-overlap"},
          {"wrong-number", "rows-overlap"},
          {"last-pixel-dropped", "last-bin-missing"},
          {"first-pixel-dropped", "first-bin-missing"},
          {"only-the-first-work-item", "merged-by-one-work-item"}}},
        {"bins",
         "the loop over the bins of the sum",
         {{"missing", "nothing-written"},
          {"loop-runs-once", "merge-without-a-loop"},
          {"last-pixel-dropped", "last-bin-missing"},
          {"first-pixel-dropped", "first-bin-missing"}}},
        {"sum",
         "the loop that adds up the tables",
         {{"loop-runs-once", "only-the-first-group"},
          {"last-pixel-dropped", "last-table-skipped"},
          {"first-pixel-dropped", "first-table-skipped"},
          {"wrong-index", "rows-overlap"},
          {"wrong-number", "rows-overlap"},
          {"wrong-end", "tables-left-out"},
          {"only-a-part", "tables-left-out"},
          {"wrong-stride", "tables-left-out"}}},
        {"handover",
         "the step of the group that merges last",
         {{"wrong-value", "last-table-skipped"}}},
        {"items", "the loop that adds up the work-items' counters", {}},
        {"copies",
         "the loop that adds up the copies",
         {{"loop-runs-once", "only-the-first-copy"},
          {"last-pixel-dropped", "last-copy-skipped"},
          {"first-pixel-dropped", "first-copy-skipped"}}},
    };
    return all;
}

class Maker {
 public:
    Maker(const Description& right, bool in_cuda) : right_(right), in_cuda_(in_cuda) {}

    std::vector<Change> all() {
        for (std::size_t i = 0; i < right_.phases.size(); ++i) {
            phase_ = right_.phases[i];
            statement(phase_.first);
            const bool is_last = i + 1 == right_.phases.size();
            const bool counts = phase_.where == Phase::kLaunch;
            Change& gone =
                add(i == 0 && !counts   ? "not-zeroed"
                    : counts && is_last ? "nothing-counted"
                                        : "nothing-written",
                    counts ? "The kernel that counts does nothing, or is not launched."
                           : "What is to be done before or behind the kernel that counts "
                             "is not done, or too late.");
            gone.program.phases.erase(gone.program.phases.begin() + static_cast<std::ptrdiff_t>(i));
        }
        in_function_ = true;
        for (const Function& each : right_.functions) {
            label_ = "four";
            statement(each.body);
        }
        in_function_ = false;
        label_ = "pixels";
        everywhere(uses(Node::kVariable, kCount), "count");
        everywhere(uses(Node::kLoad, kPixels), "value");
        widths();
        if (!uses(Node::kBarrier, 0).empty()) barriers();
        // A description of one choice only.
        if (const std::size_t at = right_.name.find(" only "); at != std::string::npos) {
            std::erase_if(changes_, [&](const Change& each) {
                return each.label != right_.name.substr(at + 6);
            });
        }
        return std::move(changes_);
    }

 private:
    const Description& right_;
    bool in_cuda_;
    std::vector<Change> changes_;
    Phase phase_;
    bool in_function_ = false;
    std::string label_ = "pixels";  // of the innermost statement that has one
    int statement_ = -1;
    int loop_ = -1;  // around it

    const Node& node(int index) const { return right_.nodes[static_cast<std::size_t>(index)]; }
    static Node& at(Description& program, int index) {
        return program.nodes[static_cast<std::size_t>(index)];
    }
    const Thing& thing(const std::string& label) const {
        return *std::find_if(things().begin(), things().end(),
                             [&](const Thing& each) { return label == each.label; });
    }
    std::string words(bool first = false) const {
        std::string text = thing(label_).words;
        if (first) text[0] = 'T';
        return text;
    }
    std::vector<int> uses(Node::Kind kind, std::int64_t value) const {
        std::vector<int> found;
        for (std::size_t i = 0; i < right_.nodes.size(); ++i)
            if (right_.nodes[i].kind == kind && right_.nodes[i].value == value)
                found.push_back(static_cast<int>(i));
        return found;
    }
    // The loops that share out the pixels, and those over bins and tables.
    bool is_of_pixels() const {
        for (const char* const label : {"pixels", "loads", "rest", "rows", "columns", "pieces"})
            if (label_ == label) return true;
        return false;
    }
    bool only_its_name_counts() const {
        const auto& called = thing(label_).called;
        return !called.empty() && called.front().first.empty();
    }

    // `became` is what an expression has become, where the name depends on that.
    std::string name_of(const std::string& name, const std::string& became) const {
        for (const auto& [from, to] : thing(label_).called)
            if (from.empty() || from == name || from == name + "=" + became) return to;
        return name == "missing" || name == "one-missing" ? "nothing-counted"
               : name == "no-atomic"                      ? "lost-updates"
                                                          : name;
    }
    Change& add(const std::string& name, std::string sentence, double bits = 0,
                const std::string& became = "") {
        const std::string called = name_of(name, became);
        // What has a name of its own comes before what has not.
        const bool is_plain =
            called.starts_with("wrong-") && called != "wrong-start" && called != "wrong-stride";
        changes_.push_back(
            {called, std::move(sentence), right_, label_, bits + (is_plain ? 4 : 0), false});
        return changes_.back();
    }

    // These expressions become another.
    Change* change(const std::vector<int>& which, const Becomes& to, const std::string& name,
                   const char* form) {
        Change& made = add(name, "", to.bits, to.expression);
        for (const int each : which) {
            const int x = made.program.add(Node(node(each)));
            const int other = add_expression(made.program, to.expression, x);
            Node now = at(made.program, other);
            now.next = node(each).next;
            at(made.program, each) = now;
        }
        const std::string was = text_of(right_, which.front(), in_cuda_);
        const std::string is = text_of(made.program, which.front(), in_cuda_);
        if (was == is) {
            changes_.pop_back();
            return nullptr;
        }
        made.sentence = fmt::format(fmt::runtime(form), words(true), is, was, words());
        return &made;
    }
    static constexpr const char* kInPlace = "In {3}: {1} in the place of {2}.";

    template <typename Do>
    static void each(const std::string& part, const Do& what) {
        for (const Becomes& one : kBecomes)
            if (part == one.part) what(one);
    }

    // ---- statements ----

    void statement(int index) {
        const Node& n = node(index);
        const std::string outer = label_;
        const int outer_statement = std::exchange(statement_, index);
        if (n.label >= 0) label_ = right_.labels[static_cast<std::size_t>(n.label)];
        if (n.kind == Node::kBlock) {
            block(n);
        } else if (n.kind == Node::kFor) {
            loop(n);
            const int outer_loop = std::exchange(loop_, index);
            statement(n.kids[3]);
            loop_ = outer_loop;
        } else if (n.kind == Node::kIf) {
            change({n.kids[0]}, {"", "", "1"}, "no-test", "In {3}: the test {2} is missing.");
            expression(n.kids[0], "wrong-test");
            statement(n.kids[1]);
        } else if (n.kind == Node::kStore) {
            store(index, n);
        } else if (n.kind == Node::kSet) {
            expression(n.kids[0], "wrong-value");
            if (in_function_)
                each("address",
                     [&](const Becomes& to) { change({n.kids[0]}, to, to.name, kInPlace); });
        } else if (n.kind == Node::kCall) {
            expression(n.kids[0], "wrong-call");
        }
        if (n.kind != Node::kBlock && n.kind != Node::kSet) removals(index, n);
        label_ = outer;
        statement_ = outer_statement;
    }

    // Two neighbours in the other order.
    void block(const Node& n) {
        for (int each = n.kids[0]; each >= 0; each = node(each).next) {
            const int next = node(each).next;
            if (next >= 0 && node(next).label >= 0 && node(each).label >= 0) {
                const auto label = [&](int which) {
                    return right_.labels[static_cast<std::size_t>(node(which).label)];
                };
                const std::string outer =
                    std::exchange(label_, label(node(each).kind == Node::kBarrier ? each : next));
                Change& made = add("wrong-order", "", 4);
                made.sentence = fmt::format("What comes first should come second: {}, and {}.",
                                            thing(label(next)).words, thing(label(each)).words);
                std::swap(at(made.program, each), at(made.program, next));
                std::swap(at(made.program, each).next, at(made.program, next).next);
                label_ = outer;
            }
            statement(each);
        }
    }

    // It is missing, or only some do it.
    void removals(int index, const Node& n) {
        const std::string what = text_of(right_, index, in_cuda_);
        Change& gone = add("missing", fmt::format("{} is missing: `{}`.", words(true), what));
        Node nothing{.kind = Node::kNothing};
        nothing.next = n.next;
        at(gone.program, index) = nothing;
        if (n.kind == Node::kBarrier || phase_.where != Phase::kLaunch || in_function_) return;
        const auto guard = [&](Change& made, int condition) {
            Description& p = made.program;
            const int copy = p.add(Node(n));
            at(p, copy).next = -1;
            Node test{.kind = Node::kIf};
            test.kids = {condition, copy, -1, -1};
            test.next = n.next;
            at(p, index) = test;
        };
        if (loop_ >= 0 && only_its_name_counts()) {
            Change& made = add(
                "missing", words(true) + " is done in the first turn of the loop around it only.");
            const int turn =
                made.program.add({.kind = Node::kVariable, .value = node(loop_).value});
            guard(made, made.program.add({.kind = Node::kBinary,
                                          .op = '=',
                                          .kids = {turn, node(loop_).kids[0], -1, -1}}));
        }
        for (const Becomes& only : kOnly) {
            Change& made =
                add(only.name, fmt::format("{} is done by {} only.", words(true), only.part),
                    only.bits + 2);
            guard(made, add_expression(made.program, only.expression));
        }
    }

    void loop(const Node& n) {
        const int end = node(n.kids[1]).kids[1];
        const auto change_part = [&](int which, const char* part, const char* form) {
            each(part, [&](const Becomes& to) {
                // A loop over bins that starts at 1 leaves out the first.
                change({which}, to, to.name, form);
            });
        };
        constexpr const char* kStarts = "{0} starts at {1}, not at {2}.";
        constexpr const char* kEnds = "{0} ends at {1}, not at {2}.";
        change_part(n.kids[0], "start", kStarts);
        change_part(n.kids[2], "stride", "{0} goes on by {1}, not by {2}.");
        change_part(end, "end", kEnds);
        change_part(end, is_of_pixels() ? "end of pixels" : "end of bins", kEnds);
        if (is_of_pixels()) change_part(n.kids[0], "start of pixels", kStarts);
        for (const char op : {'>', 'g'}) {
            Change& made = add("wrong-test", words(true) + " has its test the wrong way round.", 2);
            at(made.program, n.kids[1]).op = op;
        }
        if (only_its_name_counts()) return;  // whatever is wrong with it
        if (is_of_pixels() || label_ == "merge" || label_ == "bins") starts_and_strides(n);
        for (const int part : {0, 1, 2})
            expression(part == 1 ? end : n.kids[static_cast<std::size_t>(part)],
                       part == 0   ? "wrong-start"
                       : part == 1 ? "wrong-end"
                                   : "wrong-stride");
    }

    void starts_and_strides(const Node& n) {
        for (const char* const start :
             {"id", "item", "group", "0", "group + item", "group * 256 + item"}) {
            for (const char* const stride : {"all", "size", "groups", "1", "256"}) {
                const std::string both = std::string(start) + " " + stride;
                const bool by_everybody = both == "0 1" || both == "item size";
                Change* const made =
                    change({n.kids[0]}, {"", "", start, by_everybody ? 3.0 : 10.0},
                           by_everybody ? "counted-several-times" : "wrong-start", "");
                if (made == nullptr) continue;
                Node now = at(made->program, add_expression(made->program, stride));
                at(made->program, n.kids[2]) = now;
                const auto text = [&](const Description& p, std::size_t kid) {
                    return text_of(p, n.kids[kid], in_cuda_);
                };
                made->sentence =
                    fmt::format("{} starts at {} and goes on by {}, not at {} and by {}.",
                                words(true), text(made->program, 0), text(made->program, 2),
                                text(right_, 0), text(right_, 2));
                if (text(made->program, 2) == text(right_, 2)) changes_.pop_back();
            }
        }
    }

    void store(int index, const Node& n) {
        if (only_its_name_counts()) return;
        expression(n.kids[0], "wrong-index");
        expression(n.kids[1], "wrong-value");
        const auto other = [&](const char* name, char op, bool atomic, double bits) -> Change& {
            Change& made = add(name, "", bits);
            at(made.program, index).op = op;
            at(made.program, index).atomic = atomic;
            made.sentence = fmt::format("In {}: `{}` in the place of `{}`.", words(),
                                        text_of(made.program, index, in_cuda_),
                                        text_of(right_, index, in_cuda_));
            return made;
        };
        if (n.atomic)
            other("no-atomic", '+', false, 0).sentence +=
                " Of two additions to one counter at the same time one is lost.";
        if (n.op == 0) {
            other("wrong-operation", '+', false, 2);
            return;
        }
        other("assigned", 0, false, 0);
        for (const char op : {'-', '|', '^', 'M'})
            other("wrong-operation", op, n.atomic, 3);
        each("weight", [&](const Becomes& to) { change({n.kids[1]}, to, to.name, kInPlace); });
    }

    // ---- expressions ----

    void expression(int index, const std::string& name) {
        const Node& n = node(index);
        const auto become = [&](const char* part, const std::string& called) {
            each(part, [&](const Becomes& to) {
                if (name == "wrong-stride" && std::string(to.expression) == "0") return;
                if (std::string(part) == "amount" && !knows_rows()) return;
                change({index}, to, called, kInPlace);
            });
        };
        if (n.kind == Node::kNumber) {
            become("number", n.value == 255 && in_function_                    ? "wrong-mask"
                             : name == "wrong-stride" || name == "wrong-start" ? name
                                                                               : "wrong-number");
        } else if (n.kind == Node::kVariable) {
            const bool is_size = n.value == kSize || n.value == kAll || n.value == kGroups ||
                                 n.value == kGroupsX || n.value == kGroupsY || n.value == kCopies;
            const bool is_amount = n.value == kCount || n.value == kWidth || n.value == kPitch;
            become(is_size ? "size" : is_amount ? "amount" : "index", name);
        } else if (n.kind == Node::kLoad) {
            if (in_function_ && n.value == kPixels)
                each("value", [&](const Becomes& to) { change({index}, to, to.name, kInPlace); });
            expression(n.kids[0], in_function_ ? "wrong-index" : name);
        } else if (n.kind == Node::kBinary) {
            expression(n.kids[0], name);
            expression(n.kids[1], name);
            // Another operation, or one side alone.
            const std::string ops = "+-*/%&|<>lgrsm";
            const std::string others = "-+/***&lglgsrM";
            if (const std::size_t which = ops.find(n.op); which != std::string::npos) {
                Change& made = add(name, "", 3);
                at(made.program, index).op = others[which];
                made.sentence = fmt::format("In {}: {} in the place of {}.", words(),
                                            text_of(made.program, index, in_cuda_),
                                            text_of(right_, index, in_cuda_));
            }
            for (const std::size_t side : {0U, 1U}) {
                Change& made = add(
                    name == "wrong-start" && label_ == "tail" && n.op == '*' ? "too-early" : name,
                    "", 1);
                Node now = node(n.kids[side]);
                at(made.program, index) = now;
                made.sentence = fmt::format("In {}: {} in the place of {}.", words(),
                                            text_of(made.program, index, in_cuda_),
                                            text_of(right_, index, in_cuda_));
            }
        }
    }
    bool knows_rows() const {
        return right_.name.starts_with("subhist") || right_.name.starts_with("occupancy");
    }

    // ---- what is not in one place ----

    void everywhere(const std::vector<int>& which, const char* part) {
        statement_ = -1;
        each(part, [&](const Becomes& to) {
            change(which, to, to.name, "The kernel takes {1} for {2}.");
        });
    }

    void widths() {
        for (const Kept& kept : kKept) {
            const auto keep = [&](const std::string& name, auto member, std::size_t i) {
                Change& made =
                    add(kept.name, fmt::format("A counter of `{}` has {}.", name, kept.words));
                member(made.program, i) = kept.width;
                made.is_of_width = true;
            };
            for (std::size_t i = kHistogram; i < right_.arrays.size(); ++i)
                if (right_.arrays[i].width != kept.width)
                    keep(
                        right_.arrays[i].name,
                        [](Description& p, std::size_t at) -> Width& { return p.arrays[at].width; },
                        i);
            for (std::size_t i = kGiven; i < right_.variables.size(); ++i)
                if (right_.variables[i] == "sum")
                    keep(
                        "sum",
                        [](Description& p, std::size_t at) -> Width& { return p.widths[at]; }, i);
        }
    }

    // Who returns early, and no barrier at all.
    void barriers() {
        for (const char* const test : {"id >= count", "item >= 256"}) {
            Change& made =
                add("early-return",
                    "Work-items that have nothing to count or to merge return before the "
                    "barrier, and their shares of zeroing and merging are not done.");
            Description& p = made.program;
            for (const Phase& phase : p.phases) {
                if (phase.where != Phase::kLaunch) continue;
                Node guard{.kind = Node::kIf};
                guard.kids = {add_expression(p, test), p.add({.kind = Node::kReturn}), -1, -1};
                guard.next = at(p, phase.first).kids[0];
                const int first = p.add(guard);
                at(p, phase.first).kids[0] = first;
            }
        }
        Change& made =
            add("no-barrier-at-all",
                "There is no barrier around the count: each work-item zeroes, counts and "
                "merges without waiting for the others.",
                6);
        for (Node& n : made.program.nodes)
            if (n.kind == Node::kBarrier) n.kind = Node::kNothing;
    }
};

}  // namespace

std::vector<Change> changes(const Description& right, bool in_cuda) {
    return Maker(right, in_cuda).all();
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
