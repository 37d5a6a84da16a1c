// Chapter 01: the histogram of an 8-bit picture on the CPU. Seven ways to count, from the loop that
// every other chapter is held against to the fastest that this processor gives:
//
//   serial                 one loop, one table
//   interleaved            one loop, eight tables, taken in turn
//   simd                   64 pixels at a time, where the processor has AVX-512 (simd.cpp)
//   threads-atomic         threads that share one table of atomic counters: right, and slow
//   threads-false-sharing  threads with counters of their own, side by side: right, and still slow
//   threads-private        threads with interleaved tables of their own, added up at the end
//   threads-simd           the same, each thread with simd
//
// Run it:  build/01-cpu/cpu                     all of them on the sample picture
//          build/01-cpu/cpu --tile 100M         ... on a picture large enough to tell them apart
//          build/01-cpu/cpu --help              everything else
//
// The counting comes first, in the order of the table above; main() is at the end.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "01-cpu/simd.hpp"
#include "common/cpu/cpu.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/device_choice.hpp"
#include "common/options/options.hpp"
#include "common/report/report.hpp"
#include "common/status/status.hpp"
#include "common/timing/timing.hpp"
#include "common/verify/verify.hpp"

using common::Histogram;
using common::kBins;
using Pixels = std::span<const std::uint8_t>;

// ---- serial: one loop, one table ----

Histogram count_serial(Pixels pixels) {
    Histogram histogram{};
    for (const std::uint8_t pixel : pixels) {
        ++histogram[pixel];  // read a counter, add one, write it back
    }
    return histogram;
}

// ---- interleaved: eight counters per bin ----
//
// Neighbouring pixels of a picture are often equal, and then the `++` of one has to wait for the
// store of the one before: to the same address, so in order. Here eight neighbours use eight
// counters, and never touch the same address, whatever their values. That is the first of a few
// ideas; --ideas says how many of them:
//
//   1  eight counters per bin, side by side
//   2  instead, eight tables, one behind the other: we think that a counter is found faster
//   3  and memory is asked for the pixels before they are needed: this is `interleaved`
//   4  and eight pixels with one load, in the place of eight loads

constexpr std::size_t kLanes = 8;
constexpr unsigned kIdeas = 3;

Histogram count_side_by_side(Pixels pixels) {
    std::array<std::array<std::uint32_t, kLanes>, kBins> table{};  // [bin][lane]
    std::size_t i = 0;
    for (; i + kLanes <= pixels.size(); i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            ++table[pixels[i + lane]][lane];
    }
    Histogram histogram{};
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        for (const std::uint32_t lane : table[bin])
            histogram[bin] += lane;
    }
    for (; i < pixels.size(); ++i)  // the last few pixels, fewer than eight
        ++histogram[pixels[i]];
    return histogram;
}

// Each is longer than it has to be, so that equal bins do not lie a power of two apart.
using Tables = std::array<std::array<std::uint32_t, kBins + 8>, kLanes>;  // [lane][bin]

void count_eight(Tables& tables, const std::uint8_t* pixels) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
        ++tables[lane][pixels[lane]];
}

void count_eight_with_one_load(Tables& tables, const std::uint8_t* pixels) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, pixels, sizeof eight);  // one load: the compiler makes no call of it
    for (std::size_t lane = 0; lane < kLanes; ++lane)
        ++tables[lane][eight >> 8 * lane & 0xff];
}

void ask_for(const std::uint8_t* pixel) {
#ifdef __GNUC__
    __builtin_prefetch(pixel);
#else
    static_cast<void>(pixel);  // the processor's own guess has to do
#endif
}

Histogram count_interleaved(Pixels pixels, unsigned ideas) {
    if (ideas == 1) return count_side_by_side(pixels);
    constexpr std::size_t kLine = 64;     // bytes that memory gives at a time
    constexpr std::size_t kAhead = 2048;  // bytes: long enough for memory to answer
    Tables tables{};
    std::size_t i = 0;
    for (; i + kLine <= pixels.size(); i += kLine) {
        if (ideas >= 3) ask_for(&pixels[std::min(i + kAhead, pixels.size() - 1)]);
        for (std::size_t j = i; j < i + kLine; j += kLanes) {
            if (ideas >= 4) {
                count_eight_with_one_load(tables, &pixels[j]);
            } else {
                count_eight(tables, &pixels[j]);
            }
        }
    }
    Histogram histogram{};
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        for (const auto& table : tables)
            histogram[bin] += table[bin];
    }
    for (; i < pixels.size(); ++i)  // the last pixels, less than a line
        ++histogram[pixels[i]];
    return histogram;
}

// ---- simd: in a file of its own, which is compiled for processors with AVX-512 ----

