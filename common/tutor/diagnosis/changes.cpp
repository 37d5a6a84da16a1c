#include "common/tutor/diagnosis/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace common::diagnosis {
namespace {

// What a statement is for (its label), what of it is changed, and what that is called. The first
// that fits; an empty word fits all.
struct Called {
    const char* label;
    const char* field;
    const char* name;
};
constexpr Called kCalled[] = {
    {"", "tail-too-early", "tail-begins-too-early"},
    {"tail", "missing", "tail-dropped"},
    {"tail", "start", "tail-counted-twice"},
    {"tail", "index", "tail-in-wrong-bins"},
    {"histogram", "", "not-zeroed"},
    {"tables", "", "not-zeroed"},
    {"row", "", "not-zeroed"},
    {"zero", "", "table-not-zeroed"},
    {"zeroed", "", "no-barrier-after-zeroing"},
    {"counted", "", "no-barrier-before-merge"},
    {"again", "", "no-barrier-before-the-next-piece"},
    {"merge", "stride=all", "merge-strided-globally"},
    {"merge", "once", "merge-without-a-loop"},
    {"merge", "start=id", "merge-starts-globally"},
    {"merge", "for-all", "counted-several-times"},
    {"merge", "atomic", "merge-without-atomic"},
    {"merge", "assign", "merge-overwrites"},
    {"merge", "one", "merge-adds-one"},
    {"merge", "index", "rows-overlap"},
    {"merge", "item", "bins-repeat"},
    {"merge", "one-less", "last-bin-missing"},
    {"bins", "missing", "nothing-written"},
    {"bins", "one-less", "last-bin-missing"},
    {"bins", "once", "merge-without-a-loop"},
    {"bins", "start+1", "first-bin-missing"},
    {"merge", "start+1", "first-bin-missing"},
    {"merge", "only-first-item", "merged-by-one-work-item"},
    {"merge", "missing", "nothing-counted"},
    {"sum", "one-less", "last-table-skipped"},
    {"sum", "start+1", "first-table-skipped"},
    {"sum", "once", "only-the-first-group"},
    {"sum", "index", "rows-overlap"},
    {"sum", "", "tables-left-out"},
    {"copies", "one-less", "last-copy-skipped"},
    {"copies", "once", "only-the-first-copy"},
    {"", "only-first-group", "only-the-first-group"},
    {"", "only-last-group", "only-the-last-group"},
    {"", "not-first-group", "first-table-skipped"},
    {"", "not-last-group", "last-table-skipped"},
    {"", "only-first-item", "only-the-first-work-item"},
    {"short", "always", "last-row-taken-as-full"},
    {"short", "pitch", "pitch-in-the-test"},
    {"columns", "pitch", "padding-counted"},
    {"short", "width", "pitch-not-used"},
    {"columns", "part", "cropped"},
    {"columns", "rounded", "cropped"},
    {"columns", "one-less", "cropped"},
    {"eight", "", "wrong-end"},
    {"loads", "load", "load-counted-twice"},
    {"", "byte", "byte-counted-twice"},
    {"", "byte-masked", "part-of-a-load-masked"},
    {"", "byte-missing", "part-of-a-load-skipped"},
    {"", "misaligned", "misaligned-loads"},
    {"", "for-all", "counted-several-times"},
    {"", "once", "loop-runs-once"},
    {"", "start", "wrong-start"},
    {"", "stride", "wrong-stride"},
    {"", "part", "only-a-part"},
    {"", "rounded", "tail-dropped"},
    {"", "one-less", "last-pixel-dropped"},
    {"", "one-more", "one-pixel-too-many"},
    {"", "start+1", "first-pixel-dropped"},
    {"", "twice", "counted-several-times"},
    {"", "missing", "nothing-counted"},
    {"", "no-launch", "nothing-written"},
    {"", "atomic", "lost-updates"},
    {"", "shifted", "bins-shifted"},
    {"", "reversed", "bins-reversed"},
    {"", "signed", "signed-values"},
    {"", "half", "half-of-the-values"},
    {"", "8-bit", "8-bit-overflow"},
    {"", "16-bit", "16-bit-overflow"},
    {"", "signed-counter", "signed-counters"},
    {"", "float", "float-counters"},
    {"", "early-return", "early-return"},
};

std::string name_of(const std::string& label, const std::string& field) {
    for (const Called& each : kCalled) {
        const bool is_field = *each.field == '\0' || field == each.field ||
                              field.starts_with(std::string(each.field) + "=");
        if ((*each.label == '\0' || label == each.label) && is_field) return each.name;
    }
    const std::string plain = field.substr(0, field.find('='));
    return "wrong-" + (plain.empty() ? label : plain);
}

// What it is, in a sentence.
constexpr std::pair<const char*, const char*> kThings[] = {
    {"histogram", "the zeroing of the histogram"},
    {"tables", "the zeroing of the tables"},
    {"row", "the loop that zeroes the group's row"},
    {"zero", "the loop that zeroes the table"},
    {"zeroed", "the barrier between zeroing and counting"},
    {"counted", "the barrier between counting and merging"},
    {"again", "the barrier behind the merge"},
    {"pixels", "the loop over the pixels"},
    {"pieces", "the loop over the pieces of the picture"},
    {"rows", "the loop over the rows"},
    {"columns", "the loop over the columns"},
    {"eight", "the loop over the rows of a step"},
    {"short", "the count of a pixel of a row"},
    {"loads", "the loop over the loads of 16"},
    {"rest", "the loop over the loads that are left"},
    {"tail", "the loop for the last pixels"},
    {"merge", "the loop that merges the table"},
    {"bins", "the loop over the bins of the sum"},
    {"sum", "the loop that adds up the tables"},
    {"items", "the loop that adds up the work-items' counters"},
    {"copies", "the loop that adds up the copies"},
};

std::string thing(const std::string& label) {
    for (const auto& [name, words] : kThings)
        if (label == name) return words;
    return "the kernel";
}

std::string capital(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] -= 'a' - 'A';
    return text;
}

