/// @file
/// CUDA's events, streams and memory, each given back where its name goes out of scope: after a
/// return and after an exception, the last one first. Nothing else is hidden: the calls that create
/// them and those that take them are the API's.
#pragma once

#include <utility>

#include "common/cuda/cuda.hpp"

namespace common::cuda {

/// Owns one object, or none, and converts to the raw handle or pointer.
template <typename Raw, cudaError_t (*release)(Raw)>
class Handle {
 public:
    Handle() = default;
    Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (raw_ != nullptr) release(raw_);
    }

    operator Raw() const { return raw_; }  // NOLINT(google-explicit-constructor): for every call

    /// For the call that creates it: `cudaMalloc(pixels.out(), bytes)`. What was owned is given
    /// back.
    Raw* out() {
        *this = Handle();
        return &raw_;
    }

 private:
    Raw raw_ = nullptr;
};

template <typename T>
cudaError_t free_device(T* memory) {
    return cudaFree(memory);
}
template <typename T>
cudaError_t free_host(T* memory) {
    return cudaFreeHost(memory);
}

using Event = Handle<cudaEvent_t, cudaEventDestroy>;
using Stream = Handle<cudaStream_t, cudaStreamDestroy>;
/// Device memory, of cudaMalloc.
template <typename T>
using Memory = Handle<T*, free_device<T>>;
/// Host memory that the device can reach: of cudaMallocHost and cudaHostAlloc.
template <typename T>
using HostMemory = Handle<T*, free_host<T>>;

}  // namespace common::cuda
