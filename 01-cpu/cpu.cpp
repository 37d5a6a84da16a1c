// Chapter 01, the program: checks and times the ways to count that stand in histogram.hpp.
//
// Run it:  build/01-cpu/cpu                     all of them on the sample picture
//          build/01-cpu/cpu --tile 100M         ... on a picture large enough to tell them apart
//          build/01-cpu/cpu --help              everything else
//
// How fast memory could deliver the pixels comes first; main() is at the end.

#include <numeric>

#include "01-cpu/histogram.hpp"
#include "common/host/cpu.hpp"
#include "common/lesson.hpp"
#include "common/options/options.hpp"
#include "common/timing/timing.hpp"

// ---- how fast could it be? ----
//
// A histogram has to read every pixel once, so no way of counting can be faster than a program that
// only reads. This one adds up 64-bit words of a buffer that is larger than the caches; in several
// ways, for what one stream of addresses gets is not what memory gives.

// The sum of a part that is read as `streams` streams at once, a line from each in turn.
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
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

double read_ceiling_gb_s(Team& team) {
    constexpr std::size_t kBytes = std::size_t{256} << 20;
    const std::vector<std::uint8_t> buffer(kBytes, 1);
    Team alone(1);
    const auto read_all = [&](Team& readers, std::size_t streams, std::size_t ahead) {
        std::vector<std::uint64_t> sums(readers.threads());
        const double time_ms = common::wall_ms([&] {
            readers.on_each_part(buffer, [&](Pixels part, std::size_t thread) {
                sums[thread] = sum_of(part, streams, ahead);
            });
        });
        // The sums are used, so that the compiler cannot leave the reading out.
        if (std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}) == 0)
            throw std::logic_error("the read ceiling read nothing");
        return common::gigabytes_per_second(kBytes, time_ms);
    };
    double best = 0;
    for (int round = 0; round < 5; ++round) {
        for (Team* readers : {&alone, &team}) {
            for (const std::size_t streams : {1U, 4U}) {
                for (const std::size_t ahead : {0U, 2048U, 8192U})
                    best = std::max(best, read_all(*readers, streams, ahead));
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
    {{"loop",
      {"side-by-side", "eight-tables", "prefetched", "one-load"},
      "interleaved: how far its loop goes (prefetched)",
      {"interleaved", "threads-private"}},
     {"start",
      {"once", "each-run"},
      "threads: when they are started (once)",
      {"threads-atomic", "threads-private"}},
     {"simd", {"on", "off"}, "off: as on a processor without AVX-512", {"simd", "threads-simd"}}},
    {{"--group-size", "--groups N sets the number of threads"}}};

int main(int argc, char** argv) try {
    // 1. What is asked for, the pixels, and the right answer.
    common::Lesson lesson(argc, argv, kProgram);
    const common::Options& options = lesson.options;

    // 2. Where it runs. "Device" and "group" are words of the later chapters: here there is one
    //    device, the processor, and a group is a thread.
    const std::string device = common::cpu_name();
    if (options.list_devices) {
        common::print("0: " + device + "\n");
        return common::kEveryVariantMatches;
    }
    if (!options.device.empty()) common::device_by_text(options.device, {device}, "C++");
    const std::size_t threads = lesson.groups(common::cpu_threads());
    if (threads > 1024) throw common::BadInput("--groups: more than 1024 threads are of no use");
    lesson.runs_on(device, "compiler " __VERSION__);

    // 3. How fast the memory could deliver the pixels.
    Team team(threads);
    lesson.read_ceiling([&] { return read_ceiling_gb_s(team); });

    // 4. Each way of counting: checked, timed, and checked again.
    const auto run = [&](const char* variant, const std::function<Histogram(Pixels)>& count,
                         const std::string& unsupported = {}) {
        if (!lesson.wants(variant, unsupported)) return;
        common::Runs runs = lesson.runs(variant);
        while (runs.next()) {
            runs.begin();
            runs.counts = count(lesson.pixels);
            runs.end();
        }
    };
    const std::string no_simd = options.choice("simd") == "off" ? "--simd off" : why_no_simd();
    const std::string asked = options.choice("loop").value_or("prefetched");
    const Loop loop = asked == "side-by-side"   ? Loop::kSideBySide
                      : asked == "eight-tables" ? Loop::kEightTables
                      : asked == "one-load"     ? Loop::kOneLoad
                                                : Loop::kPrefetched;
    const auto interleaved = [loop](Pixels p) { return count_interleaved(p, loop); };
    const auto with_team = [&](const std::function<Histogram(Pixels, Team&)>& count) {
        return [&, count](Pixels pixels) {
            if (options.choice("start") != "each-run") return count(pixels, team);
            Team started_for_this_run(threads);
            return count(pixels, started_for_this_run);
        };
    };
    run("serial", count_serial);
    run("interleaved", interleaved);
    run("simd", count_with_simd, no_simd);
    run("threads-atomic", with_team(count_threads_atomic));
    run("threads-false-sharing", with_team(count_threads_false_sharing));
    run("threads-private", with_team([&](Pixels pixels, Team& some) {
            return count_threads_private(pixels, some, interleaved);
        }));
    run("threads-simd", with_team([](Pixels pixels, Team& some) {
            return count_threads_private(pixels, some, count_with_simd);
        }),
        no_simd);

    // 5. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return common::report_exception(kProgram);
}
