// A whole OpenCL program in one file: it counts how often each grey value occurs in a picture.
// Nothing is hidden elsewhere. first.cu does the same in CUDA, in the same steps.
//
//   Compile:  g++ first.cpp -lOpenCL -o first
//   Run:      ./first ../images/landscape.bmp
//
// It needs the packages ocl-icd-opencl-dev and libstb-dev, and a driver, such as pocl-opencl-icd.
// Exit status: 0 right, 1 wrong, 2 no such picture or a call failed, 77 no device to run on.

#define CL_TARGET_OPENCL_VERSION 120  // OpenCL 1.2, which every driver has
#include <CL/cl.h>
#include <CL/cl_ext.h>
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

// The kernel: what each work-item does. The driver compiles this text while the program runs.
static const char* kSource = R"(
__kernel void count_pixels(__global const uchar* pixels, ulong count, __global uint* histogram) {
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))
        atomic_inc(&histogram[pixels[i]]);
}
)";

// Every call of OpenCL tells whether it has worked. Where one has not, the program ends there.
#define CHECK_CL(error) check(error, __LINE__)
static void check(cl_int error, int line) {
    if (error == CL_SUCCESS) return;
    std::fprintf(stderr, "first.cpp:%d: OpenCL error %d (CL/cl.h has its name)\n", line, error);
    std::exit(2);
}

int main(int argc, char** argv) {
    // 1. The picture, as one byte of grey for each pixel.
    const char* const path = argc > 1 ? argv[1] : "../images/landscape.bmp";
    int width = 0, height = 0;
    stbi_uc* const picture = stbi_load(path, &width, &height, nullptr, 1);
    const cl_ulong count = cl_ulong(width) * cl_ulong(height);
    if (picture == nullptr || count == 0) {
        std::fprintf(stderr, "first: %s is not a picture that can be read\n", path);
        return 2;
    }

    // 2. The right answer: the same loop on the CPU.
    std::vector<cl_uint> expected(256, 0);
    for (cl_ulong i = 0; i < count; ++i)
        ++expected[picture[i]];

    // 3. The device. Each driver is a platform. Take the first GPU of any, else the first device.
    cl_uint platform_count = 0;
    cl_int error = clGetPlatformIDs(0, nullptr, &platform_count);
    if (error != CL_PLATFORM_NOT_FOUND_KHR) CHECK_CL(error);
    std::vector<cl_platform_id> platforms(platform_count);
    if (platform_count > 0) CHECK_CL(clGetPlatformIDs(platform_count, platforms.data(), nullptr));
    cl_device_id device = nullptr;
    const cl_device_type types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ALL};
    for (const cl_device_type type : types) {
        for (cl_uint i = 0; i < platform_count && device == nullptr; ++i) {
            error = clGetDeviceIDs(platforms[i], type, 1, &device, nullptr);
            if (error != CL_DEVICE_NOT_FOUND) CHECK_CL(error);
        }
    }
    if (device == nullptr) {
        std::fprintf(stderr, "first: there is no OpenCL device\n");
        return 77;
    }
    char name[256] = "";
    CHECK_CL(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, nullptr));
    cl_uint units = 0;
    CHECK_CL(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr));

    // 4. Where commands go: a context, which owns what follows, and a queue that notes the times.
    const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    CHECK_CL(error);
    const cl_command_queue queue =
        clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    CHECK_CL(error);

    // 5. The kernel: compiled for this device. If it does not compile, the log says why.
    const cl_program program = clCreateProgramWithSource(context, 1, &kSource, nullptr, &error);
    CHECK_CL(error);
    error = clBuildProgram(program, 1, &device, "", nullptr, nullptr);
    if (error == CL_BUILD_PROGRAM_FAILURE) {
        std::vector<char> log(1 << 16, '\0');
        CHECK_CL(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.size(),
                                       log.data(), nullptr));
        std::fprintf(stderr, "%s\n", log.data());
    }
    CHECK_CL(error);
    const cl_kernel kernel = clCreateKernel(program, "count_pixels", &error);
    CHECK_CL(error);

    // 6. Two buffers in the device's memory. The kernel reads the one, and adds to the other.
    const size_t bytes = 256 * sizeof(cl_uint);
    const cl_mem pixels = clCreateBuffer(context, CL_MEM_READ_ONLY, count, nullptr, &error);
    CHECK_CL(error);
    const cl_mem histogram = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
    CHECK_CL(error);

    // 7. The picture is copied to the device. CL_TRUE: the call returns when that is done.
    CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_TRUE, 0, count, picture, 0, nullptr, nullptr));

    // 8. The counts begin at zero: a new buffer holds whatever was in that memory before. The
    //    pattern, here one cl_uint, is repeated from byte 0 on until it has filled all bytes.
    const cl_uint zero = 0;
    CHECK_CL(
        clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, bytes, 0, nullptr, nullptr));

    // 9. The launch: two groups of 256 work-items for each compute unit. It returns at once.
    CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
    CHECK_CL(clSetKernelArg(kernel, 1, sizeof count, &count));
    CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &histogram));
    const size_t group_size = 256;
    const size_t global_size = group_size * 2 * units;  // in work-items
    cl_event run = nullptr;
    CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &group_size, 0,
                                    nullptr, &run));

    // 10. The counts are copied back. The queue keeps its order, so the kernel is done by then.
    std::vector<cl_uint> result(256, 0);
    CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, bytes, result.data(), 0, nullptr,
                                 nullptr));

    // 11. How long the kernel ran, by the device's clock, in nanoseconds. Not all drivers have one:
    // less than 100 is none.
    cl_ulong from = 0, to = 0;
    CHECK_CL(clGetEventProfilingInfo(run, CL_PROFILING_COMMAND_START, sizeof from, &from, nullptr));
    CHECK_CL(clGetEventProfilingInfo(run, CL_PROFILING_COMMAND_END, sizeof to, &to, nullptr));
    char time[32] = "an unknown time";
    if (to > from + 100) std::snprintf(time, sizeof time, "%.3f ms", double(to - from) / 1e6);

    // 12. Right or wrong: all 256 bins are compared. Their sum alone would hide much.
    int wrong = 0;
    for (int bin = 0; bin < 256; ++bin)
        wrong += result[bin] != expected[bin];
    std::printf("%s: %d x %d pixels in %s, %d of 256 bins are wrong\n", name, width, height, time,
                wrong);

    // 13. What was created is released.
    CHECK_CL(clReleaseEvent(run));
    CHECK_CL(clReleaseMemObject(histogram));
    CHECK_CL(clReleaseMemObject(pixels));
    CHECK_CL(clReleaseKernel(kernel));
    CHECK_CL(clReleaseProgram(program));
    CHECK_CL(clReleaseCommandQueue(queue));
    CHECK_CL(clReleaseContext(context));
    stbi_image_free(picture);
    return wrong == 0 ? 0 : 1;
}
