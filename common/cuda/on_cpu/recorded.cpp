// What the threads of an emulated launch do, recorded for counts.cpp. clang++ calls a hook before
// each load and store of the kernel, and at the beginning of each basic block (counted.rsp has its
// options); the atomics of cuda_runtime.h call one of their own. Only the blocks that are counted
// run, so the histogram is not right.
#include "common/cuda/on_cpu/blocks.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <set>

#include "common/cuda/on_cpu/counts.hpp"

namespace on_cpu::recorded {

using counts::Access;

struct Thread {
    std::uintptr_t stack, stack_end;
    std::size_t block = 0;  // that it was last in, in the order in which they began
    counts::Lane lane;
};

namespace {

struct Allocation {
    std::uintptr_t begin = 1, end = 0;
    std::uint16_t number = 0;
};

// The launch that is counted; and when it runs again, the load that gets another value.
struct Counted {
    std::unique_ptr<counts::Launch> launch;
    const void* kernel = nullptr;
    std::map<std::uintptr_t, Allocation> allocations;
    std::vector<std::size_t> to_follow;
    std::optional<std::size_t> follows;
    std::vector<Access> again;  // the first lane's
};
Counted now;
// Where constant memory is: of each program or library.
std::vector<std::pair<std::uintptr_t, std::uintptr_t>> constants;

// Of a thread of the processor.
struct Crew {
    Thread* thread = nullptr;
    std::size_t block = 0;
    std::uintptr_t shared = 0, shared_end = 0;
    std::optional<counts::Group> group;
    std::vector<counts::Lane*> lanes;
    std::array<Allocation, 4> known;
    unsigned next_known = 0;
    std::size_t most = 0;  // accesses of a thread between barriers
    unsigned char* changed = nullptr;
    unsigned changed_bytes = 0;
};
thread_local Crew crew;

const Allocation* allocation_of(const void* memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    for (const Allocation& each : crew.known)
        if (address >= each.begin && address < each.end) return &each;
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    if (!device_memory_of(memory, begin, bytes)) return nullptr;
    const std::lock_guard lock(now.launch->one_at_a_time);
    const auto number = static_cast<std::uint16_t>(now.allocations.size());
    const auto [found, is_new] =
        now.allocations.try_emplace(begin, Allocation{begin, begin + bytes, number});
    if (is_new) now.launch->allocations.push_back(bytes);
    return &(crew.known[crew.next_known++ % crew.known.size()] = found->second);
}

void change_back() {
    for (unsigned i = 0; i < crew.changed_bytes; ++i)
        crew.changed[i] ^= 0x55U;
    crew.changed_bytes = 0;
}

void note(std::uintptr_t site, const void* to, unsigned bytes, counts::What what) {
    Thread* const thread = crew.thread;
    if (thread == nullptr) return;
    if (crew.changed_bytes > 0) change_back();
    counts::Lane& lane = thread->lane;
    if (thread->block != crew.block) {
        thread->block = crew.block;
        lane.number = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        lane.accesses.clear();
        lane.left_out = 0;
        crew.lanes.push_back(&lane);
    }
    if (lane.accesses.size() >= crew.most) {
        ++lane.left_out;
        return;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(to);
    Access access{site, 0, 0, static_cast<std::uint8_t>(bytes), what, counts::kGlobal};
    if (what == counts::kBlock) {
        // Nothing is accessed.
    } else if (what == counts::kMatch) {
        access.memory = counts::kLocal;
        access.at = address;
    } else if (address >= crew.shared && address < crew.shared_end) {
        access.memory = counts::kLocal;
        access.at = address - crew.shared;
    } else if (address >= thread->stack && address < thread->stack_end) {
        access.memory = counts::kOwn;
        access.at = thread->stack_end - address;
    } else if (std::any_of(constants.begin(), constants.end(), [address](const auto& each) {
                   return address >= each.first && address < each.second;
               })) {
        access.memory = counts::kConstant;
        access.at = address;
    } else if (const Allocation* const found = allocation_of(to)) {
        access.at = address - found->begin;
        access.allocation = found->number;
    } else {
        return;  // what the emulation itself keeps
    }
    // An access of 16 bytes that the compiler has taken apart is one; so are the four of a uchar4.
    // Words of local memory that stand side by side in a loop that it has unrolled are not.
    if (what <= counts::kStore && access.memory != counts::kOwn && !lane.accesses.empty() &&
        (access.memory == counts::kGlobal || bytes != 4)) {
        Access& last = lane.accesses.back();
        const unsigned whole = std::min(bytes * 4, 16U);
        if (last.what == what && last.memory == access.memory && bytes != 2 &&
            last.allocation == access.allocation && last.site != site &&
            last.at + last.bytes == access.at && last.at % whole + last.bytes + bytes <= whole) {
            last.bytes = static_cast<std::uint8_t>(last.bytes + bytes);
            return;
        }
    }
    lane.accesses.push_back(access);
    if (now.follows && lane.number == 0 &&
        now.again.size() + lane.accesses.size() == *now.follows + 1) {
        crew.changed = static_cast<unsigned char*>(const_cast<void*>(to));
        crew.changed_bytes = bytes;
        change_back();  // as often as twice
        crew.changed_bytes = bytes;
    }
}

// Its place in the program or the library that it is in.
std::string name_of(std::uintptr_t site) {
    Dl_info info{};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it was one
    dladdr(reinterpret_cast<const void*>(site), &info);
    std::array<char, 24> text{};
    std::snprintf(
        text.data(), text.size(), "+0x%zx",
        static_cast<std::size_t>(site) - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
    return std::string(info.dli_fname) + text.data();
}

}  // namespace

bool has_constants(const char* begin, const char* end) {
    if (begin != end)
        constants.emplace_back(reinterpret_cast<std::uintptr_t>(begin),
                               reinterpret_cast<std::uintptr_t>(end));
    return true;
}

Thread* new_thread(const char* stack, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(stack);
    return new Thread{begin, begin + bytes, 0, {}};  // as long as the program
}

bool launch_begins(const KernelCall& launch) {
    static std::set<std::tuple<const void*, std::size_t, std::size_t>> known;
    const std::size_t blocks = std::size_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    const std::size_t threads = std::size_t{launch.block.x} * launch.block.y * launch.block.z;
    if (std::getenv("COUNTS") == nullptr ||
        !known.insert({launch.function, blocks, threads}).second)
        return false;
    now = {std::make_unique<counts::Launch>(), launch.function, {}, {}, {}, {}};
    now.launch->groups = blocks;
    now.launch->group_size = threads;
    return true;
}

bool launch_runs_again() {
    auto& first = now.launch->first_lane;
    if (!now.follows) {
        now.to_follow = now.launch->to_follow();
    } else {
        std::size_t i = *now.follows;
        const std::size_t end = std::min(first.size(), now.again.size());
        while (i < end && first[i].site == now.again[i].site && first[i].at == now.again[i].at)
            ++i;
        if (i < end) now.launch->needed.emplace_back(*now.follows, i);
    }
    now.again.clear();
    if (now.to_follow.empty()) {
        now.follows.reset();
        now.launch->write(name_of(reinterpret_cast<std::uintptr_t>(now.kernel)), &name_of);
        return false;
    }
    now.follows = now.to_follow.back();
    now.to_follow.pop_back();
    return true;
}

bool skips(std::size_t block) {
    return now.follows ? block > 0 : counts::stands_for(block, now.launch->groups) == 0;
}

void block_begins(std::size_t block, const void* shared, std::size_t bytes) {
    static std::atomic<std::size_t> begun = 0;
    crew.block = ++begun;
    crew.shared = reinterpret_cast<std::uintptr_t>(shared);
    crew.shared_end = crew.shared + bytes;
    crew.lanes.clear();
    crew.known = {};
    crew.most = std::min((std::size_t{2} << 20U) / now.launch->group_size, std::size_t{1} << 16U);
    crew.group.emplace(*now.launch, block);
}

void goes_on(Thread* thread) {
    if (crew.changed_bytes > 0) change_back();
    crew.thread = thread;
}

void phase_ends(std::size_t shared_bytes) {
    if (!now.follows) {
        crew.group->phase(crew.lanes, shared_bytes);
        return;
    }
    for (counts::Lane* const lane : crew.lanes) {
        if (lane->number == 0)
            now.again.insert(now.again.end(), lane->accesses.begin(), lane->accesses.end());
        lane->accesses.clear();
    }
}

void block_ends() {
    if (!now.follows) crew.group->end();
    crew.group.reset();
}

dim3 thread_index() {
    return threadIdx;
}
dim3 block_index() {
    return blockIdx;
}
dim3 block_size() {
    return blockDim;
}
dim3 grid_size() {
    return gridDim;
}

// Whether the kernel uses what was there before: then clang takes `lock xadd` for `lock add`, and a
// GPU makes an addition for each lane, although all add 1.
bool is_answered([[maybe_unused]] const void* site) {
#if defined(__x86_64__)
    const auto* const code = static_cast<const unsigned char*>(site);
    for (std::size_t i = 0; i < 24; ++i)
        if (code[i] == 0xF0)
            return (code[i + 1] == 0x0F && code[i + 2] == 0xC1) ||
                   (code[i + 2] == 0x0F && code[i + 3] == 0xC1);
#endif
    return false;
}

__attribute__((noinline)) void note_atomic(const void* to, unsigned bytes, bool adds_one) {
    const void* const site = __builtin_return_address(0);
    note(reinterpret_cast<std::uintptr_t>(site), to, bytes,
         adds_one && !is_answered(site) ? counts::kAddOne : counts::kAtomic);
}

void note_match(std::uint64_t value, const void* site) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): what it is the value of has no address
    note(reinterpret_cast<std::uintptr_t>(site), reinterpret_cast<const void*>(value), 4,
         counts::kMatch);
}

}  // namespace on_cpu::recorded

// NOLINTBEGIN(bugprone-reserved-identifier): the names that the compiler calls
#define HOOK(name, bytes, what)                                                                   \
    extern "C" void name##bytes(const void* to) {                                                 \
        on_cpu::recorded::note(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)), to, \
                               bytes, counts::what);                                              \
    }
#define HOOKS(bytes)                         \
    HOOK(__sanitizer_cov_load, bytes, kLoad) \
    HOOK(__sanitizer_cov_store, bytes, kStore)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
extern "C" void __sanitizer_cov_trace_pc() {
    on_cpu::recorded::note(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)), nullptr,
                           0, counts::kBlock);
}
// NOLINTEND(bugprone-reserved-identifier)
