/// @file
/// What the workshops share in OpenCL: the calls that the chapters show, each with its check.
#pragma once

#include "05-launch-tuning/limits_opencl.hpp"
#include "common/opencl/opencl.hpp"

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
