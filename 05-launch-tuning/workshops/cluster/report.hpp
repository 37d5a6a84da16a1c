/// @file
/// What rank 0 says at the end: who did what, how long it took, and whether it is right.
#pragma once

#include <string>
#include <vector>

#include "05-launch-tuning/workshops/cluster/source.hpp"

namespace cluster {

/// A run on a rank: its moments in seconds of MPI_Wtime, and what came out.
struct Run {
    double begun = 0;
    double counted = 0;      ///< this rank has counted its pixels
    double all_counted = 0;  ///< and so has every other
    double merged = 0;       ///< the sums of all are known
    Counts counts{};         ///< these sums
};

/// What a rank counts with.
struct Device {
    std::string name, driver;  ///< as the JSON calls them
    std::string number;        ///< on its machine: two ranks may have the same
};

/// Collective. Checks the runs, prints the table and writes what was asked for.
/// @param runs all, in their order
/// @return the exit status
int report(const common::Program& program, const common::Options& options,
           const ClusterOptions& cluster_options, const Source& source, const Device& device,
           const std::vector<Run>& runs);

}  // namespace cluster
