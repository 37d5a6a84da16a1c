/// @file
/// CUDA's words and calls on a processor, as far as the chapters, the workshops and the exercises
/// use them: what a CUDA source is compiled with where there is no NVIDIA GPU.
/// docs/cuda-on-a-cpu.md says how it works, and what it is not. Its times mean nothing.
///
/// to_cpp.cmake makes C++ of a CUDA source, which this header does not do alone:
///
///   kernel<<<grid, block, shared, stream>>>(...)   on_cpu::launch(kernel, grid, block, ...)(...)
///   __shared__ T name[SIZE];                       auto& name = on_cpu::shared<T[SIZE]>(...);
///   extern __shared__ T name[];                    T* const name = on_cpu::dynamic_shared<T>();
///
/// What is not here does not compile. A call returns the error code that CUDA has for its misuse.
#pragma once

// No more than these: they take most of the time that a student's file takes to compile.
#include <cstddef>
#include <type_traits>
#include <utility>

/// The oldest CUDA that the project takes; these are its rules.
#define CUDART_VERSION 12000

// ---- words ----

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__       \
    static_assert(false, \
                  "on a CPU a __shared__ declaration has one variable: __shared__ T name[SIZE];");

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1)
        : x(of_x), y(of_y), z(of_z) {}
};
struct alignas(8) uint2 {
    unsigned x, y;
};
#if defined(ON_CPU_COUNTS)  // of a copy from memory to memory clang tells nothing
#define ON_CPU_COPY(T, member)                                    \
    T& operator=(const T& other) {                                \
        const member of[] = {other.x, other.y, other.z, other.w}; \
        x = of[0], y = of[1], z = of[2], w = of[3];               \
        return *this;                                             \
    }
#else
#define ON_CPU_COPY(T, member)
#endif
struct alignas(16) uint4 {
    unsigned x, y, z, w;
    ON_CPU_COPY(uint4, unsigned)
};
struct alignas(4) uchar4 {
    unsigned char x, y, z, w;
    ON_CPU_COPY(uchar4, unsigned char)
};
#undef ON_CPU_COPY

/// Of the thread that is running.
inline constinit thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

/// Waits for all threads of the block. One that has ended, or waits in another line, is an error of
/// the launch: cudaErrorLaunchFailure, with a line on standard error.
void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE());

