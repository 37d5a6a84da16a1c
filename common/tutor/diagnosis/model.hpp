// A strategy that can be played with one of its choices changed.
//
// A choice is a place in the strategy (the loop over the pixels) and a part of it (where it
// starts). strategies.cpp has the strategies, which ask chosen() for each of their choices; a
// change is another answer.
#pragma once

#include <set>

#include "common/tutor/diagnosis/diagnosis.hpp"

namespace common::diagnosis {

using Number = std::int64_t;

/// Where a work-item is, and what its kernel is given.
struct ItemState {
    Number item = 0, id = 0, group = 0;
    Number size = 0, all = 0, groups = 1;  ///< of the group, work-items, groups of this launch
    Number tables = 0;                     ///< groups of the launch that counts
    Number count = 0, width = 0, pitch = 0;
    Number copies = 32;            ///< of a table, where a strategy keeps several
    Number v = 0, where = 0;       ///< of the pixel that was read last: its value and its number
    Number turn = 0;               ///< where a group counts piece by piece: how many it has counted
    Number done = 0;               ///< turns of the loop
    Number owner = 0, itsBin = 0;  ///< of a counter
};

// clang-format off
/// The places of choices, in the order of choices.json, which has them in words.
enum Label : std::uint8_t {
    kPixels, kRows, kColumns, kShort, kHead, kLoads, kRest, kTail, kLoad, kWord, kByte,
    kPieces, kPiece,
    kCount, kHistogram, kTables, kRow, kZero, kZeroed, kCounted, kAgain,
    kMerge, kItems, kCopies, kBinLoop, kSum,
    kLayout, kLabels
};

/// Their parts, in the order of choices.json, which says what becomes of each.
enum Part : std::uint8_t {
    kTimes, kStart, kEnd, kStride, kWalk, kValue, kAddress, kWeight, kHow,
    kWriteIndex, kReadIndex, kPitch, kPlace, kWidth, kNumber, kWhich, kReturn
};

/// What three of them may become.
enum How : std::uint8_t { kAtomic, kPlain, kAssigned, kWithoutLast, kWithoutEmpty };
enum Walk : std::uint8_t { kAsIs, kByItems, kByAll, kByGroups, kByEach };
enum Width : std::uint8_t { k32, k16, k8, kSigned8, kFloat };
// clang-format on

struct Decision {
    Label label;
    Part part;
    std::uint16_t position = 0;  ///< where there are several of a kind
    [[nodiscard]] constexpr std::uint32_t key() const {
        return std::uint32_t{position} << 16 | std::uint32_t{label} << 8 | part;
    }
};

/// What a choice is where nothing is changed: its value, and its name, the text of the expression.
struct NamedNumber {
    const char* words;
    Number value;
};
// clang-format off
#define NAMED(...) NamedNumber{#__VA_ARGS__, __VA_ARGS__}
// clang-format on

/// What a number may become, of a place and of what is right there.
using Becomes = Number (*)(const ItemState& place, Number right);

/// A choice that became another.
struct Changed {
    Decision choice{kLabels, kTimes};
    Becomes becomes = nullptr;
};

/// Far less than any index that is worked out from what is known.
inline constexpr Number kNowhere = -(Number{1} << 40);
/// More than any count.
inline constexpr Number kAnything = Number{1} << 34;

/// What a run counts: each bin this, and up to so much more.
struct Prediction {
    std::array<Number, kBins> low{};
    std::array<Number, kBins> more{};
    Number stray = 0;        ///< counts that belong to no bin for sure
    bool is_certain = true;  ///< nothing is left to chance
    bool is_endless = false;
    bool is_too_long = false;  ///< to be worked out
    bool is_divergent = false;
    bool is_outside = false;    ///< of memory
    bool is_unwritten = false;  ///< something is used that nobody wrote
    Number steps = 0;           ///< that it took

    /// How much it leaves open, in bits; none where it contradicts these counts.
    [[nodiscard]] std::optional<double> unexplained_bits(const Histogram& counts) const;
};

/// Hears of every choice, where it is asked for.
using Asked =
    std::function<void(const ItemState& place, const Decision& choice, const NamedNumber& right)>;

class Model : protected ItemState {
 public:
    Model(const Case& run, const RunContext& context, const Changed* changed, bool in_order,
          const Asked* asked = nullptr);

 protected:
    struct Array {
        enum Of : std::uint8_t { kGlobal, kShared, kPrivate };
        Of of;
        Number each;
        Width width;
        std::vector<Number> low, more;
        std::vector<std::int32_t> writer;  ///< the group that wrote it last, of a global one
        [[nodiscard]] std::size_t cell(Number index, Number of_item) const {
            return static_cast<std::size_t>(of == kPrivate ? index + of_item * each : index);
        }
    };

    // Asked for each pixel, many times: nearly all that a diagnosis takes.
    [[gnu::always_inline]] Number chosen(Label label, Part part, const NamedNumber& right,
                                         std::uint16_t position = 0) {
        const Decision choice{label, part, position};
        if (asked_ == nullptr && choice.key() != changed_key_) [[likely]]
            return right.value;
        return asked_or_changed(choice, right);
    }

