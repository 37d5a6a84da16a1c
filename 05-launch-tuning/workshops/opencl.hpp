/// @file
/// What the workshops share in OpenCL: what a device allows, as chapter 05's launches want to know
/// it, and how a kernel is compiled, which the chapters show.
#pragma once

#include "05-launch-tuning/launch.hpp"
#include "common/opencl/opencl.hpp"

inline DeviceLimits limits_of(cl_device_id id) {
    const common::opencl::Device device = common::opencl::described(id);
    cl_ulong local_bytes = 0;
    CHECK_CL(
        clGetDeviceInfo(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes, nullptr));
    return {.api = "OpenCL",
            .device = device.name,
            .driver = device.driver_line(),
            .cpu = (device.type & CL_DEVICE_TYPE_CPU) != 0,
            .units = common::opencl::compute_units(id),
            .max_group_size = common::opencl::max_work_group_size(id),
            .local_bytes = local_bytes};
}

/// Compiles the source with these options, and takes one kernel of it.
/// @throws common::opencl::DoesNotBuild
inline common::opencl::Kernel compiled(cl_context context, cl_device_id device, const char* source,
                                       const std::string& options, const char* name) {
    cl_int error = CL_SUCCESS;
    const common::opencl::ProgramObject program =
        clCreateProgramWithSource(context, 1, &source, nullptr, &error);
    CHECK_CL(error, "clCreateProgramWithSource");
    common::opencl::check_build(
        clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr), program, device);
    common::opencl::Kernel kernel = clCreateKernel(program, name, &error);
    CHECK_CL(error, name);
    return kernel;
}
