#include "common/tutor/diagnosis/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <stdexcept>

namespace common::diagnosis {
namespace {

constexpr std::array<const char*, kGiven> kNames{"item",   "id",     "group",   "size",   "all",
                                                 "groups", "count",  "width",   "pitch",  "copies",
                                                 "groupx", "groupy", "groupsx", "groupsy"};

// As deep as they bind; each with its letter in Node::op.
struct Operator {
    const char* text;
    char op;
    int depth;
};
constexpr std::array<Operator, 16> kOperators{{{"==", '=', 1},
                                               {"!=", '!', 1},
                                               {"<=", 'l', 2},
                                               {">=", 'g', 2},
                                               {"<<", 's', 3},
                                               {">>", 'r', 3},
                                               {"<", '<', 2},
                                               {">", '>', 2},
                                               {"&", '&', 0},
                                               {"|", '|', 0},
                                               {"^", '^', 0},
                                               {"+", '+', 4},
                                               {"-", '-', 4},
                                               {"*", '*', 5},
                                               {"/", '/', 5},
                                               {"%", '%', 5}}};

class Parser {
 public:
    explicit Parser(const std::string& text, int x = -1) : at_(text.c_str()), x_(x) {}

    int expression_in(Description& program) {
        std::swap(program, program_);
        const int found = expression();
        std::swap(program, program_);
        return found;
    }

    std::vector<Description> strategies() {
        std::vector<Description> all;
        while (accept("strategy")) {
            program_ = {};
            program_.name = rest_of_line();
            program_.variables.assign(kNames.begin(), kNames.end());
            program_.widths.assign(kGiven, Width::k32);
            program_.arrays = {{"pixels", Array::kGlobal, number(0)},
                               {"histogram", Array::kGlobal, number(256)}};
            while (!accept("end"))
                part();
            all.push_back(program_);
        }
        if (*at_ != '\0') fail("a strategy");
        return all;
    }

 private:
    const char* at_;
    int x_;  // the node that X stands for
    Description program_;

    [[noreturn]] void fail(const std::string& what) const {
        throw std::logic_error(
            fmt::format("{}: {} is missing at: {:.40}", program_.name, what, at_));
    }
    void skip() {
        while (std::isspace(static_cast<unsigned char>(*at_)) != 0)
            ++at_;
    }
    bool accept(const char* word) {
        skip();
        const std::size_t length = std::strlen(word);
        if (std::strncmp(at_, word, length) != 0) return false;
        if (std::isalpha(static_cast<unsigned char>(*word)) != 0 &&
            std::isalnum(static_cast<unsigned char>(at_[length])) != 0)
            return false;
        at_ += length;
        skip();
        return true;
    }
    void expect(const char* word) {
        if (!accept(word)) fail(word);
    }
    std::string word() {
        std::string found;
        while (std::isalnum(static_cast<unsigned char>(*at_)) != 0 || *at_ == '_')
            found += *at_++;
        skip();
        if (found.empty()) fail("a name");
        return found;
    }
    std::string rest_of_line() {
        std::string found;
        while (*at_ != '\n')
            found += *at_++;
        skip();
        return found;
    }
    int number(std::int64_t value) { return program_.add({.kind = Node::kNumber, .value = value}); }
    int variable(const std::string& name) {
        auto& names = program_.variables;
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) {
            names.push_back(name);
            program_.widths.push_back(Width::k32);
            return static_cast<int>(names.size()) - 1;
        }
        return static_cast<int>(found - names.begin());
    }
    // Which of these has the name, or -1.
    template <typename Things>
    static int index_of(const Things& things, const std::string& name) {
        for (std::size_t i = 0; i < things.size(); ++i)
            if (things[i].name == name) return static_cast<int>(i);
        return -1;
    }

    void part() {
        if (accept("buffer")) return declare(Array::kGlobal);
        if (accept("shared")) return declare(Array::kShared);
        if (accept("private")) return declare(Array::kPrivate);
        if (accept("define")) {
            Function function{.name = word()};
            expect("(");
            function.parameter = variable(word());
            expect(")");
            program_.functions.push_back(function);
            program_.functions.back().body = statement();
            return;
        }
        Phase phase;
        if (accept("host"))
            phase.where = Phase::kHost;
        else if (accept("sum"))
            phase.where = Phase::kOverBins;
        else
            expect("kernel");
        phase.first = statement();
        program_.phases.push_back(phase);
    }
    void declare(Array::Scope scope) {
        Array array{.name = word(), .scope = scope};
        expect("[");
        array.size = expression();
        expect("]");
        if (accept("in bytes")) array.width = Width::k8;
        expect(";");
        program_.arrays.push_back(array);
    }

