// What a shared library defines that is to run beside the chapter's loops: `cpu --peer FILE`.
#pragma once

#include <cstddef>
#include <cstdint>

struct Peer {
    const char* name;  // of its row in the table
    // Counts `count` pixels into 256 counters, which it sets.
    void (*count_pixels)(const std::uint8_t* pixels, std::size_t count, std::uint32_t* histogram);
};

// All of them that this processor can run; behind the last stands one without a name.
extern "C" const Peer* histogram_peers();
