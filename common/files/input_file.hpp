/// @file
/// Input files that are never waited for: a named pipe to which nobody writes would hold a program
/// up for ever.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace common {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Opens a file for reading, or what the system has under /dev: /dev/stdin, and /dev/fd/N, by which
/// a shell hands over the output of another program. @throws BadInput, without the file's name
File open_input(const std::filesystem::path& path);

/// All bytes of such a file, but not more than `most`; where `wanted` says no to the first 8, no
/// others. @throws BadInput as above, and where it cannot be read or has more bytes
std::string read_whole(const std::filesystem::path& path, std::size_t most = std::size_t{1} << 30,
                       const std::function<bool(std::string_view)>& wanted = {});

}  // namespace common
