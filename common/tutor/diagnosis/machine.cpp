#include "common/tutor/diagnosis/machine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace common::diagnosis {
namespace {

constexpr std::size_t kMaxWritten = 12;
constexpr std::int64_t kFar = 4096;  // beyond what allocations leave behind a buffer

std::int64_t kept_in(Width width, std::int64_t value) {
    switch (width) {
        case Width::k32:
            return value & 0xffffffff;
        case Width::k16:
            return value & 0xffff;
        case Width::k8:
            return value & 0xff;
        case Width::k7:
            return value & 0x7f;
        case Width::kSigned16:
            return static_cast<std::int16_t>(value);
        case Width::kSigned8:
            return static_cast<std::int8_t>(value);
        case Width::kFloat:
            return static_cast<std::int64_t>(static_cast<float>(value));
        case Width::kUpTo255:
            return std::min<std::int64_t>(value, 255);
    }
    return value;
}

struct Stop {};

class Machine {
 public:
    Machine(const Description& program, const Case& run, const RunContext& context, bool in_order)
        : program_(program),
          run_(run),
          one_by_one_(context.one_by_one),
          in_order_(in_order),
          nodes_(program.nodes.data()) {
        count_ = static_cast<std::int64_t>(run.pixels.size());
        width_ = std::max<std::int64_t>(static_cast<std::int64_t>(run.width), 1);
        pitch_ = program.name.starts_with("subhist") ? (width_ + 511) / 512 * 512 : width_;
        rows_ = std::max<std::int64_t>((count_ + width_ - 1) / width_, 1);
        copies_ = context.copies;
        const auto items = static_cast<std::int64_t>(run.launch.groups * run.launch.group_size);
        max_steps_ = 20'000 + 600 * items + 30 * count_;
    }

    Prediction result() {
        variables_.assign(program_.variables.size(), 0);
        unsure_.assign(program_.variables.size(), 0);
        memory_.resize(program_.arrays.size());
        turn_to(0);
        set_given(run_.launch, 0, 0);
        for (std::size_t array = 1; array < memory_.size(); ++array)
            if (program_.arrays[array].scope == Array::kGlobal) allocate(array, 1, kPoison, 0);
        try {
            for (const Phase& phase : program_.phases)
                run_phase(phase);
        } catch (const Stop&) {
            seen_.is_certain = false;
        }
        const Memory& histogram = memory_[kHistogram];
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            seen_.low[bin] = histogram.low[bin];
            seen_.more[bin] = histogram.more[bin];
            if (seen_.more[bin] > 0) seen_.is_certain = false;
        }
        if (raced_in_group_ && !one_by_one_) {  // anything may be lost
            for (std::size_t bin = 0; bin < kBins; ++bin) {
                seen_.more[bin] = std::max<std::int64_t>(seen_.low[bin], run_.expected[bin]);
                seen_.low[bin] = 0;
            }
            seen_.is_certain = false;
        }
        return std::move(seen_);
    }

 private:
    struct Memory {
        std::vector<std::int64_t> low, more;
        std::vector<std::int32_t> writer;  // group or work-item, plus one; negative: no atomic
        std::size_t each = 0;              // of a private array
    };

    const Description& program_;
    const Case& run_;
    bool one_by_one_, in_order_;
    std::int64_t count_ = 0, width_ = 1, pitch_ = 1, rows_ = 1, copies_ = 32;
    std::int64_t steps_ = 0, max_steps_ = 0;
    std::vector<Memory> memory_;
    std::vector<std::int64_t> variables_, unsure_;  // of all work-items of a group
    std::vector<char> has_returned_;
    const Node* nodes_ = nullptr;
    std::int64_t* own_ = nullptr;  // of this work-item
    std::int64_t* unsure_of_ = nullptr;
    std::int32_t item_ = 0, group_ = 0;
    std::int64_t size_ = 1;
    std::int64_t more_ = 0;   // what is not certain of the expression at hand
    bool is_launch_ = false;  // and nothing that comes before or behind it
    bool raced_in_group_ = false;
    Prediction seen_;

