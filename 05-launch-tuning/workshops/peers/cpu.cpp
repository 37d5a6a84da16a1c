// Chapter 01, workshop: the chapter's loops beside those of other people, on the same pixels and in
// turns.
//
//   serial, interleaved, simd, threads-private, threads-simd    the chapter's (histogram.hpp)
//   opencv   cv::calcHist              zstd   HIST_count, which its compressor calls
//   numpy    numpy.bincount, in a Python of its own
//
// These three run where they were installed when this was built. `--peer FILE` adds what a shared
// library offers (peer.hpp): that is the way in for loops that are published as sources.
//
// Run it:  cmake --build build --target 05-launch-tuning-workshops-peers-cpu
//          build/05-launch-tuning/workshops/peers/cpu --random 256K      in cache
//          build/05-launch-tuning/workshops/peers/cpu --random 100M      from memory
//
// Each in turn, and then each again: so a machine that is slow for a while is slow for all.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include "01-cpu/histogram.hpp"
#include "05-launch-tuning/workshops/opencv.hpp"
#include "05-launch-tuning/workshops/peers/peer.hpp"
#include "common/inputs/inputs.hpp"
#include "common/options/options.hpp"
#include "common/process/choice.hpp"
#include "common/process/cpu.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/report.hpp"
#include "common/run/run.hpp"
#include "common/timing/timing.hpp"
#include "common/verify/verify.hpp"
#include "common/verify/watchdog.hpp"

using common::Check;

const common::Program kProgram{"05-launch-tuning",
                               "workshops/peers/cpu",
                               "C++",
                               "the chapter's loops beside those of other people",
                               {{"serial", "one loop, one table"},
                                {"interleaved", "one loop, eight tables, taken in turn"},
                                {"simd", "64 pixels at a time, with AVX-512"},
                                {"threads-private", "interleaved in each thread"},
                                {"threads-simd", "simd in each thread"},
                                {"opencv", "cv::calcHist, one thread"},
                                {"zstd", "HIST_count, one thread"},
                                {"numpy", "numpy.bincount, one thread"}},
                               {},
                               {{"--group-size", "--groups N sets the number of threads"}}};

// ---- who takes part ----

struct Contestant {
    std::string name;      // of its row
    std::string function;  // where a peer has several, which of them
    bool is_peer = false;
    std::function<void(Histogram& result)> count;  // none for numpy, which is another process
    std::vector<double> times_ms;                  // of a run, one for each turn
    common::Result result;                         // what is known so far
};

#ifdef WITH_ZSTD
// Its static library has it, and no header that is installed.
extern "C" std::size_t HIST_count(unsigned* counts, unsigned* largest, const void* from,
                                  std::size_t bytes);
#endif

// The functions of a shared library, a contestant each.
std::vector<Contestant> peers_of(const std::string& file, Pixels pixels) {
    void* const library = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw common::BadInput(std::string("--peer: ") + dlerror());
    void* const list = dlsym(library, "histogram_peers");
    if (list == nullptr) throw common::BadInput("--peer: no histogram_peers() in " + file);
    std::vector<Contestant> found;
    for (const Peer* peer = reinterpret_cast<decltype(&histogram_peers)>(list)();
         peer->name != nullptr; ++peer) {
        if (std::ranges::find(kProgram.variants, peer->name, &common::Variant::name) !=
            kProgram.variants.end()) {
            throw common::BadInput(std::string("--peer: the name is taken: ") + peer->name);
        }
        const auto count = [peer, pixels](Histogram& result) {
            peer->count_pixels(pixels.data(), pixels.size(), result.data());
        };
        found.push_back({peer->name, peer->function, true, count, {}, {}});
    }
    return found;
}

// ---- turns ----

// A small picture is counted several times in a row, so that a turn takes a millisecond or more.
std::size_t runs_in_a_row(std::size_t pixels) {
    constexpr std::size_t kPixelsInATurn = std::size_t{16} << 20;
    return std::clamp<std::size_t>(kPixelsInATurn / std::max<std::size_t>(pixels, 1), 1, 1000);
}

