// An OpenCL driver that behaves in ways that are allowed, and in some that are not: a library to
// preload (LD_PRELOAD), which stands before the loader and passes every call on to the real driver,
// but answers as FAULT_INJECTING_DRIVER tells it. It also enforces what it claims. Words, by
// spaces:
//
//   group=N          work-groups of at most N work-items, of the device and of each kernel
//   flat             groups in one dimension only
//   kernel-group=N   the same of each kernel alone: the device says nothing of it
//   local=N          bytes of local memory
//   local-kept=N     bytes of it that the compiler keeps for itself in each kernel
//   memory=N         bytes of the device's memory, and of the largest buffer
//   discrete         kernels take no buffer of host memory (CL_MEM_ALLOC_HOST_PTR)
//   no-profiling     no queue notes times
//   no-times         a queue that should have noted them has none
//   times=zero|backwards|epoch|fast   what the clock of the device says
//   times=known      it says that each fill takes 700 ns, and each kernel 300
//   hang=NAME        what waits for a kernel whose name begins so waits for ever; build, rebuild,
//                    devices and copy: so does the compiler, or its second call, the list of
//                    devices, a copy. Whatever limit is set becomes a second; none: status 98
//   to-the-end=NAME  a kernel whose name begins so fails unless it reads the last 16 bytes of its
//                    first argument, which are no zeros then, and so writes to its third one
//   refuses=NAME     a kernel whose name begins so is not launched
//   fails=NAME       what is read after a kernel whose name begins so fails, as after an access out
//                    of bounds
//   unpoisoned=refused   a kernel is not launched with a buffer that it may write to, unless all
//                    of it was filled with the poison since the run before
//   platforms=none|failing|empty-first|failing-first   what the loader finds
//   copies=first|late   of the copies to one place in a buffer the first alone arrives; one that
//                    nobody waits for takes a tenth of a second, when somebody does
//   fail=N           the N-th call of the program fails, whichever it is; where there are fewer,
//                    it ends with exit status 99
//   version=V        what the device says of itself
//   extensions=A,-B  what it has beside its own, and what it has not
//   unusable-gpu-first   beside the one device, and before it, there is a GPU that is not available
//   info-N=V         what it answers to question N, in hexadecimal: numbers, by commas
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

// What follows NAME or NAME= in FAULT_INJECTING_DRIVER.
std::optional<std::string> told(const std::string& name) {
    const char* const all = std::getenv("FAULT_INJECTING_DRIVER");
    std::istringstream words(all != nullptr ? all : "");
    for (std::string word; words >> word;) {
        if (word == name) return "";
        if (word.starts_with(name + '=')) return word.substr(name.size() + 1);
    }
    return std::nullopt;
}

bool is_told(const std::string& name, const std::string& value = "") {
    return told(name) == value;
}

std::optional<std::uint64_t> number(const std::string& name) {
    const auto text = told(name);
    return text ? std::optional(std::stoull(*text)) : std::nullopt;
}

void hang_if(bool hangs) {
    if (!hangs) return;
    if (alarm(1) == 0) _exit(98);
    while (true)
        sleep(1);
}

