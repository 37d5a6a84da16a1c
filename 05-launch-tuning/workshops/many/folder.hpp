/// @file
/// A folder of pictures: read ahead by several threads, and counted batch by batch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "05-launch-tuning/workshops/many/pictures.hpp"

namespace many {

/// Counts a batch and leaves a row for each picture. Its threads go on reading meanwhile.
using CountBatch = std::function<void(const Batch& batch, std::uint32_t* rows)>;

/// Counts every picture of the folder that the command line names, prints what came of it and
/// writes the files that are asked for. A file that cannot be read is named on standard error and
/// passed over. Each picture is held against the serial loop.
/// @param device,driver as the table and the JSON name them
/// @return the exit status
/// @throws common::BadInput where no picture can be read
int count_folder(const common::Program& program, const common::Options& options,
                 const PictureOptions& pictures, const std::string& device,
                 const std::string& driver, const std::string& variant, const CountBatch& count);

}  // namespace many
