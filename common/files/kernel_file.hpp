/// @file
/// The text of a chapter's kernels, which is read when a program runs.
#pragma once

#include <optional>
#include <string>

namespace common {

/// The text of a kernel file: from beside the running program if it is there, else from the
/// chapter's folder in the source tree, so that editing it and running again shows the change.
/// @param instead a file that is read in place of it, where there is one
/// @throws BadInput naming every path that was tried
std::string read_kernel_file(const std::string& name, const std::string& chapter_folder,
                             const std::optional<std::string>& instead = {});

/// The text with a #line in front, so that compilers and race detectors name the file and nothing
/// of their own making. It takes the place of a first line that is a comment: who passes over it
/// counts right all the same.
std::string with_its_name(const std::string& name, const std::string& source);

}  // namespace common
