// How a launch runs: blocks are tasks that the processor's threads take, one after the other; the
// threads of a block are coroutines, of which one runs until it comes to a barrier or to its end.
// Then the next one does. docs/cuda-on-a-cpu.md tells it at more leisure.
//
// Whatever a sanitizer has to know of it stands here, and this file is compiled without: so it
// watches the kernel, and not the machinery.
#undef _FORTIFY_SOURCE  // its longjmp takes another stack for a mistake
#include "common/cuda/on_cpu/blocks.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include "common/histogram/histogram.hpp"
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
#endif

namespace on_cpu {

#if defined(ON_CPU_TELLS_thread)
// It has room for some 8000 threads: each of a launch is somebody else, up to so many for a unit.
constexpr unsigned kMaxUnits = 4;
constexpr std::size_t kCoroutines = 1800;
#else
constexpr unsigned kMaxUnits = 16;  // stacks take address space
constexpr std::size_t kCoroutines = kMaxThreads;
#endif

unsigned units() {
    // Two at least, for blocks are to run at the same time.
    return std::clamp(std::thread::hardware_concurrency(), 2U, kMaxUnits);
}

namespace {

// ---- changing places
// -----------------------------------------------------------------------------

#if defined(ON_CPU_TELLS_thread) || defined(ON_CPU_TELLS_address)
// A place to go on from: a stack with its registers, and what the sanitizer takes it for.
struct Place {
    ucontext_t context{};
    void* known_as = nullptr;
    const void* stack = nullptr;
    std::size_t stack_bytes = 0;
};
#else
// ucontext asks the system for each change. This does not, but cannot begin a coroutine.
struct Place {
    std::jmp_buf registers{};
};
#endif

class Crew;
thread_local Crew* here = nullptr;  // the one that this thread of the processor works for

// A thread of a block, on a stack of its own. It serves one block after the other.
class Coroutine {
 public:
    explicit Coroutine(std::size_t number)
        // Not all of them at the same place of a page: a cache holds few of those.
        : stack_bytes_(kStackBytes - number % 32 * 128) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        // What needs more than its stack comes upon the page below it, and crashes.
        void* const memory = mmap(nullptr, kStackBytes + page, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) throw std::bad_alloc();
        stack_ = static_cast<char*>(memory) + page;
#if defined(ON_CPU_TELLS_thread)
        own_.known_as = __tsan_create_fiber(0);
#endif
    }

    enum class State { kReady, kWaits, kEnded };
    State state = State::kEnded;
    const char* file = nullptr;  // of the barrier where it waits
    int line = 0;

    // A thread of another block.
    void begin() {
        if (state != State::kEnded) begun_ = false;  // a launch that failed left it where it was
        state = State::kReady;
    }

    // From the crew: it runs until it waits or ends.
    void enter(Place& crew) {
#if defined(ON_CPU_TELLS_thread)
        crew.known_as = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(own_.known_as, 0);  // what the crew has done, it knows of
        go_on(crew, begun_ ? &own_ : nullptr);
#elif defined(ON_CPU_TELLS_address)
        void* fake_stack = nullptr;
        __sanitizer_start_switch_fiber(&fake_stack, stack_, stack_bytes_);
        go_on(crew, begun_ ? &own_ : nullptr);
        __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#else
        if (setjmp(crew.registers) != 0) return;
        if (!begun_) first_entry();
        std::longjmp(own_.registers, 1);
#endif
    }

    // From itself: back to the crew, until it enters again.
    void leave(Place& crew) {
#if defined(ON_CPU_TELLS_thread)
        // What it has done the crew does not know of: else all blocks of a crew were in order.
        __tsan_switch_to_fiber(crew.known_as, __tsan_switch_to_fiber_no_sync);
        go_on(own_, &crew);
#elif defined(ON_CPU_TELLS_address)
        __sanitizer_start_switch_fiber(&own_.known_as, crew.stack, crew.stack_bytes);
        go_on(own_, &crew);
        __sanitizer_finish_switch_fiber(own_.known_as, nullptr, nullptr);
#else
        if (setjmp(own_.registers) == 0) std::longjmp(crew.registers, 1);
#endif
    }

 private:
    [[noreturn]] void first_entry() {
        begun_ = true;
        ucontext_t first;
        getcontext(&first);
        first.uc_stack.ss_sp = stack_;
        first.uc_stack.ss_size = stack_bytes_;
        first.uc_link = nullptr;
        makecontext(&first, &body, 0);
        setcontext(&first);
        std::abort();  // it does not return
    }
#if defined(ON_CPU_TELLS_thread) || defined(ON_CPU_TELLS_address)
    // As swapcontext, which AddressSanitizer warns of.
    void go_on(Place& from, Place* to) {
        volatile bool is_back = false;
        getcontext(&from.context);
        if (is_back) return;
        is_back = true;
        if (to == nullptr) first_entry();
        setcontext(&to->context);
    }
#endif
    static void body();

