#include "05-launch-tuning/limits_opencl.hpp"

#include <fmt/format.h>

namespace {

// The numbers of these questions stand in cl_nv_device_attribute_query, not in OpenCL's own header.
constexpr cl_device_info kComputeCapabilityMajor = 0x4000;
constexpr cl_device_info kComputeCapabilityMinor = 0x4001;

std::size_t ask(cl_device_id device, cl_device_info what) {
    cl_uint value = 0;
    CHECK_CL(clGetDeviceInfo(device, what, sizeof value, &value, nullptr));
    return value;
}

// "Maximum number of resident threads per SM", of the compute capabilities in the CUDA programming
// guide.
std::size_t threads_of(std::size_t major, std::size_t minor) {
    if (major == 7 && minor == 5) return 1024;
    const bool fewer = (major == 8 && minor >= 6) || major >= 11;
    return fewer ? 1536 : 2048;
}

}  // namespace

Resident resident_items(cl_device_id device) {
    // Only a device with the extension is asked: Oclgrind calls the question an error.
    if (common::opencl::has_extension(device, "cl_nv_device_attribute_query")) {
        const std::size_t major = ask(device, kComputeCapabilityMajor);
        const std::size_t minor = ask(device, kComputeCapabilityMinor);
        return {threads_of(major, minor), fmt::format("compute capability {}.{}", major, minor)};
    }
    return {common::opencl::max_work_group_size(device),
            "its largest group; this device does not tell how many it holds"};
}
