// Repeated measurements of one run, and what is reported of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace common {

/// The times of the timed runs of one strategy, in milliseconds.
struct Timing {
    double median_ms = 0;
    double min_ms = 0;
    double max_ms = 0;
    int runs = 0;
};

/// Median, minimum, maximum and count; of an even count the mean of the middle two.
/// @param times_ms one or more times
Timing summarize(std::vector<double> times_ms);

/// Wall time of one call, in milliseconds.
double wall_ms(const std::function<void()>& call);

/// Calls `run`, which returns its own time in milliseconds by a device's clock. That time is
/// returned, or the host's for the call where it cannot be true: it is no number, zero, below zero,
/// longer than the host's, or shorter than so many bytes can be read in. From then on all calls
/// return the host's, and standard error says so once.
double plausible_ms(const std::function<double()>& run, double bytes = 0);
/// The same of two times that are known already.
double plausible_ms(double device_ms, double host_ms, double bytes);

/// From here on, what is faster than the caches of such a device is no time.
void note_read_ceiling(std::optional<double> gb_s);

/// Whether `plausible_ms` has come to that.
bool is_timed_by_host();

/// From here on no time is kept: the device is emulated on the CPU, where none means anything.
void set_emulated();
bool is_emulated();

/// Whether no more runs are wanted: there are `repeat` times; or, where that is absent, at least 7
/// and their median is stable (the middle half of them lies within 2 % of it), or 200, or, past the
/// third, one second was spent on them. On an emulated device, where `repeat` is absent, one run.
bool are_enough(const std::vector<double>& times_ms, double spent_ms, std::optional<int> repeat);

/// Bytes of pixels (one each) over time, in GB/s of 10^9 bytes; 0 for no time.
double gigabytes_per_second(double bytes, double milliseconds);

/// How much is read to find the read ceiling of a device's memory: as many bytes as the picture has
/// pixels, but at least 256 MiB, so that they do not fit a cache, and at most 1 GiB.
constexpr std::uint64_t read_ceiling_bytes(std::uint64_t pixels) {
    return std::clamp(pixels, std::uint64_t{256} << 20, std::uint64_t{1} << 30);
}

}  // namespace common
