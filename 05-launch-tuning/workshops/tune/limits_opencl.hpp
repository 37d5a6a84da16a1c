/// @file
/// What an OpenCL device allows `tuned`, for the workshops. (The lesson's program has it on its
/// page.)
#pragma once

#include <utility>
#include <vector>

#include "05-launch-tuning/tuned.hpp"
#include "common/opencl/opencl.hpp"

namespace tuning {

inline DeviceLimits limits_of(const common::opencl::Device& device,
                              std::vector<const Kernel*> kernels = {&kReplicated, &kItemBins}) {
    cl_ulong local_bytes = 0;
    CHECK_CL(clGetDeviceInfo(device.id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes,
                             nullptr));
    return {.api = "OpenCL",
            .device = device.name,
            .driver = device.driver_line(),
            .cpu = (device.type & CL_DEVICE_TYPE_CPU) != 0,
            .units = common::opencl::compute_units(device.id),
            .max_group_size = common::opencl::max_work_group_size(device.id),
            .local_bytes = local_bytes,
            .kernels = std::move(kernels)};
}

}  // namespace tuning
