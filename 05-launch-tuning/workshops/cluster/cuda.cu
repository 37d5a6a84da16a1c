// One histogram from many processes, on NVIDIA's GPUs. The kernel is `tuned`, of chapter 05.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/workshops/cluster/cuda --random 8G
//          mpirun -n 2 build/05-launch-tuning/workshops/cluster/cuda --raw FILE --check
//
// A rank is a process of MPI, with a device of its own where there are enough. opencl.cpp does the
// same in OpenCL, in the same steps; cpu.cpp counts without a device.

#include <mpi.h>

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/workshops/cluster/ranks.hpp"
#include "05-launch-tuning/workshops/cluster/report.hpp"
#include "05-launch-tuning/workshops/limits_cuda.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"

using namespace common;
using namespace common::cuda;

const Program kProgram{
    "05-launch-tuning",
    "workshops/cluster/cuda",
    "CUDA",
    "one histogram from many processes, on their devices",
    {{"tuned", "chapter 05's, as tune has found it or by default"}},
    {},
    cluster::unsupported_options({{"--no-diagnosis", "a wrong result is not looked into"}}),
    cluster::kMaxClusterPixels};

// This machine's devices in turn.
std::string nth_device(int n) {
    return std::to_string(static_cast<std::size_t>(n) % devices().size());
}

int main(int argc, char** argv) try {
    // 1. Which rank this is, and which of those on this machine. One speaks for all.
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm this_machine = MPI_COMM_NULL;  // the ranks that share its memory
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &this_machine);
    int local_rank = 0;
    MPI_Comm_rank(this_machine, &local_rank);
    if (rank != 0) be_silent();

    // 2. What is asked for, and where the pixels come from.
    cluster::ClusterOptions cluster_options;
    const Options options =
        parse_options(argc, argv, kProgram, [&](CLI::App& app) { cluster_options.add_to(app); });
    if (options.list_devices) {
        print(list(devices()));
        throw Finished();
    }
    cluster::require_launcher();
    cluster::Source source(options, cluster_options);

    // 3. The device: the first rank of a machine takes its first device, the next one the next, and
    //    so on around. Several ranks may share one.
    const std::string wanted = options.device.empty() ? nth_device(local_rank) : options.device;
    const Device device = choose_device(wanted);

    // 4. Where its commands go: the default stream; and memory for my share: of n ranks each has an
    //    nth of the pixels.
    Memory<std::uint8_t> pixels;
    Memory<std::uint32_t> histogram;
    CHECK_CUDA(cudaMalloc(pixels.out(), source.own));
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));

    // 5. How to count: `tuned`, as chapter 05 launches it on this device.
    const DeviceLimits limits = limits_of(device.id);
    const TunedLaunch config =
        launch_for(limits, options, std::min(source.own, cluster::kMaxLaunchPixels));
    const kernels::Tuned kernel = kernels::tuned(config.copies, config.loads);
    Memory<kernels::Total> totals;
    CHECK_CUDA(cudaMalloc(totals.out(), kTotalWords * sizeof(kernels::Total)));
    CHECK_CUDA(cudaMemset(totals, 0, kTotalWords * sizeof(kernels::Total)));

    // 6. Is every rank ready for the same work? From here on no rank waits for one that has failed.
    cluster::require_all_ready(argc, argv, source);

    // 7. My share goes to the device.
    source.read_own([&](std::span<const std::uint8_t> some, std::size_t before) {
        CHECK_CUDA(cudaMemcpy(pixels + before, some.data(), some.size(), cudaMemcpyHostToDevice));
    });

    std::vector<cluster::Run> runs;
    while (static_cast<int>(runs.size()) < options.repeat.value_or(1)) {
        // 8. Count. All begin together.
        MPI_Barrier(MPI_COMM_WORLD);
        cluster::Run& run = runs.emplace_back();
        run.begun = MPI_Wtime();
        for (std::size_t first = 0; first < source.own; first += cluster::kMaxLaunchPixels) {
            const std::size_t count = std::min(cluster::kMaxLaunchPixels, source.own - first);
            const std::size_t groups = options.groups.value_or(config.groups(limits.units, count));
            Histogram counted{};
            kernel<<<static_cast<unsigned>(groups), static_cast<unsigned>(config.group_size)>>>(
                pixels, first, count, totals, histogram);
            CHECK_CUDA(cudaGetLastError());
            CHECK_CUDA(
                cudaMemcpy(counted.data(), histogram, sizeof counted, cudaMemcpyDeviceToHost));
            cluster::add(counted, run.counts);
        }
        run.counted = MPI_Wtime();

        // 9. Merge: one collective of 256 counters. The barrier is not for the sums, but to tell
        //    the time of waiting for the slowest from that of adding up.
        MPI_Barrier(MPI_COMM_WORLD);
        run.all_counted = MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, run.counts.data(), kBins, MPI_UINT64_T, MPI_SUM,
                      MPI_COMM_WORLD);
        run.merged = MPI_Wtime();
    }

    // 10. Rank 0's report, and the exit status that tells the truth.
    const int status = cluster::report(kProgram, options, cluster_options, source,
                                       {device.name, device.driver, wanted}, runs);
    MPI_Comm_free(&this_machine);
    MPI_Finalize();
    return status;
} catch (...) {
    return cluster::report_exception("05-launch-tuning/workshops/cluster/cuda");
}
