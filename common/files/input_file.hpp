// Input files that are never waited for: a named pipe to which nobody writes would hold a program
// up for ever.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace common {

/// All bytes of a file, or of what the system has under /dev: /dev/stdin, and /dev/fd/N, by which a
/// shell hands over the output of another program. But not more than `most`; where `wanted` says no
/// to the first 8, no others. @throws BadInput, without the file's name
std::string read_whole(const std::filesystem::path& path, std::size_t most = std::size_t{1} << 30,
                       const std::function<bool(std::string_view)>& wanted = {});

}  // namespace common
