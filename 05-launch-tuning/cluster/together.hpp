/// @file
/// Beginning and ending together: what makes one program of many ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "05-launch-tuning/cluster/work.hpp"

namespace cluster {

/// "rank 2 of 4 on node7"
std::string whoami();

/// @throws common::BadInput where something started several programs, and MPI knows of one rank
/// alone
void require_launcher(int ranks);

/// Collective, and the first of all: ranks with different programs would not call the same ones.
/// @throws common::BadInput or another rank's end
void require_same_program();

/// Collective. Returns where every rank has got here, with the same kernels, command line and
/// files; else all end, and one line says why.
/// @param kernels the source of those that are compiled while the program runs
/// @throws common::BadInput or another rank's end
void require_all_ready(int argc, const char* const* argv, const std::string& kernels,
                       const Work& work);

/// For the `catch (...)` of main. Before all were ready: waits for the others, one says what was
/// wrong, and all end with its status. After that, with one line and the end of the job: the others
/// would wait for this rank for ever.
int report_exception(const std::string& program) noexcept;

}  // namespace cluster
