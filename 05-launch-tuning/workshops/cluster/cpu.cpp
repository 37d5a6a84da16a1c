// One histogram from many processes, on processors: the plain C++ one of three programs.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/workshops/cluster/cpu --random 8G
//          mpirun -n 2 build/05-launch-tuning/workshops/cluster/cpu --raw FILE --check
//          mpirun -n 2 build/05-launch-tuning/workshops/cluster/cpu FOLDER --each rows.csv
//
// A rank is a process of MPI, and counts on one thread: start as many as there are cores.
// opencl.cpp and cuda.cu do the same on devices.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "05-launch-tuning/workshops/cluster/options.hpp"
#include "05-launch-tuning/workshops/cluster/ranks.hpp"
#include "05-launch-tuning/workshops/cluster/report.hpp"
#include "05-launch-tuning/workshops/cluster/source.hpp"
#include "05-launch-tuning/workshops/cluster/work_queue.hpp"
#include "common/cpu/cpu.hpp"
#include "common/device/choice.hpp"
#include "common/histogram/histogram.hpp"
#include "common/options/options.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"

using cluster::Counts;
using common::Histogram;
using common::kBins;

const common::Program kProgram{
    "05-launch-tuning",
    "workshops/cluster/cpu",
    "C++",
    "one histogram from many processes, on processors",
    {{"interleaved", "one loop, eight tables, as in chapter 01"}},
    {},
    cluster::unsupported_options({{"--group-size", "a rank is one thread"},
                                  {"--groups", "mpirun -n N says how many ranks"}}),
    cluster::kMaxClusterPixels};

// Eight tables, so that neighbours of one value do not wait for each other: chapter 01 says why.
Histogram count(std::span<const std::uint8_t> pixels) {
    constexpr std::size_t kTables = 8;
    // Each is longer than it has to be, so that equal bins do not lie a power of two apart.
    std::array<std::array<std::uint32_t, kBins + 8>, kTables> tables{};
    const std::size_t even = pixels.size() / kTables * kTables;
    for (std::size_t i = 0; i < even; i += kTables) {
#pragma GCC unroll 8
        for (std::size_t table = 0; table < kTables; ++table)
            ++tables[table][pixels[i + table]];
    }
    for (std::size_t i = even; i < pixels.size(); ++i)
        ++tables[0][pixels[i]];
    Histogram histogram{};
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        for (const auto& table : tables)
            histogram[bin] += table[bin];
    }
    return histogram;
}

int main(int argc, char** argv) try {
    // 1. Which rank this is. One speaks for all.
    MPI_Init(&argc, &argv);
    cluster::require_same_program();
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0) common::be_silent();

    // 2. What is asked for, and where the pixels come from.
    cluster::ClusterOptions cluster_options;
    const common::Options options = common::parse_options(
        argc, argv, kProgram, [&](CLI::App& app) { cluster_options.add_to(app); });
    cluster_options.refuse_contradictions(options);
    cluster::require_launcher(ranks);
    const cluster::Source source = cluster::find_source(options, cluster_options, ranks);

    // 3. The device: a core.
    const std::string device = common::cpu_name();
    if (options.list_devices) {
        common::print("0: " + device + "\n");
        throw common::Finished();
    }
    if (!options.device.empty()) common::device_by_text(options.device, {device}, "C++");

    // 4. Memory: three chunks, of which one is counted while the next is read.
    std::array<common::PixelBuffer, cluster::WorkQueue::kBuffers> chunks;
    cluster::WorkQueue::Buffers buffers;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        chunks[i].resize(source.buffer_pixels());
        buffers[i] = chunks[i].data();
    }

    // 5. Is every rank ready for the same work? From here on no rank waits for one that has failed.
    cluster::require_all_ready(argc, argv, {}, source);
    cluster::WorkQueue work(MPI_COMM_WORLD, source, cluster_options, buffers);
    cluster::Report report(kProgram, options, cluster_options, source, device,
                           "compiler " __VERSION__, "core " + std::to_string(rank));

    // 6. --resident: this rank's part of the pixels, kept in memory.
    common::PixelBuffer resident(cluster_options.resident ? source.resident_pixels(rank, ranks)
                                                          : 0);
    auto end = resident.begin();
    while (cluster_options.resident) {
        const cluster::Piece piece = work.next();
        if (piece.pixels.empty()) break;
        end = std::copy(piece.pixels.begin(), piece.pixels.end(), end);
    }

    std::map<std::uint64_t, Counts> each;  // of the pictures that this rank took
    for (int run = 0; run < options.repeat.value_or(1); ++run) {
        // 7. My share: whoever is done with a piece takes the next one.
        Counts counts{};
        each.clear();
        work.begin();
        cluster::Times times{MPI_Wtime()};
        if (cluster_options.resident) {
            const std::span<const std::uint8_t> all(resident);
            for (std::size_t first = 0; first < all.size(); first += cluster::kMaxLaunchPixels)
                cluster::add(count(all.subspan(
                                 first, std::min(cluster::kMaxLaunchPixels, all.size() - first))),
                             counts);
        } else {
            for (cluster::Piece piece = work.next(); !piece.pixels.empty(); piece = work.next()) {
                for (const auto& [item, pixels] : piece.parts) {
                    const Histogram histogram = count(piece.pixels.first(pixels));
                    cluster::add(histogram, counts);
                    if (cluster_options.each) cluster::add(histogram, each[item]);
                    piece.pixels = piece.pixels.subspan(pixels);
                }
            }
        }
        times.counted = MPI_Wtime();

        // 8. Merge: one collective of 256 counters. The barrier is not for the sums, but to tell
        //    the time of waiting for the slowest from that of adding up.
        MPI_Barrier(MPI_COMM_WORLD);
        times.all_counted = MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, counts.data(), kBins, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        times.merged = MPI_Wtime();
        report.add_run(times, counts);
    }

    // 9. What that collective costs.
    Counts sums{};
    report.time_all_reduce("MPI", [&] {
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), kBins, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    });

    // 10. Rank 0's report, and the exit status that tells the truth.
    const int status = report.finish(work, each);
    work.end();
    MPI_Finalize();
    return status;
} catch (...) {
    return cluster::report_exception("05-launch-tuning/workshops/cluster/cpu");
}
