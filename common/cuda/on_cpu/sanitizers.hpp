// Tells a sanitizer about blocks and fibers, for blocks.cpp. ThreadSanitizer learns that a fiber
// is a thread, and what a barrier and the end of a launch order; AddressSanitizer which stack is
// in use, and which shared memory belongs to no variable; the counters (blocks.hpp) which thread
// runs, and where blocks and barriers are.
#pragma once

#include "common/cuda/on_cpu/cuda_runtime.h"
#if defined(ON_CPU_TELLS_thread)
#include <sanitizer/tsan_interface.h>
// Under these a thread's accesses are not looked at, nor is what it allocates and frees.
extern "C" void AnnotateIgnoreReadsBegin(const char*, int);
extern "C" void AnnotateIgnoreReadsEnd(const char*, int);
extern "C" void AnnotateIgnoreWritesBegin(const char*, int);
extern "C" void AnnotateIgnoreWritesEnd(const char*, int);
#elif defined(ON_CPU_TELLS_address)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(ON_CPU_TELLS_counts)
#include "common/cuda/on_cpu/blocks.hpp"
#include "common/cuda/on_cpu/counts.hpp"
#endif

namespace on_cpu {

/// Without a sanitizer nothing is told.
struct NoSanitizer {
    static constexpr unsigned kMaxUnits = 16;  ///< stacks take address space
    static constexpr std::size_t kFibers = kMaxThreads;
    static constexpr std::size_t kGap = 0;  ///< bytes of a red zone behind a shared variable
    /// A crew (a thread of the processor) or a fiber, as the sanitizer knows it.
    struct Runner {};
    static Runner fiber(const char* /*stack*/, std::size_t /*bytes*/) { return {}; }
    static void before_switch(auto& /*one*/, auto& /*for_another*/) {}
    static void after_switch(auto& /*one*/, auto& /*from_another*/) {}
    /// All that comes before a release happens before what follows the acquire.
    static void release(char* /*meeting*/) {}
    static void acquire(char* /*meeting*/) {}
    static void poison(const void* /*memory*/, std::size_t /*bytes*/) {}
    static void unpoison(const void* /*memory*/, std::size_t /*bytes*/) {}
    static void crew_begins() {}
    static void crew_ends() {}
    /// For the counters: whether a launch is to run, and again; a block's begin, barriers and end.
    static unsigned multiprocessors(unsigned units) { return units; }
    static bool launch_begins(const KernelCall& /*launch*/) { return true; }
    static bool launch_runs_again() { return false; }
    static bool skips(std::size_t /*block*/) { return false; }
    static void block_begins(std::size_t /*block*/, const void* /*memory*/, std::size_t /*bytes*/) {
    }
    static void phase_ends(std::size_t /*shared_bytes*/) {}
    static void block_ends() {}
};

#if defined(ON_CPU_TELLS_thread)
struct Sanitizer : NoSanitizer {
    // It has room for some 8000 threads: each of a launch is another, up to so many for a unit.
    static constexpr unsigned kMaxUnits = 4;
    static constexpr std::size_t kFibers = 1800;
    struct Runner {
        void* fiber = nullptr;
        bool is_fiber = false;
    };
    static Runner fiber(const char*, std::size_t) { return {__tsan_create_fiber(0), true}; }
    // A fiber knows of what its crew has done, but the crew not of what a fiber has done:
    // else all blocks of a crew were in order.
    static void before_switch(Runner& one, Runner& another) {
        if (!one.is_fiber) one.fiber = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(another.fiber,
                               another.is_fiber ? 0U : __tsan_switch_to_fiber_no_sync);
    }
    // That of g++ 13 and newer, of clang++ 14, has 255 slots for all threads, and keeps a race to
    // itself if a thread has not released anything since it got its slot.
    static void after_switch(Runner& one, Runner& /*from_another*/) {
        static char nobody_acquires;
        if (one.is_fiber) __tsan_release(&nobody_acquires);
    }
    static void release(char* meeting) { __tsan_release(meeting); }
    static void acquire(char* meeting) { __tsan_acquire(meeting); }
    // The emulation's own accesses are not looked at.
    static void crew_begins() {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    }
    static void crew_ends() {
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
};
#elif defined(ON_CPU_TELLS_address)
struct Sanitizer : NoSanitizer {
    static constexpr std::size_t kGap = 64;
    struct Runner {
        const void* stack = nullptr;
        std::size_t bytes = 0;
        void* locals = nullptr;  // which it keeps elsewhere
    };
    static Runner fiber(const char* stack, std::size_t bytes) { return {stack, bytes, nullptr}; }
    static void before_switch(Runner& one, Runner& another) {
        __sanitizer_start_switch_fiber(&one.locals, another.stack, another.bytes);
    }
    static void after_switch(Runner& one, Runner& another) {
        __sanitizer_finish_switch_fiber(one.locals, &another.stack, &another.bytes);
    }
    static void poison(const void* memory, std::size_t bytes) {
        __asan_poison_memory_region(memory, bytes);
    }
    static void unpoison(const void* memory, std::size_t bytes) {
        __asan_unpoison_memory_region(memory, bytes);
    }
};
#elif defined(ON_CPU_TELLS_counts)
struct Sanitizer : NoSanitizer {
    struct Runner {
        recorded::Thread* thread = nullptr;
    };
    static Runner fiber(const char* stack, std::size_t bytes) {
        return {recorded::new_thread(stack, bytes)};
    }
    static void before_switch(Runner&, Runner& another) { recorded::goes_on(another.thread); }
    static unsigned multiprocessors(unsigned) { return counts::Device::kUnits; }
    static bool launch_begins(const KernelCall& launch) { return recorded::launch_begins(launch); }
    static bool launch_runs_again() { return recorded::launch_runs_again(); }
    static bool skips(std::size_t block) { return recorded::skips(block); }
    static void block_begins(std::size_t block, const void* memory, std::size_t bytes) {
        recorded::block_begins(block, memory, bytes);
    }
    static void phase_ends(std::size_t shared_bytes) { recorded::phase_ends(shared_bytes); }
    static void block_ends() { recorded::block_ends(); }
};
#else
using Sanitizer = NoSanitizer;
#endif

}  // namespace on_cpu
