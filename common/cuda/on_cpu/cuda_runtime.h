// CUDA's words and calls on a processor, as far as the chapters, the workshops and the exercises
// use them: what a CUDA source is compiled with where there is no NVIDIA GPU.
// docs/cuda-on-a-cpu.md says how it works, and what it is not. Its times mean nothing.
//
// to_cpp.cmake makes C++ of a CUDA source, which this header does not do alone:
//
//   kernel<<<grid, block, shared, stream>>>(...)   on_cpu::launch(kernel, grid, block, ...)(...)
//   atomicAdd_block, __threadfence_block, __ldcs   without the scope or the way, which all are one
//   __shared__ T name[SIZE], other;                auto& name = on_cpu::shared<T[SIZE]>(...); ...
//   extern __shared__ T name[];                    T* const name = on_cpu::dynamic_shared<T>();
//
// Anything else does not compile, and ON_CPU_MISSING says so of CUDA's words; a call returns
// the error code that CUDA has for its misuse.
#pragma once

// No more than these, which nvcc has without being asked, but for its mathematics: they take most
// of the time that a student's file takes to compile.
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

/// The oldest CUDA that the project takes; these are its rules.
#define CUDART_VERSION 12000

// ---- words ----

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ \
    _Pragma("GCC error \"__shared__: CUDA has such declarations, and this emulation does not\"")

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1)
        : x(of_x), y(of_y), z(of_z) {}
};
// Constant memory is counted: it is what lies between two names that the linker makes.
#if defined(ON_CPU_COUNTS)
#define __constant__ __attribute__((section("constants")))
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const char __start_constants[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char __stop_constants[];
}
namespace on_cpu::recorded {
bool has_constants(const char* begin, const char* end);
[[maybe_unused]] static const bool kHasConstants =
    has_constants(__start_constants, __stop_constants);
}  // namespace on_cpu::recorded
#else
#define __constant__
#endif
// Of a copy from memory to memory, clang tells the counters nothing (recorded.cpp): it is made of
// loads and stores for them.
#if defined(ON_CPU_COUNTS)
#define ON_CPU_COPY(T)                                                   \
    constexpr T& operator=(const T& other) {                             \
        const auto [a, b, c, d] = T{other.x, other.y, other.z, other.w}; \
        x = a, y = b, z = c, w = d;                                      \
        return *this;                                                    \
    }
#else
#define ON_CPU_COPY(T)
#endif
#define ON_CPU_VECTORS(name, type)                                     \
    struct name##1 {                                                   \
        type x;                                                        \
    };                                                                 \
    struct alignas(2 * sizeof(type)) name##2 {                         \
        type x, y;                                                     \
    };                                                                 \
    struct name##3 {                                                   \
        type x, y, z;                                                  \
    };                                                                 \
    struct alignas(sizeof(type) < 8 ? 4 * sizeof(type) : 16) name##4 { \
        type x, y, z, w;                                               \
        ON_CPU_COPY(name##4)                                           \
    };                                                                 \
    constexpr name##1 make_##name##1(type x) {                         \
        return {x};                                                    \
    }                                                                  \
    constexpr name##2 make_##name##2(type x, type y) {                 \
        return {x, y};                                                 \
    }                                                                  \
    constexpr name##3 make_##name##3(type x, type y, type z) {         \
        return {x, y, z};                                              \
    }                                                                  \
    constexpr name##4 make_##name##4(type x, type y, type z, type w) { \
        return {x, y, z, w};                                           \
    }
ON_CPU_VECTORS(char, signed char)
ON_CPU_VECTORS(uchar, unsigned char)
ON_CPU_VECTORS(short, short)
ON_CPU_VECTORS(ushort, unsigned short)
ON_CPU_VECTORS(int, int)
ON_CPU_VECTORS(uint, unsigned)
ON_CPU_VECTORS(longlong, long long)
ON_CPU_VECTORS(ulonglong, unsigned long long)
ON_CPU_VECTORS(float, float)
ON_CPU_VECTORS(double, double)
#undef ON_CPU_VECTORS
#undef ON_CPU_COPY

