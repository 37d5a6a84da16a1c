// What an OpenCL host program needs beside the API itself: a check for every call, the choice of a
// device and what it allows, and owners of OpenCL's objects that convert to the raw handle.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#if defined(__APPLE__)
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif

#include <cstdint>
#include <type_traits>
#include <vector>

#include "common/files/files.hpp"
#include "common/handle/handle.hpp"

namespace common {
class Lesson;
}

namespace common::opencl {

/// OpenCL's objects, each released at the end of its scope.
using Context = Handle<cl_context, clReleaseContext>;
using Queue = Handle<cl_command_queue, clReleaseCommandQueue>;
using ProgramObject = Handle<cl_program, clReleaseProgram>;
using Kernel = Handle<cl_kernel, clReleaseKernel>;
using Buffer = Handle<cl_mem, clReleaseMemObject>;
using Event = Handle<cl_event, clReleaseEvent>;
static_assert(std::is_standard_layout_v<Buffer> && sizeof(Buffer) == sizeof(cl_mem));

/// The name of an error code, such as "CL_INVALID_WORK_GROUP_SIZE" for -54.
std::string error_name(cl_int error);

/// @throws std::runtime_error "NAME (code) from call at file:line", unless `error` is CL_SUCCESS
///         or says that a device has no clock for events;
///         BadInput where the device has too little memory
void check(cl_int error, const char* call, const char* file, int line);

/// CHECK_CL(clFinish(queue)) around a call that returns its error, and
/// CHECK_CL(error, "clCreateBuffer") after one that writes it.
#define CHECK_CL_NAMED(error, name, ...) \
    ::common::opencl::check((error), (name), __FILE__, __LINE__)
#define CHECK_CL(...) CHECK_CL_NAMED(__VA_ARGS__, #__VA_ARGS__, 0)

struct Device {
    cl_platform_id platform;
    cl_device_id id;
    std::string name;
    std::string platform_name;
    std::string version;  ///< the device's OpenCL version and what its driver adds to that
    std::string driver;
    cl_device_type type;

    /// Platform, version and driver in one line, as the table names them.
    [[nodiscard]] std::string driver_line() const;
};

Device described(cl_device_id id);

/// Every device of every platform, in the loader's order; their index is the number that `--device`
/// takes. Platforms without devices are passed over, and so are, with a line on standard error,
/// drivers that fail. No platform at all is no error.
std::vector<Device> devices();

/// Has a child process call `ask`, before this one does: a driver may crash or hang when it is
/// asked for its devices. If one does, each is asked alone, and those that do not answer are passed
/// over with a line that names the driver's file; the loader is told of the others alone. Once in a
/// process.
/// @returns whether the loader can be called here
bool pass_over_bad_drivers(const std::function<void()>& ask);

/// Why the loader finds no device: what is wrong with each driver.
std::string why_no_device();

/// Why PoCL cannot keep what it compiles; else empty.
std::string no_room_for_pocl();

/// One line per device: its number, name, platform, version and driver.
std::string list(const std::vector<Device>& devices);

/// The device for a lesson: the one that its command line names (see below), with room for its
/// pixels. Where the command line asks for the list of devices it is printed, and Finished thrown.
cl_device_id choose_device(Lesson& lesson);

/// The device that `wanted` names: a number, or part of a device's name, platform or version in any
/// case (the first that has it). Empty: the first GPU, or where there is none the first device.
/// @throws NothingToRunOn without any device, or where the one cannot run these programs; BadInput
///         where none is named so
Device choose_device(const std::string& wanted);

/// Checks what clBuildProgram returned.
/// @throws DoesNotBuild with the compiler's whole log (clGetProgramBuildInfo) and the file's name
void check_build(cl_int built, cl_program program, cl_device_id device);

/// Builds a program for one device, from source to check_build, under a name for error messages,
/// the compiler's and those of race detectors, too. The caller releases it.
cl_program build_program(cl_context context, cl_device_id device, const std::string& name,
                         const std::string& source, const std::string& build_options);

bool has_extension(cl_device_id device, const std::string& name);
/// CL_DEVICE_MAX_COMPUTE_UNITS: a GPU's multiprocessors, a CPU's hardware threads.
std::size_t compute_units(cl_device_id device);
/// Of a work-group.
std::size_t local_memory_bytes(cl_device_id device);

/// The most work-items that a work-group may have on this device, side by side
/// (CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_MAX_WORK_ITEM_SIZES).
std::size_t max_work_group_size(cl_device_id device);

/// @throws BadInput naming both sizes where so many bytes of pixels do not fit the device, and what
///         counts them in chunks
void require_memory(cl_device_id device, std::size_t bytes);

/// Why the device cannot run this kernel in groups of so many work-items, across and down, as far
/// as it says so beforehand; else empty. A kernel may have a lower limit than its device.
std::string unsupported_reason(cl_kernel kernel, cl_device_id device, std::size_t across,
                               std::size_t down = 1);

/// What clCreateCommandQueue takes for a queue that notes times: CL_QUEUE_PROFILING_ENABLE, or
/// nothing where the device has no such queues.
cl_command_queue_properties profiling(cl_device_id device);

/// Fills a buffer with kPoison, and waits.
/// @param bytes a multiple of 4
void poison(cl_command_queue queue, cl_mem buffer, std::size_t bytes);

/// Milliseconds from the beginning of the first command to the end of the last, by the device's
/// clock. Both have completed. No number where the driver does not tell; what it tells may be
/// nonsense (see common::plausible_ms).
double elapsed_ms(cl_event first, cl_event last);

/// GB/s that a kernel reaches which does nothing but read, with 16-byte loads: the best of several
/// launch shapes and repeats, with one load or four on their way at once. No histogram of pixels in
/// this memory can be faster.
/// @param pixels how many the histogram has; what is read is read_ceiling_bytes() of them, or less
///        where the device cannot hold that
/// @returns nothing for a simulator, which would take minutes to say nothing of any memory
/// @throws std::runtime_error where a call fails
std::optional<double> read_ceiling_gb_s(cl_context context, cl_command_queue queue,
                                        std::uint64_t pixels);

}  // namespace common::opencl
