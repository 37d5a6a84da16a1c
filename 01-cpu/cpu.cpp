// Chapter 01: the histogram of an 8-bit picture on the CPU. Five ways to count, from the loop that
// every other chapter is held against to the fastest that plain C++ gives here:
//
//   serial                 one loop, one table
//   interleaved            one loop, eight counters per bin, taken in turn
//   threads-atomic         threads that share one table of atomic counters: right, and slow
//   threads-false-sharing  threads with counters of their own, side by side: right, and still slow
//   threads-private        threads with tables of their own, added up at the end
//
// Run it:  build/01-cpu/cpu                     all five on the sample picture
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
#include <thread>
#include <vector>

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
// store of the one before: to the same address, so in order. Here pixel i uses counter i % 8 of its
// bin, and eight neighbours never touch the same address, whatever their values.

constexpr std::size_t kLanes = 8;
using InterleavedTable = std::array<std::array<std::uint32_t, kLanes>, kBins>;

void count_interleaved_into(InterleavedTable& table, Pixels pixels) {
    std::size_t i = 0;
    // Unrolled by hand: g++ does not unroll this loop at -O2 or -O3, and `i % 8` worked out at run
    // time costs more than the lanes gain.
    for (; i + kLanes <= pixels.size(); i += kLanes) {
        ++table[pixels[i + 0]][0];
        ++table[pixels[i + 1]][1];
        ++table[pixels[i + 2]][2];
        ++table[pixels[i + 3]][3];
        ++table[pixels[i + 4]][4];
        ++table[pixels[i + 5]][5];
        ++table[pixels[i + 6]][6];
        ++table[pixels[i + 7]][7];
    }
    for (; i < pixels.size(); ++i) {  // the last few pixels, fewer than eight
        ++table[pixels[i]][i % kLanes];
    }
}

void add_lanes(const InterleavedTable& table, Histogram& histogram) {
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        for (const std::uint32_t lane : table[bin])
            histogram[bin] += lane;
    }
}

Histogram count_interleaved(Pixels pixels) {
    InterleavedTable table{};
    count_interleaved_into(table, pixels);
    Histogram histogram{};
    add_lanes(table, histogram);
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

Histogram count_threads_private(Pixels pixels, std::size_t threads) {
    std::vector<Histogram> partial(threads);
    on_each_part(pixels, threads, [&](Pixels part, std::size_t thread) {
        // On the thread's own stack: nobody else's cache line. It is merged and written once.
        partial[thread] = count_interleaved(part);
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
// only reads. This one adds up 64-bit words of a buffer that is larger than the caches.

double read_ceiling_gb_s(std::size_t threads) {
    constexpr std::size_t kBytes = std::size_t{256} << 20;
    const std::vector<std::uint8_t> buffer(kBytes, 1);
    const auto read_all = [&](std::size_t readers) {
        std::vector<std::uint64_t> sums(readers);
        const double time_ms = common::wall_ms([&] {
            on_each_part(buffer, readers, [&](Pixels part, std::size_t thread) {
                std::uint64_t sum = 0;
                for (std::size_t i = 0; i + sizeof sum <= part.size(); i += sizeof sum) {
                    std::uint64_t word;
                    std::memcpy(&word, &part[i], sizeof word);
                    sum += word;
                }
                sums[thread] = sum;
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
        best = std::max({best, read_all(1), read_all(threads)});
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
     {"interleaved", "one loop, eight counters per bin, taken in turn"},
     {"threads-atomic", "threads that share one table of atomic counters"},
     {"threads-false-sharing", "counters of their own for each thread, side by side"},
     {"threads-private", "an interleaved table for each thread, merged at the end"}}};

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
    run("serial", count_serial);
    run("interleaved", count_interleaved);
    run("threads-atomic", [=](Pixels p) { return count_threads_atomic(p, threads); });
    run("threads-false-sharing", [=](Pixels p) { return count_threads_false_sharing(p, threads); });
    run("threads-private", [=](Pixels p) { return count_threads_private(p, threads); });

    // 5. The table, and the exit status that tells the truth.
    return report.finish();
} catch (...) {
    return common::report_exception("01-cpu/cpu");
}
