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
    // TODO 1: a buffer on the device with the pixels in it, and one for 256 counts, which are 0
    // TODO 2: the kernel's three arguments
    // TODO 3: the launch
    // TODO 4: the counts, back from the device
    // TODO 5: release what you have made
    check(CL_SUCCESS, "nothing yet");
    // ---- end of your part ----
}
