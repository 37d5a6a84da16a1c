/// @file
/// The same all-reduce with NCCL, NVIDIA's library for collectives between GPUs, where there is
/// one.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "05-launch-tuning/workshops/cluster/report.hpp"

namespace cluster {

/// Collective. Times it beside MPI's, or says why not.
/// @param device_id NCCL takes no two ranks on one device
void time_nccl(Report& report, const std::string& device_id, cudaStream_t stream);

}  // namespace cluster
