// Output files that are written whole or not at all, and replace nothing that is needed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace common {

/// A file, and what a message calls it: "--json", or "the sample picture".
struct NamedFile {
    std::string name;
    std::filesystem::path path;
};

/// Finds out now whether write_atomically could write all of these later, without changing what
/// stands there; and that none of them is another of them, one of the inputs or standard output,
/// whatever name or link leads to it.
/// @throws BadInput naming the file and the reason
void require_output_files(const std::vector<NamedFile>& outputs,
                          const std::vector<NamedFile>& inputs);

/// Writes a new file beside `path` and moves it into place once the disk has it (an atomic write).
/// /dev/stdout, a pipe or a device is written to directly. @throws BadInput naming it and why
void write_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace common
