/// @file
/// Cooperative groups as far as a block, and tiles of a warp: cuda_runtime.h says how its lanes
/// meet.
#pragma once

#include "common/cuda/on_cpu/cuda_runtime.h"

namespace cooperative_groups {

struct thread_block {
    static void sync(ON_CPU_HERE) { __syncthreads(here); }
    static unsigned thread_rank() {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return size(); }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_index() { return blockIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() {
    return {};
}

/// A power of two of neighbouring lanes.
template <unsigned Size, typename Parent = void>
struct thread_block_tile {
    static_assert(Size <= on_cpu::kWarp && (Size & (Size - 1)) == 0);
    thread_block_tile() = default;
    template <typename Other>
    thread_block_tile(thread_block_tile<Size, Other>) {}

    static unsigned thread_rank() { return static_cast<unsigned>(on_cpu::lane()) % Size; }
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
    static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
    static void sync(ON_CPU_HERE) { __syncwarp(mask(), here); }
    static int any(int predicate, ON_CPU_HERE) { return __any_sync(mask(), predicate, here); }
    static int all(int predicate, ON_CPU_HERE) { return __all_sync(mask(), predicate, here); }
    static unsigned ballot(int predicate, ON_CPU_HERE) {
        return __ballot_sync(mask(), predicate, here) >> first();
    }
    template <typename T>
    static unsigned match_any(T value, ON_CPU_HERE) {
        return __match_any_sync(mask(), value, here) >> first();
    }
    template <typename T>
    static T shfl(T value, int source, ON_CPU_HERE) {
        return static_cast<T>(__shfl_sync(mask(), value, source, Size, here));
    }
    template <typename T>
    static T shfl_up(T value, int by, ON_CPU_HERE) {
        return static_cast<T>(__shfl_up_sync(mask(), value, by, Size, here));
    }
    template <typename T>
    static T shfl_down(T value, int by, ON_CPU_HERE) {
        return static_cast<T>(__shfl_down_sync(mask(), value, by, Size, here));
    }
    template <typename T>
    static T shfl_xor(T value, int by, ON_CPU_HERE) {
        return static_cast<T>(__shfl_xor_sync(mask(), value, by, Size, here));
    }

    static unsigned first() { return static_cast<unsigned>(on_cpu::lane()) / Size * Size; }
    static unsigned mask() { return ~0U >> (on_cpu::kWarp - Size) << first(); }
};
template <unsigned Size, typename Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
    return {};
}

// The lanes that happen to be at one place: here all are at places of their own.
using coalesced_group = thread_block_tile<32>;
ON_CPU_MISSING(coalesced_group, coalesced_threads)
ON_CPU_MISSING(thread_block, this_grid)

template <typename Group>
void sync(const Group&, ON_CPU_HERE) {
    Group::sync(here);
}

template <typename T>
struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T>
struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
/// What all lanes of the tile have, put together; each lane gets it.
template <unsigned Size, typename Parent, typename T, typename Both>
T reduce(const thread_block_tile<Size, Parent>& tile, T value, const Both& both, ON_CPU_HERE) {
    return on_cpu::reduce(tile.mask(), value, "cooperative_groups::reduce", here, both);
}

}  // namespace cooperative_groups