/// Of the thread that is running.
inline constinit thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;
inline constexpr int warpSize = 32;

namespace on_cpu {
/// Where a call stands. As the default of an argument, ON_CPU_HERE is where the caller stands.
struct Here {
    const char* file;
    int line;
};
#define ON_CPU_HERE on_cpu::Here here = {__builtin_FILE(), __builtin_LINE()}
}  // namespace on_cpu
#if defined(ON_CPU_KERNELS)  // they stay as they are: as on a GPU, no loop reads them again
namespace on_cpu::recorded {
[[gnu::const]] dim3 thread_index();
[[gnu::const]] dim3 block_index();
[[gnu::const]] dim3 block_size();
[[gnu::const]] dim3 grid_size();
}  // namespace on_cpu::recorded
#define threadIdx on_cpu::recorded::thread_index()
#define blockIdx on_cpu::recorded::block_index()
#define blockDim on_cpu::recorded::block_size()
#define gridDim on_cpu::recorded::grid_size()
#endif

/// Waits for all threads of the block. One that has ended, or waits in another line, is an error of
/// the launch: cudaErrorLaunchFailure, with a line on standard error.
void __syncthreads(ON_CPU_HERE);

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
void note_match(std::uint64_t value, const void* site);
}  // namespace on_cpu::recorded
#define ON_CPU_NOTE_MATCH(value) on_cpu::recorded::note_match(value, __builtin_return_address(0))
#define ON_CPU_NOTE(adds_one) on_cpu::recorded::note_atomic(to, sizeof *to, adds_one)
#define ON_CPU_INLINE [[gnu::always_inline]] inline
#define ON_CPU_UNSEEN [[gnu::noinline, clang::no_sanitize("coverage")]]
#else
#define ON_CPU_UNSEEN
#define ON_CPU_NOTE(adds_one)
#define ON_CPU_NOTE_MATCH(value)
#define ON_CPU_INLINE inline
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
ON_CPU_ATOMIC(atomicXor, __atomic_fetch_xor)
#undef ON_CPU_ATOMIC
#define ON_CPU_EXCHANGED(name, types, after)                             \
    template <typename T>                                                \
    requires(types) ON_CPU_INLINE T name(T* to, on_cpu::Same<T> value) { \
        ON_CPU_NOTE(false);                                              \
        return on_cpu::exchange(to, [&](T before) { return after; });    \
    }
