/// @file
/// What makes one program of many ranks: they begin together, and where one fails all end.
#pragma once

#include <mpi.h>

#include <string>

#include "05-launch-tuning/workshops/cluster/source.hpp"

namespace cluster {

int rank();
int rank_count();
/// The name of this rank's machine.
std::string host();

/// @throws common::BadInput where something started several programs, and MPI knows of one rank
/// alone
void require_launcher();

/// Collective. Returns when every rank has got here, with the same command line and pixels.
/// Otherwise all end, and one of them says why.
/// @throws common::BadInput, also where another rank fails
void require_all_ready(int argc, const char* const* argv, const Source& source);

/// For the `catch (...)` of main. Until all ranks are ready it waits for the others; one says what
/// was wrong, and all end with its status. Later it says so itself and ends the job, because the
/// others would wait for this rank for ever.
int report_exception(const std::string& program) noexcept;

}  // namespace cluster
