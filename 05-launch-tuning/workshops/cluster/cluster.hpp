// One histogram from many processes: what cluster.cpp, the program, is given by cpu.cpp and by
// cuda.cu.
#pragma once

#include <memory>

#include "common/options/options.hpp"

namespace cluster {

extern const common::Program kProgram;

/// Pixels in all. A counter of 64 bits holds more; nobody waits for so many.
inline constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 60;
/// Pixels that one launch counts: fewer than its 32-bit counters hold.
inline constexpr std::size_t kMaxLaunchPixels = std::size_t{1} << 31;

/// A rank counts with this.
struct Device {
    std::string name, driver;
    virtual ~Device() = default;
    /// Puts some of the rank's pixels into the device's memory, behind so many others.
    virtual void copy_in(std::span<const std::uint8_t> pixels, std::size_t before) = 0;
    /// Counts so many of them, from the first on.
    virtual common::Histogram count(std::size_t first, std::size_t count) = 0;
};

/// A device with memory for this rank's pixels.
/// @param nth of the ranks on this machine this is
std::unique_ptr<Device> device_for(const common::Options& options, int nth, std::size_t pixels);

}  // namespace cluster
