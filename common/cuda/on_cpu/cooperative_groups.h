// Cooperative groups as far as a block, and tiles of a warp: cuda_runtime.h says how its lanes
// meet.
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
#define ON_CPU_SHUFFLE(name)                                                   \
    template <typename T>                                                      \
    static T name(T value, int by, ON_CPU_HERE) {                              \
        return static_cast<T>(__##name##_sync(mask(), value, by, Size, here)); \
    }
    ON_CPU_SHUFFLE(shfl)
    ON_CPU_SHUFFLE(shfl_up)
    ON_CPU_SHUFFLE(shfl_down)
    ON_CPU_SHUFFLE(shfl_xor)
#undef ON_CPU_SHUFFLE

    static unsigned first() {
        return static_cast<unsigned>(on_cpu::lane()) / Size * Size;
    }
    static unsigned mask() {
        return ~0U >> (on_cpu::kWarp - Size) << first();
    }
};
template <unsigned Size, typename Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
    return {};
}

// The lanes that happen to be at one place: here all are at places of their own.
using coalesced_group = thread_block_tile<32>;
ON_CPU_MISSING(coalesced_group, coalesced_threads)
ON_CPU_MISSING(coalesced_group, labeled_partition)
ON_CPU_MISSING(thread_block, this_grid)

template <typename Group>
void sync(const Group&, ON_CPU_HERE) {
    Group::sync(here);
}

#define ON_CPU_BOTH(name, both)                       \
    template <typename T>                             \
    struct name {                                     \
        T operator()(T a, T b) const { return both; } \
    };
ON_CPU_BOTH(plus, a + b)
ON_CPU_BOTH(less, b < a ? b : a)
ON_CPU_BOTH(greater, a < b ? b : a)
ON_CPU_BOTH(bit_and, a& b)
ON_CPU_BOTH(bit_or, a | b)
ON_CPU_BOTH(bit_xor, a ^ b)
#undef ON_CPU_BOTH
/// What all lanes of the tile have, put together; each lane gets it.
template <unsigned Size, typename Parent, typename T, typename Both>
T reduce(const thread_block_tile<Size, Parent>& tile, T value, const Both& both, ON_CPU_HERE) {
    return on_cpu::reduce(tile.mask(), value, "cooperative_groups::reduce", here, both);
}

}  // namespace cooperative_groups
