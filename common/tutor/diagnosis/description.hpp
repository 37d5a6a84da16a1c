/// @file
/// A strategy as a small program: a description that can be run (machine.hpp) and changed
/// (changes.hpp). The language is the least that the kernels of these chapters need; strategies.cpp
/// has a description of each.
///
///     strategy NAME {
///         buffer rows[256 * groups];          global memory, poisoned before a run
///         shared table[256];                  the group's: it holds anything at first
///         private counters[256];              the work-item's: so does this
///         define four(word) { ... }           what kernels call
///         host { ... }                        once, on the host
///         kernel {                            in the launch of the run
///             merge: for (bin = item; bin < 256; bin += size) atomic histogram[bin] += table[bin];
///         }
///         sum { ... }                         in a launch with a work-item for each bin
///     }
///
/// Names are variables, whole numbers all of them; the first of them (Name) are given. A word and a
/// colon in front of a statement say what it is for.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace common::diagnosis {

/// What a program is given.
enum Name : int {
    kItem,
    kId,
    kGroup,
    kSize,
    kAll,
    kGroups,
    kCount,
    kWidth,
    kPitch,
    kCopies,
    kGroupX,
    kGroupY,
    kGroupsX,
    kGroupsY,
    kGiven
};

/// A part of a program: an expression or a statement.
struct Node {
    enum Kind : std::uint8_t {
        kNumber,    ///< value
        kVariable,  ///< value: which
        kLoad,      ///< value: the array; kids: index
        kBinary,    ///< kids: left, right
        kSet,       ///< value: the variable; kids: what
        kStore,     ///< value: the array; kids: index, what; op 0 assigns
        kFor,       ///< value: the variable; kids: start, end (a comparison), stride, body
        kIf,        ///< kids: condition, body
        kBlock,     ///< kids: the first statement
        kCall,      ///< value: the function; kids: argument
        kBarrier,
        kReturn,
        kNothing
    };
    Kind kind = kNothing;
    char op = 0;  ///< + - * / % & | ^ < > and l (<=) g (>=) = ! r (>>) s (<<) m (min) M (max)
    bool atomic = false;  ///< of a kStore
    std::int64_t value = 0;
    std::array<int, 4> kids{-1, -1, -1, -1};
    int next = -1;  ///< the statement behind it
    int label = -1;
};

/// How a number is kept: by its bits, or as a float.
enum class Width : std::uint8_t { k32, k16, k8, kSigned16, kSigned8, kFloat, kUpTo255, k7 };

struct Array {
    enum Scope : std::uint8_t { kGlobal, kShared, kPrivate };
    std::string name;
    Scope scope = kGlobal;
    int size = -1;  ///< an expression
    Width width = Width::k32;
};
inline constexpr int kPixels = 0;  ///< of the arrays, and read only
inline constexpr int kHistogram = 1;

struct Phase {
    enum Where : std::uint8_t { kHost, kLaunch, kOverBins };
    Where where = kLaunch;
    int first = -1;  ///< a statement
};

struct Function {
    std::string name;
    int parameter = -1;
    int body = -1;
};

struct Description {
    std::string name;
    std::vector<Node> nodes;
    std::vector<Array> arrays;
    std::vector<Function> functions;
    std::vector<Phase> phases;
    std::vector<std::string> variables;
    std::vector<Width> widths;  ///< of the variables
    std::vector<std::string> labels;

    int add(const Node& node) {
        nodes.push_back(node);
        return static_cast<int>(nodes.size()) - 1;
    }
    [[nodiscard]] bool has_barrier(int statement) const;  ///< in it
};

/// Adds the expression of a text, in which X is this node. Returns which it is.
int add_expression(Description& program, const std::string& text, int x = -1);

/// The strategies of a text.
std::vector<Description> parse(const std::string& text);

/// A part of a program as it stands in a kernel of OpenCL or CUDA. Of a loop its head alone.
std::string text_of(const Description& program, int node, bool in_cuda);

/// Those of these chapters.
const std::vector<Description>& strategies();

}  // namespace common::diagnosis
