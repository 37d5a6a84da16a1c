// How a launch runs: blocks are tasks that the processor's threads take, one after the other; the
// threads of a block are coroutines, of which one runs until it comes to a barrier or to its end.
// Then the next one does. docs/cuda-on-a-cpu.md tells it at more leisure.
//
// This file is compiled without a sanitizer, which so watches the kernel and not the machinery.
// sanitizers.hpp has what it is told of that.
#undef _FORTIFY_SOURCE  // its longjmp takes another stack for a mistake
#include "common/cuda/on_cpu/blocks.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "common/cuda/on_cpu/sanitizers.hpp"
#include "common/histogram/histogram.hpp"

namespace on_cpu {

unsigned units() {
    // Two at least, for blocks are to run at the same time.
    return std::clamp(std::thread::hardware_concurrency(), 2U, Told::kMaxUnits);
}

namespace {

// ---- changing places ----

// A place to go on from: a stack, with the processor's registers.
struct Place {
#if defined(ON_CPU_TELLS_thread) || defined(ON_CPU_TELLS_address)
    ucontext_t registers{};  // known to sanitizers; but the system is asked for each change
#else
    std::jmp_buf registers{};
#endif
    Told::Runner runner{};
    char* stack = nullptr;  // of a coroutine
    std::size_t stack_bytes = 0;
    bool is_new = false;  // it begins, and has no registers yet
};

void begin();  // what a coroutine does

[[noreturn]] void go_on_at(Place& place) {
    if (place.is_new) {
        place.is_new = false;
        ucontext_t first;
        getcontext(&first);
        first.uc_stack.ss_sp = place.stack;
        first.uc_stack.ss_size = place.stack_bytes;
        first.uc_link = nullptr;
        makecontext(&first, &begin, 0);
        setcontext(&first);
    }
#if defined(ON_CPU_TELLS_thread) || defined(ON_CPU_TELLS_address)
    setcontext(&place.registers);
#else
    std::longjmp(place.registers, 1);
#endif
    std::abort();  // nothing comes here
}

// Goes on at the other place, and returns when somebody goes on at this one.
void change(Place& from, Place& to) {
    Told::leaves(from.runner, to.runner);
#if defined(ON_CPU_TELLS_thread) || defined(ON_CPU_TELLS_address)
    volatile bool is_back = false;
    getcontext(&from.registers);
    if (!is_back) {
        is_back = true;
        go_on_at(to);
    }
#else
    if (setjmp(from.registers) == 0) go_on_at(to);
#endif
    Told::is_back(from.runner, to.runner);
}

// A thread of a block, on a stack of its own. It serves one block after the other.
struct Coroutine {
    explicit Coroutine(std::size_t number) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        // What needs more than its stack comes upon the page below it, and crashes.
        void* const memory = mmap(nullptr, kStackBytes + page, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) throw std::bad_alloc();
        place.stack = static_cast<char*>(memory) + page;
        // Not all of them at the same place of a page: a cache holds few of those.
        place.stack_bytes = kStackBytes - number % 32 * 128;
        place.is_new = true;
        place.runner = Told::coroutine(place.stack, place.stack_bytes);
    }

    // Of those that wait, one kind waits for all of the block, and the other for lanes of its warp.
    enum class State { kReady, kWaits, kMeets, kEnded };
    State state = State::kEnded;
    const char* what = nullptr;  // where it waits
    Here here{};
    unsigned mask = 0;  // the lanes that it meets
    std::uint64_t brings = 0;
    std::array<std::uint64_t, kWarp> brought{};  // by each lane, to the last meeting
    char* parted = nullptr;                      // ThreadSanitizer: from that meeting
    unsigned turns = 0;                          // in which it has been the last to come
    Place place;

    [[nodiscard]] std::string at() const {
        return std::string(what) + " at " + here.file + ":" + std::to_string(here.line);
    }
};

// ---- a block ----

// A launch, as all crews see it.
struct Grid {
    const Launch& launch;
    std::size_t blocks;
    unsigned seed;  // of the order
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::mutex one_at_a_time = {};
    Outcome outcome = {};
    char done = 0;    // ThreadSanitizer: what the host knows of once the launch has ended
    char fences = 0;  // and who has come to a fence
    std::atomic<bool> has_fences = false;