#define ON_CPU_IS(type) (std::is_same_v<T, type>)
ON_CPU_EXCHANGED(atomicAdd, std::is_floating_point_v<T>, before + value)
ON_CPU_EXCHANGED(atomicExch, on_cpu::Word<T> || ON_CPU_IS(float), ((void)before, value))
ON_CPU_EXCHANGED(atomicMax, on_cpu::Word<T>, before < value ? value : before)
ON_CPU_EXCHANGED(atomicMin, on_cpu::Word<T>, value < before ? value : before)
ON_CPU_EXCHANGED(atomicInc, ON_CPU_IS(unsigned), before >= value ? 0 : before + 1)
ON_CPU_EXCHANGED(atomicDec, ON_CPU_IS(unsigned), before == 0 || before > value ? value : before - 1)
#undef ON_CPU_IS
#undef ON_CPU_EXCHANGED
template <on_cpu::Word T>
ON_CPU_INLINE T atomicCAS(T* to, on_cpu::Same<T> expected, on_cpu::Same<T> value) {
    ON_CPU_NOTE(false);
    __atomic_compare_exchange(to, &expected, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
/// What was written before a fence is known behind a later one, and behind a later barrier.
void __threadfence();

// ---- warps ----

namespace on_cpu {
inline constexpr unsigned kWarp = 32;

/// Waits for the lanes of the mask, those that the block has. One that has ended, or waits in
/// another call or with another mask, is an error of the launch. `orders`: as a barrier does.
/// @return the lanes that have come: all of them
unsigned meet(unsigned mask, std::uint64_t brings, bool orders, const char* what, Here here);
/// What a lane has brought to the last meeting; of a lane that was not there, 0.
std::uint64_t brought(unsigned lane);

template <typename T>
using Promoted = decltype(+T{});  // no less than an int, as the arguments of CUDA's functions
template <typename T>
std::uint64_t bits_of(T value) {
    std::uint64_t bits = 0;
    static_assert(sizeof value <= sizeof bits, "a warp hands on 4 or 8 bytes");
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}
template <typename T>
T brought_as(unsigned lane) {
    const std::uint64_t bits = brought(lane);
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
inline int lane() {
    return static_cast<int>((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) %
                            kWarp);
}
/// The lanes that have brought these bits.
ON_CPU_UNSEEN inline unsigned equal_to(std::uint64_t bits, unsigned came) {
    unsigned lanes = 0;
    for (unsigned lane = 0; lane < kWarp; ++lane)
        if ((came >> lane & 1U) != 0 && brought(lane) == bits) lanes |= 1U << lane;
    return lanes;
}
/// Gets what another lane has; where that one is not there, its own.
template <typename T>
ON_CPU_UNSEEN T shuffle(unsigned mask, T value, int from, bool is_there, const char* what,
                        Here here) {
    const unsigned came = meet(mask, bits_of(value), false, what, here);
    is_there = is_there && (came >> from & 1U) != 0;
    return is_there ? brought_as<T>(static_cast<unsigned>(from)) : value;
}
template <typename T, typename Both>
ON_CPU_UNSEEN T reduce(unsigned mask, T value, const char* what, Here here, const Both& both) {
    const unsigned came = meet(mask, bits_of(value), false, what, here);
    bool is_first = true;
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((came >> lane & 1U) == 0) continue;
        const T other = brought_as<T>(lane);
        value = std::exchange(is_first, false) ? other : static_cast<T>(both(value, other));
    }
    return value;
}
}  // namespace on_cpu

inline void __syncwarp(unsigned mask = ~0U, ON_CPU_HERE) {
    on_cpu::meet(mask, 0, true, "__syncwarp", here);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, ON_CPU_HERE) {
    return on_cpu::equal_to(1, on_cpu::meet(mask, predicate != 0, false, "__ballot_sync", here));
}
inline int __any_sync(unsigned mask, int predicate, ON_CPU_HERE) {
    const unsigned came = on_cpu::meet(mask, predicate != 0, false, "__any_sync", here);
    return on_cpu::equal_to(1, came) != 0;
}
inline int __all_sync(unsigned mask, int predicate, ON_CPU_HERE) {
    const unsigned came = on_cpu::meet(mask, predicate != 0, false, "__all_sync", here);
    return on_cpu::equal_to(1, came) == came;
}
template <typename T>
ON_CPU_UNSEEN unsigned __match_any_sync(unsigned mask, T value, ON_CPU_HERE) {
    const std::uint64_t bits = on_cpu::bits_of(on_cpu::Promoted<T>(value));
    ON_CPU_NOTE_MATCH(bits);
    return on_cpu::equal_to(bits, on_cpu::meet(mask, bits, false, "__match_any_sync", here));
}
template <typename T>
unsigned __match_all_sync(unsigned mask, T value, int* all, ON_CPU_HERE) {
    const std::uint64_t bits = on_cpu::bits_of(on_cpu::Promoted<T>(value));
    const unsigned came = on_cpu::meet(mask, bits, false, "__match_all_sync", here);
    *all = on_cpu::equal_to(bits, came) == came;
    return *all ? mask : 0;
}
// From which lane, of the `width` that this one is among.
#define ON_CPU_SHUFFLE(name, parameter, from_lane, is_there)                                       \
    template <typename T>                                                                          \
    on_cpu::Promoted<T> name(unsigned mask, T value, int parameter, int width = 32, ON_CPU_HERE) { \
        const int lane = on_cpu::lane(), first = lane / width * width, end = first + width;        \
        const int from = from_lane;                                                                \
        return on_cpu::shuffle<on_cpu::Promoted<T>>(mask, value, from, is_there && end > 0, #name, \
                                                    here);                                         \
    }
ON_CPU_SHUFFLE(__shfl_sync, source, first + (source & (width - 1)), true)
ON_CPU_SHUFFLE(__shfl_up_sync, by, lane - by, from >= first)
ON_CPU_SHUFFLE(__shfl_down_sync, by, lane + by, from < end)
ON_CPU_SHUFFLE(__shfl_xor_sync, by, lane ^ by, from < end)
#undef ON_CPU_SHUFFLE
#define ON_CPU_REDUCE(name, both)                                                       \
    template <typename T>                                                               \
    requires(sizeof(T) == 4) T name(unsigned mask, T value, ON_CPU_HERE) {              \
        return on_cpu::reduce(mask, value, #name, here, [](T a, T b) { return both; }); \
    }
ON_CPU_REDUCE(__reduce_add_sync, a + b)
ON_CPU_REDUCE(__reduce_min_sync, min(a, b))
ON_CPU_REDUCE(__reduce_max_sync, max(a, b))
ON_CPU_REDUCE(__reduce_and_sync, a& b)
ON_CPU_REDUCE(__reduce_or_sync, a | b)
ON_CPU_REDUCE(__reduce_xor_sync, a ^ b)
#undef ON_CPU_REDUCE

// ---- bits, and the bytes of a word ----
//
// Where a program is counted, those that are many instructions here and few on a GPU stay calls.

inline constexpr auto __popc = [](unsigned bits) { return __builtin_popcount(bits); };
inline constexpr auto __popcll = [](unsigned long long bits) { return __builtin_popcountll(bits); };
inline constexpr auto __ffs = [](int bits) { return __builtin_ffs(bits); };
inline constexpr auto __ffsll = [](long long bits) { return __builtin_ffsll(bits); };
inline constexpr auto __clz = [](unsigned bits) { return bits == 0 ? 32 : __builtin_clz(bits); };
inline constexpr auto __clzll = [](unsigned long long bits) {
    return bits == 0 ? 64 : __builtin_clzll(bits);
};
ON_CPU_UNSEEN constexpr unsigned __brev(unsigned bits) {
    unsigned reversed = 0;
    for (int i = 0; i < 32; ++i)
        reversed |= (bits >> i & 1U) << (31 - i);
    return reversed;
}
ON_CPU_UNSEEN constexpr unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
    unsigned chosen = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned how = selector >> 4 * i;
        unsigned byte = static_cast<unsigned>(bytes >> 8 * (how & 7U)) & 0xFFU;
        if ((how & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFFU : 0;  // its sign alone
        chosen |= byte << 8 * i;
    }
    return chosen;
}
ON_CPU_UNSEEN constexpr unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (by & 31U) >> 32);
}
ON_CPU_UNSEEN constexpr unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (by & 31U));
}

