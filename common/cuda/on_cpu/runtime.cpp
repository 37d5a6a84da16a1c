// The calls of CUDA's runtime: memory, errors, events, and the device itself. Each call is done
// when it returns, and the host calls from one thread.
#include <atomic>
#include <map>
#include <set>

#include "common/cuda/on_cpu/blocks.hpp"
#include "common/histogram/histogram.hpp"

struct EventOnCpu {
    std::uint64_t at = 0;
    bool is_recorded = false;
    bool is_timed = true;
};
struct StreamOnCpu {};

// The device's clock counts work, as an emulation has no times: a fill takes 1,000 ns, a launch 1.
std::atomic<std::uint64_t> clock_ns = 1;

namespace on_cpu {
namespace {

// ---- errors ----

struct Error {
    cudaError_t code;
    const char* name;
    const char* text;
};
#define ERROR(code, text) \
    Error {               \
        code, #code, text \
    }
constexpr std::array kErrors{
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure")};
#undef ERROR

cudaError_t last = cudaSuccess;  // until somebody asks for it
Outcome sticky;                  // a kernel that failed: every call says so from then on

const Error* known(cudaError_t code) {
    for (const Error& each : kErrors)
        if (each.code == code) return &each;
    return nullptr;
}

// What a call returns.
cudaError_t returned(cudaError_t error) {
    if (sticky.error != cudaSuccess) return sticky.error;
    if (error != cudaSuccess) last = error;
    return error;
}

// ---- memory ----

constexpr std::size_t kMemory = std::size_t{4} << 30;
constexpr std::size_t kAligned = 256;

struct Allocation {
    std::size_t bytes;
    bool is_device;         // or pinned memory of the host
    bool is_given = false;  // what is in it: cudaMemcpy or cudaMemset has put it there
    unsigned poisoned_in = 0;
    bool is_managed = false;  // memory of the device that the host reads and writes, too
};
std::map<std::uintptr_t, Allocation> allocations;
std::size_t allocated = 0;
// A run begins where memory is poisoned behind a launch.
unsigned current_run = 1;
bool run_has_launched = false;

// The one that this byte is in, or behind whose end it is.
std::pair<const std::uintptr_t, Allocation>* allocation_of(const void* memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    auto found = allocations.upper_bound(address);
    if (found == allocations.begin()) return nullptr;
    --found;
    return address <= found->first + found->second.bytes ? &*found : nullptr;
}

enum class Side { kDevice, kHost, kAny };

// Whether so many bytes are on this side, and in one allocation; of the host's own memory nothing
// is known.
bool are_there(const void* memory, std::size_t bytes, Side side) {
    const auto* const found = allocation_of(memory);
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const bool inside = found != nullptr && address < found->first + found->second.bytes;
    if (!inside) return side != Side::kDevice;
    if (address + bytes > found->first + found->second.bytes) return false;
    return side == Side::kAny || found->second.is_managed ||
           found->second.is_device == (side == Side::kDevice);
}

cudaError_t allocate(void** memory, std::size_t bytes, bool is_device) {
    *memory = nullptr;
    if (bytes == 0) return returned(cudaSuccess);
    if (is_device && bytes > kMemory - allocated) return returned(cudaErrorMemoryAllocation);
    // Not a byte more: AddressSanitizer sees what is behind.
    if (posix_memalign(memory, kAligned, bytes) != 0) return returned(cudaErrorMemoryAllocation);
    std::memset(*memory, common::kPoisonByte, bytes);
    allocations[reinterpret_cast<std::uintptr_t>(*memory)] = {bytes, is_device};
    if (is_device) allocated += bytes;
    return returned(cudaSuccess);
}

cudaError_t release(void* memory, bool is_device) {
    if (memory == nullptr) return returned(cudaSuccess);
    const auto found = allocations.find(reinterpret_cast<std::uintptr_t>(memory));
    if (found == allocations.end() || found->second.is_device != is_device)
        return returned(cudaErrorInvalidValue);
    if (is_device) allocated -= found->second.bytes;
    allocations.erase(found);
    std::free(memory);
    return returned(cudaSuccess);
}

// ---- streams and events ----

std::set<const void*> handles;  // those that are there

template <typename T>
cudaError_t create(T** handle) {
    *handle = new T;
    handles.insert(*handle);
    return returned(cudaSuccess);
}

// The default stream has no handle.
cudaError_t checked(cudaStream_t stream) {
    const bool valid = stream == nullptr || handles.count(stream) > 0;
    return returned(valid ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t checked(cudaEvent_t event) {
    return returned(handles.count(event) > 0 ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

template <typename T>
cudaError_t destroy(T* handle) {
    if (handles.erase(handle) == 0) return returned(cudaErrorInvalidResourceHandle);
    delete handle;
    return returned(cudaSuccess);
}

cudaError_t checked(int device) {
    return returned(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

}  // namespace

// For recorded.cpp.
bool device_memory_of(const void* memory, std::uintptr_t& begin, std::size_t& bytes) {
    const auto* const found = allocation_of(memory);
    if (found == nullptr) return false;
    begin = found->first;
    bytes = found->second.bytes;
    return true;
}

// ---- a launch ----

void run(const KernelCall& launch, const Pointer* pointers, std::size_t pointer_count) {
    const dim3& grid = launch.grid;
    const dim3& block = launch.block;
    constexpr unsigned kMax = 65535;
    if (checked(launch.stream) != cudaSuccess) return;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0 ||
        grid.x > 0x7FFF'FFFF || grid.y > kMax || grid.z > kMax || block.x > kMaxThreads ||
        block.y > kMaxThreads || block.z > 64 ||
        std::size_t{block.x} * block.y * block.z > kMaxThreads) {
        returned(cudaErrorInvalidConfiguration);
        return;
    }
    if (launch.shared_bytes > kSharedBytes) {
        returned(cudaErrorInvalidValue);
        return;
    }
    // A GPU notices it where the kernel reads or writes there.
    for (std::size_t i = 0; i < pointer_count; ++i) {
        const auto* const found = allocation_of(pointers[i].to);
        if (pointers[i].to != nullptr && found == nullptr) {
            sticky = {cudaErrorIllegalAddress, "an argument points to the host's own memory"};
            return;
        }
        // For the tests alone: what a run writes to was poisoned for it.
        if (found != nullptr && pointers[i].is_written && !found->second.is_given &&
            found->second.poisoned_in != current_run &&
            std::getenv("CUDA_ON_CPU_WANTS_POISON") != nullptr)
            sticky = {cudaErrorIllegalAddress, "an argument points to what was not poisoned"};
    }
    run_has_launched = true;
    const Outcome outcome = run_blocks(launch);
    ++clock_ns;
    if (outcome.error == cudaErrorLaunchFailure) sticky = outcome;
    returned(outcome.error);
}

}  // namespace on_cpu

using namespace on_cpu;

const char* cudaGetErrorName(cudaError_t error) {
    const Error* const found = known(error);
    return found != nullptr ? found->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
    static std::string text;
    const Error* const found = known(error);
    if (found == nullptr) return "unrecognized error code";
    if (error == cudaSuccess || error != sticky.error) return found->text;
    text = std::string(found->text) + ": " + sticky.why;
    return text.c_str();
}

cudaError_t cudaPeekAtLastError() {
    return returned(last);
}

cudaError_t cudaGetLastError() {
    const cudaError_t error = returned(last);
    last = cudaSuccess;
    return error;
}

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return returned(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
    return checked(device);
}

cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return returned(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    *properties = {"a GPU emulated on the CPU", 0, 0};
    return checked(device);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    *value = attribute == cudaDevAttrMaxThreadsPerBlock    ? static_cast<int>(kMaxThreads)
             : attribute == cudaDevAttrMultiProcessorCount ? static_cast<int>(multiprocessors())
             : attribute == cudaDevAttrMaxThreadsPerMultiProcessor ? static_cast<int>(kThreadsAUnit)
                                                                   : static_cast<int>(kSharedBytes);
    return checked(device);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
    *attributes = {kStackBytes, static_cast<int>(kMaxThreads)};
    return returned(kernel != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

// There is no more for those that ask for it than for all.
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    if (kernel == nullptr) return returned(cudaErrorInvalidDeviceFunction);
    const bool is_known = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize;
    const bool fits = value >= 0 && static_cast<std::size_t>(value) <= kSharedBytes;
    return returned(is_known && fits ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return returned(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return returned(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize() {
    return returned(cudaSuccess);
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
    return allocate(memory, bytes, true);
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
    return allocate(memory, bytes, false);
}

cudaError_t cudaHostGetDevicePointer(void** memory, void* of_host, unsigned) {
    *memory = of_host;
    const auto* const found = allocation_of(of_host);
    return returned(found != nullptr && !found->second.is_device ? cudaSuccess
                                                                 : cudaErrorInvalidValue);
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
    return cudaHostAlloc(memory, bytes, cudaHostAllocDefault);
}

cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned) {
    const cudaError_t error = allocate(memory, bytes, true);
    if (auto* const made = allocation_of(*memory); error == cudaSuccess && made != nullptr)
        made->second.is_managed = made->second.is_given = true;
    return error;
}

cudaError_t cudaFree(void* memory) {
    return release(memory, true);
}

cudaError_t cudaFreeHost(void* memory) {
    return release(memory, false);
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
    const cudaError_t error = checked(stream);
    if (error != cudaSuccess || bytes == 0) return error;
    auto* const found = allocation_of(to);
    if (found == nullptr || !are_there(to, bytes, Side::kAny))
        return returned(cudaErrorInvalidValue);
    // A buffer that is poisoned in part would pass for poisoned.
    if (value == common::kPoisonByte && bytes != found->second.bytes)
        return returned(cudaErrorInvalidValue);
    std::memset(to, value, bytes);
    if (value == common::kPoisonByte) {
        if (std::exchange(run_has_launched, false)) ++current_run;
        found->second.poisoned_in = current_run;
    }
    clock_ns += 1000;
    return cudaSuccess;
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
    if (auto* const found = allocation_of(to); found != nullptr && value != common::kPoisonByte)
        found->second.is_given = true;
    return cudaMemsetAsync(to, value, bytes);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return returned(cudaErrorInvalidMemcpyDirection);
    if (bytes == 0) return returned(cudaSuccess);
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    const auto side = [&](bool is_device) {
        return kind == cudaMemcpyDefault ? Side::kAny : is_device ? Side::kDevice : Side::kHost;
    };
    if (to == nullptr || from == nullptr || !are_there(to, bytes, side(to_device)) ||
        !are_there(from, bytes, side(from_device)))
        return returned(cudaErrorInvalidValue);
    if (sticky.error != cudaSuccess) return sticky.error;
    if (auto* const found = allocation_of(to)) found->second.is_given = true;
    std::memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    const cudaError_t error = checked(stream);
    return error != cudaSuccess ? error : cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    return create(stream);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return create(stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return checked(stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    const cudaError_t error = checked(stream);
    return error != cudaSuccess ? error : checked(event);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return destroy(stream);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    const cudaError_t error = create(event);
    (*event)->is_timed = (flags & cudaEventDisableTiming) == 0;
    return error;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const cudaError_t error = cudaStreamWaitEvent(stream, event);
    if (error != cudaSuccess) return error;
    event->is_recorded = true;
    event->at = clock_ns;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return checked(event);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    for (const cudaEvent_t event : {begin, end}) {
        const cudaError_t error = checked(event);
        if (error != cudaSuccess) return error;
        if (!event->is_recorded || !event->is_timed)
            return returned(cudaErrorInvalidResourceHandle);
    }
    const std::uint64_t ns = end->at - begin->at;
    *milliseconds = static_cast<float>(ns) * 1e-6F;
    if (std::getenv("CUDA_ON_CPU_TELLS_TIMES") != nullptr)  // for the tests alone
        std::fprintf(stderr, "fills: %d, launches: %d\n", static_cast<int>(ns / 1000),
                     static_cast<int>(ns % 1000));
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return destroy(event);
}
