// Runs a student's C++, which is loaded as a library when all that the grader sends has been read.
//
//     run_cpp LIBRARY      standard input: for each case the line "BYTES THREADS PLANT", and bytes;
//                          standard output: for each case the line "BYTES", and bytes
//
// It is compiled with the sanitizers that the library is compiled with. What a detector does not
// report where a fault is planted here it would not report of the student's either: PLANT is r for
// a thread that reads the results while the others work, b for pixels that end too early, or -.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Case {
    std::vector<std::uint8_t> bytes;
    unsigned threads = 0;
    char plant = '-';
};

std::vector<Case> read_cases() {
    std::vector<Case> cases;
    std::size_t bytes = 0;
    for (Case each; std::scanf("%zu %u %c", &bytes, &each.threads, &each.plant) == 3;) {
        std::getchar();  // the end of the line
        each.bytes.resize(bytes);
        if (std::fread(each.bytes.data(), 1, bytes, stdin) != bytes) break;
        cases.push_back(each);
    }
    return cases;
}

template <typename Function>
Function* find(void* library, const char* name) {
    void* const found = library == nullptr ? nullptr : dlsym(library, name);
    if (found == nullptr) std::fprintf(stderr, "%s\n", dlerror());
    return reinterpret_cast<Function*>(found);
}

struct Functions {
    void* (*begin)() = nullptr;
    void (*part)(void*, const std::uint8_t*, std::size_t) = nullptr;
    const std::uint32_t* (*end)(void*, std::size_t*) = nullptr;
};

std::vector<std::uint32_t> counts_of(const Functions& student, const Case& each) {
    void* const shared = student.begin();
    std::size_t words = 0;
    const std::uint32_t* const counts = student.end(shared, &words);
    std::vector<std::thread> running;
    std::atomic<bool> all_here = false;
    for (std::size_t thread = 0; thread < each.threads; ++thread) {
        const std::size_t first = each.bytes.size() * thread / each.threads;
        const std::size_t last = each.bytes.size() * (thread + 1) / each.threads;
        // Its part is a memory of its own: it ends where it ends, and no other part is near.
        running.emplace_back([&each, &all_here, &student, shared, first, last] {
            const std::size_t missing = each.plant == 'b' ? 4 : 0;
            const std::vector<std::uint8_t> own(each.bytes.data() + first,
                                                each.bytes.data() + last - missing);
            all_here.wait(false);
            student.part(shared, own.data(), last - first);
        });
    }
    if (each.plant == 'r') {
        running.emplace_back([counts, words] {
            volatile std::uint32_t sum = 0;
            for (std::size_t at = 0; at < words; ++at)
                sum = sum + counts[at];
        });
    }
    all_here = true;  // so that they meet, however little each has to do
    all_here.notify_all();
    for (std::thread& thread : running)
        thread.join();
    const std::uint32_t* const result = student.end(shared, &words);
    return {result, result + words};
}

// Threads that lose a count do so seldom: of a few runs the one with the least counts is theirs.
std::vector<std::uint32_t> counts_of_several(const Functions& student, const Case& each) {
    std::vector<std::uint32_t> counts = counts_of(student, each);
    const bool few = each.threads > 1 && each.threads <= 8 && each.plant == '-';
    const std::size_t more = few ? 400000 / (each.bytes.size() + 20000) : 0;
    for (std::size_t run = 0; run < more; ++run)
        counts = std::min(counts, counts_of(student, each));
    return counts;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): then it has ended, which is what counts
int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const std::vector<Case> cases = read_cases();
    std::FILE* const results = fdopen(dup(STDOUT_FILENO), "wb");
    dup2(STDERR_FILENO, STDOUT_FILENO);  // for what the student prints
    // As the exercise's call.cpp defines them.
    void* const library = dlopen(argv[1], RTLD_NOW);
    const Functions student{
        find<void*()>(library, "exercise_begin"),
        find<void(void*, const std::uint8_t*, std::size_t)>(library, "exercise_part"),
        find<const std::uint32_t*(void*, std::size_t*)>(library, "exercise_end")};
    if (student.begin == nullptr || student.part == nullptr || student.end == nullptr) return 1;
    for (const Case& each : cases) {
        const std::vector<std::uint32_t> counts = counts_of_several(student, each);
        std::fprintf(results, "%zu\n", counts.size() * sizeof counts[0]);
        std::fwrite(counts.data(), sizeof counts[0], counts.size(), results);
        std::fflush(results);
    }
    return 0;
}
