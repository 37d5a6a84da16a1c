// Chapter 01, workshop: the chapter's loops beside those of other people, on the same pixels and in
// turns.
//
// serial, interleaved, simd, threads-private and threads-simd are the chapter's (histogram.hpp).
// `--peer FILE` adds what a shared library offers (peer.hpp).
//
// Run it:  cmake --build build --target 05-launch-tuning-workshops-peers-cpu
//          build/05-launch-tuning/workshops/peers/cpu --random 256K      in cache
//          build/05-launch-tuning/workshops/peers/cpu --random 100M      from memory
//
// Each in turn, and then each again: so a machine that is slow for a while is slow for all.

#include <dlfcn.h>

#include <chrono>
#include <filesystem>

#include "01-cpu/histogram.hpp"
#include "05-launch-tuning/workshops/peers/peer.hpp"
#include "common/lesson.hpp"
#include "common/process/choice.hpp"
#include "common/process/cpu.hpp"
#include "common/report/report.hpp"
#include "common/verify/watchdog.hpp"

using namespace common;

const Program kProgram{"05-launch-tuning",
                       "workshops/peers/cpu",
                       "C++",
                       "the chapter's loops beside those of other people",
                       {{"serial", "one loop, one table"},
                        {"interleaved", "one loop, eight tables, taken in turn"},
                        {"simd", "64 pixels at a time, with AVX-512"},
                        {"threads-private", "interleaved in each thread"},
                        {"threads-simd", "simd in each thread"}},
                       {},
                       {{"--group-size", "--groups N sets the number of threads"}}};

// ---- who takes part ----

struct Contestant {
    std::string name;  // of its row
    bool is_peer = false;
    // Counts so many times in a row, and returns how long all took, in milliseconds. None where it
    // cannot run.
    std::function<double(std::size_t runs, Histogram& result)> take_turn = {};
    std::vector<double> times_ms = {};  // of a run, one for each turn
    Result result = {};                 // what is known so far
};

// Its turn.
template <typename Count>
auto in_a_row(const Count& count) {
    return [count](std::size_t runs, Histogram& result) {
        return wall_ms([&] {
            for (std::size_t run = 0; run < runs; ++run)
                count(result);
        });
    };
}

// The functions of a shared library, a contestant each.
std::vector<Contestant> peers_of(const std::string& file, Pixels pixels) {
    void* const library = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw BadInput(std::string("--peer: ") + dlerror());
    void* const list = dlsym(library, "histogram_peers");
    if (list == nullptr) throw BadInput("--peer: no histogram_peers() in " + file);
    std::vector<Contestant> found;
    for (const Peer* peer = reinterpret_cast<decltype(&histogram_peers)>(list)();
         peer->name != nullptr; ++peer) {
        if (std::ranges::find(kProgram.variants, peer->name, &Variant::name) !=
            kProgram.variants.end())
            throw BadInput(std::string("--peer: the name is taken: ") + peer->name);
        found.push_back({peer->name, true, in_a_row([=](Histogram& result) {
                             peer->count_pixels(pixels.data(), pixels.size(), result.data());
                         })});
    }
    return found;
}

// ---- turns ----

// A small picture is counted several times in a row, so that a turn takes a millisecond or more.
std::size_t runs_in_a_row(std::size_t pixels) {
    constexpr std::size_t kPixelsInATurn = std::size_t{16} << 20;
    return std::clamp<std::size_t>(kPixelsInATurn / std::max<std::size_t>(pixels, 1), 1, 1000);
}

// Some runs in a row, and all 256 counts that they left. The first that are wrong are reported in
// full; what comes later is no news. @return milliseconds of a run
double take_turn(Contestant& one, const Histogram& expected, std::size_t runs) {
    const Watchdog watchdog(one.name, total(expected));
    Histogram counted;
    counted.fill(kPoison);
    watchdog.begin_run();
    const double time_ms = one.take_turn(runs, counted) / static_cast<double>(runs);
    watchdog.end_run();
    const Comparison comparison = compare(expected, counted);
    if (comparison.match() || one.result.check == Check::kMismatch) return time_ms;
    one.result.check = Check::kMismatch;
    one.result.counts = counted;
    one.result.only_later = !one.times_ms.empty();
    one.result.reason = std::to_string(comparison.wrong.size()) + " of 256 bins wrong";
    note_mismatch();
    progress(one.name + ": does not match the CPU\n" + failure_report(comparison));
    return time_ms;
}