namespace on_cpu {
/// The pieces of two words, each an int, pair by pair; `most` is the largest piece.
template <typename T, typename Both>
constexpr unsigned pieces(unsigned a, unsigned b, const Both& both) {
    using Unsigned = std::make_unsigned_t<T>;
    unsigned result = 0;
    for (unsigned at = 0; at < 32; at += 8 * sizeof(T)) {
        const int piece = both(static_cast<T>(a >> at), static_cast<T>(b >> at), Unsigned(~0));
        result |= unsigned{static_cast<Unsigned>(piece)} << at;
    }
    return result;
}
}  // namespace on_cpu
#define ON_CPU_PIECES_OF(name, type, both)                                              \
    ON_CPU_UNSEEN constexpr unsigned name(unsigned a, unsigned b) {                     \
        return on_cpu::pieces<type>(                                                    \
            a, b, [](int x, int y, [[maybe_unused]] int most) -> int { return both; }); \
    }
#define ON_CPU_PIECES(name, sign, both)         \
    ON_CPU_PIECES_OF(name##2, sign short, both) \
    ON_CPU_PIECES_OF(name##4, sign char, both)
#define ON_CPU_COMPARED(name, sign, compared)              \
    ON_CPU_PIECES(__vcmp##name, sign, compared ? most : 0) \
    ON_CPU_PIECES(__vset##name, sign, compared)
ON_CPU_COMPARED(eq, unsigned, x == y)
ON_CPU_COMPARED(ne, unsigned, x != y)
ON_CPU_COMPARED(gtu, unsigned, x > y)
ON_CPU_COMPARED(geu, unsigned, x >= y)
ON_CPU_COMPARED(ltu, unsigned, x < y)
ON_CPU_COMPARED(leu, unsigned, x <= y)
ON_CPU_COMPARED(gts, signed, x > y)
ON_CPU_COMPARED(ges, signed, x >= y)
ON_CPU_COMPARED(lts, signed, x < y)
ON_CPU_COMPARED(les, signed, x <= y)
ON_CPU_PIECES(__vadd, unsigned, x + y)
ON_CPU_PIECES(__vsub, unsigned, x - y)
ON_CPU_PIECES(__vaddus, unsigned, x + y > most ? most : x + y)
ON_CPU_PIECES(__vsubus, unsigned, x < y ? 0 : x - y)
ON_CPU_PIECES(__vavgu, unsigned, (x + y + 1) / 2)
ON_CPU_PIECES(__vminu, unsigned, x < y ? x : y)
ON_CPU_PIECES(__vmaxu, unsigned, x < y ? y : x)
ON_CPU_PIECES(__vmins, signed, x < y ? x : y)
ON_CPU_PIECES(__vmaxs, signed, x < y ? y : x)
ON_CPU_PIECES(__vabsdiffu, unsigned, x < y ? y - x : x - y)
#undef ON_CPU_COMPARED
#undef ON_CPU_PIECES
#undef ON_CPU_PIECES_OF
ON_CPU_UNSEEN constexpr unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
    for (int at = 0; at < 32; at += 8)
        sum += (a >> at & 0xFFU) * (b >> at & 0xFFU);
    return sum;
}
ON_CPU_UNSEEN constexpr int __dp4a(int a, int b, int sum) {
    for (int at = 0; at < 32; at += 8)
        sum += static_cast<signed char>(a >> at) * static_cast<signed char>(b >> at);
    return sum;
}
constexpr unsigned __vsadu4(unsigned a, unsigned b) {
    return __dp4a(__vabsdiffu4(a, b), 0x0101'0101U, 0U);
}

template <typename T>
T __ldg(const T* from) {
    return *from;
}

// ---- the calls of the runtime ----

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
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
cudaError_t cudaMallocHost(void** memory, std::size_t bytes);
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags);
cudaError_t cudaHostGetDevicePointer(void** memory, void* of_host, unsigned flags);
cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned flags = 1);
cudaError_t cudaFree(void* memory);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaMemset(void* to, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);

/// The device's variables are the host's.
template <typename T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes,
                               std::size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) {
    return cudaMemcpy(reinterpret_cast<char*>(&symbol) + offset, from, bytes, cudaMemcpyDefault);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes,
                                 std::size_t offset = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    const char* const from = reinterpret_cast<const char*>(&symbol) + offset;
    return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}

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
#define ON_CPU_TYPED(name)                                                           \
    template <typename T, typename... More>                                          \
    requires(!std::is_void_v<T>) cudaError_t name(T** memory, const More&... more) { \
        return name(reinterpret_cast<void**>(memory), more...);                      \
    }
ON_CPU_TYPED(cudaMalloc)
ON_CPU_TYPED(cudaMallocHost)
ON_CPU_TYPED(cudaMallocManaged)
ON_CPU_TYPED(cudaHostGetDevicePointer)
ON_CPU_TYPED(cudaHostAlloc)
#undef ON_CPU_TYPED

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
    const void* function;  ///< the kernel itself; or what only this one is called by
};

