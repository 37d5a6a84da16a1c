// What the probes of both APIs are started with, and the right answers: a wrong one has no time.
#pragma once

#include "common/options/options.hpp"

namespace probes {

/// The program's three strategies and their options, for one API.
common::Program program(const char* name, const char* api);

/// How often each of so many counters is chosen in `count` additions, where so many neighbours make
/// one choice together.
std::vector<std::uint32_t> chosen(std::uint64_t count, std::uint32_t counters,
                                  std::uint32_t together);

/// What was counted, where the counters lie `spacing` words apart. Between them there is nothing
/// but zeros.
std::vector<std::uint32_t> every_nth(const std::vector<std::uint32_t>& words, std::size_t spacing);

inline constexpr std::uint32_t kHops = 1'000'000;     // so milliseconds are nanoseconds a hop
inline constexpr std::uint32_t kLineWords = 128 / 4;  // of a cache line

/// A chain that visits every cache line of a memory once, in a random order, and then again.
struct Chain {
    std::vector<std::uint32_t> next;   ///< at the first word of a line: the next line's first word
    std::vector<std::uint32_t> order;  ///< the first words, as they are visited
};
Chain chain_through(std::uint64_t bytes);

/// Why pixels cannot be read so; else empty. Where several loads are under way, none is counted.
std::string cannot_read(std::uint64_t pixels, unsigned bytes, unsigned loads, unsigned counted);

/// Where the pixels come `bytes` to a load: the histogram of the first `counted` pixels of each
/// load, and behind it the sum of all words (of 32 bits, or of 8 where a load is a byte).
std::vector<std::uint32_t> read_in_loads(std::span<const std::uint8_t> pixels, unsigned bytes,
                                         unsigned counted);

/// What is wrong with a run, for Runs; empty where it is right.
inline std::string verdict(bool right) {
    return right ? "" : "the answer is wrong";
}

}  // namespace probes
