/// @file
/// One histogram from many processes: the program that cpu.cpp and cuda.cu share. They add the
/// device that a rank counts with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "common/histogram/histogram.hpp"
#include "common/options/options.hpp"

namespace cluster {

/// Pixels in all. A counter holds more; nobody waits for so many.
inline constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 60;
/// Pixels that one launch counts: fewer than its 32-bit counters hold.
inline constexpr std::size_t kMaxLaunchPixels = std::size_t{1} << 31;

/// What a rank counts with.
struct Device {
    std::string name, driver;  ///< as the JSON calls them
    std::string number;        ///< on its machine: two ranks may have the same

    virtual ~Device() = default;
    /// Puts some of the rank's pixels into the device's memory, behind so many others.
    virtual void copy_in(std::span<const std::uint8_t> pixels, std::size_t before) = 0;
    /// Counts so many of them, from the first on.
    virtual common::Histogram count(std::size_t first, std::size_t count) = 0;
};

/// Chooses a device, and makes room in its memory. --list-devices is its to do.
/// @param nth of the ranks on this machine this is
/// @param pixels of this rank
/// @throws common::Finished where the devices are listed, and nothing is to be counted
using MakeDevice = std::function<std::unique_ptr<Device>(const common::Options& options, int nth,
                                                         std::size_t pixels)>;

/// What both programs are, but for their name, API, strategy, and the options that this one, too,
/// has no use for.
common::Program program(const char* name, const char* api, common::Variant strategy,
                        std::vector<common::UnsupportedOption> unsupported);

/// The whole program. @return the exit status
int run(int argc, char** argv, const common::Program& program, const MakeDevice& make_device);

}  // namespace cluster