bool copy_is_late = false;
void wait_for_copies() {
    if (std::exchange(copy_is_late, false)) usleep(100'000);
}

bool hangs = false;   // a kernel was launched that never ends
bool failed = false;  // or one that goes out of bounds

// What stands between commas.
std::vector<std::string> split(const std::string& text) {
    std::istringstream parts(text);
    std::vector<std::string> all;
    for (std::string part; std::getline(parts, part, ',');)
        all.push_back(part);
    return all;
}

// A buffer of the program, and in which run it was last filled with the poison.
struct Made {
    cl_mem_flags flags = 0;
    std::size_t bytes = 0;
    unsigned poisoned_in = 0;
};
std::map<cl_mem, Made> made;

// A kernel's argument: a buffer, or so many bytes of local memory.
struct Argument {
    cl_mem buffer = nullptr;
    std::size_t local_bytes = 0;
};
std::map<cl_kernel, std::map<cl_uint, Argument>> arguments;

std::uint64_t known_ns = 1000;
std::map<cl_event, std::pair<std::uint64_t, std::uint64_t>> known_times;  // its beginning and end

void note_time(const cl_event* event, std::uint64_t takes_ns) {
    if (event != nullptr) known_times[*event] = {known_ns, known_ns + takes_ns};
    known_ns += takes_ns;
}

unsigned run = 1;
bool run_has_launched = false;

void note_fill(cl_mem buffer, const void* with, std::size_t size, std::size_t bytes) {
    constexpr std::uint32_t kPoison = 0xA5A5A5A5;
    if (size != sizeof kPoison || std::memcmp(with, &kPoison, size) != 0) return;
    if (std::exchange(run_has_launched, false)) ++run;
    if (bytes == made[buffer].bytes) made[buffer].poisoned_in = run;
}

bool all_are_poisoned(cl_kernel kernel) {
    const auto& its = arguments[kernel];
    return std::all_of(its.begin(), its.end(), [](const auto& each) {
        if (each.second.buffer == nullptr) return true;
        const Made& buffer = made[each.second.buffer];
        const bool is_input = (buffer.flags & (CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR)) != 0;
        return is_input || buffer.poisoned_in == run;
    });
}

std::uint64_t failing_call = 0;  // 1 is the next, 0 none

// Whether this call of the program fails: what every call may answer.
bool fails() {
    return failing_call > 0 && --failing_call == 0;
}

// Whatever should have been made.
std::nullptr_t fail_with(cl_int* error, cl_int code = CL_OUT_OF_RESOURCES) {
    if (error != nullptr) *error = code;
    return nullptr;
}

__attribute__((constructor)) void begin() {
    failing_call = number("fail").value_or(0);
}

__attribute__((destructor)) void end() {
    if (failing_call > 0) _exit(99);
}

// The real driver's function of this name.
template <typename Function>
Function* real(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define REAL(name) real(&(name), #name)

// What an information is, in the way of all clGet...Info.
cl_int answer(const void* value, std::size_t bytes, std::size_t size, void* to,
              std::size_t* needed) {
    if (needed != nullptr) *needed = bytes;
    if (to == nullptr) return CL_SUCCESS;
    if (size < bytes) return CL_INVALID_VALUE;
    std::memcpy(to, value, bytes);
    return CL_SUCCESS;
}

template <typename T>
void at_most(void* value, std::optional<std::uint64_t> most, std::size_t count = 1) {
    auto* const numbers = static_cast<T*>(value);
    for (std::size_t i = 0; most && numbers != nullptr && i < count; ++i)
        numbers[i] = std::min(numbers[i], static_cast<T>(*most));
}

// A platform of its own, which stands before the real ones.
int fake_platform;
cl_platform_id own_platform() {
    return reinterpret_cast<cl_platform_id>(&fake_platform);
}

// A device of its own, which says what another one does.
int fake_gpu;
cl_device_id own_gpu() {
    return reinterpret_cast<cl_device_id>(&fake_gpu);
}
cl_device_id beside_own_gpu = nullptr;

}  // namespace

extern "C" {

cl_int clGetPlatformIDs(cl_uint size, cl_platform_id* ids, cl_uint* count) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    hang_if(is_told("hang", "devices"));
    const std::string platforms = told("platforms").value_or("");
    if (platforms == "none") return -1001;  // CL_PLATFORM_NOT_FOUND_KHR
    if (platforms == "failing") return CL_OUT_OF_HOST_MEMORY;
    if (!platforms.ends_with("-first")) return REAL(clGetPlatformIDs)(size, ids, count);
    if (ids != nullptr) *ids++ = own_platform();
    const cl_int error = REAL(clGetPlatformIDs)(size > 0 ? size - 1 : 0, ids, count);
    if (count != nullptr) ++*count;
    return error;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint size, cl_device_id* ids,
                      cl_uint* count) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    if (platform == own_platform())
        return is_told("platforms", "empty-first") ? CL_DEVICE_NOT_FOUND : CL_OUT_OF_HOST_MEMORY;
    // The drivers of GPUs have oddities of their own: the tests are for a processor.
    cl_uint processors = 0;
    if (REAL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_CPU, 0, nullptr, &processors) != CL_SUCCESS)
        return CL_DEVICE_NOT_FOUND;
    if (!told("unusable-gpu-first")) return REAL(clGetDeviceIDs)(platform, type, size, ids, count);
    REAL(clGetDeviceIDs)(platform, type, 1, &beside_own_gpu, nullptr);
    if (count != nullptr) *count = 2;
    if (ids != nullptr) ids[0] = own_gpu(), ids[1] = beside_own_gpu;
    return CL_SUCCESS;
}