// What a pixel's value may become on its way to its bin.
struct Bins {
    const char* field;
    char op;
    std::int64_t by;
    int mask;  // 255 where it stays a byte
};
constexpr Bins kBinChanges[] = {
    {"shifted", '+', 1, 255}, {"shifted", '-', 1, 255}, {"shifted", '+', 1, 0},
    {"shifted", '-', 1, 0},   {"half", '&', 127, 0},    {"half", '&', 63, 0},
    {"half", '&', 15, 0},     {"half", '&', 254, 0},    {"half", '&', 252, 0},
    {"half", '&', 240, 0},    {"bin", 'r', 1, 0},       {"bin", 'r', 2, 0},
    {"bin", 'r', 3, 0},       {"bin", 'r', 4, 0},       {"bin", 's', 1, 255},
    {"bin", 's', 1, 0},       {"bin", '*', 2, 0},       {"bin", '*', 4, 0},
    {"bin", '*', 4, 255},     {"bin", '^', 1, 0},       {"bin", '^', 128, 0},
    {"bin", '^', 2, 0},       {"bin", '%', 255, 0},     {"bin", '%', 254, 0},
    {"bin", '%', 128, 0},     {"bin", 'm', 254, 0},     {"bin", 'M', 1, 0},
    {"bin", '|', 1, 0},       {"half", '&', 31, 0},     {"half", '&', 7, 0},
    {"bin", '+', 2, 255},     {"bin", '-', 2, 255},
};

class Maker {
 public:
    Maker(const Description& right, bool in_cuda) : right_(right), in_cuda_(in_cuda) {}

    std::vector<Change> all() {
        for (std::size_t i = 0; i < right_.phases.size(); ++i) {
            phase_ = right_.phases[i];
            is_host_ = phase_.where == Phase::kHost;
            statement(phase_.first);
            Change& gone = add("no-launch", phase_.first,
                               phase_.where == Phase::kLaunch
                                   ? "The kernel that counts is not launched, or does nothing."
                                   : "A step is missing: what is done behind or before the kernel "
                                     "that counts, or it is done too late.");
            gone.program.phases.erase(gone.program.phases.begin() + static_cast<std::ptrdiff_t>(i));
            if (phase_.where == Phase::kHost && i == 0) gone.name = "not-zeroed";
            if (phase_.where == Phase::kLaunch && i + 1 == right_.phases.size())
                gone.name = "nothing-counted";
        }
        for (const Function& each : right_.functions) {
            label_ = "";
            in_function_ = true;
            statement(each.body);
            in_function_ = false;
        }
        label_ = "pixels";
        widths();
        counts();
        all_bins();
        if (has_barriers()) early_returns();
        // What has a name of its own comes before what has not.
        for (Change& each : changes_)
            if (each.name.starts_with("wrong-") && each.name != "wrong-start" && each.name != "wrong-stride")
                each.bits += 4;
        return std::move(changes_);
    }

 private:
    const Description& right_;
    bool in_cuda_;
    std::vector<Change> changes_;
    Phase phase_;
    bool is_host_ = false;
    bool in_function_ = false;
    std::string label_;  // of the innermost statement that has one
    int statement_ = -1;

    const Node& node(int index) const { return right_.nodes[static_cast<std::size_t>(index)]; }
    static Node& at(Description& program, int index) {
        return program.nodes[static_cast<std::size_t>(index)];
    }
    std::string text(const Description& program, int index) const {
        return text_of(program, index, in_cuda_);
    }
    bool has_barriers() const {
        return std::any_of(right_.nodes.begin(), right_.nodes.end(),
                           [](const Node& n) { return n.kind == Node::kBarrier; });
    }

    Change& add(const std::string& field, int where, std::string sentence) {
        const std::string name = name_of(label_, field);
        changes_.push_back({name, std::move(sentence), right_, where, 0, false});
        return changes_.back();
    }