    char* stack_;
    std::size_t stack_bytes_;
    bool begun_ = false;
    Place own_;
};

// ---- a block
// -------------------------------------------------------------------------------------

// A launch, as all crews see it.
struct Grid {
    const Launch& launch;
    const std::function<void()>& kernel;
    std::size_t blocks;
    unsigned seed;  // of the order
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::mutex one_at_a_time = {};
    Outcome outcome = {};
    char done = 0;  // ThreadSanitizer: what the host knows of once the launch has ended

    void fail(cudaError_t error, const std::string& why) {
        const std::lock_guard lock(one_at_a_time);
        if (!failed.exchange(true)) outcome = {error, why};
    }
};

// Its shared memory, which nobody has written yet.
struct Block {
    Block() { std::memset(shared, common::kPoisonByte, sizeof shared); }

    struct Variable {
        const char* file;
        int line;
        void* memory;
    };
    alignas(256) std::byte shared[2 * kSharedBytes];  // NOLINT(modernize-avoid-c-arrays)
    std::size_t end = 0;                              // in `shared`, of what is taken
    std::size_t used = 0;                             // of kSharedBytes
    std::vector<Variable> variables;
    char meetings[2] = {};  // ThreadSanitizer: the barriers, in turn
    unsigned phase = 0;

    // Null where there is too little.
    void* take(std::size_t bytes, std::size_t alignment) {
        used = (used + alignment - 1) / alignment * alignment + bytes;
        if (used > kSharedBytes) return nullptr;
        end = (end + alignment - 1) / alignment * alignment;
        void* const memory = shared + end;
        end += bytes;
#if defined(ON_CPU_TELLS_address)
        end += std::min<std::size_t>(64, sizeof shared - end);  // nobody's, so that it shows
        __asan_unpoison_memory_region(memory, bytes);
#endif
        return memory;
    }
};

// ---- a crew: a thread of the processor, and the coroutines that take turns on it
// ------------------

class Crew {
 public:
    // Block after block, as long as there are any.
    void work(Grid& grid) {
        here = this;
        grid_ = &grid;
        first_ = 0;
        gridDim = grid.launch.grid;
        blockDim = grid.launch.block;
#if defined(ON_CPU_TELLS_thread)
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
        for (std::size_t n; !grid.failed && (n = grid.next++) < grid.blocks;) {
            const std::size_t b = grid.seed % 2 == 0 ? n : grid.blocks - 1 - n;
            blockIdx = {static_cast<unsigned>(b % gridDim.x),
                        static_cast<unsigned>(b / gridDim.x % gridDim.y),
                        static_cast<unsigned>(b / gridDim.x / gridDim.y)};
            run_block(static_cast<unsigned>(b));
        }
#if defined(ON_CPU_TELLS_thread)
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
    }

    // What the coroutine that runs calls.
    void barrier(const char* file, int line) {
        current_->file = file;
        current_->line = line;
        current_->state = Coroutine::State::kWaits;
#if defined(ON_CPU_TELLS_thread)
        char* const meeting = &block_->meetings[block_->phase % 2];
        __tsan_release(meeting);
        __tsan_release(&grid_->done);  // it may be the last that it does
        current_->leave(place_);
        __tsan_acquire(meeting);
#else
        current_->leave(place_);
#endif
    }

    void* shared_at(std::size_t bytes, std::size_t alignment, const char* file, int line) {
        for (const Block::Variable& each : block_->variables)
            if (each.line == line && each.file == file) return each.memory;
        void* const memory = block_->take(bytes, alignment);
        if (memory == nullptr) {
            grid_->fail(cudaErrorInvalidValue, "a block has 48 KiB of shared memory");
#if defined(ON_CPU_TELLS_thread)
            __tsan_release(&grid_->done);
#endif
            current_->leave(place_);  // for good
        }
        block_->variables.push_back({file, line, memory});
        return memory;
    }

    [[nodiscard]] void* dynamic_shared() const {
        return dynamic_;
    }

    [[noreturn]] void run_coroutine() {
        Coroutine& me = *current_;
#if defined(ON_CPU_TELLS_address)
        __sanitizer_finish_switch_fiber(nullptr, &place_.stack, &place_.stack_bytes);
#endif
        for (;;) {
            grid_->kernel();
            me.state = Coroutine::State::kEnded;
#if defined(ON_CPU_TELLS_thread)
            __tsan_release(&grid_->done);
#endif
            me.leave(place_);
        }
    }