/// A pointer among a kernel's arguments.
struct Pointer {
    const void* to;
    bool is_written;  ///< it may be
};

/// Runs the kernel for every thread of every block; checks the launch, and its pointers, before.
void run(const KernelCall& launch, const Pointer* pointers, std::size_t pointer_count);

template <typename Kernel, typename... P>
void start(KernelCall launch, const Kernel& kernel, P... arguments) {
    const auto call = [&] { kernel(arguments...); };
    launch.kernel = [](const void* it) { (*static_cast<const decltype(call)*>(it))(); };
    launch.arguments = &call;
    if (launch.function == nullptr) launch.function = reinterpret_cast<const void*>(launch.kernel);
    Pointer pointers[sizeof...(P) + 1] = {};  // NOLINT(modernize-avoid-c-arrays)
    std::size_t count = 0;
    [[maybe_unused]] const auto note = [&]<typename T>(const T& argument) {
        if constexpr (std::is_pointer_v<T>)
            pointers[count++] = {argument, !std::is_const_v<std::remove_pointer_t<T>>};
    };
    (note(arguments), ...);
    run(launch, pointers, count);
}
template <typename... P>
auto launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes = 0,
            cudaStream_t stream = nullptr) {
    return [=](Same<P>... arguments) {
        start({grid, block, shared_bytes, stream, nullptr, nullptr,
               reinterpret_cast<const void*>(kernel)},
              kernel, arguments...);
    };
}
/// The kernel is a template, whose arguments follow from these.
template <typename Kernel>
auto launch(Kernel kernel, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
            cudaStream_t stream = nullptr) {
    return [=](auto... arguments) {
        start({grid, block, shared_bytes, stream, nullptr, nullptr, nullptr}, kernel, arguments...);
    };
}

