/// @file
/// Output files that are written whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace common {

/// Finds out now whether write_whole could write there later, without changing what stands there.
/// @throws BadInput naming the file and the reason
void require_writable(const std::filesystem::path& path);

/// Writes the bytes to a new file beside `path` and moves it into place, so that a reader sees the
/// old content or the new, never half of it. What is no regular file (/dev/stdout, a pipe) is
/// written to directly.
/// @throws BadInput naming the file and the reason
void write_whole(const std::filesystem::path& path, std::string_view bytes);

}  // namespace common