    const Node& node(int index) const { return nodes_[index]; }
    std::int64_t& variable(std::int64_t name) { return own_[name]; }

    // Whose variables are at hand.
    void turn_to(std::size_t item) {
        item_ = static_cast<std::int32_t>(item);
        own_ = &variables_[item * program_.variables.size()];
        unsure_of_ = &unsure_[item * program_.variables.size()];
    }

    void allocate(std::size_t array, std::int64_t copies, std::int64_t low, std::int64_t more) {
        more_ = 0;
        const auto each = static_cast<std::size_t>(
            std::clamp<std::int64_t>(evaluate(program_.arrays[array].size), 0, 1 << 24));
        Memory& memory = memory_[array];
        memory.each = each;
        memory.low.assign(each * static_cast<std::size_t>(copies), low);
        memory.more.assign(memory.low.size(), more);
        memory.writer.assign(memory.low.size(), 0);
    }

    void set_given(const Launch& launch, std::int64_t group, std::int64_t item) {
        const auto size = static_cast<std::int64_t>(launch.group_size);
        const auto groups = static_cast<std::int64_t>(launch.groups);
        const std::int64_t across =
            launch.across > 0 ? static_cast<std::int64_t>(launch.across) : groups;
        const std::array<std::int64_t, kGiven> given{item,           group % across * size + item,
                                                     group,          size,
                                                     across * size,  groups,
                                                     count_,         width_,
                                                     pitch_,         copies_,
                                                     group % across, group / across,
                                                     across,         groups / across};
        std::copy(given.begin(), given.end(), own_);
    }

    void run_phase(const Phase& phase) {
        Launch launch = run_.launch;
        is_launch_ = phase.where == Phase::kLaunch;
        if (phase.where == Phase::kHost) launch = {1, 1, 0};
        if (phase.where == Phase::kOverBins)
            launch = {(kBins + launch.group_size - 1) / launch.group_size, launch.group_size, 0};
        for (Memory& memory : memory_)
            std::fill(memory.writer.begin(), memory.writer.end(), 0);
        size_ = static_cast<std::int64_t>(launch.group_size);
        const std::size_t names = program_.variables.size();
        variables_.assign(names * launch.group_size, 0);
        unsure_.assign(variables_.size(), 0);
        for (std::size_t group = 0; group < launch.groups; ++group) {
            group_ = static_cast<std::int32_t>(group);
            for (std::size_t item = 0; item < launch.group_size; ++item) {
                turn_to(item);
                set_given(launch, static_cast<std::int64_t>(group),
                          static_cast<std::int64_t>(item));
                if (phase.where != Phase::kLaunch)  // whose number of groups the others know
                    variable(kGroups) = static_cast<std::int64_t>(run_.launch.groups);
            }
            turn_to(0);
            has_returned_.assign(launch.group_size, 0);
            for (std::size_t array = 1; array < memory_.size(); ++array) {
                const Array::Scope scope = program_.arrays[array].scope;
                if (scope == Array::kGlobal) continue;
                allocate(array, scope == Array::kPrivate ? size_ : 1, 0, kAnything);
            }
            run_by_all(phase.first);
        }
    }

    template <typename Do>
    void each_item(const Do& what) {
        for (std::int64_t item = 0; item < size_; ++item) {
            if (has_returned_[static_cast<std::size_t>(item)] != 0) continue;
            turn_to(static_cast<std::size_t>(item));
            what();
        }
        turn_to(0);
    }