// All 256 counts. The first that are wrong are reported in full; what comes later is no news.
void check(Contestant& one, const Histogram& expected, const Histogram& counted) {
    const common::Comparison comparison = common::compare(expected, counted);
    if (comparison.match() || one.result.check == Check::kMismatch) return;
    one.result.check = Check::kMismatch;
    one.result.counts = counted;
    one.result.only_later = !one.times_ms.empty();
    one.result.reason = (one.function.empty() ? "" : one.function + ": ") +
                        std::to_string(comparison.wrong.size()) + " of 256 bins wrong";
    common::note_mismatch();
    common::progress(one.name + ' ' + one.function + ": does not match the CPU\n" +
                     common::failure_report(comparison));
}

// Some runs in a row, and what they left; milliseconds of a run.
double take_turn(Contestant& one, const Histogram& expected, std::size_t runs) {
    const common::Watchdog watchdog(one.name + ' ' + one.function, common::total(expected));
    Histogram counted;
    counted.fill(common::kPoison);
    watchdog.begin_run();
    const double time_ms = common::wall_ms([&] {
        for (std::size_t run = 0; run < runs; ++run)
            one.count(counted);
    });
    watchdog.end_run();
    check(one, expected, counted);
    return time_ms / static_cast<double>(runs);
}

constexpr int kFewestTurns = 7;