    int statement() {
        if (accept("{")) {
            Node block{.kind = Node::kBlock};
            int last = -1;
            while (!accept("}")) {
                const int next = statement();
                (last < 0 ? block.kids[0] : program_.nodes[static_cast<std::size_t>(last)].next) =
                    next;
                last = next;
            }
            return program_.add(block);
        }
        Node node;
        const char* const before = at_;
        if (std::isalpha(static_cast<unsigned char>(*at_)) != 0) {
            const std::string label = word();
            if (accept(":")) {
                program_.labels.push_back(label);
                node.label = static_cast<int>(program_.labels.size()) - 1;
            } else {
                at_ = before;
            }
        }
        fill(node);
        return program_.add(node);
    }
    void fill(Node& node) {
        if (accept("for")) {
            expect("(");
            node.kind = Node::kFor;
            node.value = variable(word());
            expect("=");
            node.kids[0] = expression();
            expect(";");
            node.kids[1] = expression();
            expect(";");
            word();
            expect("+=");
            node.kids[2] = expression();
            expect(")");
            node.kids[3] = statement();
        } else if (accept("if")) {
            expect("(");
            node.kind = Node::kIf;
            node.kids[0] = expression();
            expect(")");
            node.kids[1] = statement();
        } else if (accept("barrier")) {
            node.kind = Node::kBarrier;
            expect(";");
        } else {
            node.atomic = accept("atomic");
            const std::string name = word();
            if (const int function = index_of(program_.functions, name); function >= 0) {
                node.kind = Node::kCall;
                node.value = function;
                expect("(");
                node.kids[0] = expression();
                expect(")");
            } else if (const int array = index_of(program_.arrays, name); array >= 0) {
                node.kind = Node::kStore;
                node.value = array;
                expect("[");
                node.kids[0] = expression();
                expect("]");
                if (accept("+="))
                    node.op = '+';
                else
                    expect("=");
                node.kids[1] = expression();
            } else {
                node.kind = Node::kSet;
                node.value = variable(name);
                const bool adds = accept("+=");
                if (!adds) expect("=");
                node.kids[0] = expression();
                if (adds) {
                    const int old = program_.add({.kind = Node::kVariable, .value = node.value});
                    node.kids[0] = program_.add(
                        {.kind = Node::kBinary, .op = '+', .kids = {old, node.kids[0], -1, -1}});
                }
            }
            expect(";");
        }
    }

    int expression(int depth = 0) {
        if (depth > 5) return primary();
        int left = expression(depth + 1);
        for (bool more = true; more;) {
            more = false;
            for (const Operator& each : kOperators) {
                if (each.depth != depth || !accept(each.text)) continue;
                const int right = expression(depth + 1);
                left = program_.add(
                    {.kind = Node::kBinary, .op = each.op, .kids = {left, right, -1, -1}});
                more = true;
                break;
            }
        }
        return left;
    }
    int primary() {
        if (accept("(")) {
            const int inner = expression();
            expect(")");
            return inner;
        }
        if (std::isdigit(static_cast<unsigned char>(*at_)) != 0) return number(std::stoll(word()));
        const std::string name = word();
        if (name == "X") return x_;
        if (name == "min") {
            expect("(");
            const int left = expression();
            expect(",");
            const int right = expression();
            expect(")");
            return program_.add({.kind = Node::kBinary, .op = 'm', .kids = {left, right, -1, -1}});
        }
        if (const int array = index_of(program_.arrays, name); array >= 0) {
            expect("[");
            const int index = expression();
            expect("]");
            return program_.add({.kind = Node::kLoad, .value = array, .kids = {index, -1, -1, -1}});
        }
        return program_.add({.kind = Node::kVariable, .value = variable(name)});
    }
};

// What is given, in OpenCL's words and in CUDA's.
constexpr std::array<std::array<const char*, 2>, kGiven> kWords{{
    {"get_local_id(0)", "threadIdx.x"},
    {"get_global_id(0)", "blockIdx.x * blockDim.x + threadIdx.x"},
    {"get_group_id(0)", "blockIdx.x"},
    {"get_local_size(0)", "blockDim.x"},
    {"get_global_size(0)", "gridDim.x * blockDim.x"},
    {"get_num_groups(0)", "gridDim.x"},
    {"count", "count"},
    {"width", "width"},
    {"pitch", "pitch"},
    {"COPIES", "copies"},
    {"get_group_id(0)", "blockIdx.x"},
    {"get_group_id(1)", "blockIdx.y"},
    {"get_num_groups(0)", "gridDim.x"},
    {"get_num_groups(1)", "gridDim.y"},
}};

}  // namespace

