/// @file
/// What an OpenCL device allows, as chapter 05's launches want to know it.
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