    void fail(cudaError_t error, const std::string& why) {
        const std::lock_guard lock(one_at_a_time);
        if (!failed.exchange(true)) outcome = {error, why};
    }
};

// Its shared memory, which nobody has written yet.
struct Block {
    Block() { std::memset(shared, common::kPoisonByte, sizeof shared); }

    alignas(256) std::byte shared[2 * kSharedBytes];       // NOLINT(modernize-avoid-c-arrays)
    std::size_t end = 0;                                   // in `shared`, of what is taken
    std::size_t used = 0;                                  // of kSharedBytes
    std::vector<std::pair<const void*, void*>> variables;  // by a key for each declaration
    // ThreadSanitizer: the barriers, in turn; and of each thread, what it comes to a meeting of its
    // warp with, and what the last to come tells the others when they part, in turn.
    char meetings[2] = {}, comes[kMaxThreads] = {}, parts[kMaxThreads][2] = {};
    unsigned phase = 0;

    // Null where there is too little.
    void* take(std::size_t bytes, std::size_t alignment) {
        used = (used + alignment - 1) / alignment * alignment + bytes;
        if (used > kSharedBytes) return nullptr;
        end = (end + alignment - 1) / alignment * alignment;
        void* const memory = shared + end;
        end += bytes;
        end += std::min(Told::kGap, sizeof shared - end);
        Told::somebodys(memory, bytes);
        return memory;
    }
};

// ---- a crew: a thread of the processor, and the coroutines that take turns on it ----

class Crew;
thread_local Crew* here = nullptr;  // the one that this thread of the processor works for

class Crew {
 public:
    // Block after block, as long as there are any.
    void work(Grid& grid) {
        here = this;
        grid_ = &grid;
        first_ = 0;
        gridDim = grid.launch.grid;
        blockDim = grid.launch.block;
        Told::crew_begins();
        for (std::size_t n; !grid.failed && (n = grid.next++) < grid.blocks;) {
            const std::size_t b = grid.seed % 2 == 0 ? n : grid.blocks - 1 - n;
            blockIdx = {static_cast<unsigned>(b % gridDim.x),
                        static_cast<unsigned>(b / gridDim.x % gridDim.y),
                        static_cast<unsigned>(b / gridDim.x / gridDim.y)};
            run_block(static_cast<unsigned>(b));
        }
        Told::crew_ends();
    }

    // What the coroutine that runs calls.
    void barrier(Here at) {
        current_->what = "__syncthreads";
        current_->here = at;
        current_->state = Coroutine::State::kWaits;
        char* const meeting = &block_->meetings[block_->phase % 2];
        Told::release(meeting);
        leave();
        Told::acquire(meeting);
        if (grid_->has_fences) Told::acquire(&grid_->fences);
    }

    void fence() {
        grid_->has_fences = true;
        Told::release(&grid_->fences);
        Told::acquire(&grid_->fences);
    }

    // The same. It goes on when all lanes of the mask have come to the same call: the last to come
    // makes the others ready, and does not stop itself.
    unsigned meet(unsigned mask, std::uint64_t brings, bool orders, const char* what, Here at) {
        Coroutine& me = *current_;
        me.what = what;
        me.here = at;
        me.mask = mask;
        me.brings = brings;
        if ((mask >> number_ % kWarp & 1U) == 0)
            fail("thread " + std::to_string(number_) + " calls " + me.at() +
                 " with a mask that its own lane is not in");
        // Not all of these are there: the last warp of a block may have fewer lanes.
        const unsigned first = number_ / kWarp * kWarp;
        if (first + kWarp > threads_) mask &= (1U << (threads_ - first)) - 1;
        me.state = Coroutine::State::kMeets;
        if (orders) Told::release(&block_->comes[number_]);
        if (missing(me, first) < kWarp) {
            leave();
        } else {
            std::array<std::uint64_t, kWarp> brought{};
            char* const parted = &block_->parts[number_][me.turns++ % 2];
            for_each_lane(mask, [&](unsigned lane) {
                brought[lane] = thread(first + lane).brings;
                if (orders) Told::acquire(&block_->comes[first + lane]);
            });
            if (orders) Told::release(parted);
            for_each_lane(mask, [&](unsigned lane) {
                Coroutine& each = thread(first + lane);
                each.brought = brought;
                each.parted = parted;
                each.state = Coroutine::State::kReady;
                ++ready_;
            });
            --ready_;  // this one runs
        }
        if (orders) Told::acquire(me.parted);
        return mask;
    }