    // A statement by all work-items of a group, together from barrier to barrier.
    void run_by_all(int statement) {
        if (!program_.has_barrier(statement)) return each_item([&] { run(statement); });
        const Node& n = node(statement);
        switch (n.kind) {
            case Node::kBarrier: {
                if (std::any_of(has_returned_.begin(), has_returned_.end(),
                                [](char returned) { return returned != 0; }))
                    seen_.is_divergent = true;
                for (std::size_t array = 1; array < memory_.size(); ++array) {
                    if (program_.arrays[array].scope == Array::kShared)
                        std::fill(memory_[array].writer.begin(), memory_[array].writer.end(), 0);
                }
                break;
            }
            case Node::kBlock: {
                for (int each = n.kids[0]; each >= 0;) {
                    if (program_.has_barrier(each)) {
                        run_by_all(each);
                        each = node(each).next;
                        continue;
                    }
                    int end = each;  // behind what each work-item does in one go
                    while (end >= 0 && !program_.has_barrier(end))
                        end = node(end).next;
                    each_item([&] {
                        for (int at = each; at != end; at = node(at).next)
                            if (!run(at)) break;
                    });
                    each = end;
                }
                break;
            }
            case Node::kIf: {
                int yes = 0;
                int no = 0;
                each_item([&] { ++(evaluate(n.kids[0]) != 0 ? yes : no); });
                if (yes > 0 && no > 0) seen_.is_divergent = true;
                if (yes > 0) run_by_all(n.kids[1]);
                break;
            }
            case Node::kFor: {
                each_item([&] { variable(n.value) = evaluate(n.kids[0]); });
                while (true) {
                    if (++steps_ > max_steps_) stop(seen_.is_endless);
                    int yes = 0;
                    int no = 0;
                    each_item([&] { ++(evaluate(n.kids[1]) != 0 ? yes : no); });
                    if (yes > 0 && no > 0) seen_.is_divergent = true;
                    if (yes == 0) break;
                    run_by_all(n.kids[3]);
                    each_item([&] { variable(n.value) += evaluate(n.kids[2]); });
                }
                break;
            }
            default:
                break;
        }
    }

    [[noreturn]] static void stop(bool& why) {
        why = true;
        throw Stop{};
    }

    // By one work-item. Whether it goes on behind it.
    bool run(int statement) {
        const Node& n = node(statement);
        switch (n.kind) {
            case Node::kSet:
                more_ = 0;
                variable(n.value) = kept_in_variable(n.value, evaluate(n.kids[0]));
                unsure_of_[n.value] = more_;
                return true;
            case Node::kStore:
                store(n);
                return true;
            case Node::kFor: {
                more_ = 0;
                for (variable(n.value) = evaluate(n.kids[0]); evaluate(n.kids[1]) != 0;
                     variable(n.value) += evaluate(n.kids[2])) {
                    if (++steps_ > max_steps_) stop(seen_.is_endless);
                    if (!run(n.kids[3])) return false;
                }
                return true;
            }
            case Node::kIf:
                more_ = 0;
                return (evaluate(n.kids[0]) == 0 && more_ == 0) || run(n.kids[1]);
            case Node::kBlock:
                for (int each = n.kids[0]; each >= 0; each = node(each).next)
                    if (!run(each)) return false;
                return true;
            case Node::kCall: {
                const Function& function = program_.functions[static_cast<std::size_t>(n.value)];
                variable(function.parameter) = evaluate(n.kids[0]);
                return run(function.body);
            }
            case Node::kReturn:
                has_returned_[static_cast<std::size_t>(item_)] = 1;
                return false;
            default:
                return true;
        }
    }

    std::int64_t kept_in_variable(std::int64_t name, std::int64_t value) const {
        const Width width = program_.widths[static_cast<std::size_t>(name)];
        return width == Width::k32 ? value : kept_in(width, value);  // counts fit in 64 bits
    }

