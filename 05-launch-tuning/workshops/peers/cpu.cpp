// The chapter's loops beside those of other people, on the same pixels.
//
// serial, interleaved, simd, threads-private and threads-simd are chapter 01's (histogram.hpp).
// `--peer FILE` adds what a shared library offers (peer.hpp).
//
// Run it:  build/05-launch-tuning/workshops/peers/cpu --random 256K      in cache
//          build/05-launch-tuning/workshops/peers/cpu --random 100M      from memory

#include <dlfcn.h>

#include <filesystem>

#include "01-cpu/histogram.hpp"
#include "05-launch-tuning/workshops/peers/peer.hpp"
#include "common/host/cpu.hpp"
#include "common/lesson.hpp"

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

// The functions of a shared library, behind the last of which stands one without a name.
const Peer* peers_of(const std::string& file) {
    void* const library = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw BadInput(std::string("--peer: ") + dlerror());
    void* const list = dlsym(library, "histogram_peers");
    if (list == nullptr) throw BadInput("--peer: no histogram_peers() in " + file);
    return reinterpret_cast<decltype(&histogram_peers)>(list)();
}

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

    std::vector<const Peer*> peers;  // of each library
    for (const std::string& file : files)
        peers.push_back(peers_of(file));

    // 3. How each is run. A small picture is counted several times in a row, so that a run takes a
    //    millisecond or more.
    constexpr std::size_t kPixelsInARow = std::size_t{16} << 20;
    const std::size_t in_a_row =
        std::clamp<std::size_t>(kPixelsInARow / std::max<std::size_t>(pixels.size(), 1), 1, 1000);
    const auto run = [&](const char* name, const std::function<void(Histogram&)>& count) {
        Runs runs = lesson.runs(name);
        while (runs.next()) {
            runs.begin();
            const double ms = wall_ms([&] {
                for (std::size_t time = 0; time < in_a_row; ++time)
                    count(runs.counts);
            });
            runs.end(ms / static_cast<double>(in_a_row));
        }
    };

    // 4. Chapter 01's loops.
    Team team(threads);
    const auto with_team = [&](const auto& count) {
        return [&](Histogram& h) { h = count_threads_private(pixels, team, count); };
    };
    if (lesson.wants("serial")) run("serial", [&](Histogram& h) { h = count_serial(pixels); });
    if (lesson.wants("interleaved"))
        run("interleaved", [&](Histogram& h) { h = count_interleaved(pixels); });
    if (lesson.wants("simd", why_no_simd()))
        run("simd", [&](Histogram& h) { h = count_with_simd(pixels); });
    if (lesson.wants("threads-private"))
        run("threads-private", with_team([](Pixels p) { return count_interleaved(p); }));
    if (lesson.wants("threads-simd", why_no_simd()))
        run("threads-simd", with_team(count_with_simd));

    // 5. And the others.
    for (const Peer* peer : peers)
        for (; peer->name != nullptr; ++peer)
            run(peer->name,
                [&](Histogram& h) { peer->count_pixels(pixels.data(), pixels.size(), h.data()); });

    // 6. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