    static int number(Description& program, std::int64_t value) {
        return program.add({.kind = Node::kNumber, .value = value});
    }
    static int variable(Description& program, std::int64_t name) {
        return program.add({.kind = Node::kVariable, .value = name});
    }
    static int binary(Description& program, int left, char op, int right) {
        return program.add({.kind = Node::kBinary, .op = op, .kids = {left, right, -1, -1}});
    }
    // An expression becomes another, in its place.
    static void become(Description& program, int index, const Node& other) { at(program, index) = other; }
    // x becomes x op by.
    static void wrap(Description& program, int index, char op, int by) {
        const int copy = program.add(Node(at(program, index)));
        become(program, index, {.kind = Node::kBinary, .op = op, .kids = {copy, by, -1, -1}});
    }

    // An expression that becomes another; the sentence says from what to what.
    enum class Part { kStart, kEnd, kStride, kOther };
    template <typename Edit>
    void change(const std::string& field, int index, Part part, const Edit& edit, double bits = 0) {
        Change& made = add(field, statement_, "");
        edit(made.program);
        const std::string was = text(right_, index);
        const std::string is = text(made.program, index);
        if (was == is) {
            changes_.pop_back();
            return;
        }
        made.bits = bits;
        const std::string what = capital(thing(label_));
        switch (part) {
            case Part::kStart:
                made.sentence = fmt::format("{} starts at {}, not at {}.", what, is, was);
                break;
            case Part::kStride:
                made.sentence = fmt::format("{} goes on by {}, not by {}.", what, is, was);
                break;
            case Part::kEnd:
                made.sentence = fmt::format("{} goes on while {}, not while {}.", what, is, was);
                break;
            case Part::kOther:
                made.sentence = fmt::format("In {}: {} in the place of {}.", thing(label_), is, was);
                break;
        }
    }

    // ---- statements ----

    void statement(int index) {
        const Node& n = node(index);
        const std::string outer = label_;
        if (n.label >= 0) label_ = right_.labels[static_cast<std::size_t>(n.label)];
        const int outer_statement = statement_;
        statement_ = index;
        switch (n.kind) {
            case Node::kBlock:
                block(n);
                break;
            case Node::kFor:
                loop(n);
                statement(n.kids[3]);
                break;
            case Node::kIf:
                change("always", n.kids[0], Part::kOther, [&](Description& p) {
                    become(p, n.kids[0], {.kind = Node::kNumber, .value = 1});
                });
                changes_.back().sentence =
                    fmt::format("In {}: the test {} is missing.", thing(label_), text(right_, n.kids[0]));
                expression(n.kids[0], "condition");
                statement(n.kids[1]);
                break;
            case Node::kStore:
                store(index, n);
                break;
            case Node::kSet:
                expression(n.kids[0], label_.empty() || label_ == "pieces" ? "piece" : "value");
                break;
            case Node::kCall:
                expression(n.kids[0], in_function_ ? "byte" : "load");
                break;
            default:
                break;
        }
        if (n.kind != Node::kBlock && n.kind != Node::kSet) removals(index, n);
        label_ = outer;
        statement_ = outer_statement;
    }

    void block(const Node& n) {
        for (int each = n.kids[0]; each >= 0; each = node(each).next) {
            const Node& first = node(each);
            const int next = first.next;
            if (next >= 0 && node(next).kind != Node::kSet && first.kind != Node::kSet) {
                Change& made = add("order", each,
                                   fmt::format("{} comes before {}.", capital(thing(label_of(next))),
                                               thing(label_of(each))));
                std::swap(at(made.program, each), at(made.program, next));
                std::swap(at(made.program, each).next, at(made.program, next).next);
                for (const int moved : {each, next})
                    if (node(moved).kind == Node::kBarrier) made.name = name_of(label_of(moved), "order");
                made.bits = 4;
            }
            statement(each);
        }
    }
    std::string label_of(int index) const {
        const int label = node(index).label;
        return label < 0 ? label_ : right_.labels[static_cast<std::size_t>(label)];
    }

