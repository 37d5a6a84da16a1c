// How a launch runs: blocks are tasks that the processor's threads take, one after the other; the
// threads of a block are fibers, of which one runs until it comes to a barrier or to its end.
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
#include <atomic>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

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
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        // What needs more than its stack comes upon the page below it, and crashes.
        void* const memory = mmap(nullptr, kStackBytes + page, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) throw std::bad_alloc();
        context.stack = static_cast<char*>(memory) + page;
        // Not all of them at the same place of a page: a cache holds few of those.
        context.stack_bytes = kStackBytes - number % 32 * 128;
        context.is_new = true;
        context.runner = Sanitizer::fiber(context.stack, context.stack_bytes);
    }

    enum class State { kReady, kWaits, kEnded };
    State state = State::kEnded;
    const char* file = nullptr;  // of the barrier where it waits
    int line = 0;
    Context context;
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

    // What the fiber that runs calls.
    void barrier(const char* file, int line) {
        current_->file = file;
        current_->line = line;
        current_->state = Fiber::State::kWaits;
        char* const meeting = &block_->meetings[block_->phase % 2];
        Sanitizer::release(meeting);
        leave();
        Sanitizer::acquire(meeting);
    }

    void* shared_at(std::size_t bytes, std::size_t alignment, const char* file, int line) {
        for (const Block::Variable& each : block_->variables)
            if (each.line == line && each.file == file) return each.memory;
        void* const memory = block_->take(bytes, alignment);
        if (memory == nullptr) {
            running_->fail(cudaErrorInvalidValue, "a block has 48 KiB of shared memory");
            leave();  // for good
        }
        block_->variables.push_back({file, line, memory});
        return memory;
    }

    [[nodiscard]] void* dynamic_shared() const { return dynamic_; }

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
            if (running_->seed > 1) std::shuffle(order_.begin(), order_.end(), random);
            for (const unsigned i : order_) {
                current_ = &thread(i);
                threadIdx = {i % blockDim.x, i / blockDim.x % blockDim.y,
                             i / blockDim.x / blockDim.y};
                switch_context(context_, current_->context);
                if (running_->failed) return;
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

    // Whether all have come to the same barrier, or none: anything else ends the launch.
    bool all_wait(unsigned threads) {
        const Fiber* waits = nullptr;
        const Fiber* elsewhere = nullptr;
        unsigned waiting = 0;
        for (unsigned i = 0; i < threads; ++i) {
            const Fiber& each = thread(i);
            if (each.state != Fiber::State::kWaits) continue;
            ++waiting;
            if (waits == nullptr) waits = &each;
            const bool is_same = each.line == waits->line && each.file == waits->file;
            if (!is_same && elsewhere == nullptr) elsewhere = &each;
        }
        if (waiting == 0) return false;
        const auto at = [](const Fiber& one) {
            return std::string(one.file) + ":" + std::to_string(one.line);
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
        return !running_->failed;
    }

    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<unsigned> order_;
    std::size_t first_ = 0;  // of the block's fibers
    std::unique_ptr<Block> block_;
    void* dynamic_ = nullptr;
    Fiber* current_ = nullptr;
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
