// What an overflow leaves behind, whatever it was that overflowed: a counter, a sum, the length of
// a run, or one of several counters that share a word.
#include <fmt/format.h>

#include <algorithm>

#include "common/tutor/diagnosis/model.hpp"

namespace common::diagnosis {
namespace {

using Cases = std::vector<const Case*>;

// Whether a sum over bins that share a word is right in all words, but for what leaves the word.
bool is_kept(const Cases& runs, std::size_t fields, std::size_t apart, unsigned bits) {
    for (const Case* const run : runs) {
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            if (bin / apart % fields != 0) continue;
            std::uint32_t difference = 0;
            for (std::size_t field = 0; field < fields; ++field) {
                const std::size_t at = bin + field * apart;
                difference += (run->actual[0][at] - run->expected[at]) << field * bits;
            }
            if (fields > 1 && difference != 0) return false;
            // What begins at 0 again loses, and gains nothing.
            if (fields == 1 &&
                (difference % (1U << bits) != 0 || run->actual[0][bin] > run->expected[bin]))
                return false;
        }
    }
    return true;
}

}  // namespace

std::optional<Overflow> overflow(const Cases& runs) {
    const bool has_counts =
        std::all_of(runs.begin(), runs.end(), [](const Case* run) { return !run->changes(); });
    if (!has_counts) return std::nullopt;
    for (const unsigned bits : {16U, 8U}) {
        if (is_kept(runs, 1, 1, bits))
            return Overflow{
                fmt::format("{}-bit-overflow", bits),
                fmt::format("A number of {} bits begins at 0 again: a counter, a sum, or how many "
                            "equal pixels there were.",
                            bits),
                fmt::format("what a bin has lost is a multiple of {} in every run", 1U << bits)};
        const std::size_t fields = 32 / bits;
        for (const std::size_t apart : {std::size_t{1}, kBins / fields})
            if (is_kept(runs, fields, apart, bits))
                return Overflow{
                    "packed-counters-carry",
                    fmt::format("Counters of {} bits share a word, and one that passes {} adds to "
                                "its neighbour.",
                                bits, (1U << bits) - 1),
                    "what one bin has lost another one has gained: the words are right in every "
                    "run"};
    }
    return std::nullopt;
}

}  // namespace common::diagnosis
