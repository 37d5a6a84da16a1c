// How a launch runs: blocks are tasks that the processor's threads take, one after the other; the
// threads of a block are fibers, of which one runs until it comes to a barrier or to its end.
// Then the next one does. docs/cuda-on-a-cpu.md tells it at more leisure.
//
// This file is compiled without a sanitizer, so that the kernel is watched and not the machinery.
// sanitizers.hpp tells the sanitizer what the machinery does.
#undef _FORTIFY_SOURCE  // its longjmp takes another stack for a mistake
#include "common/cuda/on_cpu/blocks.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include "common/cuda/on_cpu/sanitizers.hpp"
#include "common/histogram/histogram.hpp"

namespace on_cpu {

unsigned units() {
    // Two at least, for blocks are to run at the same time.
    return std::clamp(std::thread::hardware_concurrency(), 2U, Sanitizer::kMaxUnits);
}

unsigned multiprocessors() {
    return Sanitizer::multiprocessors(units());
}

namespace {

// ---- changing contexts ----

// A context to go on from: a stack, with the processor's registers.
struct Context {
#if defined(ON_CPU_TELLS_thread) || defined(ON_CPU_TELLS_address)
    ucontext_t registers{};  // known to sanitizers; but the system is asked for each change
#else
    std::jmp_buf registers{};
#endif
    Sanitizer::Runner runner{};
    char* stack = nullptr;  // of a fiber
    std::size_t stack_bytes = 0;
    bool is_new = false;  // it begins, and has no registers yet
};

void begin();  // what a fiber does

[[noreturn]] void resume(Context& context) {
    if (context.is_new) {
        context.is_new = false;
        ucontext_t first;
        getcontext(&first);
        first.uc_stack.ss_sp = context.stack;
        first.uc_stack.ss_size = context.stack_bytes;
        first.uc_link = nullptr;
        makecontext(&first, &begin, 0);
        setcontext(&first);
    }
#if defined(ON_CPU_TELLS_thread) || defined(ON_CPU_TELLS_address)
    setcontext(&context.registers);
#else
    std::longjmp(context.registers, 1);
#endif
    std::abort();  // nothing comes here
}

// Goes on at the other context, and returns when somebody goes on at this one.
void switch_context(Context& from, Context& to) {
    Sanitizer::before_switch(from.runner, to.runner);
#if defined(ON_CPU_TELLS_thread) || defined(ON_CPU_TELLS_address)
    volatile bool resumed = false;
    getcontext(&from.registers);
    if (!resumed) {
        resumed = true;
        resume(to);
    }
#else
    if (setjmp(from.registers) == 0) resume(to);
#endif
    Sanitizer::after_switch(from.runner, to.runner);
}

// A thread of a block, on a stack of its own. It serves one block after the other.
struct Fiber {
    explicit Fiber(std::size_t number) {
        // Below the stack nothing can be written: a stack overflow crashes there. There is as much
        // of that, so that no large array of a thread reaches over it into another's stack.
        void* const memory = mmap(nullptr, 2 * kStackBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory, kStackBytes, PROT_NONE) != 0)
            throw std::bad_alloc();
        context.stack = static_cast<char*>(memory) + kStackBytes;
        // The stacks begin at 32 different offsets in a page: at one offset they would all compete
        // for the same few sets of the cache.
        context.stack_bytes = kStackBytes - number % 32 * 128;
        context.is_new = true;
        context.runner = Sanitizer::fiber(context.stack, context.stack_bytes);
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
    Context context;

    [[nodiscard]] std::string at() const {
        return std::string(what) + " at " + here.file + ":" + std::to_string(here.line);
    }
};

// ---- a block ----

// A launch, as all crews see it.
struct RunningLaunch {
    const KernelCall& launch;
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
        end += std::min(Sanitizer::kGap, sizeof shared - end);
        Sanitizer::unpoison(memory, bytes);
        return memory;
    }
};

// ---- a crew: a thread of the processor, and the fibers that take turns on it ----

class Crew;
thread_local Crew* here = nullptr;  // the one that this thread of the processor works for

class Crew {
 public:
    // Block after block, as long as there are any.
    void work(RunningLaunch& running) {
        here = this;
#if !defined(ON_CPU_TELLS_thread) && !defined(ON_CPU_TELLS_address)
        // Where a fiber's stack is full, a handler of crashes has this one.
        static thread_local std::array<char, std::size_t{64} << 10> memory;
        const stack_t other{memory.data(), 0, memory.size()};
        sigaltstack(&other, nullptr);
#endif
        running_ = &running;
        first_ = 0;
        gridDim = running.launch.grid;
        blockDim = running.launch.block;
        Sanitizer::crew_begins();
        for (std::size_t n; !running.failed && (n = running.next++) < running.blocks;) {
            const std::size_t b = running.seed % 2 == 0 ? n : running.blocks - 1 - n;
            if (Sanitizer::skips(b)) continue;
            blockIdx = {static_cast<unsigned>(b % gridDim.x),
                        static_cast<unsigned>(b / gridDim.x % gridDim.y),
                        static_cast<unsigned>(b / gridDim.x / gridDim.y)};
            run_block(static_cast<unsigned>(b));
        }
        Sanitizer::crew_ends();
    }

