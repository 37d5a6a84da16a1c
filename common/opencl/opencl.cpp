#include "common/opencl/opencl.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "common/lesson.hpp"

namespace common::opencl {
namespace {

// What clGetPlatformIDs of the ICD loader answers where no platform is installed; cl.h has no name
// for it.
constexpr cl_int kPlatformNotFound = -1001;

// For what has nothing to do with the number of pixels.
constexpr unsigned kPatience = 120;  // seconds

template <typename T>
T ask(cl_device_id device, cl_device_info what) {
    T value{};
    CHECK_CL(clGetDeviceInfo(device, what, sizeof value, &value, nullptr));
    return value;
}

// What a call tells of so many bytes, which first says how many. OpenCL's texts come with their
// closing zero, and some drivers pad them with spaces.
template <typename Get>
std::string text_of(const Get& get) {
    std::size_t size = 0;
    get(0, nullptr, &size);
    std::string text(size, '\0');
    get(size, text.data(), nullptr);
    const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
    text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
    text.erase(std::find_if_not(text.rbegin(), text.rend(), is_space).base(), text.end());
    text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), is_space));
    return text;
}

std::string device_text(cl_device_id device, cl_device_info what) {
    return text_of([&](auto... to) { CHECK_CL(clGetDeviceInfo(device, what, to...)); });
}

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
    return text_of([&](auto... to) { CHECK_CL(clGetPlatformInfo(platform, what, to...)); });
}

// The names of 0, -1, -2 ... without CL_, and of -30, -31 ... without CL_INVALID_.
constexpr const char* kErrors =
    "SUCCESS DEVICE_NOT_FOUND DEVICE_NOT_AVAILABLE COMPILER_NOT_AVAILABLE "
    "MEM_OBJECT_ALLOCATION_FAILURE OUT_OF_RESOURCES OUT_OF_HOST_MEMORY "
    "PROFILING_INFO_NOT_AVAILABLE MEM_COPY_OVERLAP IMAGE_FORMAT_MISMATCH "
    "IMAGE_FORMAT_NOT_SUPPORTED BUILD_PROGRAM_FAILURE MAP_FAILURE "
    "MISALIGNED_SUB_BUFFER_OFFSET EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST";
constexpr const char* kInvalid =
    "VALUE DEVICE_TYPE PLATFORM DEVICE CONTEXT QUEUE_PROPERTIES COMMAND_QUEUE HOST_PTR "
    "MEM_OBJECT IMAGE_FORMAT_DESCRIPTOR IMAGE_SIZE SAMPLER BINARY BUILD_OPTIONS PROGRAM "
    "PROGRAM_EXECUTABLE KERNEL_NAME KERNEL_DEFINITION KERNEL ARG_INDEX ARG_VALUE ARG_SIZE "
    "KERNEL_ARGS WORK_DIMENSION WORK_GROUP_SIZE WORK_ITEM_SIZE GLOBAL_OFFSET EVENT_WAIT_LIST "
    "EVENT OPERATION GL_OBJECT BUFFER_SIZE MIP_LEVEL GLOBAL_WORK_SIZE PROPERTY";

}  // namespace

std::string error_name(cl_int error) {
    if (error == kPlatformNotFound) return "CL_PLATFORM_NOT_FOUND_KHR";
    std::istringstream names(error <= -30 ? kInvalid : kErrors);
    std::string name;
    for (cl_int at = error <= -30 ? -30 : 0; at >= error; --at)
        if (!(names >> name)) return "an error without a name here";
    return (error <= -30 ? "CL_INVALID_" : "CL_") + name;
}

void check(cl_int error, const char* call, const char* file, int line) {
    if (error == CL_SUCCESS) return;
    // Times that stay zero: the host's clock is then taken (common/timing, plausible_ms).
    if (error == CL_PROFILING_INFO_NOT_AVAILABLE) return;
    const bool of_memory = error == CL_OUT_OF_RESOURCES || error == CL_OUT_OF_HOST_MEMORY;
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_INVALID_BUFFER_SIZE ||
        (of_memory && std::string_view(call).starts_with("clCreateBuffer"))) {
        throw Unsupported(
            fmt::format("this device has too little memory: {} from {}", error_name(error), call));
    }
    if (error == CL_OUT_OF_HOST_MEMORY)
        throw BadInput(
            fmt::format("this machine has too little memory: {} from {}", error_name(error), call));
    throw std::runtime_error(
        fmt::format("{} ({}) from {} at {}:{}", error_name(error), error, call, file, line));
}

std::string Device::driver_line() const {
    return fmt::format("{}, {}, driver {}", platform_name, version, driver);
}

static std::vector<Device> devices_of(cl_platform_id platform) {
    cl_uint count = 0;
    const cl_int listed = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    if (listed == CL_DEVICE_NOT_FOUND) return {};
    CHECK_CL(listed, "clGetDeviceIDs");
    std::vector<cl_device_id> ids(count);
    if (count > 0)
        CHECK_CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr));
    std::vector<Device> devices;
    devices.reserve(ids.size());
    for (const cl_device_id id : ids)
        devices.push_back(described(id));
    return devices;
}