// As many turns for each as `repeat` says; else for three seconds, but neither too few nor too
// many.
void take_turns(std::vector<Contestant>& contestants, const Histogram& expected,
                std::optional<int> repeat) {
    const std::size_t runs = runs_in_a_row(common::total(expected));
    for (Contestant& one : contestants) {
        if (one.count) take_turn(one, expected, 1);  // not timed: it warms up
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto go_on = [&](int turns) {
        if (repeat) return turns < *repeat;
        const auto since = std::chrono::steady_clock::now() - begin;
        return turns < kFewestTurns || (turns < 200 && since < std::chrono::seconds(3));
    };
    for (int turn = 0; go_on(turn); ++turn) {
        for (Contestant& one : contestants) {
            if (one.count) one.times_ms.push_back(take_turn(one, expected, runs));
        }
    }
}

// numpy takes its turns after the others, on the same pixels in a file: bincount.py does it.
[[maybe_unused]] void run_bincount(Contestant& numpy, const char* command, Pixels pixels,
                                   const Histogram& expected, int turns) {
    // The file has no name, and is gone with the last who has it open. The child inherits it.
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    if (!file || std::fwrite(pixels.data(), 1, pixels.size(), file.get()) != pixels.size() ||
        std::fflush(file.get()) != 0 || std::fseek(file.get(), 0, SEEK_SET) != 0) {
        throw std::runtime_error("numpy: no temporary file can be written");
    }
    std::ostringstream line;
    line << command << " /dev/fd/" << fileno(file.get()) << ' ' << turns << ' '
         << runs_in_a_row(pixels.size());
    std::FILE* const child = popen(line.str().c_str(), "r");
    if (child == nullptr) throw std::runtime_error("numpy: no process can be started");
    std::string text;
    for (int c = std::fgetc(child); c != EOF; c = std::fgetc(child))
        text += static_cast<char>(c);
    const bool ended_well = pclose(child) == 0;
    std::istringstream words(text);
    Histogram before{};
    Histogram after{};
    std::vector<double> times_ms(static_cast<std::size_t>(turns));
    for (Histogram* counted : {&before, &after}) {
        for (std::uint32_t& count : *counted)
            words >> count;
    }
    for (double& time : times_ms)
        words >> time;
    if (!ended_well || !words) throw std::runtime_error("numpy: bincount.py failed");
    check(numpy, expected, before);
    numpy.times_ms = times_ms;
    check(numpy, expected, after);
}

// ---- the program ----

// Of the functions under one name a wrong one, else the fastest.
const Contestant& best_of(std::span<const Contestant> functions) {
    return *std::ranges::min_element(functions, {}, [](const Contestant& one) {
        const bool is_right = one.result.check == Check::kMatch;
        return std::pair(is_right, one.result.kernel.median_ms);
    });
}

// One command line, from what is asked for to the table.
static int run(int argc, const char* const* argv, const common::Output& output) {
    // 1. What is asked for. As in chapter 01 the device is the processor, and a group is a thread.
    std::vector<std::string> files;
    common::Options options = common::parse_options(argc, argv, kProgram, [&](CLI::App& app) {
        common::add_files(app, "--peer", files, "a shared library that takes part, too (peer.hpp)");
    });
    options.own.clear();  // where a library lies is no part of a launch
    const std::string device = common::cpu_name();
    if (options.list_devices) {
        std::printf("0: %s\n", device.c_str());
        return common::kEveryVariantMatches;
    }
    if (!options.device.empty()) common::device_by_text(options.device, {device}, "C++");
    const std::size_t threads = options.groups.value_or(common::cpu_threads());
    if (threads > 1024) throw common::BadInput("--groups: more than 1024 threads are of no use");

    // 2. The pixels, and the right answer.
    const common::Input input = common::load_input(options);
    const Pixels pixels = input.pixels;
    const Histogram expected = common::reference_histogram(pixels);
    std::vector<Contestant> from_files;
    for (const std::string& file : files) {
        for (Contestant& one : peers_of(file, pixels))
            from_files.push_back(std::move(one));
    }
    common::Report report(output, kProgram, options, input, expected, device,
                          "compiler " __VERSION__);

    // 3. Who takes part, and who cannot.
    Team team(threads);
    std::vector<Contestant> contestants;
    const auto enter = [&](const char* name, const std::string& why_not, bool is_peer,
                           const std::function<void(Histogram&)>& count) {
        if (!options.wants(name)) return;
        contestants.push_back({name, "", is_peer, {}, {}, {}});
        if (why_not.empty()) {
            contestants.back().count = count;
        } else {
            contestants.back().result = common::skipped(name, why_not);
        }
    };
    enter("serial", "", false, [&](Histogram& h) { h = count_serial(pixels); });
    enter("interleaved", "", false, [&](Histogram& h) { h = count_interleaved(pixels); });
    enter("simd", why_no_simd(), false, [&](Histogram& h) { h = count_with_simd(pixels); });
    enter("threads-private", "", false, [&](Histogram& h) {
        h = count_threads_private(pixels, team, [](Pixels p) { return count_interleaved(p); });
    });
    enter("threads-simd", why_no_simd(), false,
          [&](Histogram& h) { h = count_threads_private(pixels, team, count_with_simd); });
    enter("opencv", opencv::missing(expected), true,
          [&](Histogram& h) { opencv::count(pixels, h.data()); });
#ifdef WITH_ZSTD
    enter("zstd", "", true, [&](Histogram& h) {
        unsigned largest = kBins - 1;
        HIST_count(h.data(), &largest, pixels.data(), pixels.size());
    });
#else
    enter("zstd", "not found when this was built (HIST_count in libzstd.a)", true, {});
#endif
#ifdef BINCOUNT
    enter("numpy", "", true, {});
#else
    enter("numpy", "not found when this was built (a python3 that imports numpy)", true, {});
#endif
    std::ranges::move(from_files, std::back_inserter(contestants));

    // 4. Turns: checked, timed, and checked again.
    take_turns(contestants, expected, options.repeat);
#ifdef BINCOUNT
    for (Contestant& one : contestants) {
        if (one.name == "numpy") {
            run_bincount(one, BINCOUNT, pixels, expected, options.repeat.value_or(kFewestTurns));
        }
    }
#endif

    // 5. A row for each name: of a peer's functions the fastest.
    std::optional<double> best_peer_ms;
    for (auto first = contestants.begin(); first != contestants.end();) {
        const auto last = std::find_if(first, contestants.end(), [&](const Contestant& other) {
            return other.name != first->name;
        });
        for (Contestant& one : std::span(first, last)) {
            one.result.variant = one.name;
            one.result.launch_text = one.function;
            if (!one.times_ms.empty()) one.result.kernel = common::summarize(one.times_ms);
        }
        const Contestant& best = best_of({first, last});
        const double median_ms = best.result.kernel.median_ms;
        if (best.is_peer && best.result.check == Check::kMatch) {
            best_peer_ms = std::min(best_peer_ms.value_or(median_ms), median_ms);
            if (last - first > 1) {
                common::print(best.name + ": of its " + std::to_string(last - first) +
                              " functions the fastest was " + best.function + '\n');
            }
        }
        report.add(best.result);
        first = last;
    }

    // 6. The table, and the exit status that tells the truth.
    report.add_column("x best peer", [&](const common::Result& row) {
        return best_peer_ms && row.check == Check::kMatch
                   ? std::optional(*best_peer_ms / row.kernel.median_ms)
                   : std::nullopt;
    });
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
