/// @file
/// OpenCL's objects, each released at the end of its scope.
#pragma once

#include <type_traits>

#include "common/device/handle.hpp"
#include "common/opencl/opencl.hpp"

namespace common::opencl {

using Context = Handle<cl_context, clReleaseContext>;
using CommandQueue = Handle<cl_command_queue, clReleaseCommandQueue>;
using Program = Handle<cl_program, clReleaseProgram>;
using Kernel = Handle<cl_kernel, clReleaseKernel>;
using Buffer = Handle<cl_mem, clReleaseMemObject>;
using Event = Handle<cl_event, clReleaseEvent>;

static_assert(std::is_standard_layout_v<Buffer> && sizeof(Buffer) == sizeof(cl_mem));

}  // namespace common::opencl