// Empty where nothing is wrong with it.
static std::string unsupported_reason(const Device& device) {
    if (ask<cl_bool>(device.id, CL_DEVICE_AVAILABLE) == CL_FALSE) return "it is not available";
    if (ask<cl_bool>(device.id, CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE)
        return "it has no compiler for kernels";
    // Calls that came later than this are not there at all.
    if (device.version.starts_with("OpenCL 1.0") || device.version.starts_with("OpenCL 1.1"))
        return "these programs need OpenCL 1.2, and it has " + device.version;
    return {};
}

Device described(cl_device_id id) {
    const auto platform = ask<cl_platform_id>(id, CL_DEVICE_PLATFORM);
    return {platform,
            id,
            device_text(id, CL_DEVICE_NAME),
            platform_text(platform, CL_PLATFORM_NAME),
            device_text(id, CL_DEVICE_VERSION),
            device_text(id, CL_DRIVER_VERSION),
            ask<cl_device_type>(id, CL_DEVICE_TYPE)};
}

// Of every platform, as the loader has them.
static std::vector<Device> all_devices() {
    cl_uint count = 0;
    const cl_int found = clGetPlatformIDs(0, nullptr, &count);
    if (found == kPlatformNotFound) return {};
    CHECK_CL(found, "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(count);
    if (count > 0) CHECK_CL(clGetPlatformIDs(count, platforms.data(), nullptr));
    std::vector<Device> all;
    for (std::size_t i = 0; i < platforms.size(); ++i) {
        try {
            const std::vector<Device> some = devices_of(platforms[i]);
            all.insert(all.end(), some.begin(), some.end());
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception& problem) {
            // It must not cost the others.
            progress(fmt::format("passed over OpenCL platform {}: {}\n", i, problem.what()));
        }
    }
    return all;
}

std::vector<Device> devices() {
    const Deadline deadline("asking the OpenCL drivers for their devices", kPatience);
    return pass_over_bad_drivers(all_devices) ? all_devices() : std::vector<Device>{};
}

// @throws NothingToRunOn where there is none
static std::vector<Device> some_devices() {
    std::vector<Device> all = devices();
    if (all.empty()) throw NothingToRunOn("no OpenCL device: " + why_no_device());
    return all;
}

std::string list(const std::vector<Device>& devices) {
    std::string text;
    for (std::size_t i = 0; i < devices.size(); ++i)
        text += fmt::format("{}: {} ({})\n", i, devices[i].name, devices[i].driver_line());
    return text;
}

cl_device_id choose_device(Lesson& lesson) {
    if (lesson.options.list_devices) {
        print(list(some_devices()));
        throw Finished();
    }
    const Device device = choose_device(lesson.options.device);
    require_memory(device.id, lesson.pixels.size());
    lesson.runs_on(device.name, device.driver_line());
    return device.id;
}

Device choose_device(const std::string& wanted) {
    const std::vector<Device> all = some_devices();
    std::size_t chosen = 0;
    if (wanted.empty()) {
        // The first GPU that can be used, or else the first device, or else any.
        const auto rank = [](const Device& d) {
            return (unsupported_reason(d).empty() ? 2 : 0) +
                   ((d.type & CL_DEVICE_TYPE_GPU) != 0 ? 1 : 0);
        };
        const auto best =
            std::max_element(all.begin(), all.end(),
                             [&](const Device& a, const Device& b) { return rank(a) < rank(b); });
        chosen = static_cast<std::size_t>(best - all.begin());
    } else {
        std::vector<std::string> names;
        names.reserve(all.size());
        for (const Device& device : all)
            names.push_back(device.name + '\n' + device.platform_name + '\n' + device.version);
        chosen = device_by_text(wanted, names, "OpenCL");
    }
    if (const std::string reason = unsupported_reason(all[chosen]); !reason.empty())
        throw NothingToRunOn(fmt::format("{} cannot be used: {}", all[chosen].name, reason));
    return all[chosen];
}

// What the #line of the source calls its file (common/files/files.hpp).
static std::string name_of(cl_program program) {
    const std::string source =
        text_of([&](auto... to) { CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_SOURCE, to...)); });
    if (!source.starts_with("#line")) return "the kernels' file";
    const std::size_t begin = source.find('"') + 1;
    return source.substr(begin, source.find('"', begin) - begin);
}

static std::string build_text(cl_program program, cl_device_id device, cl_program_build_info what) {
    return text_of([&](auto... to) { clGetProgramBuildInfo(program, device, what, to...); });
}