template <typename A, typename B>
constexpr auto min(A a, B b) {
    using T = std::common_type_t<A, B>;
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <typename A, typename B>
constexpr auto max(A a, B b) {
    using T = std::common_type_t<A, B>;
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}

// ---- atomics: one access of its own each, which orders nothing else ----

namespace on_cpu {
template <typename T>
concept Word =
    std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, unsigned long long>;
template <typename T>
using Same = std::type_identity_t<T>;

/// Makes what is there what `after` makes of it, in one access. @return what was there
template <typename T, typename After>
T exchange(T* to, const After& after) {
    T before;
    __atomic_load(to, &before, __ATOMIC_RELAXED);
    for (;;) {
        T value = after(before);
        if (__atomic_compare_exchange(to, &before, &value, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED))
            return before;
    }
}
}  // namespace on_cpu

// Where a program is counted (recorded.cpp), each says so, in the line that calls it.
#if defined(ON_CPU_COUNTS)
namespace on_cpu::recorded {
void note_atomic(const void* to, unsigned bytes, bool adds_one);
}
#define ON_CPU_NOTE(adds_one) on_cpu::recorded::note_atomic(to, sizeof(T), adds_one)
#define ON_CPU_INLINE [[gnu::always_inline]] inline
#else
#define ON_CPU_NOTE(adds_one)
#define ON_CPU_INLINE
#endif

#define ON_CPU_ATOMIC(name, builtin)                            \
    template <on_cpu::Word T>                                   \
    ON_CPU_INLINE T name(T* to, on_cpu::Same<T> value) {        \
        ON_CPU_NOTE(__builtin_constant_p(value) && value == 1); \
        return builtin(to, value, __ATOMIC_RELAXED);            \
    }
ON_CPU_ATOMIC(atomicAdd, __atomic_fetch_add)
ON_CPU_ATOMIC(atomicSub, __atomic_fetch_sub)
ON_CPU_ATOMIC(atomicAnd, __atomic_fetch_and)
ON_CPU_ATOMIC(atomicOr, __atomic_fetch_or)
#undef ON_CPU_ATOMIC
template <typename T>
requires std::is_floating_point_v<T> ON_CPU_INLINE T atomicAdd(T* to, on_cpu::Same<T> value) {
    ON_CPU_NOTE(false);
    return on_cpu::exchange(to, [&](T before) { return before + value; });
}
template <typename T>
requires(on_cpu::Word<T> || std::is_same_v<T, float>) ON_CPU_INLINE T
    atomicExch(T* to, on_cpu::Same<T> value) {
    ON_CPU_NOTE(false);
    return on_cpu::exchange(to, [&](T) { return value; });
}
template <on_cpu::Word T>
ON_CPU_INLINE T atomicCAS(T* to, on_cpu::Same<T> expected, on_cpu::Same<T> value) {
    ON_CPU_NOTE(false);
    __atomic_compare_exchange(to, &expected, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
template <on_cpu::Word T>
ON_CPU_INLINE T atomicMax(T* to, on_cpu::Same<T> value) {
    ON_CPU_NOTE(false);
    return on_cpu::exchange(to, [&](T before) { return before < value ? value : before; });
}

// ---- what there is on a GPU alone ----

#define ON_CPU_MISSING(name)                                         \
    template <typename... T>                                         \
    int name(T...) {                                                 \
        static_assert(sizeof...(T) > 99, #name                       \
                      ": not in this emulation, which has no warps " \
                      "and no clock (docs/cuda-on-a-cpu.md)");       \
        return 0;                                                    \
    }
ON_CPU_MISSING(__syncwarp)
ON_CPU_MISSING(__activemask)
ON_CPU_MISSING(__ballot_sync)
ON_CPU_MISSING(__any_sync)
ON_CPU_MISSING(__all_sync)
ON_CPU_MISSING(__match_any_sync)
ON_CPU_MISSING(__reduce_add_sync)
ON_CPU_MISSING(__shfl_sync)
ON_CPU_MISSING(__shfl_up_sync)
ON_CPU_MISSING(__shfl_down_sync)
ON_CPU_MISSING(__shfl_xor_sync)
ON_CPU_MISSING(clock64)
#undef ON_CPU_MISSING

// ---- the calls of the runtime ----

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInsufficientDriver = 35,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorUnsupportedPtxVersion = 222,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorIllegalAddress = 700,
    cudaErrorMisalignedAddress = 716,
    cudaErrorLaunchFailure = 719
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock,
    cudaDevAttrMaxSharedMemoryPerBlock,
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrMaxThreadsPerMultiProcessor
};
/// Compute capability 0.0: no GPU has that.
struct cudaDeviceProp {
    char name[256];
    int major, minor;
};
struct cudaFuncAttributes {
    std::size_t localSizeBytes;  ///< the stack that a thread has here
    int maxThreadsPerBlock;
};
using cudaEvent_t = struct EventOnCpu*;
using cudaStream_t = struct StreamOnCpu*;
inline constexpr unsigned cudaEventDefault = 0, cudaEventDisableTiming = 2;
inline constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocMapped = 2,
                          cudaHostAllocWriteCombined = 4;

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDeviceSynchronize();

cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaMallocPitch(void** memory, std::size_t* pitch, std::size_t width, std::size_t rows);
cudaError_t cudaMallocHost(void** memory, std::size_t bytes);
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags);
cudaError_t cudaHostGetDevicePointer(void** memory, void* of_host, unsigned flags);
cudaError_t cudaFree(void* memory);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaMemset(void* to, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t rows, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t rows, cudaMemcpyKind kind);

/// Streams are checked and otherwise not needed: a command is done when its call returns.
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaEventDestroy(cudaEvent_t event);

// CUDA has these templates for C++, too.
template <typename T>
cudaError_t cudaMalloc(T** memory, std::size_t bytes) {
    return cudaMalloc(reinterpret_cast<void**>(memory), bytes);
}
template <typename T>
cudaError_t cudaMallocPitch(T** memory, std::size_t* pitch, std::size_t width, std::size_t rows) {
    return cudaMallocPitch(reinterpret_cast<void**>(memory), pitch, width, rows);
}
template <typename T>
cudaError_t cudaMallocHost(T** memory, std::size_t bytes) {
    return cudaMallocHost(reinterpret_cast<void**>(memory), bytes);
}
template <typename T>
cudaError_t cudaHostGetDevicePointer(T** memory, void* of_host, unsigned flags) {
    return cudaHostGetDevicePointer(reinterpret_cast<void**>(memory), of_host, flags);
}
template <typename T>
cudaError_t cudaHostAlloc(T** memory, std::size_t bytes, unsigned flags) {
    return cudaHostAlloc(reinterpret_cast<void**>(memory), bytes, flags);
}

// ---- what to_cpp.cmake makes of a source ----

namespace on_cpu {

inline constexpr unsigned kMaxThreads = 1024;  ///< of a block
inline constexpr unsigned kThreadsAUnit = 2048;
inline constexpr std::size_t kSharedBytes = 48 << 10;  ///< of a block
inline constexpr std::size_t kStackBytes = 256 << 10;  ///< of a thread

struct KernelCall {
    dim3 grid, block;
    std::size_t shared_bytes;
    cudaStream_t stream;
    void (*kernel)(const void* arguments);  ///< what a thread does
    const void* arguments;
    const void* function;  ///< the kernel itself
};

/// A pointer among a kernel's arguments.
struct Pointer {
    const void* to;
    bool is_written;  ///< it may be
};

/// Runs the kernel for every thread of every block; checks the launch, and its pointers, before.
void run(const KernelCall& launch, const Pointer* pointers, std::size_t pointer_count);

template <typename... P>
auto launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes = 0,
            cudaStream_t stream = nullptr) {
    return [=](Same<P>... arguments) {
        const auto call = [&] { kernel(arguments...); };
        const auto called = [](const void* it) { (*static_cast<const decltype(call)*>(it))(); };
        Pointer pointers[sizeof...(P) + 1] = {};  // NOLINT(modernize-avoid-c-arrays)
        std::size_t count = 0;
        [[maybe_unused]] const auto note = [&]<typename T>(const T& argument) {
            if constexpr (std::is_pointer_v<T>)
                pointers[count++] = {argument, !std::is_const_v<std::remove_pointer_t<T>>};
        };
        (note(arguments), ...);
        run({grid, block, shared_bytes, stream, called, &call,
             reinterpret_cast<const void*>(kernel)},
            pointers, count);
    };
}

/// The block's variable that is declared here; it holds the poison at first.
void* shared_at(std::size_t bytes, std::size_t alignment, const char* file, int line);
/// What the launch asked for.
void* dynamic_shared_memory();

template <typename T>
T& shared(const char* file, int line) {
    return *static_cast<T*>(shared_at(sizeof(T), alignof(T), file, line));
}
template <typename T>
T* dynamic_shared() {
    return static_cast<T*>(dynamic_shared_memory());
}

}  // namespace on_cpu

/// The launch whose arguments are not known to the compiler: an address for each.
template <typename... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        on_cpu::launch(kernel, grid, block, shared_bytes,
                       stream)(*static_cast<std::remove_cv_t<P>*>(arguments[I])...);
    }
    (std::index_sequence_for<P...>{});
    return cudaPeekAtLastError();
}
/// By this a source knows that it is emulated.
#define CUDA_ON_CPU
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
template <typename... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
/// All kernels are alike.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
template <typename... P>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*kernel)(P...)) {
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}
template <typename... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*)(P...), int threads,
                                                          std::size_t) {
    *blocks = static_cast<int>(on_cpu::kThreadsAUnit) / threads;
    return cudaSuccess;
}
