// CUDA on a CPU has CUDA's rules: what a launch may be, which errors stay, what misuse is answered
// with. And what depends on an order of threads shows.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/histogram/histogram.hpp"

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

__global__ void part_ways() {
    if (threadIdx.x < 16)
        __syncthreads();
    else
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
    refused(1, 32, 48 * 1024 + 1, cudaErrorInvalidValue);
    too_much_shared<<<1, 1, 20 * 1024>>>(counter);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    too_much_shared<<<1, 1, 16 * 1024>>>(counter);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    // Who asks for more shared memory than all have gets none.
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

TEST(OnCpuMemory, HoldsThePoisonAndIsAligned) {
    unsigned* const memory = device_memory(3);
    EXPECT_EQ(copied(memory, 3), std::vector<unsigned>(3, common::kPoison));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0U);
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

// Each in a process of its own: such an error stays.
TEST(OnCpuFailure, AnEarlyReturnIsOneAndStays) {
    leave_early<<<2, 64>>>(64);
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
    leave_early<<<2, 64>>>(40);
    ASSERT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
    const std::string why = cudaGetErrorString(cudaErrorLaunchFailure);
    EXPECT_NE(why.find("40 of 64 wait at "), std::string::npos) << why;
    EXPECT_NE(why.find("on_cpu_test.cu:" + std::to_string(kBarrierOfLeaveEarly)), std::string::npos)
        << why;
    EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorLaunchFailure);
}

TEST(OnCpuFailure, TwoBarriersAreNotOne) {
    part_ways<<<1, 32>>>();
    ASSERT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    const std::string why = cudaGetErrorString(cudaErrorLaunchFailure);
    EXPECT_NE(why.find("others at "), std::string::npos) << why;
}

TEST(OnCpuFailure, TheHostsOwnMemoryIsNone) {
    unsigned host = 0;
    add_one<<<1, 1>>>(&host);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQ(host, 0U);
}

}  // namespace
