/// @file
/// CUDA's events, streams and memory, each given back at the end of its scope.
#pragma once

#include "common/cuda/cuda.hpp"
#include "common/device/handle.hpp"

namespace common::cuda {

using Event = Handle<cudaEvent_t, cudaEventDestroy>;
using Stream = Handle<cudaStream_t, cudaStreamDestroy>;
/// Device memory, of cudaMalloc.
template <typename T>
using Memory = Handle<T*, cudaFree>;
/// Host memory that the device can reach: of cudaMallocHost and cudaHostAlloc.
template <typename T>
using HostMemory = Handle<T*, cudaFreeHost>;

}  // namespace common::cuda