// Why it cannot run: nothing where it can.
std::string why_no_simd() {
#ifdef WITH_SIMD
    if (processor_has_simd()) return {};
    return "no AVX-512 (VBMI2, BITALG, GFNI)";
#else
    return "built without AVX-512";
#endif
}

Histogram count_with_simd(Pixels pixels) {
    Histogram histogram{};
#ifdef WITH_SIMD
    count_simd(pixels.data(), pixels.size(), histogram.data());
#else
    static_cast<void>(pixels);
    throw std::logic_error("there is no simd to call");
#endif
    return histogram;
}

// ---- threads: the picture in equal parts, one for each ----

void on_each_part(Pixels pixels, std::size_t threads,
                  const std::function<void(Pixels part, std::size_t thread)>& work) {
    std::vector<std::jthread> running;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        const std::size_t first = pixels.size() * thread / threads;
        const std::size_t last = pixels.size() * (thread + 1) / threads;
        running.emplace_back(work, pixels.subspan(first, last - first), thread);
    }
    // A std::jthread joins when it goes out of scope: here all of them have finished.
}

// ---- threads-atomic: one table for everyone ----
//
// With plain counters two threads could read the same 41 and both write 42: a lost update. An
// atomic increment cannot be split, so none is lost; but the cores have to pass the cache line that
// holds the counter back and forth, and each waits for it.

Histogram count_threads_atomic(Pixels pixels, std::size_t threads) {
    std::array<std::atomic<std::uint32_t>, kBins> shared{};
    on_each_part(pixels, threads, [&](Pixels part, std::size_t) {
        for (const std::uint8_t pixel : part) {
            // Relaxed: only the sum matters, not the order in which anybody sees it grow. The joins
            // are what makes all increments visible below.
            shared[pixel].fetch_add(1, std::memory_order_relaxed);
        }
    });
    Histogram histogram{};
    for (std::size_t bin = 0; bin < kBins; ++bin)
        histogram[bin] = shared[bin].load();
    return histogram;
}

// ---- threads-false-sharing: counters of one's own, side by side ----
//
// No counter is shared and no atomic is needed. But a bin's counters, one per thread, are
// neighbours in memory, so they lie on one cache line, and a cache line belongs to one core at a
// time.

Histogram count_threads_false_sharing(Pixels pixels, std::size_t threads) {
    std::vector<std::uint32_t> counters(kBins * threads);  // [bin][thread]
    on_each_part(pixels, threads, [&](Pixels part, std::size_t thread) {
        for (const std::uint8_t pixel : part) {
            ++counters[pixel * threads + thread];
        }
    });
    Histogram histogram{};
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        for (std::size_t thread = 0; thread < threads; ++thread) {
            histogram[bin] += counters[bin * threads + thread];
        }
    }
    return histogram;
}

// ---- threads-private: tables of one's own, merged at the end ----

Histogram count_threads_private(Pixels pixels, std::size_t threads,
                                const std::function<Histogram(Pixels)>& count) {
    std::vector<Histogram> partial(threads);
    on_each_part(pixels, threads, [&](Pixels part, std::size_t thread) {
        // On the thread's own stack: nobody else's cache line. It is merged and written once.
        partial[thread] = count(part);
    });
    Histogram histogram{};
    for (const Histogram& table : partial) {
        for (std::size_t bin = 0; bin < kBins; ++bin)
            histogram[bin] += table[bin];
    }
    return histogram;
}

// ---- how fast could it be? ----
//
// A histogram has to read every pixel once, so no way of counting can be faster than a program that
// only reads. This one adds up 64-bit words of a buffer that is larger than the caches; in several
// ways, for what one stream of addresses gets is not what memory gives.

// The sum of a part that is read in `streams` places at once, a line from each in turn.
std::uint64_t sum_of(Pixels part, std::size_t streams, std::size_t ahead) {
    constexpr std::size_t kLine = 64;
    const std::size_t length = part.size() / streams / kLine * kLine;
    std::array<std::uint64_t, kLine / 8> sums{};
    for (std::size_t i = 0; i < length; i += kLine) {
        for (std::size_t stream = 0; stream < streams; ++stream) {
            const std::size_t at = stream * length + i;
            if (ahead > 0) ask_for(&part[std::min(at + ahead, part.size() - 1)]);
            std::array<std::uint64_t, kLine / 8> line;
            std::memcpy(line.data(), &part[at], kLine);
            for (std::size_t word = 0; word < line.size(); ++word)
                sums[word] += line[word];
        }
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t each : sums)
        sum += each;
    return sum;
}