    [[nodiscard]] std::uint64_t brought(unsigned lane) const { return current_->brought[lane]; }

    void* shared_at(std::size_t bytes, std::size_t alignment, const void* key) {
        for (const auto& [of, memory] : block_->variables)
            if (of == key) return memory;
        void* const memory = block_->take(bytes, alignment);
        if (memory == nullptr) fail("a block has 48 KiB of shared memory", cudaErrorInvalidValue);
        block_->variables.emplace_back(key, memory);
        return memory;
    }

    [[nodiscard]] void* dynamic_shared() const { return dynamic_; }

    [[noreturn]] void run_coroutine() {
        Told::Runner was_nowhere;
        Told::is_back(was_nowhere, place_.runner);
        for (;;) {
            grid_->launch.kernel(grid_->launch.arguments);
            current_->state = Coroutine::State::kEnded;
            leave();
        }
    }

 private:
    // Ends the launch, and this coroutine for good.
    void fail(const std::string& why, cudaError_t error = cudaErrorLaunchFailure) {
        grid_->fail(error, why);
        leave();
    }

    // From the coroutine that runs to the crew, until that goes on with it.
    void leave() {
        Told::release(&grid_->done);  // it may be the last that it does
        change(current_->place, place_);
    }

    void run_block(unsigned number) {
        const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
        block_ = std::make_unique<Block>();
        Told::nobodys(block_->shared, sizeof block_->shared);
        dynamic_ = block_->take(grid_->launch.shared_bytes, 256);
        threads_ = ready_ = threads;
        order_.resize(threads);
        std::iota(order_.begin(), order_.end(), 0U);
        if (grid_->seed == 1) std::reverse(order_.begin(), order_.end());
        std::minstd_rand random(grid_->seed + number);
        for (unsigned i = 0; i < threads; ++i) {
            Coroutine& each = thread(i);
            // A launch that failed left it where it was.
            if (each.state != Coroutine::State::kEnded) each.place.is_new = true;
            each.state = Coroutine::State::kReady;
        }
        do {
            // Each time round, some run to where they wait for others; at last all do, or have
            // ended.
            while (ready_ > 0) {
                if (grid_->seed > 1) std::shuffle(order_.begin(), order_.end(), random);
                for (const unsigned i : order_) {
                    current_ = &thread(i);
                    if (current_->state != Coroutine::State::kReady) continue;
                    --ready_;
                    number_ = i;
                    threadIdx = {i % blockDim.x, i / blockDim.x % blockDim.y,
                                 i / blockDim.x / blockDim.y};
                    change(place_, current_->place);
                    if (grid_->failed) return;
                }
            }
            ++block_->phase;
        } while (all_wait(threads));
        Told::somebodys(block_->shared, sizeof block_->shared);
        // Where there are more, the threads of the next block are others, on other stacks.
        if (Told::kCoroutines > kMaxThreads) first_ += threads;
    }

    // The coroutine of a thread of the block.
    Coroutine& thread(std::size_t i) {
        const std::size_t n = (first_ + i) % Told::kCoroutines;
        while (coroutines_.size() <= n)
            coroutines_.push_back(std::make_unique<Coroutine>(coroutines_.size()));
        return *coroutines_[n];
    }

    template <typename Do>
    static void for_each_lane(unsigned mask, const Do& act) {
        for (unsigned lane = 0; mask != 0; ++lane, mask >>= 1)
            if ((mask & 1U) != 0) act(lane);
    }

    // The first lane of its mask that has not come to where this one waits; kWarp if all have.
    unsigned missing(const Coroutine& one, unsigned first) {
        for (unsigned lane = 0; lane < kWarp && first + lane < threads_; ++lane) {
            if ((one.mask >> lane & 1U) == 0) continue;
            const Coroutine& other = thread(first + lane);
            if (other.state != Coroutine::State::kMeets || other.mask != one.mask ||
                other.what != one.what || other.here.line != one.here.line ||
                other.here.file != one.here.file)
                return lane;
        }
        return kWarp;
    }

