// What an OpenCL device allows, and how many work-items it holds at once. (CUDA has an attribute
// for that.)
#pragma once

#include <cstddef>
#include <string>

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

struct Resident {
    std::size_t items = 0;  ///< work-items that a compute unit holds at once
    std::string why;        ///< what the number follows from, or that nothing tells it
};

/// OpenCL has no question for it. An extension of NVIDIA's tells what it follows from. Elsewhere it
/// is what one group may have, and `why` says so.
Resident resident_items(cl_device_id device);
