// CUDA on a CPU has CUDA's rules: what a launch may be, which errors stay, what misuse is answered
// with. And what depends on an order of threads shows.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cuda/atomic>

#include "common/histogram/histogram.hpp"
#include "common/verify/watchdog.hpp"

namespace {

__global__ void add_one(unsigned* counter) {
    atomicAdd(counter, 1U);
}

// From {0, n, all bits, 0, 0, 0, 0} with n threads. The last two are counted by exchanges: of each
// value that is put in, one comes out or stays.
__global__ void use_atomics(unsigned* values, float* sum) {
    const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, 0.5F);
    atomicSub(&values[1], 1U);
    atomicAnd(&values[2], ~(1U << number % 32));
    atomicOr(&values[3], 1U << number % 32);
    atomicMax(&values[4], number);
    for (unsigned seen = 0, before; (before = atomicCAS(&values[5], seen, seen + 1)) != seen;)
        seen = before;
    atomicAdd(&values[0], atomicExch(&values[6], number));
}

// More than a thread has.
__global__ void need_a_large_stack(unsigned* sum) {
    volatile unsigned counters[100'000];
    for (unsigned i = 0; i < 100'000; ++i)
        counters[i] = i;
    *sum = counters[threadIdx.x];
}

__global__ void note_order(unsigned* order, unsigned* next) {
    order[atomicAdd(next, 1U)] = blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void read_shared(unsigned* first, unsigned* second) {
    __shared__ unsigned table[256];
    extern __shared__ unsigned words[];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    first[i] = table[threadIdx.x];
    second[i] = words[threadIdx.x];
    __syncthreads();
    table[threadIdx.x] = 1;
    words[threadIdx.x] = 2;
}

__global__ void reverse(unsigned* values) {
    __shared__ unsigned table[1024];
    const unsigned i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    table[i] = values[i];
    __syncthreads();
    values[i] = table[blockDim.x * blockDim.y * blockDim.z - 1 - i];
}

__global__ void too_much_shared(unsigned* out) {
    __shared__ unsigned table[8192];
    table[threadIdx.x] = 1;
    *out = table[0];
}

constexpr int kBarrierOfLeaveEarly = __LINE__ + 3;
__global__ void leave_early(unsigned count) {
    if (threadIdx.x >= count) return;
    __syncthreads();
}

// Which of a kernel's expectations have not come: a bit each.
struct Expect {
    __device__ void operator()(bool is_right) {
        if (!is_right) atomicOr(failed, 1ULL << n);
        ++n;
    }
    unsigned long long* failed;
    int n = 0;
};

// The last warp may have fewer lanes.
__global__ void use_warps(unsigned long long* failed) {
    Expect expect{failed};
    const unsigned lane = threadIdx.x % warpSize;
    const unsigned there = min(32U, blockDim.x - threadIdx.x / 32 * 32);
    const unsigned all = ~0U >> (32 - there);
    const unsigned next = min(lane + 1, there - 1);
    expect(__ballot_sync(~0U, lane % 3 == 0) == (0x4924'9249U & all));
    expect(__any_sync(~0U, lane == 5 ? 2 : 0) && !__any_sync(~0U, lane == 50));
    expect(__all_sync(~0U, lane < 32) && !__all_sync(~0U, lane < 7));
    expect(__match_any_sync(~0U, lane % 2) == (0x5555'5555U << lane % 2 & all));
    expect(__shfl_sync(~0U, 10 * lane, 3) == 30);
    expect(__shfl_sync(~0U, lane, 9, 8) == lane / 8 * 8 + 1);
    expect(__shfl_up_sync(~0U, lane, 2, 4) == (lane % 4 < 2 ? lane : lane - 2));
    expect(__shfl_down_sync(~0U, 1.5F + lane, 1) == 1.5F + next);
    expect(__shfl_down_sync(~0U, lane, 3, 4) == lane / 4 * 4 + (lane % 4 == 0 ? 3 : lane % 4));
    expect(__shfl_xor_sync(~0U, 1ULL << 40 | lane, 1) == (1ULL << 40 | (lane ^ 1U)));
    expect(__shfl_xor_sync(~0U, lane, 8, 8) == (lane & ~8U));  // of those before, not behind
    expect(__reduce_add_sync(~0U, lane) == there * (there - 1) / 2);
    expect(__reduce_min_sync(~0U, 5 - static_cast<int>(lane)) == 6 - static_cast<int>(there));
    expect(__reduce_max_sync(~0U, lane) == there - 1 && __reduce_xor_sync(~0U, lane) == 0);
    expect(__reduce_or_sync(~0U, lane) == there - 1 && __reduce_and_sync(~0U, lane | 8) == 8);
    expect(lane % 2 != 0 || __ballot_sync(0x5555'5555U, lane > 3) == (0x5555'5550U & all));
    int same = 2;
    expect(__match_all_sync(~0U, lane, &same) == 0 && same == 0);

    namespace cg = cooperative_groups;
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    expect(block.thread_rank() == threadIdx.x && block.size() == blockDim.x);
    expect(tile.thread_rank() == lane % 8 && tile.size() == 8);
    expect(tile.meta_group_rank() == threadIdx.x / 8 && tile.meta_group_size() == blockDim.x / 8);
    expect(tile.ballot(lane % 8 == 2) == 4 && tile.any(lane % 8 == 7) && !tile.all(lane % 8 < 3));
    expect(tile.match_any(lane % 8 / 4) == (lane % 8 < 4 ? 0xFU : 0xF0U));
    expect(tile.shfl(threadIdx.x, 7) == threadIdx.x / 8 * 8 + 7);
    expect(cg::reduce(tile, 2U, cg::plus<unsigned>()) == 16);
    expect(cg::reduce(tile, lane % 8, cg::greater<unsigned>()) == 7);
    cg::sync(block);
    // Through memory, to its neighbour.
    __shared__ unsigned boxes[64];
    boxes[threadIdx.x] = lane;
    __syncwarp();
    expect(boxes[threadIdx.x - lane + (lane + 1) % there] == (lane + 1) % there);
}

__constant__ unsigned kOf[2] = {0, 7};
__device__ __noinline__ unsigned second(const unsigned* from) {
    return __ldg(from + 1);
}

// With 64 threads.
__global__ void use_words(unsigned long long* failed) {
    Expect expect{failed};
    static __shared__ unsigned counters[8], last, tables[2][3];
    __shared__ alignas(16) unsigned char bytes[5];
    volatile __shared__ __align__(8) unsigned short halves[3];
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> whole;
    const auto at = [](const volatile void* it) { return reinterpret_cast<std::uintptr_t>(it); };
    if (threadIdx.x < 8) counters[threadIdx.x] = 4;
    if (threadIdx.x == 0) {
        last = tables[1][2] = bytes[4] = 9;
        halves[2] = 9;
        whole = 1;
    }
    __syncthreads();
    expect(last + tables[1][2] + bytes[4] + halves[2] == 36 && counters[7] == 4);
    expect(at(bytes) % 16 == 0 && at(halves) % 8 == 0);
    atomicInc(&counters[0], 5);
    atomicDec(&counters[1], 5);
    atomicMin(&counters[2], threadIdx.x - 1 < 64 ? threadIdx.x : 3U);
    atomicXor(&counters[3], threadIdx.x);
    atomicAdd_block(&counters[4], 2);
    cuda::atomic_ref<unsigned, cuda::thread_scope_block>(counters[5]).fetch_max(threadIdx.x);
    cuda::atomic_ref<unsigned>(counters[6]).fetch_add(2, cuda::std::memory_order_relaxed);
    ++whole;
    __syncthreads();
    expect(counters[0] == (4 + 64) % 6 && counters[1] == (4 + 2) % 6);
    expect(counters[2] == 1 && counters[3] == 4 && counters[4] == 132);
    expect(counters[5] == 63 && counters[6] == 132 && whole == 65);
    expect(second(kOf) == 7);
    expect(__popc(0xF0U) == 4 && __popcll(1ULL << 40) == 1 && __ffs(8) == 4 && __clz(1) == 31);
    expect(__brev(1) == 1U << 31 && __byte_perm(0x3322'1100, 0x7766'5544, 0x8174) == 0x0011'7744);
    expect(__vcmpeq4(0x0102'0304, 0x0109'0304) == 0xFF00'FFFF &&
           __vcmpgtu4(0xFF00'0201, 0x0100'0301) == 0xFF00'0000);
    expect(__vcmpgts4(0xFF00'0201, 0x0100'0101) == 0xFF00 &&
           __vseteq2(0x1'0002, 0x1'0003) == 0x1'0000);
    expect(__vadd4(0x01FF'0102, 0x0101'0101) == 0x0200'0203 && __vsub4(0, 0x0000'0001) == 0xFF);
    expect(__vaddus4(0xFF, 0x02) == 0xFF && __vminu4(0x0105, 0x0302) == 0x0102 &&
           __vmaxs2(0xFFFF, 1) == 1);
    expect(__vsadu4(0x0102'0304, 0x0201'0404) == 3 && __dp4a(0x0102'0304U, 0x0101'0101U, 5U) == 15);
    expect(make_ushort2(1, 2).y + make_float4(1, 2, 3, 4).w == 6 && sizeof(uchar3) == 3 &&
           alignof(double2) == 16);
    if (threadIdx.x == 0) printf("%u lanes\n", warpSize);
}

template <typename Act>
__global__ void for_all(Act act) {
    act(threadIdx.x);
}

constexpr int kBallot = __LINE__ + 3;
__global__ void leave_a_warp(unsigned count, bool waits) {
    if (threadIdx.x < count)
        __ballot_sync(~0U, 1);
    else if (waits)
        __syncthreads();
}

template <typename T = unsigned>
T* device_memory(std::size_t count) {
    T* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, count * sizeof(T)), cudaSuccess);
    return memory;
}

std::vector<unsigned> copied(const unsigned* from, std::size_t count) {
    std::vector<unsigned> to(count);
    EXPECT_EQ(cudaMemcpy(to.data(), from, count * sizeof(unsigned), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return to;
}

std::vector<unsigned> order_of(const char* seed, unsigned blocks) {
    setenv("CUDA_ON_CPU_ORDER", seed, 1);
    unsigned* const order = device_memory(96);
    unsigned* const next = device_memory(1);
    EXPECT_EQ(cudaMemset(next, 0, sizeof(unsigned)), cudaSuccess);
    note_order<<<blocks, 96 / blocks>>>(order, next);
    unsetenv("CUDA_ON_CPU_ORDER");
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    return copied(order, 96);
}

TEST(OnCpuLaunch, EveryThreadOfEveryBlockRuns) {
    unsigned* const counter = device_memory(1);
    ASSERT_EQ(cudaMemset(counter, 0, sizeof(unsigned)), cudaSuccess);
    add_one<<<dim3(3, 5, 2), dim3(7, 3, 2)>>>(counter);
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(copied(counter, 1)[0], 3U * 5 * 2 * 7 * 3 * 2);
}

TEST(OnCpuLaunch, AtomicsLoseNothing) {
    constexpr unsigned kBlocks = 1000;
    constexpr unsigned kThreads = kBlocks * 256;
    const std::vector<unsigned> begin{0, kThreads, ~0U, 0, 0, 0, 0};
    unsigned* const values = device_memory(begin.size());
    auto* const sum = device_memory<float>(1);
    ASSERT_EQ(
        cudaMemcpy(values, begin.data(), begin.size() * sizeof(unsigned), cudaMemcpyHostToDevice),
        cudaSuccess);
    ASSERT_EQ(cudaMemset(sum, 0, sizeof *sum), cudaSuccess);
    use_atomics<<<kBlocks, kThreads / kBlocks>>>(values, sum);
    float total = 0;
    ASSERT_EQ(cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(total, kThreads / 2);
    std::vector<unsigned> end = copied(values, begin.size());
    end[0] += end[6];
    EXPECT_EQ(end[0], kThreads / 2 * (kThreads - 1));
    end.resize(6);
    EXPECT_EQ(end, (std::vector<unsigned>{end[0], 0, 0, ~0U, kThreads - 1, kThreads}));
}

TEST(OnCpuLaunch, WhatCudaRefusesIsRefusedOnce) {
    unsigned* const counter = device_memory(1);
    const auto refused = [&](dim3 grid, dim3 block, std::size_t shared, cudaError_t why) {
        add_one<<<grid, block, shared>>>(counter);
        EXPECT_EQ(cudaPeekAtLastError(), why);
        EXPECT_EQ(cudaGetLastError(), why);
        EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    };
    refused(0, 32, 0, cudaErrorInvalidConfiguration);
    refused(1, 0, 0, cudaErrorInvalidConfiguration);
    refused(1, 1025, 0, cudaErrorInvalidConfiguration);
    refused(1, dim3(32, 33), 0, cudaErrorInvalidConfiguration);
    refused(1, dim3(1, 1, 65), 0, cudaErrorInvalidConfiguration);
    refused(dim3(1, 65536), 1, 0, cudaErrorInvalidConfiguration);
    refused(dim3(1, 1, 65536), 1, 0, cudaErrorInvalidConfiguration);
    refused(1, 32, 48 * 1024 + 1, cudaErrorInvalidValue);
    too_much_shared<<<1, 1, 20 * 1024>>>(counter);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    too_much_shared<<<1, 1, 16 * 1024>>>(counter);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    // More shared memory than a block can have is refused.
    const auto asked = [](int bytes) {
        return cudaFuncSetAttribute(add_one, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    };
    EXPECT_EQ(asked(48 * 1024), cudaSuccess);
    EXPECT_EQ(asked(48 * 1024 + 1), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(OnCpuLaunch, SharedMemoryHoldsThePoisonInEachBlock) {
    unsigned* const first = device_memory(1024);
    unsigned* const second = device_memory(1024);
    for (int launch = 0; launch < 2; ++launch) {
        read_shared<<<4, 256, 1024>>>(first, second);
        ASSERT_EQ(cudaGetLastError(), cudaSuccess);
        const std::vector<unsigned> poison(1024, common::kPoison);
        EXPECT_EQ(copied(first, 1024), poison);
        EXPECT_EQ(copied(second, 1024), poison);
    }
}

TEST(OnCpuLaunch, ABarrierIsOneInThreeDimensions) {
    std::vector<unsigned> values(1024);
    for (unsigned i = 0; i < 1024; ++i)
        values[i] = i;
    unsigned* const memory = device_memory(1024);
    ASSERT_EQ(cudaMemcpy(memory, values.data(), 4096, cudaMemcpyHostToDevice), cudaSuccess);
    reverse<<<1, dim3(8, 16, 8)>>>(memory);
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(copied(memory, 1024), std::vector<unsigned>(values.rbegin(), values.rend()));
}

TEST(OnCpuLaunch, TheOrderIsTheSeeds) {
    std::vector<unsigned> up(96);
    for (unsigned i = 0; i < 96; ++i)
        up[i] = i;
    const std::vector<unsigned> down(up.rbegin(), up.rend());
    EXPECT_EQ(order_of("0", 1), up);
    EXPECT_EQ(order_of("1", 1), down);
    EXPECT_NE(order_of("2", 1), up);
    EXPECT_NE(order_of("2", 1), order_of("3", 1));
    EXPECT_EQ(order_of("3", 1), order_of("3", 1));
}

// One bit for each expectation that has not come, in any order of threads.
unsigned long long failed_in(void (*kernel)(unsigned long long*), unsigned threads) {
    unsigned long long* failed = nullptr;
    EXPECT_EQ(cudaMallocManaged(&failed, sizeof *failed), cudaSuccess);
    const unsigned long long none = 0;  // managed memory is the host's, too
    EXPECT_EQ(cudaMemcpy(failed, &none, sizeof none, cudaMemcpyHostToHost), cudaSuccess);
    for (const char* const order : {"0", "1", "2", "3"}) {
        setenv("CUDA_ON_CPU_ORDER", order, 1);
        kernel<<<3, threads>>>(failed);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess)
            << cudaGetErrorString(cudaErrorLaunchFailure);
    }
    unsetenv("CUDA_ON_CPU_ORDER");
    return *failed;
}

TEST(OnCpuWarp, VotesShufflesReducesAndOrdersMemory) {
    EXPECT_EQ(failed_in(use_warps, 64), 0U);
    EXPECT_EQ(failed_in(use_warps, 40), 0U);
}

TEST(OnCpuWords, MeanWhatTheyMean) {
    EXPECT_EQ(failed_in(use_words, 64), 0U);
    const unsigned eight = 8;
    EXPECT_EQ(cudaMemcpyToSymbol(kOf, &eight, sizeof eight, sizeof eight), cudaSuccess);
    EXPECT_EQ(failed_in(use_words, 64), 1U << 5);
}

void number(unsigned* order, unsigned from) {
    for_all<<<1, 96>>>([=] __device__(unsigned i) { order[i] = from + i; });
}

TEST(OnCpuWords, ALaunchTellsTheArgumentsOfATemplate) {
    unsigned* const order = device_memory(96);
    number(order, 5);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(copied(order, 96)[95], 100U);
}

TEST(OnCpuMemory, HoldsThePoisonAndIsAligned) {
    unsigned* const memory = device_memory(3);
    EXPECT_EQ(copied(memory, 3), std::vector<unsigned>(3, common::kPoison));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0U);
}

TEST(OnCpuMemory, WhatIsGivenBackCanBeHadAgain) {
    constexpr std::size_t kSome = std::size_t{16} << 20;  // of 4 GiB in all
    for (std::size_t used = 0; used <= std::size_t{4} << 30; used += kSome)
        ASSERT_EQ(cudaFree(device_memory<std::byte>(kSome)), cudaSuccess);
}

TEST(OnCpuMemory, MisuseIsAnswered) {
    unsigned* const memory = device_memory(4);
    std::array<unsigned, 8> host{};
    EXPECT_EQ(cudaMemcpy(memory, host.data(), 16, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(memory, host.data(), 17, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(memory, host.data(), 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(host.data(), host.data() + 4, 16, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemset(host.data(), 0, 16), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemset(memory, 0, 17), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(host.data()), cudaErrorInvalidValue);
    // Of host memory, only what was asked for is there for the device.
    unsigned char* pinned = nullptr;
    unsigned char* seen = nullptr;
    ASSERT_EQ(cudaHostAlloc(&pinned, 16, cudaHostAllocMapped), cudaSuccess);
    EXPECT_EQ(cudaHostGetDevicePointer(&seen, pinned, 0), cudaSuccess);
    EXPECT_EQ(seen, pinned);
    for (void* other : {static_cast<void*>(host.data()), static_cast<void*>(memory)})
        EXPECT_EQ(cudaHostGetDevicePointer(&seen, other, 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(memory), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
    EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
    void* none = &host;
    EXPECT_EQ(cudaMalloc(&none, 0), cudaSuccess);
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(cudaMalloc(&none, std::size_t{1} << 50), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(OnCpuMemory, HandlesAreChecked) {
    cudaEvent_t begin = nullptr;
    cudaEvent_t untimed = nullptr;
    float time_ms = 0;
    ASSERT_EQ(cudaEventCreate(&begin), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&time_ms, begin, begin), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaEventRecord(begin), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(untimed), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&time_ms, begin, begin), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&time_ms, begin, untimed), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaEventDestroy(begin), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(begin), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
    cudaGetLastError();
}

void expect_why(const std::string& part) {
    const std::string why = cudaGetErrorString(cudaErrorLaunchFailure);
    EXPECT_NE(why.find(part), std::string::npos) << why;
}

// Each in a process of its own: such an error stays.
TEST(OnCpuFailure, AnEarlyReturnIsOneAndStays) {
    leave_early<<<2, 64>>>(64);
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
    leave_early<<<2, 64>>>(40);
    ASSERT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
    expect_why("40 of 64 wait at ");
    expect_why("on_cpu_test.cu:" + std::to_string(kBarrierOfLeaveEarly));
    EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorLaunchFailure);
}

TEST(OnCpuFailure, ALaneThatHasEndedIsMissed) {
    leave_a_warp<<<1, 64>>>(64, false);
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
    leave_a_warp<<<1, 64>>>(40, false);
    ASSERT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
    expect_why("thread 32 waits in __ballot_sync at ");
    expect_why(":" + std::to_string(kBallot) + " for lane 8 of its warp, which has ended");
}

TEST(OnCpuFailure, ALaneAtABarrierIsMissed) {
    leave_a_warp<<<1, 64>>>(40, true);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    expect_why(":" + std::to_string(kBallot) +
               " for lane 8 of its warp, which waits in __syncthreads at ");
    expect_why("on_cpu_test.cu:" + std::to_string(kBallot + 2));
}

TEST(OnCpuFailureDeathTest, AnOverflownStackHasItsLine) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a build with sanitizers: a crash is theirs";
#endif
    const auto overflow = [] {
        const common::Watchdog watchdog("deep", 1);
        need_a_large_stack<<<1, 2>>>(device_memory(1));
    };
    EXPECT_EXIT(overflow(), testing::ExitedWithCode(2), "\ndeep: it crashed; most likely .* stack");
}

TEST(OnCpuFailure, TheHostsOwnMemoryIsNone) {
    unsigned host = 0;
    add_one<<<1, 1>>>(&host);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQ(host, 0U);
}

}  // namespace