    // It waits, and nobody is left who could come.
    void nobody_comes(unsigned number) {
        const Coroutine& one = thread(number);
        const unsigned first = number / kWarp * kWarp;
        const unsigned lane = missing(one, first);
        const Coroutine& other = thread(first + lane);
        const bool has_ended = other.state == Coroutine::State::kEnded;
        grid_->fail(cudaErrorLaunchFailure,
                    "thread " + std::to_string(number) + " waits in " + one.at() + " for lane " +
                        std::to_string(lane) + " of its warp, which " +
                        (has_ended ? "has ended" : "waits in " + other.at()) +
                        (other.state == Coroutine::State::kMeets && other.mask != one.mask
                             ? ", with another mask"
                             : ""));
    }

    // Whether all have come to the same barrier, or none: anything else ends the launch.
    bool all_wait(unsigned threads) {
        for (unsigned i = 0; i < threads; ++i) {
            if (thread(i).state != Coroutine::State::kMeets) continue;
            nobody_comes(i);
            return false;
        }
        const Coroutine* waits = nullptr;
        const Coroutine* elsewhere = nullptr;
        unsigned waiting = 0;
        for (unsigned i = 0; i < threads; ++i) {
            const Coroutine& each = thread(i);
            if (each.state != Coroutine::State::kWaits) continue;
            ++waiting;
            if (waits == nullptr) waits = &each;
            const bool is_same =
                each.here.line == waits->here.line && each.here.file == waits->here.file;
            if (!is_same && elsewhere == nullptr) elsewhere = &each;
        }
        if (waiting == 0) return false;
        const auto at = [](const Coroutine& one) {
            return std::string(one.here.file) + ":" + std::to_string(one.here.line);
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
        for (unsigned i = 0; i < threads; ++i)
            thread(i).state = Coroutine::State::kReady;
        ready_ = threads;
        return !grid_->failed;
    }

    std::vector<std::unique_ptr<Coroutine>> coroutines_;
    std::vector<unsigned> order_;
    std::size_t first_ = 0;  // of the block's coroutines
    unsigned threads_ = 0;   // of the block
    unsigned ready_ = 0;     // of these, those that could run
    std::unique_ptr<Block> block_;
    void* dynamic_ = nullptr;
    Coroutine* current_ = nullptr;
    unsigned number_ = 0;  // its thread's
    Grid* grid_ = nullptr;
    Place place_;
};

void begin() {
    here->run_coroutine();
}

}  // namespace

Outcome run_blocks(const Launch& launch) {
    static std::vector<std::unique_ptr<Crew>> crews;
    const char* const order = std::getenv("CUDA_ON_CPU_ORDER");
    const std::size_t blocks = std::size_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    Grid grid{launch, blocks,
              order == nullptr ? 0U : static_cast<unsigned>(std::strtoul(order, nullptr, 10))};
    const std::size_t crew_count = std::min<std::size_t>(units(), blocks);
    while (crews.size() < crew_count)
        crews.push_back(std::make_unique<Crew>());
    std::vector<std::thread> threads;
    for (std::size_t n = 0; n < crew_count; ++n)
        threads.emplace_back([&grid, n] { crews[n]->work(grid); });
    for (std::thread& each : threads)
        each.join();
    Told::acquire(&grid.done);
    return grid.outcome;
}

void* shared_at(std::size_t bytes, std::size_t alignment, const void* key) {
    return here->shared_at(bytes, alignment, key);
}

unsigned meet(unsigned mask, std::uint64_t brings, bool orders, const char* what, Here at) {
    return here->meet(mask, brings, orders, what, at);
}

std::uint64_t brought(unsigned lane) {
    return here->brought(lane);
}

void* dynamic_shared_memory() {
    return here->dynamic_shared();
}

}  // namespace on_cpu

void __syncthreads(on_cpu::Here here) {
    on_cpu::here->barrier(here);
}

void __threadfence() {
    on_cpu::here->fence();
}

// A report has the lines of sources, and not the names of all templates on the way to them.
#define ON_CPU_REPORT "stack_trace_format='    #%n %L':strip_path_prefix=\"" ON_CPU_SOURCES "/\""
// NOLINTBEGIN(bugprone-reserved-identifier): names that the sanitizers ask for
extern "C" const char* __tsan_default_options() {
    return ON_CPU_REPORT;
}
extern "C" const char* __asan_default_options() {
    return ON_CPU_REPORT;
}
// NOLINTEND(bugprone-reserved-identifier)
