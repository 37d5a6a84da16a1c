// A driver that runs kernels on the processor does so in threads of its own, and the handler of
// crashes (verify/watchdog.cpp) has no stack to run on where a kernel has filled the thread's. So
// this stands before the C library's pthread_create, and gives each thread one.
#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <csignal>
#include <utility>

using Routine = void* (*)(void*);
using Start = std::pair<Routine, void*>;

static void* run_thread(void* start) {
    static thread_local std::array<char, std::size_t{64} << 10> memory;
    const stack_t other{memory.data(), 0, memory.size()};
    sigaltstack(&other, nullptr);
    const auto [routine, argument] = *static_cast<Start*>(start);
    delete static_cast<Start*>(start);
    return routine(argument);
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, Routine routine,
                              void* argument) {
    static const auto create =
        reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return create(thread, attributes, run_thread, new Start(routine, argument));
}
