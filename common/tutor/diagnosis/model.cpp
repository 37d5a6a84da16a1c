#include "common/tutor/diagnosis/model.hpp"

#include <cmath>

namespace common::diagnosis {
namespace {

// An unknown value: no sum or product of it comes near to a bin.
constexpr Number kUnknown = -(Number{1} << 50);
// Pixels so far behind the picture are no longer memory.
constexpr Number kFar = 1 << 20;

}  // namespace

Model::Model(const Case& run, const RunContext& context, const Changed* changed, bool in_order,
             const Asked* asked)
    : context_(context),
      run_(run),
      changed_(changed != nullptr ? *changed : Changed{}),
      changed_key_(changed_.choice.key()),
      in_order_(in_order),
      asked_(asked) {
    const Launch& launch = run.launch;
    size = static_cast<Number>(launch.group_size);
    tables = groups = static_cast<Number>(launch.groups);
    all = groups * size;
    width = static_cast<Number>(std::max<std::size_t>(run.width, 1));
    pitch = std::max(width, static_cast<Number>(run.pitch));
    count = static_cast<Number>(run.pixels.size());
    max_steps_ = 12 * (count + tables * (256 * copies + 4 * size)) + 1'000'000;
    histogram = array(Array::kGlobal, kHistogram, 256);
    count = chosen(kCount, kNumber, NAMED(count));
}

Number Model::asked_or_changed(const Decision& choice, const NamedNumber& right) {
    if (asked_ != nullptr) (*asked_)(*this, choice, right);
    if (choice.key() != changed_key_ || right.value < kNowhere) return right.value;
    return (*changed_.becomes)(*this, right.value);
}

// ---- memory -------------------------------------------------------------------------------------

Model::Array Model::array(Array::Of of, Label counters, Number size_of, Width right) {
    const auto its_width = static_cast<Width>(chosen(counters, kWidth, {"", right}));
    Array made{of, size_of, its_width, {}, {}, {}};
    if (of == Array::kGlobal) {
        made.low.assign(static_cast<std::size_t>(size_of), kPoison);
        made.more.assign(made.low.size(), 0);
        made.writer.assign(made.low.size(), 0);
    }
    return made;
}

Number Model::kept(Width its_width, Number value) {
    if (its_width == k32) return value;
    if (its_width == kFloat) return static_cast<Number>(static_cast<float>(value));
    const Number range = Number{1} << (its_width == k16 ? 16 : 8);
    const Number low = value & (range - 1);
    return its_width == kSigned8 && low >= range / 2 ? low - range : low;
}

void Model::set(Label label, Array& to, NamedNumber index, Number what) {
    const Number at = chosen(label, kWriteIndex, index);
    if (at < 0 || at >= to.each) {
        seen_.is_outside = true;
        return;
    }
    const auto i = to.cell(at, self_);
    const Number low = kept(to.width, chosen(label, kWeight, {"", what}));
    const Number more = unsure_;
    unsure_ = 0;
    const bool by_another =
        to.of == Array::kGlobal && to.writer[i] != 0 && to.writer[i] != its_group_ + 1;
    if (by_another && !in_order_) {  // who comes last?
        const Number high = std::max(to.low[i] + to.more[i], low + more);
        to.low[i] = std::min(to.low[i], low);
        to.more[i] = high - to.low[i];
        seen_.is_certain = false;
    } else {
        to.low[i] = low;
        to.more[i] = more;
    }
    if (to.of == Array::kGlobal) to.writer[i] = static_cast<std::int32_t>(its_group_ + 1);
}

void Model::add(Label label, Array& to, NamedNumber index, Number amount) {
    if (asked_ == nullptr && label != changed_.choice.label && index.value >= 0 &&
        index.value < to.each && unsure_ == 0) [[likely]] {
        const auto i = to.cell(index.value, self_);
        if (to.width == k32 || to.more[i] == 0) {
            to.low[i] = kept(to.width, to.low[i] + amount);
            return;
        }
    }
    const auto how = static_cast<How>(chosen(label, kHow, {"", kAtomic}));
    const Number at = chosen(label, kWriteIndex, index);
    if (how == kAssigned) return set(label, to, index, amount);
    amount = chosen(label, kWeight, {"", amount});
    if (at < kNowhere) {
        seen_.stray += amount;
        seen_.is_certain = false;
        return;
    }
    if (at < 0 || at >= to.each) {
        seen_.is_outside = true;
        return;
    }
    const auto i = to.cell(at, self_);
    Number& low = to.low[i];
    Number& more = to.more[i];
    if (how == kPlain && to.of != Array::kPrivate && !in_order_ &&
        (to.of == Array::kGlobal ? groups > 1 || !context_.one_by_one : !context_.one_by_one)) {
        more += low + amount + unsure_;  // any may be lost, but not all
        low = std::min({low, amount, more});
        more -= low;
        unsure_ = 0;
        seen_.is_certain = false;
        return;
    }
    if (how == kWithoutLast && (groups == 1 || (in_order_ && its_group_ + 1 == groups))) return;
    if (how == kWithoutEmpty && amount == 0) {  // a group is missed, so nobody writes the bin
        more = kAnything;
        return;
    }
    if (how == kWithoutLast && !in_order_) {  // any group may be the last to come
        low += std::min(more, amount);
        more = std::max(more, amount);
        seen_.is_certain = false;
        return;
    }
    low += amount;
    more = std::min(more + unsure_, kAnything);
    unsure_ = 0;
    if (to.width == k32) return;
    if (more == 0) {
        low = kept(to.width, low);
    } else {
        low = 0;
        more = to.width == kFloat ? kAnything : 0xffff;
    }
}

Number Model::get(Label label, const Array& from, NamedNumber index) {
    const Number at = chosen(label, kReadIndex, index);
    if (at < 0 || at >= from.each) {
        seen_.is_outside = true;
        seen_.is_certain = false;
        unsure_ = kAnything;
        return 0;
    }
    const auto i = from.cell(at, self_);
    if (from.more[i] >= kAnything) seen_.is_unwritten = true;
    unsure_ = std::min(unsure_ + from.more[i], kAnything);
    return from.low[i];
}

// Rows lie `pitch` apart, and what is between them is poisoned.
Number Model::byte(Number address) const {
    const auto pixels = static_cast<Number>(run_.pixels.size());
    if (pitch == width)
        return address >= 0 && address < pixels ? run_.pixels[static_cast<std::size_t>(address)]
                                                : kUnknown;
    const Number row = address >= 0 ? address / pitch : -1;
    const Number x = address - row * pitch;
    if (row >= 0 && x < width && row * width + x < pixels)
        return run_.pixels[static_cast<std::size_t>(row * width + x)];
    return pitch > width && row >= 0 && row * width < pixels ? kPoisonByte : kUnknown;
}

Number Model::pixel(Label label, NamedNumber index, std::uint16_t position) {
    ++seen_.steps;
    if (is_as_usual({label})) return v = byte(where = index.value);
    const Number at = chosen(label, kReadIndex, index, position);
    where = at;
    if (at < -kFar || at > 2 * static_cast<Number>(run_.pixels.size()) + 64 * kFar)
        stop(seen_.is_outside);
    return v = chosen(label, kValue, {"its value", byte(at)}, position);
}

// ---- steps --------------------------------------------------------------------------------------

void Model::finish() {
    Number returned = 0;
    for (Number each_item = 0; each_item < size; ++each_item) {
        turn_to(run_.from_the_end ? size - 1 - each_item : each_item);
        const bool returns = chosen(kZeroed, kReturn, {"", 0}) != 0;
        returned += returns ? 1 : 0;
        for (const auto& step : steps_)
            if (!returns) step();
    }
    if (returned > 0 && returned < size) seen_.is_divergent = true;
    steps_.clear();
    turn_to(0);
}

void Model::barrier(Label label) {
    Number waiting = 0;
    for (item = 0; item < size; ++item)
        waiting += chosen(label, kTimes, {"", 1}) != 0 ? 1 : 0;
    turn_to(0);
    if (waiting > 0 && waiting < size) seen_.is_divergent = true;
    if (waiting > 0) return finish();
    // They go on each at its own pace, and only one after the other can that be worked out.
    if (!context_.one_by_one) seen_.is_certain = false;
}

void Model::launch(Number number, const std::vector<Array*>& arrays,
                   const std::function<void()>& kernel) {
    groups = number;
    all = groups * size;
    for (Number each_group = 0; each_group < groups; ++each_group) {
        its_group_ = group = each_group;
        for (Array* const array : arrays) {
            const auto cells =
                static_cast<std::size_t>(array->each * (array->of == Array::kPrivate ? size : 1));
            array->low.assign(cells, 0);
            array->more.assign(cells, kAnything);
        }
        kernel();
        finish();
    }
    group = item = id = 0;
}

std::optional<double> Prediction::unexplained_bits(const Histogram& counts) const {
    double bits = 0;
    Number left = stray;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        const auto lowest = static_cast<std::uint32_t>(low[bin]);
        if (more[bin] == 0 && stray == 0) {
            if (counts[bin] != lowest) return std::nullopt;
            continue;
        }
        const Number over = counts[bin] - lowest;  // in 32 bits
        if (over > more[bin]) left -= over - more[bin];
        if (left < 0) return std::nullopt;
        bits += more[bin] >= kAnything ? (counts[bin] < low[bin] ? 32 : 24)
                                       : std::log2(1.0 + static_cast<double>(more[bin]));
    }
    if (stray > 0) {  // in how many ways they may lie in the bins
        if (left > 0 && bits == 0) return std::nullopt;
        const auto n = static_cast<double>(stray);
        bits += (std::lgamma(n + kBins) - std::lgamma(n + 1) - std::lgamma(kBins)) / std::log(2.0);
    }
    return bits;
}

}  // namespace common::diagnosis
