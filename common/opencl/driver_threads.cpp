// A driver that runs kernels on the processor runs them in threads of its own, where the handler of
// crashes (verify/watchdog.cpp) has no stack to run on when a kernel has filled the thread's. So
// this stands before the C library's pthread_create, and gives each thread one.
#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <csignal>
#include <memory>

namespace {

using Routine = void* (*)(void*);
struct Start {
    Routine routine;
    void* argument;
};

void* run_thread(void* start) {
    const Start own = *std::unique_ptr<Start>(static_cast<Start*>(start));
    static thread_local std::array<char, std::size_t{64} << 10> memory;
    const stack_t other{memory.data(), 0, memory.size()};
    sigaltstack(&other, nullptr);
    return own.routine(own.argument);
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, Routine routine,
                              void* argument) {
    static const auto create =
        reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    auto start = std::make_unique<Start>(Start{routine, argument});
    const int error = create(thread, attributes, run_thread, start.get());
    if (error == 0) static_cast<void>(start.release());
    return error;
}