    /// Whether nothing of these is asked or changed: then it may be done all at once.
    [[nodiscard]] bool is_as_usual(std::initializer_list<Label> labels) const {
        return asked_ == nullptr &&
               std::count(labels.begin(), labels.end(), changed_.choice.label) == 0;
    }
    static void zero(Array& counters) {
        std::fill(counters.low.begin(), counters.low.end(), 0);
        std::fill(counters.more.begin(), counters.more.end(), 0);
    }
    Array array(Array::Of of, Label counters, Number size, Width width = k32);
    void set(Label label, Array& to, NamedNumber index, Number value);
    void add(Label label, Array& to, NamedNumber index, Number amount);
    Number get(Label label, const Array& from, NamedNumber index);
    /// The value of a pixel, or kUnknown.
    Number pixel(Label label, NamedNumber index, std::uint16_t position = 0);
    void clear(Array& sum) const {  // the work-item's own
        sum.low[static_cast<std::size_t>(self_)] = sum.more[static_cast<std::size_t>(self_)] = 0;
    }
    /// Where this one's counter of a bin lies.
    Number place(Label label, Number of, Number bin, Number right) {
        owner = of;
        itsBin = bin;
        const Number at = chosen(kLayout, kPlace, {"its place", right});
        return chosen(label, kPlace, {"its place", at});
    }

    /// `what`, by each work-item of the group, which go on until the next barrier.
    void each(std::function<void()> what) {
        if (asked_ != nullptr) what();  // so that choices are asked in the order of the kernel
        steps_.push_back(std::move(what));
    }
    void barrier(Label label);
    /// `kernel`, by each of so many groups, with arrays of its own.
    void launch(Number number, const std::vector<Array*>& arrays,
                const std::function<void()>& kernel);

    template <typename Body>
    void loop(Label label, const NamedNumber& start, const NamedNumber& end,
              const NamedNumber& stride, Body body) {
        const Number times = chosen(label, kTimes, {"", 1});
        const Number walk = chosen(label, kWalk, {"", kAsIs});
        const Number last = chosen(label, kEnd, end);
        Number first = chosen(label, kStart, start);
        Number step = chosen(label, kStride, stride);
        if (walk != kAsIs) {
            first = walk == kByItems ? item : walk == kByAll ? id : walk == kByGroups ? group : 0;
            step = walk == kByItems ? size : walk == kByAll ? all : walk == kByGroups ? groups : 1;
        }
        if (step <= 0) stop(seen_.is_endless);
        const Number outer = done;
        for (Number time = 0; time < times; ++time) {
            Number turns = 0;
            for (Number at = first; at < last; at += step) {
                if (++seen_.steps > max_steps_) stop(seen_.is_too_long);
                done = turns++;
                body(at);
            }
        }
        done = outer;
    }

    Array histogram;
    const RunContext& context_;
    const Case& run_;
    Prediction seen_;
    Number self_ = 0;  // which work-item it is, whatever number it takes for its own
    struct Stop {};

 private:
    Number its_group_ = 0;  // and which group
    Changed changed_;
    std::uint32_t changed_key_;
    bool in_order_;
    Number unsure_ = 0;  // of what was read last
    Number max_steps_;
    std::vector<std::function<void()>> steps_;
    const Asked* asked_;

    [[noreturn]] static void stop(bool& why) {
        why = true;
        throw Stop{};
    }
    void turn_to(Number its_item) {
        self_ = item = its_item;
        id = group * size + item;
    }
    void finish();
    [[gnu::noinline]] Number asked_or_changed(const Decision& choice, const NamedNumber& right);
    Number byte(Number address) const;
    static Number kept(Width width, Number value);  // in a counter of this width
};

/// Whether this strategy is there as a model.
bool is_known(const RunContext& context);

/// The section of its chapter's page that explains it; of a strategy that is there as a model.
std::string section_of(const RunContext& context);

/// What it counts in a run, with a change or without.
Prediction predict(const Changed* changed, const Case& run, const RunContext& context,
                   bool in_order = false);

/// Goes through a run of the right strategy.
void ask(const Case& run, const RunContext& context, const Asked& asked);

/// Its choices, each with what it is in words.
std::vector<std::pair<Decision, std::string>> choices_of(const RunContext& context);

// ---- the mistakes: one choice of a strategy, changed (choices.cpp) ----

struct Outcome;
struct Change {
    Changed changed;
    std::string name;                  ///< stable, such as "tail-dropped"
    const Outcome* outcome = nullptr;  ///< what the choice has become
    std::string right;                 ///< the words of what it was
    double bits = 0;                   ///< the less usual, the more
};

/// Every change of one choice of the strategy.
std::vector<Change> changes(const RunContext& context);

/// What the choice was and what it became.
std::string sentence_of(const Change& change, bool in_cuda);

}  // namespace common::diagnosis