// As many turns for each as `repeat` says; else for three seconds, but neither too few nor too
// many.
void take_turns(std::vector<Contestant>& contestants, const Histogram& expected,
                std::optional<int> repeat) {
    const std::size_t runs = runs_in_a_row(total(expected));
    for (Contestant& one : contestants)
        if (one.take_turn) take_turn(one, expected, 1);  // not timed: it warms up
    const auto begin = std::chrono::steady_clock::now();
    const auto go_on = [&](int turns) {
        if (repeat) return turns < *repeat;
        const auto since = std::chrono::steady_clock::now() - begin;
        return turns < 7 || (turns < 200 && since < std::chrono::seconds(3));
    };
    for (int turn = 0; go_on(turn); ++turn)
        for (Contestant& one : contestants)
            if (one.take_turn) one.times_ms.push_back(take_turn(one, expected, runs));
}

// ---- the program ----

int main(int argc, char** argv) try {
    // 1. What is asked for, the pixels, and the right answer.
    std::vector<std::string> files;
    Lesson lesson(argc, argv, kProgram, [&](CLI::App& app) {
        add_files(app, "--peer", files, "a shared library that takes part, too (peer.hpp)");
    });
    const Pixels pixels = lesson.pixels;

    // 2. Where it runs: as in chapter 01 the device is the processor, and a group is a thread.
    const std::string device = cpu_name();
    if (lesson.options.list_devices) {
        print("0: " + device + '\n');
        return kEveryVariantMatches;
    }
    if (!lesson.options.device.empty()) device_by_text(lesson.options.device, {device}, "C++");
    const std::size_t threads = lesson.groups(cpu_threads());
    if (threads > 1024) throw BadInput("--groups: more than 1024 threads are of no use");
    lesson.runs_on(device, "compiler " __VERSION__);

    // 3. Who takes part, and who cannot.
    Team team(threads);
    std::vector<Contestant> contestants;
    const auto enter = [&](const char* name, const std::string& why_not, const auto& count) {
        if (!lesson.options.wants(name)) return;
        contestants.push_back({name, false});
        if (why_not.empty())
            contestants.back().take_turn = in_a_row(count);
        else
            contestants.back().result = skipped(name, why_not);
    };
    enter("serial", "", [&](Histogram& h) { h = count_serial(pixels); });
    enter("interleaved", "", [&](Histogram& h) { h = count_interleaved(pixels); });
    enter("simd", why_no_simd(), [&](Histogram& h) { h = count_with_simd(pixels); });
    enter("threads-private", "", [&](Histogram& h) {
        h = count_threads_private(pixels, team, [](Pixels p) { return count_interleaved(p); });
    });
    enter("threads-simd", why_no_simd(),
          [&](Histogram& h) { h = count_threads_private(pixels, team, count_with_simd); });
    for (const std::string& file : files)
        std::ranges::move(peers_of(file, pixels), std::back_inserter(contestants));

    // 4. Turns: checked, timed, and checked again.
    take_turns(contestants, lesson.expected, lesson.options.repeat);

    // 5. A row for each.
    std::optional<double> best_peer_ms;
    for (Contestant& one : contestants) {
        one.result.variant = one.name;
        if (!one.times_ms.empty()) one.result.kernel = summarize(one.times_ms);
        const double median_ms = one.result.kernel.median_ms;
        if (one.is_peer && one.result.check == Check::kMatch)
            best_peer_ms = std::min(best_peer_ms.value_or(median_ms), median_ms);
        lesson.report().add(one.result);
    }

    // 6. The table, and the exit status that tells the truth.
    lesson.report().add_column(
        "x best peer", [&](const Result& row, const std::vector<Result>&) -> std::optional<double> {
            if (!best_peer_ms || row.check != Check::kMatch) return {};
            return *best_peer_ms / row.kernel.median_ms;
        });
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