    // It is missing, or only some do it.
    void removals(int index, const Node& n) {
        const bool counts_part = in_function_;
        Change& gone = add(counts_part ? "byte-missing" : "missing", index,
                           n.kind == Node::kBarrier
                               ? fmt::format("{} is missing.", capital(thing(label_)))
                               : fmt::format("{} is missing: nothing does `{}`.", capital(thing(label_)),
                                             text(right_, index)));
        Node nothing{.kind = Node::kNothing};
        nothing.next = n.next;
        at(gone.program, index) = nothing;
        if (is_host_ || n.kind == Node::kBarrier || phase_.where != Phase::kLaunch || in_function_)
            return;
        const auto only = [&](const char* field, int name, char op, std::int64_t value, bool last,
                              const char* who) {
            Change& made = add(field, index,
                               fmt::format("{} is done by {} only.", capital(thing(label_)), who));
            Description& p = made.program;
            const int copy = p.add(Node(at(p, index)));
            at(p, copy).next = -1;
            int right = number(p, value);
            if (last) right = binary(p, variable(p, name == kGroup ? kGroups : kSize), '-', number(p, 1));
            Node guard{.kind = Node::kIf};
            guard.kids = {binary(p, variable(p, name), op, right), copy, -1, -1};
            guard.next = n.next;
            guard.label = n.label;
            at(p, index) = guard;
            made.bits = 2;
        };
        only("only-first-item", kItem, '=', 0, false, "each group's first work-item");
        only("only-last-item", kItem, '=', 0, true, "each group's last work-item");
        only("not-last-item", kItem, '!', 0, true, "all but each group's last work-item");
        only("not-first-item", kItem, '!', 0, false, "all but each group's first work-item");
        only("only-some-items", kItem, '<', 32, false, "each group's first 32 work-items");
        only("only-some-items", kItem, '<', 16, false, "each group's first 16 work-items");
        only("only-first-group", kGroup, '=', 0, false, "the first group");
        only("only-last-group", kGroup, '=', 0, true, "the last group");
        only("not-first-group", kGroup, '!', 0, false, "all groups but the first");
        only("not-last-group", kGroup, '!', 0, true, "all groups but the last");
        only("only-first-item", kId, '=', 0, false, "the first work-item of all");
    }

    void loop(const Node& n) {
        const int start = n.kids[0];
        const int condition = n.kids[1];
        const int stride = n.kids[2];
        const int end = node(condition).kids[1];
        // Where it starts, how it goes on, and both.
        const std::vector<int> strides{kAll, kSize, kGroups, -1, -2, -256, kCopies};
        change("start+1", start, Part::kStart, [&](Description& p) { wrap(p, start, '+', number(p, 1)); });
        for (const int name : {int{kId}, int{kItem}, int{kGroup}, -2, -1, 100, 101, 102, 103}) {
            const auto begin = [&](Description& p) {
                Node other{.kind = Node::kVariable, .value = name};
                if (name < 0) other = {.kind = Node::kNumber, .value = -name - 1};
                if (name >= 100) {  // the work-item's number, and something of its group
                    const int group = variable(p, kGroup);
                    const int by = name == 100   ? number(p, 1)
                                   : name == 101 ? variable(p, kGroups)
                                   : name == 102 ? number(p, 256)
                                                 : variable(p, kAll);
                    const int product = name == 100 ? group : binary(p, group, '*', by);
                    other = {.kind = Node::kBinary,
                             .op = '+',
                             .kids = {product, variable(p, kItem), -1, -1}};
                }
                become(p, start, other);
            };
            const std::string which = name == kId ? "=id" : name == kItem ? "=item" : "";
            if (name == -2 && node(start).kind == Node::kNumber) continue;
            change(name == -2 ? "start+1" : "start" + which, start, Part::kStart, begin,
                   name >= 100 ? 3 : 0);
            for (const int by : strides) {
                if (!is_for_pixels() && label_ != "merge" && label_ != "bins") continue;
                change(name == -1 && by == -1 ? "for-all" : "start", start, Part::kStart,
                       [&](Description& p) {
                           begin(p);
                           become(p, stride, stride_node(p, by));
                       },
                       12);
                if (changes_.empty()) continue;
                Change& made = changes_.back();
                if (made.bits != 12) continue;
                made.sentence = fmt::format("{} starts at {} and goes on by {}, not at {} and by {}.",
                                            capital(thing(label_)), text(made.program, start),
                                            text(made.program, stride), text(right_, start),
                                            text(right_, stride));
                const bool everybody = (name == -1 && by == -1) || (name == kItem && by == kSize);
                if (everybody) made.name = name_of(label_, "for-all"), made.bits = 5;
                else if (text(made.program, stride) == text(right_, stride)) changes_.pop_back();
            }
        }
        for (const int by : strides) {
            change(by == kAll ? "stride=all" : "stride", stride, Part::kStride,
                   [&](Description& p) { become(p, stride, stride_node(p, by)); }, by == -256 ? 2 : 1);
        }
        for (const auto& [op, by] : std::vector<std::pair<char, std::int64_t>>{
                 {'*', 2}, {'*', 3}, {'*', 4}, {'*', 8}, {'*', 16}, {'*', 64}, {'+', 1}, {'-', 1}, {'/', 2}}) {
            change("stride", stride, Part::kStride,
                   [&, op = op, by = by](Description& p) { wrap(p, stride, op, number(p, by)); }, 2);
        }
        for (const int name : {kSize, kGroups, kAll})
            change("stride", stride, Part::kStride,
                   [&](Description& p) { wrap(p, stride, '*', variable(p, name)); }, 4);
        change("once", stride, Part::kStride, [&](Description& p) {
            become(p, stride, {.kind = Node::kNumber, .value = std::int64_t{1} << 40});
        });
        changes_.back().sentence =
            fmt::format("{} runs once: `if` in the place of a loop, or a stride that is far too long.",
                        capital(thing(label_)));
        // Where it ends.
        change("one-more", condition, Part::kEnd,
               [&](Description& p) { at(p, condition).op = 'l'; });
        change("wrong-way-round", condition, Part::kEnd,
               [&](Description& p) { at(p, condition).op = '>'; }, 2);
        change("wrong-way-round", condition, Part::kEnd,
               [&](Description& p) { at(p, condition).op = 'g'; }, 2);
        change("one-less", condition, Part::kEnd,
               [&](Description& p) { wrap(p, end, '-', number(p, 1)); });
        for (const std::int64_t parts : {2, 3, 4, 8, 16, 32})
            change("part", condition, Part::kEnd,
                   [&](Description& p) { wrap(p, end, '/', number(p, parts)); }, parts == 3 ? 3 : 0);
        for (const int unit : {kSize, kGroups})
            change("part", condition, Part::kEnd,
                   [&](Description& p) { wrap(p, end, '/', variable(p, unit)); });
        // Which begins as the one over the pixels does: rounded to what is taken at once.
        if (is_for_pixels()) {
            for (const std::int64_t unit : {-kAll - 1, -kSize - 1, -kGroups - 1, -kWidth - 1, 2, 4, 8,
                                            16, 32, 64, 128, 256, 512, 1024}) {
                for (const std::int64_t times : {1, 4, 16, 64, 255}) {
                    if (times > 1 && unit != -kAll - 1 && unit != -kSize - 1) continue;
                    const auto by = [&](Description& p) {
                        if (unit > 0) return number(p, unit);
                        const int all = variable(p, -unit - 1);
                        return times == 1 ? all : binary(p, number(p, times), '*', all);
                    };
                    change("rounded", condition, Part::kEnd, [&](Description& p) {
                        wrap(p, end, '/', by(p));
                        wrap(p, end, '*', by(p));
                    }, 1);
                    if (times == 1) change("rounded-up", condition, Part::kEnd, [&](Description& p) {
                        const int unit_less_one = binary(p, by(p), '-', number(p, 1));
                        wrap(p, end, '+', unit_less_one);
                        wrap(p, end, '/', by(p));
                        wrap(p, end, '*', by(p));
                    }, 2);
                }
            }
        } else {
            for (const std::int64_t bins : {16, 32, 63, 64, 100, 127, 128, 192, 254, 1, 2})
                change("end", condition, Part::kEnd,
                       [&](Description& p) { become(p, end, {.kind = Node::kNumber, .value = bins}); }, 1);
            for (const int name : {kSize, kGroups, kAll, kCount})
                change("end", condition, Part::kEnd,
                       [&](Description& p) { become(p, end, {.kind = Node::kVariable, .value = name}); });
            // As many groups as the other launch has.
            change("end", condition, Part::kEnd, [&](Description& p) {
                const int sum = binary(p, number(p, 255), '+', variable(p, kSize));
                become(p, end, {.kind = Node::kBinary, .op = '/', .kids = {sum, variable(p, kSize), -1, -1}});
            });
        }
        if (name_of(label_, "start").ends_with("not-zeroed")) return;  // however that is
        expression(start, "start");
        expression(condition, "end");
        expression(stride, "stride");
    }

