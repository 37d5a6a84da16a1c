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

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): then it has ended, which is what counts
int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const std::vector<Case> cases = read_cases();
    std::FILE* const results = fdopen(dup(STDOUT_FILENO), "wb");
    dup2(STDERR_FILENO, STDOUT_FILENO);  // for what the student prints
    // As the exercise's call.cpp defines them.
    void* const library = dlopen(argv[1], RTLD_NOW);
    auto* const begin = find<void*()>(library, "exercise_begin");
    auto* const part =
        find<void(void*, const std::uint8_t*, std::size_t)>(library, "exercise_part");
    auto* const end = find<const std::uint32_t*(void*, std::size_t*)>(library, "exercise_end");
    if (begin == nullptr || part == nullptr || end == nullptr) return 1;
    for (const Case& each : cases) {
        void* const shared = begin();
        std::size_t words = 0;
        const std::uint32_t* const counts = end(shared, &words);
        std::vector<std::thread> running;
        for (std::size_t thread = 0; thread < each.threads; ++thread) {
            const std::size_t first = each.bytes.size() * thread / each.threads;
            const std::size_t last = each.bytes.size() * (thread + 1) / each.threads;
            // Its part is a memory of its own: it ends where it ends, and no other part is near.
            running.emplace_back([&each, part, shared, first, last] {
                const std::size_t missing = each.plant == 'b' ? 4 : 0;
                const std::vector<std::uint8_t> own(each.bytes.data() + first,
                                                    each.bytes.data() + last - missing);
                part(shared, own.data(), last - first);
            });
        }
        if (each.plant == 'r') {
            running.emplace_back([counts, words] {
                volatile std::uint32_t sum = 0;
                for (std::size_t at = 0; at < words; ++at)
                    sum = sum + counts[at];
            });
        }
        for (std::thread& thread : running)
            thread.join();
        const std::uint32_t* const words_at = end(shared, &words);
        std::fprintf(results, "%zu\n", words * sizeof *words_at);
        std::fwrite(words_at, sizeof *words_at, words, results);
        std::fflush(results);
    }
    return 0;
}
