// The text of a chapter's kernels, which is read when a program runs; and where that is.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace common {

/// The path of the running program; empty where the system does not tell.
std::filesystem::path program_path();

/// From beside the running program if it is there, else from the chapter's folder in the source
/// tree; or `instead` of both. @throws BadInput naming every path that was tried
std::string read_kernel_file(const std::string& name, const std::string& chapter_folder,
                             const std::optional<std::string>& instead = {});

/// The text with a #line in the place of a first line that is a comment, or in front, so that
/// compilers and race detectors name the file.
std::string with_its_name(const std::string& name, const std::string& source);

}  // namespace common