    // The loops that share out the pixels.
    bool is_for_pixels() const {
        for (const char* const label : {"pixels", "loads", "rows", "columns", "pieces"})
            if (label_ == label) return true;
        return false;
    }

    static Node stride_node(Description&, int by) {
        if (by >= 0) return {.kind = Node::kVariable, .value = by};
        return {.kind = Node::kNumber, .value = -by};
    }

    void store(int index, const Node& n) {
        if (name_of(label_, "index").ends_with("not-zeroed")) return;
        expression(n.kids[0], "index");
        expression(n.kids[1], "value");
        if (n.atomic) {
            change("atomic", index, Part::kOther, [&](Description& p) { at(p, index).atomic = false; });
            changes_.back().sentence =
                label_ == "merge" ? "The groups merge their tables without an atomic: of two additions "
                                    "to one bin at the same time one is lost."
                                  : fmt::format("Counts are lost between work-items that add to one "
                                                "counter at the same time: the addition {} is not "
                                                "atomic.",
                                                text(changes_.back().program, index));
        }
        if (n.op == '+') {
            for (const char op : {'\0', '-', '|', '^', 'M'}) {
                change(op == 0 ? "assign" : "operation", index, Part::kOther,
                       [&](Description& p) {
                           at(p, index).op = op;
                           at(p, index).atomic = op != 0 && n.atomic;
                       },
                       op == 0 ? 0 : 3);
            }
        } else {
            change("added", index, Part::kOther, [&](Description& p) { at(p, index).op = '+'; }, 2);
        }
        if (node(n.kids[1]).kind != Node::kNumber) {
            change("one", n.kids[1], Part::kOther,
                   [&](Description& p) { become(p, n.kids[1], {.kind = Node::kNumber, .value = 1}); });
            change("one", n.kids[1], Part::kOther, [&](Description& p) {
                wrap(p, n.kids[1], '>', number(p, 0));
            });
        }
        for (const int by : {-2, -3, -4, -16, int{kSize}, int{kGroups}}) {
            if (n.op != '+') break;
            change("twice", n.kids[1], Part::kOther, [&](Description& p) {
                wrap(p, n.kids[1], '*', by < 0 ? number(p, -by) : variable(p, by));
            }, 1);
        }
    }