int add_expression(Description& program, const std::string& text, int x) {
    return Parser(text, x).expression_in(program);
}

std::vector<Description> parse(const std::string& text) {
    return Parser(text).strategies();
}

bool Description::has_barrier(int statement) const {
    for (; statement >= 0; statement = -1) {
        const Node& node = nodes[static_cast<std::size_t>(statement)];
        if (node.kind == Node::kBarrier) return true;
        const int body = node.kind == Node::kFor     ? node.kids[3]
                         : node.kind == Node::kIf    ? node.kids[1]
                         : node.kind == Node::kBlock ? node.kids[0]
                                                     : -1;
        for (int each = body; each >= 0; each = nodes[static_cast<std::size_t>(each)].next)
            if (has_barrier(each)) return true;
    }
    return false;
}

std::string text_of(const Description& program, int node, bool in_cuda) {
    const Node& n = program.nodes[static_cast<std::size_t>(node)];
    const auto kid = [&](std::size_t i) { return text_of(program, n.kids[i], in_cuda); };
    const auto name = [&](std::int64_t which) -> std::string {
        if (which < kGiven) return kWords[static_cast<std::size_t>(which)][in_cuda ? 1 : 0];
        return program.variables[static_cast<std::size_t>(which)];
    };
    const auto array = [&] { return program.arrays[static_cast<std::size_t>(n.value)].name; };
    switch (n.kind) {
        case Node::kNumber:
            return std::to_string(n.value);
        case Node::kVariable:
            return name(n.value);
        case Node::kLoad:
            return fmt::format("{}[{}]", array(), kid(0));
        case Node::kBinary: {
            if (n.op == 'm' || n.op == 'M')
                return fmt::format("{}({}, {})", n.op == 'm' ? "min" : "max", kid(0), kid(1));
            const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                             [&](const Operator& each) { return each.op == n.op; });
            // Brackets where a part binds less than the whole.
            const auto part = [&](std::size_t i) {
                const Node& inner = program.nodes[static_cast<std::size_t>(n.kids[i])];
                std::string text = kid(i);
                const bool is_sum =
                    inner.kind == Node::kBinary ||
                    (inner.kind == Node::kVariable && text.find('+') != std::string::npos);
                const auto* op =
                    std::find_if(kOperators.begin(), kOperators.end(),
                                 [&](const Operator& each) { return each.op == inner.op; });
                const int depth = op == kOperators.end() ? 4 : op->depth;
                if (is_sum && depth < found->depth + static_cast<int>(i)) return "(" + text + ")";
                return text;
            };
            return fmt::format("{} {} {}", part(0), found->text, part(1));
        }
        case Node::kSet:
            return fmt::format("{} = {}", name(n.value), kid(0));
        case Node::kStore:
            return n.atomic ? fmt::format("atomic_add(&{}[{}], {})", array(), kid(0), kid(1))
                            : fmt::format("{}[{}] {}= {}", array(), kid(0),
                                          n.op == 0 ? "" : std::string(1, n.op), kid(1));
        case Node::kFor:
            return fmt::format("for ({0} = {1}; {2}; {0} += {3})", name(n.value), kid(0), kid(1),
                               kid(2));
        case Node::kIf:
            return fmt::format("if ({})", kid(0));
        case Node::kCall:
            return fmt::format("{}({})", program.functions[static_cast<std::size_t>(n.value)].name,
                               kid(0));
        case Node::kBarrier:
            return in_cuda ? "__syncthreads()" : "barrier(CLK_LOCAL_MEM_FENCE)";
        default:
            return "";
    }
}

}  // namespace common::diagnosis