 private:
    void run_block(unsigned number) {
        const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
        block_ = std::make_unique<Block>();
#if defined(ON_CPU_TELLS_address)
        __asan_poison_memory_region(block_->shared, sizeof block_->shared);
#endif
        dynamic_ = block_->take(grid_->launch.shared_bytes, 256);
        order_.resize(threads);
        std::iota(order_.begin(), order_.end(), 0U);
        if (grid_->seed == 1) std::reverse(order_.begin(), order_.end());
        std::minstd_rand random(grid_->seed + number);
        for (unsigned i = 0; i < threads; ++i)
            thread(i).begin();
        do {
            if (grid_->seed > 1) std::shuffle(order_.begin(), order_.end(), random);
            for (const unsigned i : order_) {
                current_ = &thread(i);
                threadIdx = {i % blockDim.x, i / blockDim.x % blockDim.y,
                             i / blockDim.x / blockDim.y};
                current_->enter(place_);
                if (grid_->failed) return;
            }
            ++block_->phase;
        } while (all_wait(threads));
#if defined(ON_CPU_TELLS_thread)
        first_ += threads;  // the threads of the next block are others, on other stacks
#endif
#if defined(ON_CPU_TELLS_address)
        __asan_unpoison_memory_region(block_->shared, sizeof block_->shared);
#endif
    }

    // The coroutine of a thread of the block.
    Coroutine& thread(std::size_t i) {
        const std::size_t n = (first_ + i) % kCoroutines;
        while (coroutines_.size() <= n)
            coroutines_.push_back(std::make_unique<Coroutine>(coroutines_.size()));
        return *coroutines_[n];
    }

    // Whether all have come to the same barrier, or none: anything else ends the launch.
    bool all_wait(unsigned threads) {
        const Coroutine* waits = nullptr;
        const Coroutine* elsewhere = nullptr;
        unsigned waiting = 0;
        for (unsigned i = 0; i < threads; ++i) {
            const Coroutine& each = thread(i);
            if (each.state != Coroutine::State::kWaits) continue;
            ++waiting;
            if (waits == nullptr) waits = &each;
            const bool is_same = each.line == waits->line && each.file == waits->file;
            if (!is_same && elsewhere == nullptr) elsewhere = &each;
        }
        if (waiting == 0) return false;
        const auto at = [](const Coroutine& one) {
            return std::string(one.file) + ":" + std::to_string(one.line);
        };
        if (waiting < threads) {
            grid_->fail(cudaErrorLaunchFailure,
                        "not all threads of a block reach the same __syncthreads(): " +
                            std::to_string(waiting) + " of " + std::to_string(threads) +
                            " wait at " + at(*waits) + ", the others have ended");
        } else if (elsewhere != nullptr) {
            grid_->fail(cudaErrorLaunchFailure,
                        "not all threads of a block reach the same __syncthreads(): some wait at " +
                            at(*waits) + ", others at " + at(*elsewhere));
        }
        return !grid_->failed;
    }

    std::vector<std::unique_ptr<Coroutine>> coroutines_;
    std::vector<unsigned> order_;
    std::size_t first_ = 0;  // of the block's coroutines
    std::unique_ptr<Block> block_;
    void* dynamic_ = nullptr;
    Coroutine* current_ = nullptr;
    Grid* grid_ = nullptr;
    Place place_;
};

void Coroutine::body() {
    here->run_coroutine();
}

}  // namespace

Outcome run_blocks(const Launch& launch, const std::function<void()>& kernel) {
    static std::vector<std::unique_ptr<Crew>> crews;
    const char* const order = std::getenv("CUDA_ON_CPU_ORDER");
    const std::size_t blocks = std::size_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    Grid grid{launch, kernel, blocks,
              order == nullptr ? 0U : static_cast<unsigned>(std::strtoul(order, nullptr, 10))};
    const std::size_t crew_count = std::min<std::size_t>(units(), blocks);
    while (crews.size() < crew_count)
        crews.push_back(std::make_unique<Crew>());
    std::vector<std::thread> threads;
    for (std::size_t n = 0; n < crew_count; ++n)
        threads.emplace_back([&grid, n] { crews[n]->work(grid); });
    for (std::thread& each : threads)
        each.join();
#if defined(ON_CPU_TELLS_thread)
    __tsan_acquire(&grid.done);
#endif
    return grid.outcome;
}

void* shared_at(std::size_t bytes, std::size_t alignment, const char* file, int line) {
    return here->shared_at(bytes, alignment, file, line);
}

void* dynamic_shared_memory() {
    return here->dynamic_shared();
}

}  // namespace on_cpu

void __syncthreads(const char* file, int line) {
    on_cpu::here->barrier(file, line);
}