    void store(const Node& n) {
        more_ = 0;
        const std::int64_t index = evaluate(n.kids[0]);
        const bool anywhere = more_ > 0;
        more_ = 0;
        const std::int64_t what = evaluate(n.kids[1]);
        const auto array = static_cast<std::size_t>(n.value);
        const Array& kept = program_.arrays[array];
        Memory& memory = memory_[array];
        if (anywhere) {
            seen_.stray += what;
            seen_.is_certain = false;
            return;
        }
        const auto each = static_cast<std::int64_t>(memory.each);
        if (index < 0 || index >= each) {
            seen_.is_outside = true;
            seen_.is_certain = false;
            return;
        }
        const auto at =
            static_cast<std::size_t>(index + (kept.scope == Array::kPrivate ? item_ * each : 0));
        std::int64_t& low = memory.low[at];
        std::int64_t& more = memory.more[at];
        const std::int32_t me = (kept.scope == Array::kGlobal ? group_ : item_) + 1;
        const std::int32_t last = std::exchange(memory.writer[at], n.atomic ? me : -me);
        const bool races = kept.scope != Array::kPrivate && last != 0 && std::abs(last) != me &&
                           (last < 0 || !n.atomic);
        const bool raced = !n.atomic && n.op == '+' && more > 0 && more < kAnything;
        if (is_launch_ && !n.atomic && array == kHistogram)
            note(static_cast<std::size_t>(index), n.op == '+', what);
        if (races && kept.scope == Array::kShared) raced_in_group_ = true;
        if ((races || raced) && is_launch_ && kept.scope == Array::kGlobal && !in_order_) {
            seen_.is_certain = false;
            if (n.op == '+') {  // any of the additions may be lost, but not all
                const std::int64_t high = low + more + what + more_;
                low = std::min(low, what);
                more = std::min(high - low, kAnything);
            } else {
                const std::int64_t high = std::max(low + more, what + more_);
                low = std::min(low, what);
                more = high - low;
            }
            return;
        }
        std::int64_t value = what;
        switch (n.op) {
            case '+':
                value = low + what;
                break;
            case '-':
                value = low - what;
                break;
            case '|':
                value = low | what;
                break;
            case '^':
                value = low ^ what;
                break;
            case 'M':
                value = std::max(low, what);
                break;
            default:
                more = 0;
                break;
        }
        more = std::min(more + more_, kAnything);
        low = kept.width == Width::k32 && more > 0 ? value : kept_in(kept.width, value);
        if (kept.width != Width::k32 && more > 0) {
            low = 0;
            more = kept.width == Width::kFloat ? kAnything : 0xffff;
        }
    }

    void note(std::size_t bin, bool adds, std::int64_t what) {
        if (seen_.added[bin] != adds) seen_.written[bin].clear();
        seen_.added[bin] = adds;
        if (seen_.written[bin].size() <= kMaxWritten) seen_.written[bin].push_back(what);
    }

    std::int64_t evaluate(int index) {
        const Node& n = node(index);
        switch (n.kind) {
            case Node::kNumber:
                return n.value;
            case Node::kVariable:
                more_ += unsure_of_[n.value];
                return own_[n.value];
            case Node::kLoad:
                return load(n);
            case Node::kBinary: {
                const std::int64_t left = evaluate(n.kids[0]);
                const std::int64_t right = evaluate(n.kids[1]);
                if (more_ > 0 && n.op != '+') more_ = kAnything;
                return calculate(n.op, left, right);
            }
            default:
                return 0;
        }
    }

    std::int64_t load(const Node& n) {
        const std::int64_t before = std::exchange(more_, 0);
        const std::int64_t index = evaluate(n.kids[0]);
        if (n.value == kPixels) {
            const std::int64_t value = pixel(index);
            more_ = std::min(more_ + before, kAnything);
            return value;
        }
        const auto array = static_cast<std::size_t>(n.value);
        const Memory& memory = memory_[array];
        const Array& kept = program_.arrays[array];
        const auto each = static_cast<std::int64_t>(memory.each);
        if (more_ > 0 || index < 0 || index >= each) {
            more_ = kAnything;
            seen_.is_outside = true;
            return 0;
        }
        const auto at =
            static_cast<std::size_t>(index + (kept.scope == Array::kPrivate ? item_ * each : 0));
        if (kept.scope == Array::kShared && memory.writer[at] != 0 &&
            std::abs(memory.writer[at]) != item_ + 1)
            raced_in_group_ = true;
        if (memory.more[at] >= kAnything) seen_.is_unwritten = true;
        more_ = std::min(before + memory.more[at], kAnything);
        return memory.low[at];
    }

