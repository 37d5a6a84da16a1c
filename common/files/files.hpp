// Input files that are never waited for (a named pipe to which nobody writes would hold a program
// up for ever), kernel files among them; output files that are written whole or not at all, and
// replace nothing that is needed; where the running program is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace common {

/// All bytes of a file, or of what the system has under /dev: /dev/stdin, and /dev/fd/N, by which a
/// shell hands over the output of another program. But not more than `most`; where `wanted` says no
/// to the first 12, no others. @throws BadInput, without the file's name
std::string read_whole(const std::filesystem::path& path, std::size_t most = std::size_t{1} << 30,
                       const std::function<bool(std::string_view)>& wanted = {});

/// The path of the running program; empty where the system does not tell.
std::filesystem::path program_path();

/// From beside the running program if it is there, else from the chapter's folder in the source
/// tree; or `instead` of both. @throws BadInput naming every path that was tried
std::string read_kernel_file(const std::string& name, const std::string& chapter_folder,
                             const std::optional<std::string>& instead = {});

/// The text with a #line in the place of a first line that is a comment, or in front, so that
/// compilers and race detectors name the file.
std::string with_its_name(const std::string& name, const std::string& source);

/// A file, and what a message calls it: "--json", or "the sample picture".
struct NamedFile {
    std::string name;
    std::filesystem::path path;
};

/// Finds out now whether write_atomically could write all of these later, without changing what
/// stands there; and that none of them is another of them, one of the inputs or standard output,
/// whatever name or link leads to it. A file of kernels that is read later is an input, too.
/// @throws BadInput naming the file and the reason
void require_output_files(const std::vector<NamedFile>& outputs,
                          const std::vector<NamedFile>& inputs);

/// @throws BadInput where this is one of the outputs of the last such call
void require_no_output(const NamedFile& input);

/// Writes a new file beside `path` and moves it into place once the disk has it (an atomic write),
/// with the mode of a file that was there. /dev/stdout, an open pipe or a device is written to
/// directly. @throws BadInput naming it and why
void write_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace common
