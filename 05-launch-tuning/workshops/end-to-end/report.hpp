/// @file
/// What the programs say at their end: the ways to copy and count, held against the copy alone.
#pragma once

#include <functional>
#include <string>

#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/report/document.hpp"
#include "common/timing/timing.hpp"

/// Pixels in a chunk of the pipelined way: small beside a picture that is worth a pipeline, large
/// beside what it costs to start a copy and a kernel.
inline constexpr std::uint64_t kChunkPixels = std::uint64_t{16} << 20;

class EndToEnd {
 public:
    /// @throws common::BadInput where there are no pixels to copy
    /// @param device,driver as the table and the JSON name them
    EndToEnd(const common::Program& program, const common::Options& options,
             const common::Input& input, const common::Histogram& expected, std::string device,
             std::string driver);

    /// The copy of all pixels from pinned memory, and nothing else.
    /// @param copy copies, and returns when that is done
    void measure_copy(const std::function<void()>& copy);

    /// A way that copies and counts, by wall time, checked before and after it is timed.
    /// @param run leaves the histogram in its argument, which holds the poison pattern before
    void measure_way(const std::string& name, const std::function<void(common::Histogram&)>& run);

    /// Prints the table and writes what --json asks for.
    /// @return the exit status
    int finish() const;

 private:
    [[nodiscard]] std::string json_text() const;

    const common::Program& program_;
    const common::Options& options_;
    common::Timing copy_;
    // The copy alone is the ceiling, and the kernel's time of a way is its wall time.
    common::RunDocument ways_;
};
