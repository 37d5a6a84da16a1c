// A program laid out like a chapter's, with one right strategy and the mistakes that the
// verification must catch. ctest runs each and expects exit status 1 (see CMakeLists.txt).
#include <sys/resource.h>

#include <csignal>

#include "common/host/cpu.hpp"
#include "common/lesson.hpp"

using common::Histogram;
using Pixels = std::span<const std::uint8_t>;

void count_right(Pixels pixels, Histogram& histogram) {
    histogram = common::reference_histogram(pixels);
}

// Every pixel is counted, two of the bins under the other's number: the total is right.
void count_swapped(Pixels pixels, Histogram& histogram) {
    histogram = common::reference_histogram(pixels);
    std::swap(histogram[10], histogram[20]);
}

// Whole groups of 256 only, as if the grid had been rounded down.
void count_dropped_tail(Pixels pixels, Histogram& histogram) {
    histogram = common::reference_histogram(pixels.first(pixels.size() / 256 * 256));
}

// A table that is never zeroed again: right the first time.
void count_later(Pixels pixels, Histogram& histogram) {
    static Histogram table{};
    for (const std::uint8_t pixel : pixels)
        ++table[pixel];
    histogram = table;
}

void count_unwritten(Pixels, Histogram&) {}

void crash(Pixels, Histogram&) {
    std::raise(SIGSEGV);
}

// What a driver does that gets no memory.
void abort_without_memory(Pixels, Histogram&) {
    rlimit memory{};
    getrlimit(RLIMIT_AS, &memory);
    memory.rlim_cur = 1;  // nothing more; the hard limit may be one that nobody can raise
    setrlimit(RLIMIT_AS, &memory);
    std::raise(SIGABRT);
}

const common::Program kProgram{"tests",
                               "wrong_program",
                               "C++",
                               "planted mistakes",
                               {{"right", "the reference itself"},
                                {"swapped", "two bins exchanged, the total right"},
                                {"dropped-tail", "the pixels after the last whole group forgotten"},
                                {"later", "right in the first run only"},
                                {"unwritten", "nothing written at all"},
                                {"crashes", "writes where it may not", true},
                                {"crashes-on-ramps", "does that where the pixels are a ramp", true},
                                {"aborts", "ends itself", true},
                                {"out-of-memory", "does that where memory has run out", true},
                                {"does-not-build", "no kernel", true},
                                {"unsupported", "more than any device has", true},
                                {"left-early", "a break in the loop of runs", true}}};

int main(int argc, char** argv) try {
    common::Lesson lesson(argc, argv, kProgram);
    lesson.runs_on(common::cpu_name(), "planted");
    const auto run = [&](const char* variant,
                         const std::function<void(Pixels, Histogram&)>& count) {
        if (!lesson.wants(variant)) return;
        common::Runs runs = lesson.runs(variant);
        while (runs.next()) {
            runs.begin();
            count(lesson.pixels, runs.counts);
            runs.end();
        }
    };
    run("right", count_right);
    run("swapped", count_swapped);
    run("dropped-tail", count_dropped_tail);
    run("later", count_later);
    run("unwritten", count_unwritten);
    run("crashes", crash);
    run("crashes-on-ramps", [&](Pixels pixels, Histogram& histogram) {
        if (lesson.options.ramp) crash(pixels, histogram);
        count_right(pixels, histogram);
    });
    run("aborts", [](Pixels, Histogram&) { std::raise(SIGABRT); });
    run("out-of-memory", abort_without_memory);
    if (lesson.wants("does-not-build"))
        throw common::DoesNotBuild("k.cl does not build: two lines\nof a compiler");
    if (lesson.wants("unsupported")) throw common::Unsupported("this device has too little");
    if (lesson.wants("left-early")) {
        common::Runs runs = lesson.runs("left-early");
        while (runs.next())
            break;
    }
    return lesson.finish();
} catch (...) {
    return common::report_exception(kProgram);
}
