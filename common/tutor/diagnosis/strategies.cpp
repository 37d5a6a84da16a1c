// The strategies of chapters 02 to 05 as programs (description.hpp says how to read them). A word
// and a colon say what a statement is for: changes.cpp names mistakes by it. Where a strategy may
// as well share out the pixels in another way, that is a description more.
#include "common/tutor/diagnosis/description.hpp"

namespace common::diagnosis {
namespace {

// What begins most of them: the host zeroes the histogram.
constexpr const char* kZeroed =
    "host { histogram: for (bin = 0; bin < 256; bin += 1) histogram[bin] = 0; }\n";

// A table for each group; COUNT is how it counts, MERGE where the table goes.
constexpr const char* kTable = R"(shared table[256];
kernel {
    zero: for (bin = item; bin < 256; bin += size) table[bin] = 0;
    zeroed: barrier;
    COUNT
    counted: barrier;
    MERGE
})";
constexpr const char* kTurns =
    "pixels: for (i = id; i < count; i += all) atomic table[pixels[i]] += 1;";
constexpr const char* kStretches = R"(
    stretch = (count + all - 1) / all;
    end = min((id + 1) * stretch, count);
    pixels: for (i = id * stretch; i < end; i += 1) atomic table[pixels[i]] += 1;)";
constexpr const char* kMerge =
    "merge: for (bin = item; bin < 256; bin += size) atomic histogram[bin] += table[bin];";
constexpr const char* kOwnRow =
    "merge: for (bin = item; bin < 256; bin += size) rows[group * 256 + bin] = table[bin];";

constexpr const char* kRows = "buffer rows[256 * groups];\n";
constexpr const char* kRowsAddedByHost = R"(
host {
    histogram: for (bin = 0; bin < 256; bin += 1) histogram[bin] = 0;
    sum: for (row = 0; row < groups; row += 1)
        for (bin = 0; bin < 256; bin += 1) histogram[bin] += rows[row * 256 + bin];
})";
constexpr const char* kRowsAddedByKernel = R"(
sum {
    bins: for (bin = id; bin < 256; bin += all) {
        sum = 0;
        sum: for (row = 0; row < groups; row += 1) sum += rows[row * 256 + bin];
        histogram[bin] = sum;
    }
})";

// AT is where bin b of a work-item's counters lies, ZERO how they are zeroed.
constexpr const char* kBytes = R"(
buffer rows[256 * groups];
shared bins[256 * size] in bytes;
kernel {
    row: for (bin = item; bin < 256; bin += size) rows[group * 256 + bin] = 0;
    piece: piece = size * 255;
    pieces: for (first = group * piece; first < count; first += groups * piece) {
        ZERO
        end = min(first + piece, count);
        pixels: for (i = first + item; i < end; i += size) {
            bin = pixels[i];
            bins[OWN] += 1;
        }
        counted: barrier;
        merge: for (base = 0; base < 256; base += size) {
            bin = base + item;
            if (bin < 256) {
                sum = 0;
                items: for (other = 0; other < size; other += 1) sum += bins[OTHER];
                rows[group * 256 + bin] += sum;
            }
        }
        again: barrier;
    }
})";
constexpr const char* kZeroTogether = R"(
        zero: for (word = item; word < size * 64; word += size) {
            bins[4 * word] = 0; bins[4 * word + 1] = 0; bins[4 * word + 2] = 0; bins[4 * word + 3] = 0;
        }
        zeroed: barrier;)";
constexpr const char* kZeroOwn = R"(
        zero: for (word = 0; word < 64; word += 1) {
            bins[4 * (word * size + item)] = 0; bins[4 * (word * size + item) + 1] = 0;
            bins[4 * (word * size + item) + 2] = 0; bins[4 * (word * size + item) + 3] = 0;
        })";