// What a device says of itself.
cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, std::size_t size, void* value,
                       std::size_t* needed) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    const bool is_a_gpu = device == own_gpu();
    if (is_a_gpu) device = beside_own_gpu;
    const auto answer_text = [&](const std::string& text) {
        return answer(text.c_str(), text.size() + 1, size, value, needed);
    };
    if (const auto version = told("version"); version && what == CL_DEVICE_VERSION)
        return answer_text("OpenCL " + *version + " strange");
    std::ostringstream question;
    question << "info-" << std::hex << what;
    if (const auto numbers = told(question.str())) {
        std::vector<std::size_t> values;
        for (const std::string& number : split(*numbers))
            values.push_back(std::stoull(number));
        const std::size_t bytes = values.size() > 1 ? values.size() * sizeof(std::size_t) : 4;
        return answer(values.data(), bytes, size, value, needed);
    }
    const auto extensions = told("extensions");
    if (extensions && what == CL_DEVICE_EXTENSIONS) {
        std::size_t length = 0;
        REAL(clGetDeviceInfo)(device, what, 0, nullptr, &length);
        std::string text(length, '\0');
        REAL(clGetDeviceInfo)(device, what, length, text.data(), nullptr);
        text.resize(text.find('\0'));
        for (const std::string& each : split(*extensions)) {
            if (each.front() != '-') {
                text += ' ' + each;
            } else if (const std::size_t at = text.find(each.substr(1)); at != std::string::npos) {
                text.erase(at, each.size() - 1);
            }
        }
        return answer_text(text);
    }
    const cl_int error = REAL(clGetDeviceInfo)(device, what, size, value, needed);
    if (error != CL_SUCCESS || value == nullptr) return error;
    if (is_a_gpu && what == CL_DEVICE_TYPE)
        *static_cast<cl_device_type*>(value) = CL_DEVICE_TYPE_GPU;
    if (is_a_gpu && what == CL_DEVICE_AVAILABLE) *static_cast<cl_bool*>(value) = CL_FALSE;
    if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE) at_most<std::size_t>(value, number("group"));
    if (what == CL_DEVICE_MAX_WORK_ITEM_SIZES) {
        at_most<std::size_t>(value, number("group"), 3);
        if (told("flat")) at_most<std::size_t>(static_cast<std::size_t*>(value) + 1, 1, 2);
    }
    if (what == CL_DEVICE_LOCAL_MEM_SIZE) at_most<cl_ulong>(value, number("local"));
    if (what == CL_DEVICE_GLOBAL_MEM_SIZE || what == CL_DEVICE_MAX_MEM_ALLOC_SIZE)
        at_most<cl_ulong>(value, number("memory"));
    if (what == CL_DEVICE_QUEUE_PROPERTIES && told("no-profiling"))
        *static_cast<cl_bitfield*>(value) &= ~cl_bitfield{CL_QUEUE_PROFILING_ENABLE};
    return CL_SUCCESS;
}

// And what a kernel needs on it.
cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                cl_kernel_work_group_info what, std::size_t size, void* value,
                                std::size_t* needed) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    const cl_int error = REAL(clGetKernelWorkGroupInfo)(kernel, device, what, size, value, needed);
    if (error == CL_SUCCESS && what == CL_KERNEL_WORK_GROUP_SIZE) {
        at_most<std::size_t>(value, number("group"));
        at_most<std::size_t>(value, number("kernel-group"));
    }
    if (error == CL_SUCCESS && what == CL_KERNEL_LOCAL_MEM_SIZE && value != nullptr) {
        // PoCL 5 leaves the arguments out.
        cl_ulong in_arguments = 0;
        for (const auto& each : arguments[kernel])
            in_arguments += each.second.local_bytes;
        auto& all = *static_cast<cl_ulong*>(value);
        all = std::max(all, in_arguments) + number("local-kept").value_or(0);
    }
    return error;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int* error) {
    if (fails()) return fail_with(error);
    if (told("no-profiling") && (properties & CL_QUEUE_PROFILING_ENABLE) != 0)
        return fail_with(error, CL_INVALID_QUEUE_PROPERTIES);
    return REAL(clCreateCommandQueue)(context, device, properties, error);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, std::size_t bytes, void* from,
                      cl_int* error) {
    if (fails()) return fail_with(error);
    if (bytes > number("memory").value_or(bytes)) return fail_with(error, CL_INVALID_BUFFER_SIZE);
    cl_mem buffer = REAL(clCreateBuffer)(context, flags, bytes, from, error);
    made[buffer] = {flags, bytes};  // in the place of another's, long released
    return buffer;
}

cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* error) {
    if (fails()) return fail_with(error);
    cl_kernel kernel = REAL(clCreateKernel)(program, name, error);
    arguments.erase(kernel);  // another's, long released
    return kernel;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, std::size_t size, const void* value) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    cl_mem buffer = nullptr;
    if (size == sizeof buffer && value != nullptr) std::memcpy(&buffer, value, size);
    if (made.count(buffer) == 0) buffer = nullptr;
    const bool is_on_host = buffer != nullptr && (made[buffer].flags & CL_MEM_ALLOC_HOST_PTR) != 0;
    if (told("discrete") && is_on_host) return CL_INVALID_MEM_OBJECT;
    const cl_int error = REAL(clSetKernelArg)(kernel, index, size, value);
    if (error == CL_SUCCESS) arguments[kernel][index] = {buffer, value == nullptr ? size : 0};
    return error;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                      const char* options, void (*notify)(cl_program, void*), void* data) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    unsetenv("LD_PRELOAD");  // the driver's own compiler and linker are not meant
    static int builds = 0;
    hang_if(is_told("hang", "build") || (++builds == 2 && is_told("hang", "rebuild")));
    return REAL(clBuildProgram)(program, count, devices, options, notify, data);
}

cl_int clGetProgramBuildInfo(cl_program of, cl_device_id device, cl_program_build_info what,
                             std::size_t size, void* value, std::size_t* needed) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    return REAL(clGetProgramBuildInfo)(of, device, what, size, value, needed);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const std::size_t* offset, const std::size_t* global,
                              const std::size_t* local, cl_uint waits, const cl_event* wait_for,
                              cl_event* event) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    cl_device_id device = nullptr;
    REAL(clGetCommandQueueInfo)(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
    std::size_t items = 1, most_items = 0, most[3] = {};
    cl_ulong local_bytes = 0;
    const auto failing = std::exchange(failing_call, 0);  // what is asked here fails not
    clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof most, most, nullptr);
    clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most_items,
                             &most_items, nullptr);
    clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local_bytes,
                             &local_bytes, nullptr);
    failing_call = failing;
    for (cl_uint i = 0; local != nullptr && i < dimensions; ++i) {
        items *= local[i];
        if (local[i] > most[i]) return CL_INVALID_WORK_ITEM_SIZE;
    }
    if (items > most_items) return CL_INVALID_WORK_GROUP_SIZE;
    if (local_bytes > number("local").value_or(local_bytes)) return CL_OUT_OF_RESOURCES;
    char name[256] = {};
    clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr);
    const auto is_named_in = [&](const char* word) {
        return std::string(name).starts_with(told(word).value_or("\n"));
    };
    if (is_named_in("refuses")) return CL_OUT_OF_RESOURCES;
    if (told("unpoisoned") && !all_are_poisoned(kernel)) return CL_INVALID_MEM_OBJECT;
    run_has_launched = true;
    hangs = hangs || is_named_in("hang");
    failed = failed || is_named_in("fails");
    const bool is_followed = is_named_in("to-the-end");
    cl_mem from = arguments[kernel][0].buffer, to = arguments[kernel][2].buffer;
    cl_uint one = 1, seen = 0;
    if (is_followed) {
        REAL(clEnqueueFillBuffer)
        (queue, from, &one, 4, made[from].bytes - 16, 16, 0, nullptr, nullptr);
        REAL(clEnqueueFillBuffer)(queue, to, &seen, 4, 0, 4, 0, nullptr, nullptr);
    }
    const cl_int error = REAL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global,
                                                      local, waits, wait_for, event);
    note_time(event, 300);
    if (is_followed)
        REAL(clEnqueueReadBuffer)(queue, to, CL_TRUE, 0, 4, &seen, 0, nullptr, nullptr);
    return is_followed && seen == 0 ? CL_INVALID_VALUE : error;
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* with,
                           std::size_t size, std::size_t offset, std::size_t bytes, cl_uint waits,
                           const cl_event* wait_for, cl_event* event) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    note_fill(buffer, with, size, bytes);
    const cl_int error =
        REAL(clEnqueueFillBuffer)(queue, buffer, with, size, offset, bytes, waits, wait_for, event);
    note_time(event, 700);
    return error;
}