    // Called by the fiber that runs.
    void barrier(Here at) {
        current_->what = "__syncthreads";
        current_->here = at;
        current_->state = Fiber::State::kWaits;
        char* const meeting = &block_->meetings[block_->phase % 2];
        Sanitizer::release(meeting);
        leave();
        Sanitizer::acquire(meeting);
        if (running_->has_fences) Sanitizer::acquire(&running_->fences);
    }

    void fence() {
        running_->has_fences = true;
        Sanitizer::release(&running_->fences);
        Sanitizer::acquire(&running_->fences);
    }

    // The same. It goes on when all lanes of the mask have come to the same call: the last to come
    // makes the others ready, and does not stop itself.
    unsigned meet(unsigned mask, std::uint64_t brings, bool orders, const char* what, Here at) {
        Fiber& me = *current_;
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
        me.state = Fiber::State::kMeets;
        if (orders) Sanitizer::release(&block_->comes[number_]);
        if (missing(me, first) < kWarp) {
            leave();
        } else {
            std::array<std::uint64_t, kWarp> brought{};
            char* const parted = &block_->parts[number_][me.turns++ % 2];
            for_each_lane(mask, [&](unsigned lane) {
                brought[lane] = thread(first + lane).brings;
                if (orders) Sanitizer::acquire(&block_->comes[first + lane]);
            });
            if (orders) Sanitizer::release(parted);
            for_each_lane(mask, [&](unsigned lane) {
                Fiber& each = thread(first + lane);
                each.brought = brought;
                each.parted = parted;
                each.state = Fiber::State::kReady;
                ++ready_;
            });
            --ready_;  // this one runs
        }
        if (orders) Sanitizer::acquire(me.parted);
        return mask;
    }

    [[nodiscard]] std::uint64_t brought(unsigned lane) const {
        return current_->brought[lane];
    }

    void* shared_at(std::size_t bytes, std::size_t alignment, const void* key) {
        for (const auto& [of, memory] : block_->variables)
            if (of == key) return memory;
        void* const memory = block_->take(bytes, alignment);
        if (memory == nullptr) fail("a block has 48 KiB of shared memory", cudaErrorInvalidValue);
        block_->variables.emplace_back(key, memory);
        return memory;
    }

    [[nodiscard]] void* dynamic_shared() const {
        return dynamic_;
    }

    [[noreturn]] void run_fiber() {
        Sanitizer::Runner was_nowhere;
        Sanitizer::after_switch(was_nowhere, context_.runner);
        for (;;) {
            running_->launch.kernel(running_->launch.arguments);
            current_->state = Fiber::State::kEnded;
            leave();
        }
    }

 private:
    // Ends the launch, and this fiber for good.
    void fail(const std::string& why, cudaError_t error = cudaErrorLaunchFailure) {
        running_->fail(error, why);
        leave();
    }

    // From the fiber that runs to the crew, until that goes on with it.
    void leave() {
        Sanitizer::release(&running_->done);  // it may be the last that it does
        switch_context(current_->context, context_);
    }

    void run_block(unsigned number) {
        const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
        block_ = std::make_unique<Block>();
        Sanitizer::poison(block_->shared, sizeof block_->shared);
        dynamic_ = block_->take(running_->launch.shared_bytes, 256);
        Sanitizer::block_begins(number, block_->shared, sizeof block_->shared);
        threads_ = ready_ = threads;
        order_.resize(threads);
        std::iota(order_.begin(), order_.end(), 0U);
        if (running_->seed == 1) std::reverse(order_.begin(), order_.end());
        std::minstd_rand random(running_->seed + number);
        for (unsigned i = 0; i < threads; ++i) {
            Fiber& each = thread(i);
            // A launch that failed left it where it was.
            if (each.state != Fiber::State::kEnded) each.context.is_new = true;
            each.state = Fiber::State::kReady;
        }
        do {
            // Each time round, some run to where they wait for others; at last all do, or have
            // ended.
            while (ready_ > 0) {
                if (running_->seed > 1) std::shuffle(order_.begin(), order_.end(), random);
                for (const unsigned i : order_) {
                    current_ = &thread(i);
                    if (current_->state != Fiber::State::kReady) continue;
                    --ready_;
                    number_ = i;
                    threadIdx = {i % blockDim.x, i / blockDim.x % blockDim.y,
                                 i / blockDim.x / blockDim.y};
                    switch_context(context_, current_->context);
                    if (running_->failed) return;
                }
            }
            ++block_->phase;
            Sanitizer::phase_ends(block_->used);
        } while (all_wait(threads));
        Sanitizer::block_ends();
        Sanitizer::unpoison(block_->shared, sizeof block_->shared);
        // Where there are more, the threads of the next block are others, on other stacks.
        if (Sanitizer::kFibers > kMaxThreads) first_ += threads;
    }

