// One histogram from many processes, on processors: the plain C++ one of three programs.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/workshops/cluster/cpu --random 8G
//          mpirun -n 2 build/05-launch-tuning/workshops/cluster/cpu --raw FILE --check
//
// A rank is a process of MPI, and counts on one thread: start as many as there are cores.
// opencl.cpp and cuda.cu do the same on devices.

#include <mpi.h>

#include "01-cpu/histogram.hpp"
#include "05-launch-tuning/workshops/cluster/ranks.hpp"
#include "05-launch-tuning/workshops/cluster/report.hpp"
#include "common/process/choice.hpp"
#include "common/process/cpu.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"

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

int main(int argc, char** argv) try {
    // 1. Which rank this is. One speaks for all.
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) common::be_silent();

    // 2. What is asked for, and where the pixels come from.
    cluster::ClusterOptions cluster_options;
    const common::Options options = common::parse_options(
        argc, argv, kProgram, [&](CLI::App& app) { cluster_options.add_to(app); });
    cluster::require_launcher();
    cluster::Source source(options, cluster_options);

    // 3. The device: a core.
    const std::string device = common::cpu_name();
    if (options.list_devices) {
        common::print("0: " + device + "\n");
        throw common::Finished();
    }
    if (!options.device.empty()) common::device_by_text(options.device, {device}, "C++");

    // 4. Memory for my share: of n ranks each has an nth of the pixels.
    common::PixelBuffer memory(source.own);

    // 5. Is every rank ready for the same work? From here on no rank waits for one that has failed.
    cluster::require_all_ready(argc, argv, source);

    // 6. My share comes into memory.
    source.read_own([&](std::span<const std::uint8_t> pixels, std::size_t before) {
        std::copy(pixels.begin(), pixels.end(),
                  memory.begin() + static_cast<std::ptrdiff_t>(before));
    });

    std::vector<cluster::Run> runs;
    while (static_cast<int>(runs.size()) < options.repeat.value_or(1)) {
        // 7. Count. All begin together.
        MPI_Barrier(MPI_COMM_WORLD);
        cluster::Run& run = runs.emplace_back();
        run.begun = MPI_Wtime();
        const std::span<const std::uint8_t> all(memory);
        for (std::size_t first = 0; first < all.size(); first += cluster::kMaxLaunchPixels)
            cluster::add(count_interleaved(all.subspan(
                             first, std::min(cluster::kMaxLaunchPixels, all.size() - first))),
                         run.counts);
        run.counted = MPI_Wtime();

        // 8. Merge: one collective of 256 counters. The barrier is not for the sums, but to tell
        //    the time of waiting for the slowest from that of adding up.
        MPI_Barrier(MPI_COMM_WORLD);
        run.all_counted = MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, run.counts.data(), common::kBins, MPI_UINT64_T, MPI_SUM,
                      MPI_COMM_WORLD);
        run.merged = MPI_Wtime();
    }

    // 9. Rank 0's report, and the exit status that tells the truth.
    const int status = cluster::report(kProgram, options, cluster_options, source,
                                       {device, "compiler " __VERSION__, "0"}, runs);
    MPI_Finalize();
    return status;
} catch (...) {
    return cluster::report_exception("05-launch-tuning/workshops/cluster/cpu");
}