    // ---- expressions ----

    void expression(int index, const std::string& field) {
        const Node& n = node(index);
        const auto to_number = [&](std::int64_t value, const std::string& as, double bits) {
            change(as, index, part_of(field), [&](Description& p) {
                become(p, index, {.kind = Node::kNumber, .value = value});
            }, bits);
        };
        const auto to_variable = [&](std::int64_t name, const std::string& as, double bits) {
            change(as, index, part_of(field), [&](Description& p) {
                become(p, index, {.kind = Node::kVariable, .value = name});
            }, bits);
        };
        switch (n.kind) {
            case Node::kNumber:
                for (const std::int64_t value : {n.value - 1, n.value + 1, n.value / 2, n.value * 2,
                                                 n.value * 4, n.value / 4, std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}})
                    if (value >= 0 && value != n.value && !(value == 0 && field == "stride"))
                        to_number(value, number_field(field, n.value), 2);
                if (n.value >= 255) {
                    for (const std::int64_t value : {63, 64, 15, 127, 128, 254, 255, 256, 257, 260, 510, 512, 1024})
                        if (value != n.value) to_number(value, n.value == 255 && in_function_ ? "byte-masked" : piece_field(field, value), 2);
                    for (const int name : {kSize, kAll, kGroups})
                        to_variable(name, field, 2);
                }
                break;
            case Node::kVariable: {
                if (n.value < kGiven) {
                    static const std::vector<std::vector<int>> kKinds{
                        {kItem, kId, kGroup, kGroupX, kGroupY},
                        {kSize, kAll, kGroups, kGroupsX, kGroupsY, kCopies},
                        {kCount, kWidth, kPitch}};
                    for (const std::vector<int>& kind : kKinds) {
                        if (std::find(kind.begin(), kind.end(), n.value) == kind.end()) continue;
                        for (const int name : kind)
                            if (name != n.value && is_known(name))
                                to_variable(name, special_field(field, n.value, name), 1);
                    }
                    if (n.value <= kGroup) to_number(0, field, 1);
                    if (n.value == kSize || n.value == kAll || n.value == kGroups) {
                        to_number(256, field, 2);
                        to_number(1, field, 1);
                    }
                } else {
                    for (const int name : {kItem, kId, kGroup, kSize})
                        to_variable(name, name == kItem ? "item" : field, 2);
                    to_number(0, field, 2);
                }
                break;
            }
            case Node::kBinary: {
                expression(n.kids[0], field);
                expression(n.kids[1], field);
                const std::string ops = "+-*/%&|<>lgrsm";
                const std::string others = "-+/***&^lg<>srM";
                if (const std::size_t which = ops.find(n.op); which != std::string::npos && field != "end")
                    change(field, index, part_of(field),
                           [&](Description& p) { at(p, index).op = others[which]; }, 3);
                if (n.op == '*')
                    change(field, index, part_of(field), [&](Description& p) { at(p, index).op = '+'; }, 3);
                for (const int side : {0, 1}) {
                    const int kid = n.kids[static_cast<std::size_t>(side)];
                    if (n.op == '<' || n.op == '>') continue;
                    const bool no_times_16 = label_ == "tail" && field == "start";
                    change(no_times_16 ? "tail-too-early" : field, index, part_of(field),
                           [&](Description& p) { become(p, index, Node(at(p, kid))); }, 1);
                }
                break;
            }
            case Node::kLoad:
                if (n.value == kPixels) {
                    pixel_loads(index, n);
                } else if (!is_host_) {
                    for (const char op : {'+', '-'})
                        change("index", index, Part::kOther, [&](Description& p) {
                            wrap(p, n.kids[0], op, number(p, 1));
                        }, 3);
                }
                expression(n.kids[0], in_function_ ? "byte" : field);
                break;
            default:
                break;
        }
    }
    bool is_known(int name) const {
        const bool in_two = right_.name.starts_with("subhist");
        const bool of_two = name == kGroupX || name == kGroupY || name == kGroupsX || name == kGroupsY ||
                            name == kPitch || name == kWidth;
        if (name == kWidth && right_.name.starts_with("occupancy")) return true;
        if (name == kCopies) return right_.name.starts_with("lane");
        return in_two || !of_two;
    }
    static Part part_of(const std::string& field) {
        return field == "start"    ? Part::kStart
               : field == "stride" ? Part::kStride
                                   : Part::kOther;
    }
    std::string special_field(const std::string& field, std::int64_t was, int is) const {
        if (is == kPitch && (label_ == "short" || label_ == "columns")) return "pitch";
        if (was == kPitch && is == kWidth) return "width";
        if (field == "start" && is == kId) return "start=id";
        if (field == "start" && is == kItem) return "start=item";
        if (field == "stride" && is == kAll) return "stride=all";
        return field;
    }
    std::string number_field(const std::string& field, std::int64_t was) const {
        if (in_function_ && was == 255) return "byte-masked";
        return field;
    }
    static std::string piece_field(const std::string& field, std::int64_t is) {
        return field == "piece" && is > 255 ? "8-bit" : field;
    }

    void pixel_loads(int index, const Node& n) {
        for (const std::int64_t by : {2, 4, 16})
            change("element", index, Part::kOther, [&](Description& p) {
                wrap(p, n.kids[0], '*', number(p, by));
            }, 2);
        for (const char op : {'+', '-'})
            change(in_function_ ? "byte" : "pixel", index, Part::kOther, [&](Description& p) {
                wrap(p, n.kids[0], op, number(p, 1));
            }, 2);
        if (in_function_)
            for (const Bins& each : kBinChanges) bin_change(each, {index}, "byte-masked");
    }

    void bin_change(const Bins& bins, const std::vector<int>& loads, const std::string& field) {
        const int first = loads.front();
        change(field, first, Part::kOther, [&](Description& p) {
            for (const int load : loads) {
                wrap(p, load, bins.op, number(p, bins.by));
                if (bins.mask != 0) wrap(p, load, '&', number(p, bins.mask));
            }
        }, 1);
    }

    // ---- what is not in one place ----

    std::vector<int> pixel_loads_of_all() const {
        std::vector<int> found;
        for (std::size_t i = 0; i < right_.nodes.size(); ++i)
            if (right_.nodes[i].kind == Node::kLoad && right_.nodes[i].value == kPixels)
                found.push_back(static_cast<int>(i));
        return found;
    }

    void all_bins() {
        const std::vector<int> loads = pixel_loads_of_all();
        for (const Bins& each : kBinChanges) bin_change(each, loads, each.field);
        const auto on_all = [&](const char* field, const char* sentence, const auto& edit) {
            change(field, loads.front(), Part::kOther, [&](Description& p) {
                for (const int load : loads) edit(p, load);
            }, 1);
            changes_.back().sentence = sentence;
        };
        on_all("reversed", "The bins are in the opposite order.", [](Description& p, int load) {
            const int copy = p.add(Node(at(p, load)));
            become(p, load, {.kind = Node::kBinary, .op = '-', .kids = {number(p, 255), copy, -1, -1}});
        });
        // x - 256 * (x > 127)
        const auto make_signed = [](Description& p, int load) {
            const int copy = p.add(Node(at(p, load)));
            const int high = binary(p, copy, '>', number(p, 127));
            const int less = binary(p, number(p, 256), '*', high);
            become(p, load, {.kind = Node::kBinary, .op = '-', .kids = {copy, less, -1, -1}});
        };
        on_all("signed", "Values from 128 on are taken as negative: the pixels are signed characters.",
               make_signed);
        on_all("signed", "Values from 128 on are taken as negative, and counted in bin 0.",
               [&](Description& p, int load) {
                   make_signed(p, load);
                   wrap(p, load, 'M', number(p, 0));
               });
        on_all("signed", "Values from 128 on are taken as negative, and their size is counted.",
               [&](Description& p, int load) {
                   const Node right = at(p, load);
                   make_signed(p, load);
                   const int copy = p.add(right);
                   wrap(p, load, 'M', binary(p, number(p, 0), '-', p.add(Node(at(p, load)))));
                   (void)copy;
               });
        // Elements of two or four bytes where the pixels have one.
        for (const int bytes : {2, 4}) {
            for (const bool low : {true, false}) {
                on_all("element",
                       bytes == 2 ? "The pixels are read as elements of two bytes."
                                  : "The pixels are read as elements of four bytes.",
                       [&](Description& p, int load) {
                           const int inner = at(p, load).kids[0];
                           wrap(p, inner, '*', number(p, bytes));
                           if (low) return;
                           // the next byte decides whether the value is more than 255
                           Node next = at(p, load);
                           next.kids[0] = binary(p, inner, '+', number(p, 1));
                           wrap(p, load, '+', binary(p, number(p, 256), '*', p.add(next)));
                       });
            }
        }
    }

    // The host passes another count.
    void counts() {
        const auto everywhere = [&](const char* field, const auto& edit, double bits, int name = kCount) {
            std::vector<int> uses;
            for (std::size_t i = 0; i < right_.nodes.size(); ++i)
                if (right_.nodes[i].kind == Node::kVariable && right_.nodes[i].value == name)
                    uses.push_back(static_cast<int>(i));
            if (uses.empty()) return;
            change(field, uses.front(), Part::kOther, [&](Description& p) {
                for (const int use : uses) edit(p, use);
            }, bits);
            changes_.back().sentence =
                fmt::format("The kernel gets {} where it should get {}.",
                            text(changes_.back().program, uses.front()), text(right_, uses.front()));
        };
        for (const std::int64_t by : {2, 4, 8, 16})
            everywhere("part", [&](Description& p, int i) { wrap(p, i, '/', number(p, by)); }, 2);
        everywhere("one-less", [&](Description& p, int i) { wrap(p, i, '-', number(p, 1)); }, 2);
        everywhere("one-more", [&](Description& p, int i) { wrap(p, i, '+', number(p, 1)); }, 2);
        everywhere("too-many", [&](Description& p, int i) { wrap(p, i, '*', number(p, 4)); }, 2);
        if (is_known(kPitch)) {
            const auto swap = [&](int name) {
                return [=](Description& p, int i) { become(p, i, {.kind = Node::kVariable, .value = name}); };
            };
            label_ = "columns";
            everywhere("pitch", swap(kPitch), 2, kWidth);
            label_ = "short";
            everywhere("width", swap(kWidth), 2, kPitch);
            label_ = "pixels";
        }
        everywhere("part", [&](Description& p, int i) {
            become(p, i, {.kind = Node::kNumber, .value = 256});
        }, 3);
        everywhere("part", [&](Description& p, int i) {
            become(p, i, {.kind = Node::kNumber, .value = 0});
        }, 3);
    }
    void widths() {
        struct Kept {
            Width width;
            const char* field;
            const char* words;
        };
        static constexpr Kept kKept[] = {
            {Width::k8, "8-bit", "8 bits: with 256 or more it begins at 0 again"},
            {Width::k16, "16-bit", "16 bits: with 65536 or more it begins at 0 again"},
            {Width::kSigned8, "signed-counter", "8 bits with a sign: from 128 on it is negative"},
            {Width::kSigned16, "signed-counter", "16 bits with a sign: from 32768 on it is negative"},
            {Width::kFloat, "float", "a float of 32 bits, which beyond 16777216 cannot be increased by one"},
            {Width::kUpTo255, "saturated", "8 bits, and stays at 255"},
            {Width::k7, "8-bit", "7 bits"},
        };
        for (const Kept& kept : kKept) {
            for (std::size_t array = kHistogram; array < right_.arrays.size(); ++array) {
                if (right_.arrays[array].width == kept.width) continue;
                Change& made = add(kept.field, -1,
                                   fmt::format("A counter of {} has {}.", right_.arrays[array].name,
                                               kept.words));
                made.program.arrays[array].width = kept.width;
                made.is_of_width = true;
            }
            for (std::size_t name = kGiven; name < right_.variables.size(); ++name) {
                if (right_.variables[name] != "sum") continue;
                Change& made = add(kept.field, -1, fmt::format("The sum has {}.", kept.words));
                made.program.widths[name] = kept.width;
                made.is_of_width = true;
            }
        }
    }

    void early_returns() {
        for (const Phase& phase : right_.phases) {
            if (phase.where != Phase::kLaunch) continue;
            for (const auto& [name, limit] :
                 std::vector<std::pair<int, int>>{{kId, kCount}, {kItem, -1}, {kItem, kCount}}) {
                Change& made = add("early-return", phase.first,
                                   limit < 0 ? "Work-items without a bin return before the barrier."
                                             : "Work-items that have no pixel return before the "
                                               "barrier, and their shares of zeroing and merging are "
                                               "not done.");
                Description& p = made.program;
                const int end = limit < 0 ? number(p, 256) : variable(p, limit);
                Node test{.kind = Node::kIf};
                test.kids = {binary(p, variable(p, name), 'g', end),
                             p.add({.kind = Node::kReturn}), -1, -1};
                test.next = node(phase.first).kids[0];
                const int first = p.add(test);
                at(p, phase.first).kids[0] = first;
            }
        }
        // Both barriers.
        Change& made = add("order", -1,
                           "There is no barrier around the count: each work-item zeroes, counts and "
                           "merges without waiting for the others.");
        made.name = "no-barrier-at-all";
        made.bits = 6;
        for (Node& n : made.program.nodes)
            if (n.kind == Node::kBarrier) n.kind = Node::kNothing;
    }
};

}  // namespace

std::vector<Change> changes(const Description& right, bool in_cuda) {
    return Maker(right, in_cuda).all();
}

std::string section_about(const std::string& name) {
    for (const char* const race : {"barrier", "atomic", "lost", "early", "table-not-zeroed", "overwrites", "left-out"})
        if (name.find(race) != std::string::npos) return "the-race-conditions";
    for (const char* const start : {"wrong-", "bins-", "only-", "signed-values", "half-", "nothing-"})
        if (name.starts_with(start)) return "the-strategy";
    return "what-went-wrong-in-published-code";
}

}  // namespace common::diagnosis