    // The fiber of a thread of the block.
    Fiber& thread(std::size_t i) {
        const std::size_t n = (first_ + i) % Sanitizer::kFibers;
        while (fibers_.size() <= n)
            fibers_.push_back(std::make_unique<Fiber>(fibers_.size()));
        return *fibers_[n];
    }

    template <typename Do>
    static void for_each_lane(unsigned mask, const Do& act) {
        for (unsigned lane = 0; mask != 0; ++lane, mask >>= 1)
            if ((mask & 1U) != 0) act(lane);
    }

    // The first lane of its mask that has not come to where this one waits; kWarp if all have.
    unsigned missing(const Fiber& one, unsigned first) {
        for (unsigned lane = 0; lane < kWarp && first + lane < threads_; ++lane) {
            if ((one.mask >> lane & 1U) == 0) continue;
            const Fiber& other = thread(first + lane);
            if (other.state != Fiber::State::kMeets || other.mask != one.mask ||
                other.what != one.what || other.here.line != one.here.line ||
                other.here.file != one.here.file)
                return lane;
        }
        return kWarp;
    }

    // It waits, and nobody is left who could come.
    void nobody_comes(unsigned number) {
        const Fiber& one = thread(number);
        const unsigned first = number / kWarp * kWarp;
        const unsigned lane = missing(one, first);
        const Fiber& other = thread(first + lane);
        const bool has_ended = other.state == Fiber::State::kEnded;
        running_->fail(cudaErrorLaunchFailure,
                       "thread " + std::to_string(number) + " waits in " + one.at() + " for lane " +
                           std::to_string(lane) + " of its warp, which " +
                           (has_ended ? "has ended" : "waits in " + other.at()) +
                           (other.state == Fiber::State::kMeets && other.mask != one.mask
                                ? ", with another mask"
                                : ""));
    }

    // Whether all have come to the same barrier, or none: anything else ends the launch.
    bool all_wait(unsigned threads) {
        for (unsigned i = 0; i < threads; ++i) {
            if (thread(i).state != Fiber::State::kMeets) continue;
            nobody_comes(i);
            return false;
        }
        const Fiber* waits = nullptr;
        const Fiber* elsewhere = nullptr;
        unsigned waiting = 0;
        for (unsigned i = 0; i < threads; ++i) {
            const Fiber& each = thread(i);
            if (each.state != Fiber::State::kWaits) continue;
            ++waiting;
            if (waits == nullptr) waits = &each;
            const bool is_same =
                each.here.line == waits->here.line && each.here.file == waits->here.file;
            if (!is_same && elsewhere == nullptr) elsewhere = &each;
        }
        if (waiting == 0) return false;
        const auto at = [](const Fiber& one) {
            return std::string(one.here.file) + ":" + std::to_string(one.here.line);
        };
        if (waiting < threads) {
            running_->fail(cudaErrorLaunchFailure,
                           "not all threads of a block reach the same __syncthreads(): " +
                               std::to_string(waiting) + " of " + std::to_string(threads) +
                               " wait at " + at(*waits) + ", the others have ended");
        } else if (elsewhere != nullptr) {
            running_->fail(
                cudaErrorLaunchFailure,
                "not all threads of a block reach the same __syncthreads(): some wait at " +
                    at(*waits) + ", others at " + at(*elsewhere));
        }
        for (unsigned i = 0; i < threads; ++i)
            thread(i).state = Fiber::State::kReady;
        ready_ = threads;
        return !running_->failed;
    }

    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<unsigned> order_;
    std::size_t first_ = 0;  // of the block's fibers
    unsigned threads_ = 0;   // of the block
    unsigned ready_ = 0;     // of these, those that could run
    std::unique_ptr<Block> block_;
    void* dynamic_ = nullptr;
    Fiber* current_ = nullptr;
    unsigned number_ = 0;  // its thread's
    RunningLaunch* running_ = nullptr;
    Context context_;
};

void begin() {
    here->run_fiber();
}

Outcome run_once(const KernelCall& launch) {
    static std::vector<std::unique_ptr<Crew>> crews;
    const char* const order = std::getenv("CUDA_ON_CPU_ORDER");
    const std::size_t blocks = std::size_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    RunningLaunch running{
        launch, blocks,
        order == nullptr ? 0U : static_cast<unsigned>(std::strtoul(order, nullptr, 10))};
    const std::size_t crew_count = std::min<std::size_t>(units(), blocks);
    while (crews.size() < crew_count)
        crews.push_back(std::make_unique<Crew>());
    std::vector<std::thread> threads;
    for (std::size_t n = 0; n < crew_count; ++n)
        threads.emplace_back([&running, n] { crews[n]->work(running); });
    for (std::thread& each : threads)
        each.join();
    Sanitizer::acquire(&running.done);
    return running.outcome;
}

}  // namespace

Outcome run_blocks(const KernelCall& launch) {
    if (!Sanitizer::launch_begins(launch)) return {};
    const Outcome outcome = run_once(launch);
    while (outcome.error == cudaSuccess && Sanitizer::launch_runs_again())
        run_once(launch);
    return outcome;
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