constexpr const char* kOwnStrategies = R"(
strategy global
ZEROED
kernel { pixels: for (i = id; i < count; i += all) atomic histogram[pixels[i]] += 1; }
end
strategy global --walk blocked
ZEROED
kernel {
    stretch = (count + all - 1) / all;
    end = min((id + 1) * stretch, count);
    pixels: for (i = id * stretch; i < end; i += 1) atomic histogram[pixels[i]] += 1;
}
end
strategy subhist
buffer rows[256 * groups];
host { tables: for (bin = 0; bin < 256 * groups; bin += 1) rows[bin] = 0; }
kernel {
    rows: for (y = groupy; y * width < count; y += groupsy)
        columns: for (x = id; x < width; x += all)
            short: if (y * width + x < count) atomic rows[group * 256 + pixels[y * pitch + x]] += 1;
}
ADDED
end
strategy private
ZEROED
private counters[256];
kernel {
    zero: for (bin = 0; bin < 256; bin += 1) counters[bin] = 0;
    pixels: for (i = id; i < count; i += all) counters[pixels[i]] += 1;
    merge: for (bin = 0; bin < 256; bin += 1)
        if (counters[bin] > 0) atomic histogram[bin] += counters[bin];
}
end
strategy lane-bins
ZEROED
shared table[256 * copies];
define four(word) {
    atomic table[(pixels[word] & 255) * copies + item % copies] += 1;
    atomic table[(pixels[word + 1] & 255) * copies + item % copies] += 1;
    atomic table[(pixels[word + 2] & 255) * copies + item % copies] += 1;
    atomic table[(pixels[word + 3] & 255) * copies + item % copies] += 1;
}
define sixteen(load) { first = 16 * load; four(first); four(first + 4); four(first + 8); four(first + 12); }
kernel {
    zero: for (word = item; word < 256 * copies; word += size) table[word] = 0;
    zeroed: barrier;
    vectors = count / 16;
    next = id;
    loads: for (i = next; i + 3 * all < vectors; i += 4 * all) {
        sixteen(i); sixteen(i + all); sixteen(i + 2 * all); sixteen(i + 3 * all);
        next = i + 4 * all;
    }
    rest: for (i = next; i < vectors; i += all) sixteen(i);
    tail: for (i = vectors * 16 + id; i < count; i += all)
        atomic table[pixels[i] * copies + item % copies] += 1;
    counted: barrier;
    merge: for (bin = item; bin < 256; bin += size) {
        sum = 0;
        copies: for (n = 0; n < copies; n += 1) sum += table[bin * copies + (item + n) % copies];
        atomic histogram[bin] += sum;
    }
}
end
strategy lane-bins only copies
ZEROED
shared table[256 * copies];
kernel {
    for (word = item; word < 256 * copies; word += size) table[word] = 0;
    barrier;
    for (i = id; i < count / 16; i += all)
        for (at = 16 * i; at < 16 * i + 16; at += 1)
            atomic table[pixels[at] * copies + item % copies] += 1;
    for (i = count / 16 * 16 + id; i < count; i += all)
        atomic table[pixels[i] * copies + item % copies] += 1;
    barrier;
    for (bin = item; bin < 256; bin += size) {
        sum = 0;
        copies: for (n = 0; n < copies; n += 1) sum += table[bin * copies + n];
        atomic histogram[bin] += sum;
    }
}
end
strategy vector
ZEROED
shared table[256];
define four(word) {
    atomic table[pixels[word] & 255] += 1;
    atomic table[pixels[word + 1] & 255] += 1;
    atomic table[pixels[word + 2] & 255] += 1;
    atomic table[pixels[word + 3] & 255] += 1;
}
kernel {
    zero: for (bin = item; bin < 256; bin += size) table[bin] = 0;
    zeroed: barrier;
    tail = count / 16 * 16;
    loads: for (x = 16 * id; x < tail; x += 16 * all) { four(x); four(x + 4); four(x + 8); four(x + 12); }
    tail: for (x = tail + id; x < count; x += all) atomic table[pixels[x]] += 1;
    counted: barrier;
    merge: for (bin = item; bin < 256; bin += size) atomic histogram[bin] += table[bin];
}
end
strategy occupancy
ZEROED
shared table[256];
kernel {
    zero: for (bin = item; bin < 256; bin += size) table[bin] = 0;
    zeroed: barrier;
    columns: for (x = item; x < width; x += size)
        rows: for (y = group * 8; y * width < count; y += groups * 8)
            eight: for (row = y; row < y + 8; row += 1)
                short: if (row * width + x < count) atomic table[pixels[row * width + x]] += 1;
    counted: barrier;
    merge: for (bin = item; bin < 256; bin += size) atomic histogram[bin] += table[bin];
}
end
)";

std::string with(std::string text, const std::string& old, const std::string& now) {
    for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += now.size())
        text.replace(at, old.size(), now);
    return text;
}

std::string strategy(const std::string& name, const std::string& body) {
    return "strategy " + name + "\n" + body + "end\n";
}

std::string table(const char* count, const char* merge) {
    return with(with(kTable, "COUNT", count), "MERGE", merge);
}

}  // namespace

const std::vector<Description>& strategies() {
    static const std::vector<Description> all = [] {
        std::string text =
            with(with(kOwnStrategies, "ZEROED", kZeroed), "ADDED", kRowsAddedByKernel);
        for (const char* const name : {"local", "two-per-sm"}) {
            text += strategy(name, kZeroed + table(kTurns, kMerge));
            text += strategy(name + std::string(" --walk blocked"),
                             kZeroed + table(kStretches, kMerge));
        }
        text += strategy("local-buckets", kRows + table(kTurns, kOwnRow) + kRowsAddedByHost);
        text += strategy("local-subhist", kRows + table(kTurns, kOwnRow) + kRowsAddedByKernel);
        const auto bytes = [&](const char* name, const char* zero, const char* at) {
            const std::string own = with(at, "ITEM", "item");
            const std::string other = with(at, "ITEM", "other");
            text +=
                strategy(name, with(with(with(kBytes, "ZERO", zero), "OWN", own), "OTHER", other) +
                                   kRowsAddedByHost);
        };
        bytes("uchar-bins", kZeroTogether, "ITEM * 256 + bin");
        bytes("uchar-bins-banked", kZeroOwn, "((bin / 4) * size + ITEM) * 4 + bin % 4");
        return parse(text);
    }();
    return all;
}

}  // namespace common::diagnosis
