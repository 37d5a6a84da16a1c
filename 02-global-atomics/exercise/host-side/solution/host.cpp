// Exercise 02/host-side: buffers, arguments, launch and read-back. README.md has the task.
#if defined(__APPLE__)
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// What a call returned: after an error there is nothing to go on with.
static void check(cl_int error, const char* call) {
    if (error == CL_SUCCESS) return;
    std::fprintf(stderr, "%s: error %d\n", call, error);
    std::exit(1);
}

// Counts `count` pixels, which may be 0, with `groups` groups of `group_size`, and writes 256
// counts. The kernel is that of histogram.cl, compiled. Called again and again. (extern "C": the
// grader looks for the function by its name.)
extern "C" void histogram(cl_context context, cl_command_queue queue, cl_kernel kernel,
                          std::size_t groups, std::size_t group_size, const std::uint8_t* pixels,
                          std::size_t count, std::uint32_t* result) {
    // ---- your part: from the pixels to the counts ----
    cl_int error = CL_SUCCESS;
    const cl_mem input =
        clCreateBuffer(context, CL_MEM_READ_ONLY, count > 0 ? count : 1, nullptr, &error);
    check(error, "clCreateBuffer");
    const std::size_t bytes = 256 * sizeof(cl_uint);
    const cl_mem counts = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
    check(error, "clCreateBuffer");
    if (count > 0) {
        check(clEnqueueWriteBuffer(queue, input, CL_FALSE, 0, count, pixels, 0, nullptr, nullptr),
              "clEnqueueWriteBuffer");
    }
    const cl_uint zero = 0;
    check(clEnqueueFillBuffer(queue, counts, &zero, sizeof zero, 0, bytes, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
    const cl_ulong pixel_count = count;
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &input), "clSetKernelArg(0)");
    check(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count), "clSetKernelArg(1)");
    check(clSetKernelArg(kernel, 2, sizeof(cl_mem), &counts), "clSetKernelArg(2)");
    const std::size_t items = groups * group_size;
    check(
        clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &group_size, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue, counts, CL_TRUE, 0, bytes, result, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    check(clReleaseMemObject(counts), "clReleaseMemObject");
    check(clReleaseMemObject(input), "clReleaseMemObject");
    // ---- end of your part ----
}