cl_int clFinish(cl_command_queue queue) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    hang_if(hangs);
    wait_for_copies();
    return REAL(clFinish)(queue);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                           std::size_t offset, std::size_t bytes, void* to, cl_uint waits,
                           const cl_event* wait_for, cl_event* event) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    hang_if(hangs && blocking == CL_TRUE);
    if (blocking == CL_TRUE) wait_for_copies();
    if (failed) {  // as a device would: after the kernel, which PoCL compiles only now
        REAL(clFinish)(queue);
        return CL_OUT_OF_RESOURCES;
    }
    return REAL(clEnqueueReadBuffer)(queue, buffer, blocking, offset, bytes, to, waits, wait_for,
                                     event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                            std::size_t offset, std::size_t bytes, const void* from, cl_uint waits,
                            const cl_event* wait_for, cl_event* event) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    hang_if(is_told("hang", "copy"));
    copy_is_late = blocking == CL_FALSE && is_told("copies", "late");
    made[buffer].flags |= CL_MEM_READ_ONLY;  // it holds what the host gives
    static std::set<std::pair<cl_mem, std::size_t>> filled;
    if (!filled.emplace(buffer, offset).second && is_told("copies", "first"))
        return REAL(clEnqueueMarkerWithWaitList)(queue, waits, wait_for, event);
    return REAL(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, bytes, from, waits, wait_for,
                                      event);
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, std::size_t size,
                               void* value, std::size_t* needed) {
    if (fails()) return CL_OUT_OF_RESOURCES;
    if (told("no-times")) return CL_PROFILING_INFO_NOT_AVAILABLE;
    const cl_int error = REAL(clGetEventProfilingInfo)(event, what, size, value, needed);
    const auto times = told("times");
    if (error != CL_SUCCESS || value == nullptr || !times) return error;
    auto& ns = *static_cast<cl_ulong*>(value);
    if (*times == "zero") ns = 0;
    if (*times == "backwards") ns = ~ns;
    if (*times == "known") {
        const auto [begin, end] = known_times[event];
        ns = what == CL_PROFILING_COMMAND_START ? begin : end;
    }
    if (*times == "fast") ns = what == CL_PROFILING_COMMAND_START ? 1'000 : 1'010;
    if (*times == "epoch") ns += ~cl_ulong{0} - 1'000'000'000'000;  // wraps round
    return CL_SUCCESS;
}

// These are as the real ones are, but where they fail.
#define PASS_ON(name, parameters, arguments)                         \
    cl_int name parameters {                                         \
        return fails() ? CL_OUT_OF_RESOURCES : REAL(name) arguments; \
    }
#define PASS_ON_AND_MAKE(type, name, parameters, arguments)       \
    type name parameters {                                        \
        return fails() ? fail_with(error) : REAL(name) arguments; \
    }
// NOLINTBEGIN(bugprone-macro-parentheses)
PASS_ON(clGetPlatformInfo,
        (cl_platform_id of, cl_platform_info what, std::size_t size, void* value,
         std::size_t* needed),
        (of, what, size, value, needed))
PASS_ON(clGetCommandQueueInfo,
        (cl_command_queue of, cl_command_queue_info what, std::size_t size, void* value,
         std::size_t* needed),
        (of, what, size, value, needed))
PASS_ON(clFlush, (cl_command_queue queue), (queue))
PASS_ON(clEnqueueUnmapMemObject,
        (cl_command_queue queue, cl_mem buffer, void* mapped, cl_uint waits,
         const cl_event* wait_for, cl_event* event),
        (queue, buffer, mapped, waits, wait_for, event))
PASS_ON_AND_MAKE(cl_context, clCreateContext,
                 (const cl_context_properties* properties, cl_uint count,
                  const cl_device_id* devices,
                  void(CL_CALLBACK* notify)(const char*, const void*, std::size_t, void*),
                  void* data, cl_int* error),
                 (properties, count, devices, notify, data, error))
PASS_ON_AND_MAKE(cl_program, clCreateProgramWithSource,
                 (cl_context context, cl_uint count, const char** texts, const std::size_t* lengths,
                  cl_int* error),
                 (context, count, texts, lengths, error))
PASS_ON_AND_MAKE(cl_mem, clCreateSubBuffer,
                 (cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* what,
                  cl_int* error),
                 (buffer, flags, type, what, error))
PASS_ON_AND_MAKE(void*, clEnqueueMapBuffer,
                 (cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                  std::size_t offset, std::size_t bytes, cl_uint waits, const cl_event* wait_for,
                  cl_event* event, cl_int* error),
                 (queue, buffer, blocking, flags, offset, bytes, waits, wait_for, event, error))
// NOLINTEND(bugprone-macro-parentheses)

}  // extern "C"
