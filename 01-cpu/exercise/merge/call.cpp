// How your function is called: by as many threads as are asked for, each with its part of the
// pixels. Nothing here is for you to edit.
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "histogram.cpp"  // NOLINT(bugprone-suspicious-include): what you wrote

std::vector<std::uint32_t> call(const std::vector<std::uint8_t>& pixels, unsigned threads) {
    Shared shared;
    std::vector<std::thread> running;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        const std::size_t first = pixels.size() * thread / threads;
        const std::size_t last = pixels.size() * (thread + 1) / threads;
        running.emplace_back([&pixels, &shared, first, last] {
            count_part(pixels.data() + first, last - first, shared);
        });
    }
    for (std::thread& each : running)
        each.join();
    return {shared.histogram.begin(), shared.histogram.end()};
}
