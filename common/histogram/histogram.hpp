// The histogram, the answer that every strategy is held against, and the comparison with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace common {

inline constexpr std::size_t kBins = 256;

/// histogram[v] is the number of pixels of value v.
using Histogram = std::array<std::uint32_t, kBins>;

/// A constant picture puts every pixel into one 32-bit counter, so this is as large as one may be.
inline constexpr std::uint64_t kMaxPixels = 0xFFFF'FFFF;

/// What output and scratch buffers hold before a run, in 32-bit words and in bytes. A program that
/// forgets to zero one counts on top of this, and no pixel count makes that come out right by luck.
inline constexpr std::uint32_t kPoison = 0xA5A5'A5A5;
inline constexpr std::uint8_t kPoisonByte = 0xA5;

/// The reference: one loop, one table, the loop that chapter 01 shows as `serial`.
/// @param pixels at most kMaxPixels
Histogram reference_histogram(std::span<const std::uint8_t> pixels);

/// The sum of all bins, which for a right histogram is the number of pixels.
std::uint64_t total(const Histogram& histogram);

/// The sum of several tables of kBins counters each, one after the other.
void add_rows(const std::uint32_t* rows, std::size_t row_count, Histogram& sum);

struct WrongBin {
    std::size_t bin;
    std::uint32_t expected;
    std::uint32_t actual;
};

/// Every difference between two histograms, none forgiven.
struct Comparison {
    std::uint64_t expected_total = 0;
    std::uint64_t actual_total = 0;
    std::vector<WrongBin> wrong;  ///< in the order of the bins

    [[nodiscard]] bool match() const { return wrong.empty() && expected_total == actual_total; }
};

Comparison compare(const Histogram& expected, const Histogram& actual);

/// What a reader needs to see of a mismatch, in a few lines: both totals, how many bins are wrong,
/// the five largest differences with their signs, and whether bins hold the poison. Causes
/// in the kernel are the diagnosis's to find (common/tutor).
std::string failure_report(const Comparison& comparison);

}  // namespace common