    // Pixels of rows lie `pitch_` apart, and what is between them is poisoned.
    std::int64_t pixel(std::int64_t index) {
        const std::int64_t y = index >= 0 ? index / pitch_ : -1;
        const std::int64_t x = index - y * pitch_;
        if (y >= 0 && x < width_ && y * width_ + x < count_)
            return run_.pixels[static_cast<std::size_t>(y * width_ + x)];
        if (pitch_ > width_ && y >= 0 && y < rows_) return kPoisonByte;
        if (index < -kFar || index > rows_ * pitch_ + kFar) stop(seen_.is_outside);
        more_ = kAnything;
        seen_.is_certain = false;
        return 0;
    }

    std::int64_t calculate(char op, std::int64_t left, std::int64_t right) {
        switch (op) {
            case '+':
                return left + right;
            case '-':
                return left - right;
            case '*':
                return left * right;
            case '/':
                return right == 0 ? 0 : left / right;
            case '%':
                return right == 0 ? 0 : left % right;
            case '&':
                return left & right;
            case '|':
                return left | right;
            case '^':
                return left ^ right;
            case 'r':
                return right > 62 ? 0 : left >> right;
            case 's':
                return right > 40 ? 0 : left << right;
            case '<':
                return left < right ? 1 : 0;
            case '>':
                return left > right ? 1 : 0;
            case 'l':
                return left <= right ? 1 : 0;
            case 'g':
                return left >= right ? 1 : 0;
            case '=':
                return left == right ? 1 : 0;
            case '!':
                return left != right ? 1 : 0;
            case 'm':
                return std::min(left, right);
            case 'M':
                return std::max(left, right);
            default:
                return 0;
        }
    }
};

// Whether it is one of these, or the sum of some.
bool is_made_of(const std::vector<std::int64_t>& parts, bool sums, std::uint32_t base,
                std::uint32_t count) {
    if (!sums)
        return std::any_of(parts.begin(), parts.end(), [&](std::int64_t part) {
            return static_cast<std::uint32_t>(part) == count;
        });
    for (std::size_t some = 1; some < std::size_t{1} << parts.size(); ++some) {
        std::uint32_t sum = base;
        for (std::size_t i = 0; i < parts.size(); ++i)
            if ((some >> i & 1) != 0) sum += static_cast<std::uint32_t>(parts[i]);
        if (sum == count) return true;
    }
    return false;
}

}  // namespace

std::optional<double> Prediction::open_bits(const Histogram& counts) const {
    double bits = 0;
    std::int64_t left = stray;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        const auto count = std::int64_t{counts[bin]};
        const auto lowest = static_cast<std::int64_t>(static_cast<std::uint32_t>(low[bin]));
        if (more[bin] == 0 && stray == 0) {
            if (count != lowest) return std::nullopt;
            continue;
        }
        const auto over = static_cast<std::int64_t>(static_cast<std::uint32_t>(count - lowest));
        if (over > more[bin]) left -= over - more[bin];
        if (left < 0) return std::nullopt;
        double open = more[bin] >= kAnything ? (count < low[bin] ? 32 : 24)
                                             : std::log2(1.0 + static_cast<double>(more[bin]));
        const auto& parts = written[bin];
        if (more[bin] > 0 && !parts.empty() && parts.size() <= kMaxWritten) {
            if (!is_made_of(parts, added[bin], 0, counts[bin])) return std::nullopt;
            open = std::min(open, added[bin] ? static_cast<double>(parts.size())
                                             : std::log2(static_cast<double>(parts.size())));
        }
        bits += open;
    }
    if (stray > 0) {  // in how many ways they may lie in the bins
        if (left > 0 && bits == 0) return std::nullopt;
        const auto n = static_cast<double>(stray);
        bits += (std::lgamma(n + kBins) - std::lgamma(n + 1) - std::lgamma(kBins)) / std::log(2.0);
    }
    return bits;
}

Prediction predict(const Description& program, const Case& run, const RunContext& context,
                   bool in_order) {
    return Machine(program, run, context, in_order).result();
}

}  // namespace common::diagnosis