void check_build(cl_int built, cl_program program, cl_device_id device) {
    if (built == CL_SUCCESS) return;
    // The log is asked for whatever went wrong, and shown whole: its first error explains the rest.
    const std::string log = build_text(program, device, CL_PROGRAM_BUILD_LOG);
    const std::string name = name_of(program);
    const bool is_pocl = described(device).platform_name == "Portable Computing Language";
    const std::string why = is_pocl ? no_room_for_pocl() : "";
    if (log.empty() || !why.empty()) {
        throw std::runtime_error(fmt::format(
            "{} ({}) from clBuildProgram, and no word of the compiler about {}: {}",
            error_name(built), built, name,
            why.empty() ? "the driver may have too little memory, or room on its disk" : why));
    }
    throw DoesNotBuild(fmt::format("{} does not build: {} ({}), build options '{}'\n{}", name,
                                   error_name(built), built,
                                   build_text(program, device, CL_PROGRAM_BUILD_OPTIONS), log));
}

cl_program build_program(cl_context context, cl_device_id device, const std::string& name,
                         const std::string& source, const std::string& build_options) {
    const std::string text = with_its_name(name, source);
    const char* begin = text.c_str();
    cl_int error = CL_SUCCESS;
    ProgramObject program = clCreateProgramWithSource(context, 1, &begin, nullptr, &error);
    CHECK_CL(error, "clCreateProgramWithSource");
    const Deadline deadline("compiling " + name, kPatience);
    check_build(clBuildProgram(program, 1, &device, build_options.c_str(), nullptr, nullptr),
                program, device);
    CHECK_CL(clRetainProgram(program));
    return program;
}

bool has_extension(cl_device_id device, const std::string& name) {
    return (' ' + device_text(device, CL_DEVICE_EXTENSIONS) + ' ').find(' ' + name + ' ') !=
           std::string::npos;
}

std::size_t local_memory_bytes(cl_device_id device) {
    return ask<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
}

std::size_t compute_units(cl_device_id device) {
    return ask<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
}

namespace {

// In each dimension: a device has three at least, and may have more.
std::vector<std::size_t> max_in_each(cl_device_id device) {
    std::vector<std::size_t> most(ask<cl_uint>(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS));
    CHECK_CL(clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES,
                             most.size() * sizeof most.front(), most.data(), nullptr));
    return most;
}

template <typename T>
T ask(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what) {
    T value{};
    CHECK_CL(clGetKernelWorkGroupInfo(kernel, device, what, sizeof value, &value, nullptr));
    return value;
}

}  // namespace

std::size_t max_work_group_size(cl_device_id device) {
    return std::min(ask<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE),
                    max_in_each(device).at(0));
}

void require_memory(cl_device_id device, std::size_t bytes) {
    const cl_ulong most = std::min(ask<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE),
                                   ask<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE));
    if (bytes > most)
        throw Unsupported(fmt::format(
            "the pixels take {} bytes, and this device has at most {} in one piece", bytes, most));
}

std::string unsupported_reason(cl_kernel kernel, cl_device_id device, std::size_t across,
                               std::size_t down) {
    const auto most = ask<std::size_t>(kernel, device, CL_KERNEL_WORK_GROUP_SIZE);
    // NVIDIA's driver says 256 even of a kernel that it runs in groups of 1024.
    if (across * down > most && !device_text(device, CL_DEVICE_VENDOR).starts_with("NVIDIA"))
        return fmt::format("this device runs it in groups of at most {}: --group-size {}", most,
                           most);
    const std::vector<std::size_t> each = max_in_each(device);
    if (across > each.at(0) || down > each.at(1))
        return fmt::format("groups of {} x {}: this device runs at most {} x {}", across, down,
                           each[0], each[1]);
    const auto needed = ask<cl_ulong>(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE);
    const cl_ulong there = local_memory_bytes(device);
    if (needed > there)
        return fmt::format("it needs {} bytes of local memory: this device has {}", needed, there);
    return {};
}

cl_command_queue_properties profiling(cl_device_id device) {
    return ask<cl_command_queue_properties>(device, CL_DEVICE_QUEUE_PROPERTIES) &
           CL_QUEUE_PROFILING_ENABLE;
}

void poison(cl_command_queue queue, cl_mem buffer, std::size_t bytes) {
    CHECK_CL(clEnqueueFillBuffer(queue, buffer, &kPoison, sizeof kPoison, 0, bytes, 0, nullptr,
                                 nullptr));
    CHECK_CL(clFinish(queue));
}

double elapsed_ms(cl_event first, cl_event last) {
    const auto time_of = [](cl_event event, cl_profiling_info what) {
        cl_ulong ns = 0;
        const cl_int error = clGetEventProfilingInfo(event, what, sizeof ns, &ns, nullptr);
        if (error != CL_PROFILING_INFO_NOT_AVAILABLE) CHECK_CL(error, "clGetEventProfilingInfo");
        return error == CL_SUCCESS ? std::optional(ns) : std::nullopt;
    };
    const std::optional<cl_ulong> began = time_of(first, CL_PROFILING_COMMAND_START);
    const std::optional<cl_ulong> ended = time_of(last, CL_PROFILING_COMMAND_END);
    if (!began || !ended) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(static_cast<cl_long>(*ended - *began)) * 1e-6;
}

}  // namespace common::opencl
