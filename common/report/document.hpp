// One run of one program as data: what `--json` writes (docs/json.md).
#pragma once

#include "common/verify/verify.hpp"

namespace common {

struct RunDocument {
    std::string chapter;
    std::string api;
    std::string device;
    std::string driver;
    std::string input_name;
    std::uint64_t pixels = 0;
    unsigned pixel_bytes = 1;
    std::optional<std::uint64_t> seed;
    std::optional<double> read_ceiling_gb_s;
    /// Median time of the serial CPU loop on the same input, in the same run; 0: not measured.
    double serial_ms = 0;
    std::vector<Result> results;
    Histogram counts{};  ///< those of the serial CPU loop, which a match equals

    /// Median time of the row `serial`; empty where there is none that matches.
    [[nodiscard]] std::optional<double> serial_row_ms() const;
    /// GB/s of pixels; empty where the row was skipped or does not match: a wrong answer has no
    /// speed.
    [[nodiscard]] std::optional<double> gb_s(const Result& result) const;
    [[nodiscard]] std::optional<double> percent_of_ceiling(const Result& result) const;
    [[nodiscard]] std::optional<double> speedup_over_serial(const Result& result) const;
};

/// The counts as CSV: a header, and a line of bin and count for each of the 256 bins.
std::string counts_text(const Histogram& counts);

std::string to_json_text(const RunDocument& document);

}  // namespace common
