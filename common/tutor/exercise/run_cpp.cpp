// Runs a student's C++ as a job says (job.hpp): each group of its launch is a thread.
//
//     run_cpp                the exit status is run_opencl's
//
// It comes as a library, with the exercise's call.cpp behind it, and is compiled with the sanitizer
// that this is compiled with.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <thread>
#include <vector>

#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#endif

#include "common/process/status.hpp"
#include "common/tutor/exercise/job.hpp"

namespace {

using namespace common::exercise;

// As the exercise's call.cpp defines them.
struct Functions {
    void* (*begin)();
    void (*part)(void*, const std::uint8_t*, std::size_t);
    const std::uint32_t* (*end)(void*, std::size_t*);
};

// From here on the process has the calls of the system that this lets through, and never more.
void filter_calls([[maybe_unused]] const Bytes& with) {
#ifdef __linux__
    std::vector<sock_filter> steps(with.size() / sizeof(sock_filter));
    std::memcpy(steps.data(), with.data(), with.size());
    const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        throw std::runtime_error("the system does not filter calls");
#endif
}

std::vector<std::uint32_t> counts_of(const Functions& student, const Bytes& bytes,
                                     std::size_t threads) {
    void* const shared = student.begin();
    std::vector<std::thread> running;
    std::atomic<bool> all_here = false;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        const std::size_t first = bytes.size() * thread / threads;
        const std::size_t last = bytes.size() * (thread + 1) / threads;
        // Its part is a memory of its own: it ends where it ends, and no other part is near.
        running.emplace_back([&bytes, &all_here, &student, shared, first, last] {
            const Bytes chunk(bytes.data() + first, bytes.data() + last);
            all_here.wait(false);
            student.part(shared, chunk.data(), chunk.size());
        });
    }
    all_here = true;  // so that they meet, however little each has to do
    all_here.notify_all();
    for (std::thread& thread : running)
        thread.join();
    std::size_t words = 0;
    const std::uint32_t* const result = student.end(shared, &words);
    return {result, result + words};
}

}  // namespace

#ifdef __SANITIZE_THREAD__
// ThreadSanitizer of g++ 12 does not know this call, by which a std::timed_mutex waits; it knows
// the older one, whose clock is another.
extern "C" int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                       const timespec* until) {
    timespec there{}, here{};
    clock_gettime(clock, &there);
    clock_gettime(CLOCK_REALTIME, &here);
    constexpr std::int64_t kSecond = 1'000'000'000;
    const std::int64_t at = (here.tv_sec - there.tv_sec + until->tv_sec) * kSecond + here.tv_nsec -
                            there.tv_nsec + until->tv_nsec;
    const timespec then{at / kSecond, at % kSecond};
    return pthread_mutex_timedlock(mutex, &then);
}
#endif

int main() try {
    const Job job = read_job();
    Results results;
    if (job.cases.empty()) results.add("this machine's processor");
    if (job.cases.empty()) return 0;
    if (!job.calls.empty()) filter_calls(job.calls.at(0));
    const auto function = [&job](const char* name) { return find(job.library, name); };
    const Functions student{
        reinterpret_cast<decltype(Functions::begin)>(function("exercise_begin")),
        reinterpret_cast<decltype(Functions::part)>(function("exercise_part")),
        reinterpret_cast<decltype(Functions::end)>(function("exercise_end"))};
    if (!job.calls.empty()) filter_calls(job.calls.at(1));
    for (const Case& each : job.cases) {
        const Bytes& bytes = each.buffers.at(0);
        const std::size_t threads = each.steps.at(0).groups;
        std::vector<std::uint32_t> counts = counts_of(student, bytes, threads);
        // Threads that lose a count do so seldom: of a few runs the least counts are theirs.
        const bool is_few = threads > 1 && threads <= 8;
        for (std::size_t more = is_few ? 400000 / (bytes.size() + 20000) : 0; more > 0; --more)
            counts = std::min(counts, counts_of(student, bytes, threads));
        Bytes result(counts.size() * sizeof counts[0]);
        std::memcpy(result.data(), counts.data(), result.size());
        results.add(result);
    }
    return 0;
} catch (...) {
    return common::report_exception("run_cpp");
}
