/// @file
/// The histograms of NVIDIA's libraries: CUB comes with the compiler, NPP with the full toolkit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace libraries {

struct Library {
    std::string variant;  ///< "cub" or "npp"
    std::string missing;  ///< why it cannot count these pixels; else empty
    /// Gives the device the pixels to count into 256 bins.
    std::function<void(const std::uint8_t* pixels, std::uint32_t* bins)> count;
};

/// Both, for so many pixels, with scratch memory that is allocated once, as one would.
std::vector<Library> all(std::uint64_t count, int device);

}  // namespace libraries