double read_ceiling_gb_s(std::size_t threads) {
    constexpr std::size_t kBytes = std::size_t{256} << 20;
    const std::vector<std::uint8_t> buffer(kBytes, 1);
    const auto read_all = [&](std::size_t readers, std::size_t streams, std::size_t ahead) {
        std::vector<std::uint64_t> sums(readers);
        const double time_ms = common::wall_ms([&] {
            on_each_part(buffer, readers, [&](Pixels part, std::size_t thread) {
                sums[thread] = sum_of(part, streams, ahead);
            });
        });
        // The sums are used, so that the compiler cannot leave the reading out.
        std::uint64_t sum = 0;
        for (const std::uint64_t part : sums)
            sum += part;
        if (sum == 0) throw std::logic_error("the read ceiling read nothing");
        return common::gigabytes_per_second(kBytes, time_ms);
    };
    double best = 0;
    for (int round = 0; round < 5; ++round) {
        for (const std::size_t readers : {std::size_t{1}, threads}) {
            for (const std::size_t streams : {1, 4}) {
                for (const std::size_t ahead : {0, 2048, 8192})
                    best = std::max(best, read_all(readers, streams, ahead));
            }
        }
    }
    return best;
}

// ---- the program ----

const common::Program kProgram{
    "01-cpu",
    "cpu",
    "C++",
    "the 256-bin histogram of an 8-bit picture on the CPU",
    {{"serial", "one loop, one table"},
     {"interleaved", "one loop, eight tables, taken in turn"},
     {"simd", "64 pixels at a time, with AVX-512"},
     {"threads-atomic", "threads that share one table of atomic counters"},
     {"threads-false-sharing", "counters of their own for each thread, side by side"},
     {"threads-private", "interleaved tables for each thread, merged at the end"},
     {"threads-simd", "simd in each thread, merged at the end"}},
    {{"ideas", {"1", "2", "3", "4"}, "interleaved: how many ideas it has (3)"},
     {"simd", {"on", "off"}, "off: as on a processor without AVX-512"}}};

int main(int argc, char** argv) try {
    // 1. What is asked for, and where it runs. "Device" and "group" are words of the later
    //    chapters: here there is one device, the processor, and a group is a thread.
    const common::Options options = common::parse_options(argc, argv, kProgram);
    const std::string device = common::cpu_name();
    if (options.list_devices) {
        std::printf("0: %s\n", device.c_str());
        return common::kEveryVariantMatches;
    }
    if (!options.device.empty()) common::device_by_text(options.device, {device}, "C++");
    if (options.group_size) {
        throw common::BadInput(
            "--group-size means nothing here: --groups N sets the number of threads");
    }
    const std::size_t threads = options.groups.value_or(common::cpu_threads());
    if (threads > 1024) throw common::BadInput("--groups: more than 1024 threads are of no use");

    // 2. The pixels, and the right answer.
    const common::Input input = common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    common::Report report(kProgram, options, input, expected, device, "compiler " __VERSION__);

    // 3. How fast the memory could deliver the pixels.
    if (options.read_ceiling) report.set_read_ceiling(read_ceiling_gb_s(threads));

    // 4. Each way of counting: checked, timed, and checked again.
    const auto run = [&](const char* variant, const std::function<Histogram(Pixels)>& count) {
        if (!options.wants(variant)) return;
        report.add(
            common::verify_and_time(variant, expected, options.repeat, [&](Histogram& result) {
                return common::RunTime{common::wall_ms([&] { result = count(input.pixels); }),
                                       std::nullopt};
            }));
    };
    const std::string no_simd = options.choice("simd") == "off" ? "--simd off" : why_no_simd();
    const auto run_simd = [&](const char* variant, const std::function<Histogram(Pixels)>& count) {
        if (no_simd.empty()) {
            run(variant, count);
        } else if (options.wants(variant)) {
            report.add(common::skipped(variant, no_simd));
        }
    };
    const auto interleaved = [ideas = options.number("ideas").value_or(kIdeas)](Pixels p) {
        return count_interleaved(p, ideas);
    };
    run("serial", count_serial);
    run("interleaved", interleaved);
    run_simd("simd", count_with_simd);
    run("threads-atomic", [=](Pixels p) { return count_threads_atomic(p, threads); });
    run("threads-false-sharing", [=](Pixels p) { return count_threads_false_sharing(p, threads); });
    run("threads-private",
        [=](Pixels p) { return count_threads_private(p, threads, interleaved); });
    run_simd("threads-simd",
             [=](Pixels p) { return count_threads_private(p, threads, count_with_simd); });

    // 5. The table, and the exit status that tells the truth.
    return report.finish();
} catch (...) {
    return common::report_exception("01-cpu/cpu");
}
