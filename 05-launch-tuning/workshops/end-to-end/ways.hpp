// What both programs begin with: the ways, and what their speeds are held against.
#pragma once

#include "common/lesson.hpp"

inline common::Program copy_and_count(const char* name, const char* api) {
    return {"05-launch-tuning",
            name,
            api,
            "ways to copy and count, by wall time",
            {{"copy", "copied from pinned memory, and nothing else"},
             {"pageable", "copied from ordinary memory, then counted"},
             {"pinned", "copied from pinned memory, then counted"},
             {"pipelined", "in chunks: one is counted, the next copied"},
             {"mapped", "counted where they are, in pinned memory"}},
            {},
            {{"--plot", "there is nothing to draw"}}};
}

/// Pixels in a chunk of the pipelined way: small beside a picture that is worth a pipeline, large
/// beside what it costs to start a copy and a kernel.
inline constexpr std::uint64_t kChunkPixels = std::uint64_t{16} << 20;

inline std::optional<double> percent_of_the_copy(const common::Result& way,
                                                 const std::vector<common::Result>& ways) {
    if (way.check != common::Check::kMatch || ways.front().variant != "copy") return {};
    return 100 * ways.front().kernel.median_ms / way.kernel.median_ms;
}
