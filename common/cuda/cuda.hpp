// What a CUDA host program needs beside the API itself: a check for every call, the choice of a
// device and what it allows, and owners of CUDA's objects that convert to the raw handle.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "common/cuda/read_ceiling.hpp"
#include "common/handle/handle.hpp"

namespace common {
class Lesson;
}

namespace common::cuda {

/// CUDA's events, streams and memory, each given back at the end of its scope.
using Event = Handle<cudaEvent_t, cudaEventDestroy>;
using Stream = Handle<cudaStream_t, cudaStreamDestroy>;
/// Device memory, of cudaMalloc.
template <typename T>
using Memory = Handle<T*, cudaFree>;
/// Host memory that the device can reach: of cudaMallocHost and cudaHostAlloc.
template <typename T>
using HostMemory = Handle<T*, cudaFreeHost>;

/// @throws std::runtime_error "name (code): text, from call at file:line", unless `error` is
///         cudaSuccess; BadInput where the device has too little memory; NothingToRunOn where the
///         build has no code for the device
void check(cudaError_t error, const char* call, const char* file, int line);

/// CHECK_CUDA(cudaMalloc(&pointer, size)) around every call; CHECK_CUDA(cudaGetLastError()) after a
/// launch, which returns nothing.
#define CHECK_CUDA(call) ::common::cuda::check((call), #call, __FILE__, __LINE__)

struct Device {
    int id;
    std::string name;
    std::string driver;  ///< compute capability, driver's and runtime's CUDA version, in one line
};

Device described(int id);

/// Every CUDA device, in the runtime's order.
/// @throws NothingToRunOn where there is no driver or no device, with the runtime's reason
std::vector<Device> devices();

/// One line per device: its number, name, compute capability and versions.
std::string list(const std::vector<Device>& devices);

/// The device for a lesson: the one that its command line names (see below). Where the command line
/// asks for the list of devices it is printed, and Finished thrown.
/// @return its number
int choose_device(Lesson& lesson);

/// The device that `wanted` names, a number or part of a name in any case, made current
/// (cudaSetDevice). Empty: device 0.
/// @throws NothingToRunOn as `devices`, and where the build has no code for it; BadInput where none
///         is named so
Device choose_device(const std::string& wanted);

/// What the device has, and the most threads that a block may have on it.
unsigned multiprocessors(int device);
unsigned max_block_size(int device);

/// Why the device cannot run this kernel in blocks of so many threads; else empty. The more
/// registers a kernel needs, the fewer threads a block of it may have.
std::string unsupported_reason(const void* kernel, std::size_t block_size);
template <typename... Arguments>
std::string unsupported_reason(void (*kernel)(Arguments...), std::size_t block_size) {
    return unsupported_reason(reinterpret_cast<const void*>(kernel), block_size);
}

/// Fills device memory with kPoison, and waits.
void poison(void* memory, std::size_t bytes);

/// Milliseconds between two recorded events. Waits for the second.
double elapsed_ms(cudaEvent_t begin, cudaEvent_t end);

}  // namespace common::cuda
