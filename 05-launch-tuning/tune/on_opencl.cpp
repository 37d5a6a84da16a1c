#include "05-launch-tuning/tune/on_opencl.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "common/histogram/histogram.hpp"

namespace tuning {
namespace {

// As far apart as APART in histogram.cl has them.
using Totals = std::array<cl_ulong, common::kBins * std::size_t{16}>;

template <typename T>
T ask(cl_device_id device, cl_device_info what) {
    T value{};
    CHECK_CL(clGetDeviceInfo(device, what, sizeof value, &value, nullptr));
    return value;
}

}  // namespace

Facts facts_of(const common::opencl::Device& device, const std::vector<const Kernel*>& kernels) {
    Facts facts{"OpenCL", device.name, device.driver_line()};
    facts.cpu = (device.type & CL_DEVICE_TYPE_CPU) != 0;
    facts.units = common::opencl::compute_units(device.id);
    facts.max_group_size = common::opencl::max_work_group_size(device.id);
    facts.local_bytes = ask<cl_ulong>(device.id, CL_DEVICE_LOCAL_MEM_SIZE);
    facts.kernels = kernels;
    facts.picture_bytes = std::min(ask<cl_ulong>(device.id, CL_DEVICE_GLOBAL_MEM_SIZE) / 4,
                                   ask<cl_ulong>(device.id, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
    return facts;
}

bool has_64_bit_atomics(cl_device_id device) {
    return common::opencl::has_extension(device, "cl_khr_int64_base_atomics");
}

cl_kernel build(cl_context context, cl_device_id device, const std::string& source,
                const Choice& choice) {
    const cl_program program =
        common::opencl::build_program(context, device, choice.kernel->function, source,
                                      "-DGROUP_X=" + std::to_string(choice.group_size) +
                                          " -DGROUP_Y=1 -DCOPIES=" + std::to_string(choice.copies) +
                                          " -DLOADS=" + std::to_string(choice.loads));
    cl_int error = CL_SUCCESS;
    const cl_kernel kernel = clCreateKernel(program, choice.kernel->function.c_str(), &error);
    CHECK_CL(error, "clCreateKernel");
    CHECK_CL(clReleaseProgram(program));  // it stays as long as its kernel does
    return kernel;
}

cl_mem create_totals(cl_context context, bool one_launch) {
    if (!one_launch) return nullptr;
    Totals zeros{};
    cl_int error = CL_SUCCESS;
    const cl_mem totals = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                         sizeof zeros, zeros.data(), &error);
    CHECK_CL(error, "clCreateBuffer(totals)");
    return totals;
}

void require_zero(cl_command_queue queue, cl_mem totals) {
    if (totals == nullptr) return;
    Totals words{};
    CHECK_CL(clEnqueueReadBuffer(queue, totals, CL_TRUE, 0, sizeof words, words.data(), 0, nullptr,
                                 nullptr));
    if (words != Totals{})
        throw std::runtime_error("the last launch did not leave its totals at zero");
}

Commands enqueue(cl_command_queue queue, cl_kernel kernel, const Choice& choice, std::size_t groups,
                 cl_mem pixels, std::uint64_t first, std::uint64_t count, cl_mem totals,
                 cl_mem histogram, cl_event wait_for) {
    const cl_ulong first_pixel = first;
    const cl_ulong pixel_count = count;
    Commands commands;
    if (totals == nullptr) {
        const cl_uint zero = 0;
        CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0,
                                     sizeof(common::Histogram), 0, nullptr, &commands.first));
    }
    CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
    CHECK_CL(clSetKernelArg(kernel, 1, sizeof first_pixel, &first_pixel));
    CHECK_CL(clSetKernelArg(kernel, 2, sizeof pixel_count, &pixel_count));
    CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), totals != nullptr ? &totals : nullptr));
    CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &histogram));
    const std::size_t global_size = groups * choice.group_size;
    CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &choice.group_size,
                                    wait_for != nullptr ? 1 : 0,
                                    wait_for != nullptr ? &wait_for : nullptr, &commands.last));
    if (commands.first == nullptr) commands.first = commands.last;
    return commands;
}

void release(const Commands& commands) {
    CHECK_CL(clReleaseEvent(commands.last));
    if (commands.first != commands.last) CHECK_CL(clReleaseEvent(commands.first));
}

}  // namespace tuning
