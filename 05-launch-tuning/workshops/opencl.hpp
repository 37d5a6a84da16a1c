// What the workshops share in OpenCL: the calls that the chapters show, each with its check.
#pragma once

#include <tuple>

#include "05-launch-tuning/limits_opencl.hpp"
#include "common/process/status.hpp"
#include "common/verify/watchdog.hpp"

inline common::opencl::Context context_of(cl_device_id device) {
    cl_int error = CL_SUCCESS;
    common::opencl::Context context =
        clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    return context;
}

/// @param properties such as profiling(device)
inline common::opencl::Queue queue_of(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties) {
    cl_int error = CL_SUCCESS;
    common::opencl::Queue queue = clCreateCommandQueue(context, device, properties, &error);
    CHECK_CL(error, "clCreateCommandQueue");
    return queue;
}

/// A buffer of so many bytes, and of one word where they are none; with these in it, if there are
/// any.
inline common::opencl::Buffer buffer_of(cl_context context, cl_mem_flags flags, std::size_t bytes,
                                        const void* from = nullptr) {
    cl_int error = CL_SUCCESS;
    common::opencl::Buffer buffer =
        clCreateBuffer(context, from != nullptr ? flags | CL_MEM_COPY_HOST_PTR : flags,
                       std::max(bytes, sizeof(cl_uint)), const_cast<void*>(from), &error);
    CHECK_CL(error, "clCreateBuffer");
    return buffer;
}

/// Each of the histograms in a buffer, as a buffer of its own: 1 KiB, which any device can address.
inline std::vector<common::opencl::Buffer> rows_of(cl_mem all, std::size_t count) {
    std::vector<common::opencl::Buffer> rows(count);
    for (std::size_t i = 0; i < count; ++i) {
        const cl_buffer_region region{i * sizeof(common::Histogram), sizeof(common::Histogram)};
        cl_int error = CL_SUCCESS;
        rows[i] = clCreateSubBuffer(all, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                    &error);
        CHECK_CL(error, "clCreateSubBuffer");
    }
    return rows;
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

/// Chapter 05's `tuned`, for the workshops that count with it: compiled and launched as the lesson
/// does it.
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
