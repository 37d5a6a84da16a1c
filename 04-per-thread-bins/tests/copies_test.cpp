// lane-bins keeps 32 copies of the table, and fewer where a device has little local memory. Devices
// with so little are rare, so the kernel is launched here with each number of copies.
#include <gtest/gtest.h>

#include <string>

#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/opencl/opencl.hpp"

namespace {

using common::Histogram;

class Copies : public testing::TestWithParam<int> {};

TEST_P(Copies, CountTheSame) {
    const auto all = common::opencl::devices();
    if (all.empty()) GTEST_SKIP() << "no OpenCL device";
    const cl_device_id device = common::opencl::choose_device("").id;
    cl_int error = CL_SUCCESS;
    const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    CHECK_CL(error, "clCreateCommandQueue");
    const std::size_t group_size = 128;
    const cl_program program = common::opencl::build_program(
        context, device, "histogram.cl",
        common::opencl::read_kernel_file("histogram.cl", CHAPTER_FOLDER),
        "-DGROUP_SIZE=128 -DUCHAR_GROUP_SIZE=128 -DLANE_GROUP_SIZE=128 -DCOPIES=" +
            std::to_string(GetParam()));
    const cl_kernel lanes = clCreateKernel(program, "histogram_lanes", &error);
    CHECK_CL(error, "clCreateKernel");

    auto input = common::contended_pixels(100'003, 40, 1);
    const cl_ulong count = input.size();
    const cl_mem pixels = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, count,
                                         input.data(), &error);
    CHECK_CL(error, "clCreateBuffer");
    Histogram result{};
    const cl_mem histogram = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                            sizeof result, result.data(), &error);
    CHECK_CL(error, "clCreateBuffer");
    CHECK_CL(clSetKernelArg(lanes, 0, sizeof(cl_mem), &pixels));
    CHECK_CL(clSetKernelArg(lanes, 1, sizeof count, &count));
    CHECK_CL(clSetKernelArg(lanes, 2, sizeof(cl_mem), &histogram));
    const std::size_t global_size = 3 * group_size;
    CHECK_CL(clEnqueueNDRangeKernel(queue, lanes, 1, nullptr, &global_size, &group_size, 0, nullptr,
                                    nullptr));
    CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof result, result.data(), 0,
                                 nullptr, nullptr));
    const auto comparison = common::compare(common::reference_histogram(input), result);
    EXPECT_TRUE(comparison.match()) << common::failure_report(comparison);

    CHECK_CL(clReleaseMemObject(histogram));
    CHECK_CL(clReleaseMemObject(pixels));
    CHECK_CL(clReleaseKernel(lanes));
    CHECK_CL(clReleaseProgram(program));
    CHECK_CL(clReleaseCommandQueue(queue));
    CHECK_CL(clReleaseContext(context));
}

INSTANTIATE_TEST_SUITE_P(Any, Copies, testing::Values(8, 16, 32));

}  // namespace
