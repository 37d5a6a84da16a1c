/// @file
/// The histograms of NVIDIA's libraries: CUB comes with the compiler, NPP with the full toolkit.
/// The emulation of CUDA has none.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace libraries {

struct Library {
    std::string variant;  ///< "cub" or "npp"
    std::string version;
    std::string missing;  ///< why it cannot count these pictures; else empty
    /// Gives the device so many pixels to count into 256 bins.
    std::function<void(const std::uint8_t* pixels, std::uint64_t count, std::uint32_t* bins)> count;
};

#ifdef CUDA_ON_CPU
inline std::vector<Library> all(std::span<const std::uint64_t>, int, cudaStream_t = nullptr) {
    const std::string missing = "not in the emulation";
    return {{"cub", "", missing, {}}, {"npp", "", missing, {}}};
}
#else
/// Those there are, with scratch memory that is allocated once, as one would.
/// @param counts pixels of each picture
std::vector<Library> all(std::span<const std::uint64_t> counts, int device,
                         cudaStream_t stream = nullptr);
#endif

}  // namespace libraries
