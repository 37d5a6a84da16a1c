#include "05-launch-tuning/resident.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace {

// The numbers of these questions stand in the vendors' extensions, not in OpenCL's own header.
constexpr cl_device_info kComputeCapabilityMajor = 0x4000;  // cl_nv_device_attribute_query
constexpr cl_device_info kComputeCapabilityMinor = 0x4001;
constexpr cl_device_info kSimdsPerComputeUnit = 0x4040;  // cl_amd_device_attribute_query
constexpr cl_device_info kWavefrontWidth = 0x4043;
constexpr cl_device_info kGfxMajor = 0x404A;
constexpr cl_device_info kGfxMinor = 0x404B;
constexpr cl_device_info kThreadsPerUnit = 0x4255;  // cl_intel_device_attribute_query
constexpr cl_device_info kSubGroupSizes = 0x4108;   // cl_intel_required_subgroup_size

// 0 where the driver does not answer: it may know an extension, and not all of it.
std::size_t ask(cl_device_id device, cl_device_info what) {
    cl_uint value = 0;
    const cl_int error = clGetDeviceInfo(device, what, sizeof value, &value, nullptr);
    return error == CL_SUCCESS ? value : 0;
}

// "Maximum number of resident threads per SM", of the compute capabilities in the CUDA programming
// guide.
std::size_t threads_of(std::size_t major, std::size_t minor) {
    if (major == 7 && minor == 5) return 1024;
    const bool fewer = (major == 8 && minor >= 6) || major >= 11;
    return fewer ? 1536 : 2048;
}

// Waves that a SIMD holds: LLVM's AMDGPU backend, getMaxWavesPerEU. 0 where we do not know.
std::size_t waves_of(std::size_t major, std::size_t minor, const std::string& name) {
    if (major < 6) return 0;  // before GCN
    if (name.starts_with("gfx90a") || (major == 9 && minor >= 4)) return 8;
    if (major < 10) return 10;
    return major == 10 && minor < 3 ? 20 : 16;
}

std::optional<Resident> told(const common::opencl::Device& device) {
    const auto has = [&](const char* name) {
        return common::opencl::has_extension(device.id, name);
    };
    const auto of = [&](cl_device_info what) { return ask(device.id, what); };
    if ((device.type & CL_DEVICE_TYPE_GPU) == 0) return std::nullopt;
    if (has("cl_nv_device_attribute_query")) {
        const std::size_t major = of(kComputeCapabilityMajor);
        const std::size_t minor = of(kComputeCapabilityMinor);
        return Resident{threads_of(major, minor),
                        fmt::format("compute capability {}.{}", major, minor)};
    }
    if (has("cl_amd_device_attribute_query")) {
        const std::size_t simds = of(kSimdsPerComputeUnit);
        const std::size_t width = of(kWavefrontWidth);
        const std::size_t waves = waves_of(of(kGfxMajor), of(kGfxMinor), device.name);
        return Resident{simds * waves * width,
                        fmt::format("{} SIMDs x {} wavefronts of {}", simds, waves, width)};
    }
    if (has("cl_intel_device_attribute_query") && has("cl_intel_required_subgroup_size")) {
        std::array<std::size_t, 8> sizes{};
        const std::size_t threads = of(kThreadsPerUnit);
        if (clGetDeviceInfo(device.id, kSubGroupSizes, sizeof sizes, sizes.data(), nullptr) !=
            CL_SUCCESS)
            return std::nullopt;
        const std::size_t widest = *std::max_element(sizes.begin(), sizes.end());
        return Resident{threads * widest,
                        fmt::format("at most: {} threads of {}", threads, widest)};
    }
    return std::nullopt;
}

}  // namespace

Resident resident_items(cl_device_id device) {
    const std::optional<Resident> found = told(common::opencl::described(device));
    if (found && found->items > 0) return *found;
    return {common::opencl::max_work_group_size(device),
            "its largest group; this device does not tell how many it holds"};
}
