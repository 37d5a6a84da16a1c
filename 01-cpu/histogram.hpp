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
// They stand here in this order; cpu.cpp checks and times them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>

#include "01-cpu/simd.hpp"
#include "common/histogram/histogram.hpp"

using common::Histogram;
using common::kBins;
using Pixels = std::span<const std::uint8_t>;

// ---- serial: one loop, one table ----

inline Histogram count_serial(Pixels pixels) {
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
// ideas; --loop says how far the loop goes:
//
//   side-by-side  eight counters per bin, side by side
//   eight-tables  instead, eight tables, one behind the other: we think that a counter is found
//                 faster
//   prefetched    and memory is asked for the pixels before they are needed: this is `interleaved`
//   one-load      and eight pixels with one load instead of eight loads

constexpr std::size_t kLanes = 8;
enum class Loop { kSideBySide, kEightTables, kPrefetched, kOneLoad };

inline Histogram count_side_by_side(Pixels pixels) {
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

inline void count_eight(Tables& tables, const std::uint8_t* pixels) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
        ++tables[lane][pixels[lane]];
}

inline void count_eight_with_one_load(Tables& tables, const std::uint8_t* pixels) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, pixels, sizeof eight);  // one load: the compiler makes no call of it
    for (std::size_t lane = 0; lane < kLanes; ++lane)
        ++tables[lane][eight >> 8 * lane & 0xff];
}

inline void ask_for(const std::uint8_t* pixel) {
#ifdef __GNUC__
    __builtin_prefetch(pixel);
#else
    static_cast<void>(pixel);  // the processor's own guess has to do
#endif
}

inline Histogram count_interleaved(Pixels pixels, Loop loop = Loop::kPrefetched) {
    if (loop == Loop::kSideBySide) return count_side_by_side(pixels);
    constexpr std::size_t kLine = 64;     // bytes that memory gives at a time
    constexpr std::size_t kAhead = 2048;  // bytes: long enough for memory to answer
    Tables tables{};
    std::size_t i = 0;
    for (; i + kLine <= pixels.size(); i += kLine) {
        if (loop >= Loop::kPrefetched) ask_for(&pixels[std::min(i + kAhead, pixels.size() - 1)]);
        for (std::size_t j = i; j < i + kLine; j += kLanes) {
            if (loop == Loop::kOneLoad) {
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
inline std::string why_no_simd() {
#ifdef WITH_SIMD
    if (processor_has_simd()) return {};
    return "no AVX-512 (VBMI2, BITALG, GFNI)";
#else
    return "built without AVX-512";
#endif
}

inline Histogram count_with_simd(Pixels pixels) {
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
//
// They are started once and then wait for work: to start one takes longer than to count a small
// picture.

class Team {
 public:
    using Work = std::function<void(Pixels part, std::size_t thread)>;

    // Whoever calls is thread 0; the others are started here.
    explicit Team(std::size_t threads) {
        try {
            for (std::size_t thread = 1; thread < threads; ++thread)
                others_.emplace_back([this, thread] { take_part(thread); });
        } catch (...) {
            send_home();  // those that did start, where the system gives no more
            throw;
        }
    }
    ~Team() { send_home(); }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    [[nodiscard]] std::size_t threads() const { return others_.size() + 1; }

    // Returns when all parts are done.
    void on_each_part(Pixels pixels, const Work& work) {
        pixels_ = pixels;
        work_ = &work;
        busy_ = static_cast<int>(others_.size());
        ++turn_;
        turn_.notify_all();
        work(part_of(0), 0);
        for (int busy = busy_; busy != 0; busy = busy_)
            busy_.wait(busy);
    }

 private:
    [[nodiscard]] Pixels part_of(std::size_t thread) const {
        const std::size_t first = pixels_.size() * thread / threads();
        const std::size_t last = pixels_.size() * (thread + 1) / threads();
        return pixels_.subspan(first, last - first);
    }

    void take_part(std::size_t thread) {
        for (int seen = 0;; ++seen) {
            turn_.wait(seen);
            if (work_ == nullptr) return;
            (*work_)(part_of(thread), thread);
            if (--busy_ == 0) busy_.notify_one();
        }
    }

    void send_home() {
        work_ = nullptr;
        ++turn_;
        turn_.notify_all();
    }

    Pixels pixels_;
    const Work* work_ = nullptr;
    std::atomic<int> turn_ = 0;         // goes up when there is work
    std::atomic<int> busy_ = 0;         // of the others, those that have not finished
    std::vector<std::jthread> others_;  // joined first of all, when the team goes
};

// ---- threads-atomic: one table for everyone ----
//
// With plain counters two threads could read the same 41 and both write 42: a lost update. An
// atomic increment cannot be split, so none is lost; but the cores have to pass the cache line that
// holds the counter back and forth, and each waits for it.

inline Histogram count_threads_atomic(Pixels pixels, Team& team) {
    std::array<std::atomic<std::uint32_t>, kBins> shared{};
    team.on_each_part(pixels, [&](Pixels part, std::size_t) {
        for (const std::uint8_t pixel : part) {
            // Relaxed: only the sum matters, not the order in which anybody sees it grow. That
            // the team has finished is what makes all increments visible below.
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

inline Histogram count_threads_false_sharing(Pixels pixels, Team& team) {
    const std::size_t threads = team.threads();
    std::vector<std::uint32_t> counters(kBins * threads);  // [bin][thread]
    team.on_each_part(pixels, [&](Pixels part, std::size_t thread) {
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

inline Histogram count_threads_private(Pixels pixels, Team& team,
                                       const std::function<Histogram(Pixels)>& count) {
    std::vector<Histogram> partial(team.threads());
    team.on_each_part(pixels, [&](Pixels part, std::size_t thread) {
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