/// The block's variable that is declared here; it holds the poison at first.
void* shared_at(std::size_t bytes, std::size_t alignment, const void* key);
/// What the launch asked for.
void* dynamic_shared_memory();

/// `Aligned` is a type of its own for each declaration, aligned as that says.
template <typename T, typename Aligned>
T& shared() {
    static constexpr char key = 0;
    return *static_cast<T*>(shared_at(sizeof(T), max(alignof(T), alignof(Aligned)), &key));
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
// ---- what there is on a GPU alone ----

#define ON_CPU_MISSING(result, name) \
    template <typename... T>         \
    [[gnu::error("CUDA has this word, and this emulation does not")]] result name(T...);
ON_CPU_MISSING(void, inline_asm)
#define ON_CPU_ASM(...) static_cast<void>(0)
ON_CPU_MISSING(unsigned, __activemask)
ON_CPU_MISSING(void, __nanosleep)
ON_CPU_MISSING(void, __stcs)
ON_CPU_MISSING(int, __syncthreads_and)
ON_CPU_MISSING(int, __syncthreads_count)
ON_CPU_MISSING(int, __syncthreads_or)
ON_CPU_MISSING(void, __trap)
ON_CPU_MISSING(unsigned, __umulhi)
ON_CPU_MISSING(long long, clock64)
ON_CPU_MISSING(float, tex1Dfetch)
ON_CPU_MISSING(float, tex2D)
ON_CPU_MISSING(cudaError_t, cudaDeviceReset)
ON_CPU_MISSING(cudaError_t, cudaFreeAsync)
ON_CPU_MISSING(cudaError_t, cudaLaunchCooperativeKernel)
ON_CPU_MISSING(cudaError_t, cudaMallocAsync)
ON_CPU_MISSING(cudaError_t, cudaMallocPitch)
ON_CPU_MISSING(cudaError_t, cudaMemcpy2D)
ON_CPU_MISSING(cudaError_t, cudaMemPrefetchAsync)
ON_CPU_MISSING(cudaError_t, cudaOccupancyMaxPotentialBlockSize)
ON_CPU_MISSING(unsigned, umax)
ON_CPU_MISSING(unsigned, umin)

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
