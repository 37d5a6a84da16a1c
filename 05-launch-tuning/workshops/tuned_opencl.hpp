/// @file
/// Chapter 05's `tuned` in OpenCL, for the workshops that count with it: compiled and launched as
/// the lesson does it.
#pragma once

#include <array>
#include <map>
#include <string>
#include <tuple>

#include "05-launch-tuning/layout.hpp"
#include "05-launch-tuning/workshops/opencl.hpp"
#include "common/process/status.hpp"
#include "common/verify/watchdog.hpp"

class Tuned {
 public:
    /// @param source the text of chapter 05's histogram.cl
    Tuned(cl_context context, cl_device_id device, std::string source)
        : context_(context), device_(device), source_(std::move(source)) {
        if (!common::opencl::has_extension(device, "cl_khr_int64_base_atomics")) return;
        std::array<cl_ulong, kTotalWords> zeros{};
        cl_int error = CL_SUCCESS;
        totals_ = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros,
                                 zeros.data(), &error);
        CHECK_CL(error, "clCreateBuffer(totals)");
    }

    /// The commands of a launch that take its time: where the device has no totals, its row is
    /// zeroed before.
    struct Commands {
        common::opencl::Event first, last;
    };

    /// Counts `count` pixels from `first` on into `row`, and does not wait for it.
    /// @param wait_for what has to have ended before
    /// @throws common::Unsupported where the launch itself is refused
    Commands enqueue(cl_command_queue queue, const TunedLaunch& launch, std::size_t groups,
                     cl_mem pixels, cl_ulong first, cl_ulong count, cl_mem row,
                     cl_event wait_for = nullptr) {
        Commands commands;
        if (totals_ == nullptr) {
            const cl_uint zero = 0;
            CHECK_CL(clEnqueueFillBuffer(queue, row, &zero, sizeof zero, 0,
                                         sizeof(common::Histogram), 0, nullptr,
                                         commands.first.out()));
        }
        const cl_kernel kernel = built(launch);
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof first, &first));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof count, &count));
        CHECK_CL(
            clSetKernelArg(kernel, 3, sizeof(cl_mem), totals_ != nullptr ? &totals_ : nullptr));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &row));
        const std::size_t global_size = groups * launch.group_size;
        const cl_int refused =
            clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &launch.group_size,
                                   wait_for != nullptr ? 1 : 0,
                                   wait_for != nullptr ? &wait_for : nullptr, commands.last.out());
        if (refused != CL_SUCCESS) throw common::Unsupported(common::opencl::error_name(refused));
        return commands;
    }

    static double milliseconds(const Commands& commands) {
        return common::opencl::elapsed_ms(
            commands.first == nullptr ? commands.last : commands.first, commands.last);
    }

    /// Compiles the kernel for a launch, unless it is there: it serves every number of groups.
    cl_kernel built(const TunedLaunch& launch) {
        common::opencl::Kernel& kernel = built_[{launch.copies, launch.loads, launch.group_size}];
        if (kernel != nullptr) return kernel;
        const common::Deadline deadline("compiling histogram.cl", 120);
        kernel = compiled(context_, device_, source_.c_str(),
                          side_by_side(launch.group_size, 1).macros() + launch.macros(),
                          "histogram_tuned");
        return kernel;
    }

 private:
    cl_context context_;
    cl_device_id device_;
    std::string source_;
    std::map<std::tuple<unsigned, unsigned, std::size_t>, common::opencl::Kernel> built_;
    common::opencl::Buffer totals_;  // none without 64-bit atomics
};
