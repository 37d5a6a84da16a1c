/// @file
/// What these programs take beside the options that all chapters share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/options/options.hpp"

namespace CLI {
class App;
}

namespace cluster {

/// Pixels in all. A counter holds more; nobody waits for so many.
inline constexpr std::uint64_t kMaxClusterPixels = std::uint64_t{1} << 60;

struct ClusterOptions {
    std::optional<std::filesystem::path> raw;
    std::optional<std::filesystem::path> each;
    std::uint64_t chunk = 0;  ///< the most pixels to read at a time; 0: not given
    bool keep_going = false;
    bool check = false;
    bool resident = false;

    /// For common::parse_options: adds them to the command line.
    void add_to(CLI::App& app);
    /// @throws common::BadInput for options that exclude each other
    void refuse_contradictions(const common::Options& options) const;
};

/// Whether pixels are made, and not read.
bool generated(const common::Options& options);

/// What these programs have no use for. @param more of the same, of one program
std::vector<common::UnsupportedOption> unsupported_options(
    std::vector<common::UnsupportedOption> more);

}  // namespace cluster
