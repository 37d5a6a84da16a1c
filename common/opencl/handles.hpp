/// @file
/// OpenCL's objects, each released where its name goes out of scope: after a return and after an
/// exception, the last one first. Nothing else is hidden: the calls that create them and those that
/// take them are the API's.
#pragma once

#include <type_traits>
#include <utility>

#include "common/opencl/opencl.hpp"

namespace common::opencl {

/// Owns one object, or none. It converts to the raw handle, and its address is that of the raw
/// handle, as clSetKernelArg wants it: `clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels)`.
template <typename Raw, cl_int (*release)(Raw)>
class Handle {
 public:
    Handle() = default;
    Handle(Raw raw) : raw_(raw) {}  // NOLINT(google-explicit-constructor): of what a call returns
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

    /// For a call that writes the handle, such as the event of a command. What was owned is
    /// released.
    Raw* out() {
        *this = Handle();
        return &raw_;
    }

 private:
    Raw raw_ = nullptr;
};

using Context = Handle<cl_context, clReleaseContext>;
using CommandQueue = Handle<cl_command_queue, clReleaseCommandQueue>;
using Program = Handle<cl_program, clReleaseProgram>;
using Kernel = Handle<cl_kernel, clReleaseKernel>;
using Buffer = Handle<cl_mem, clReleaseMemObject>;
using Event = Handle<cl_event, clReleaseEvent>;

static_assert(std::is_standard_layout_v<Buffer> && sizeof(Buffer) == sizeof(cl_mem));

}  // namespace common::opencl
