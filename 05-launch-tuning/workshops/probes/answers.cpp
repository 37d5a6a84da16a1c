#include "05-launch-tuning/workshops/probes/answers.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace probes {

common::Program program(const char* name, const char* api) {
    return {
        "05-launch-tuning",
        name,
        api,
        "small kernels that each measure one thing",
        {{"contention", "an addition for each pixel, which is not read, to a random counter"},
         {"chase", "one work-item follows a chain through as many bytes: ms are ns a hop"},
         {"read", "all pixels are read, and some of each load counted"}},
        {{"counters",
          {"1", "2", "4", "16", "64", "256", "1024", "4096", "16384", "65536"},
          "how many counters",
          {"contention"}},
         {"spacing",
          {"4", "32", "64", "128", "256", "512", "768", "1024", "1280", "2048", "4096", "65536"},
          "bytes from a counter to the next",
          {"contention"}},
         {"together",
          {"1", "32"},
          "neighbouring additions that go to one counter: 32 are a whole warp's",
          {"contention"}},
         {"bytes", {"1", "4", "16"}, "bytes of a load", {"read"}},
         {"loads", {"1", "2", "4"}, "loads under way", {"read"}},
         {"counted",
          {"0", "1", "2", "4", "8", "12", "16"},
          "pixels of each load that are counted",
          {"read"}}},
        {},
        common::kMaxPixels,
        false};
}

std::vector<std::uint32_t> chosen(std::uint64_t count, std::uint32_t counters,
                                  std::uint32_t together) {
    std::vector<std::uint32_t> times(counters);
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint32_t x = i / together;  // as the kernels mix it
        x = (x ^ x >> 16) * 0x7FEB'352D;
        x = (x ^ x >> 15) * 0x846C'A68B;
        ++times[(x ^ x >> 16) % counters];
    }
    return times;
}

std::vector<std::uint32_t> every_nth(const std::vector<std::uint32_t>& words, std::size_t spacing) {
    std::vector<std::uint32_t> found;
    for (std::size_t i = 0; i < words.size(); ++i)
        if (i % spacing == 0 || words[i] != 0) found.push_back(words[i]);
    return found;
}

Chain chain_through(std::uint64_t bytes) {
    Chain chain{std::vector<std::uint32_t>(bytes / 4),
                std::vector<std::uint32_t>(bytes / 4 / kLineWords)};
    std::iota(chain.order.begin(), chain.order.end(), 0U);
    std::shuffle(chain.order.begin(), chain.order.end(), std::mt19937{1});
    for (std::uint32_t& line : chain.order)
        line *= kLineWords;
    for (std::size_t i = 0; i < chain.order.size(); ++i)
        chain.next[chain.order[i]] = chain.order[(i + 1) % chain.order.size()];
    return chain;
}

std::string cannot_read(std::uint64_t pixels, unsigned bytes, unsigned loads, unsigned counted) {
    if (pixels % bytes != 0) return "the pixels are not whole loads";
    if (counted > bytes) return "a load has no more pixels than bytes";
    return loads > 1 && counted > 0 ? "with several loads under way no pixel is counted" : "";
}

std::vector<std::uint32_t> read_in_loads(std::span<const std::uint8_t> pixels, unsigned bytes,
                                         unsigned counted) {
    std::vector<std::uint32_t> answer(common::kBins + 1);
    const std::size_t word_bytes = std::min(bytes, 4U);
    for (std::size_t i = 0; i < pixels.size(); i += word_bytes) {
        std::uint32_t word = 0;
        std::memcpy(&word, &pixels[i], word_bytes);
        answer[common::kBins] += word;
        for (std::size_t k = i; counted > 0 && k < i + word_bytes; ++k)
            if (k % bytes < counted) ++answer[pixels[k]];
    }
    return answer;
}

}  // namespace probes
