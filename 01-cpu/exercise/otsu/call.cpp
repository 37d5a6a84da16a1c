// How your function is called. Nothing here is for you to edit.
#include <cstdint>
#include <cstring>
#include <vector>

#include "histogram.cpp"  // NOLINT(bugprone-suspicious-include): what you wrote

std::vector<std::uint32_t> call(const std::vector<std::uint8_t>& bytes, unsigned /*threads*/) {
    std::array<std::uint32_t, 256> histogram{};
    std::memcpy(histogram.data(), bytes.data(), sizeof histogram);
    return {threshold(histogram)};
}
