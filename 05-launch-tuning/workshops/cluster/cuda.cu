// One histogram from many processes, on NVIDIA's GPUs. The kernel is `tuned`, of chapter 05.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/workshops/cluster/cuda --random 8G
//          mpirun -n 2 build/05-launch-tuning/workshops/cluster/cuda --raw FILE --check
//
// A rank is a process of MPI, with a device of its own where there are enough. opencl.cpp does the
// same in OpenCL, in the same steps; cpu.cpp counts without a device.

#include <mpi.h>

#include <array>

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/workshops/cluster/ranks.hpp"
#include "05-launch-tuning/workshops/cluster/report.hpp"
#include "05-launch-tuning/workshops/limits_cuda.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"

using namespace common;
using namespace common::cuda;
using cluster::Counts;

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
    cluster::require_same_program();
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
    // Its address on the bus: ranks may know the same device by different numbers.
    char device_id[32] = "";
    CHECK_CUDA(cudaDeviceGetPCIBusId(device_id, sizeof device_id, device.id));

    // 4. Where its commands go, and its memory: two chunks on the host, of which one is counted
    //    while the next is read, and on the device one, or all that --resident keeps there.
    Stream stream;
    CHECK_CUDA(cudaStreamCreateWithFlags(stream.out(), cudaStreamNonBlocking));
    const std::size_t on_device =
        cluster_options.resident ? source.own_pixels() : source.max_chunk();
    Memory<std::uint8_t> pixels;
    Memory<std::uint32_t> histogram;
    HostMemory<Histogram> counted;
    std::array<HostMemory<std::uint8_t>, 2> buffers;
    CHECK_CUDA(cudaMalloc(pixels.out(), on_device));
    CHECK_CUDA(cudaMalloc(histogram.out(), sizeof(Histogram)));
    CHECK_CUDA(cudaMallocHost(counted.out(), sizeof(Histogram)));
    for (auto& buffer : buffers)
        CHECK_CUDA(cudaMallocHost(buffer.out(), source.max_chunk()));

    // 5. How to count: `tuned`, as chapter 05 launches it on this device.
    const DeviceLimits limits = limits_of(device.id);
    const TunedLaunch config =
        launch_for(limits, options, std::min(on_device, cluster::kMaxLaunchPixels));
    const kernels::Tuned kernel = kernels::tuned(config.copies, config.loads);
    Memory<kernels::Total> totals;
    CHECK_CUDA(cudaMalloc(totals.out(), kTotalWords * sizeof(kernels::Total)));
    CHECK_CUDA(cudaMemset(totals, 0, kTotalWords * sizeof(kernels::Total)));
    CHECK_CUDA(cudaDeviceSynchronize());  // the stream does not wait for it
    const auto copy_in = [&](std::span<const std::uint8_t> piece, std::size_t to) {
        CHECK_CUDA(cudaMemcpyAsync(pixels + to, piece.data(), piece.size(), cudaMemcpyHostToDevice,
                                   stream));
    };
    // Starts the count, and does not wait for it.
    const auto start = [&](std::size_t first, std::size_t pixel_count) {
        const std::size_t groups =
            options.groups.value_or(config.groups(limits.units, pixel_count));
        kernel<<<static_cast<unsigned>(groups), static_cast<unsigned>(config.group_size), 0,
                 stream>>>(pixels, first, pixel_count, totals, histogram);
        CHECK_CUDA(cudaGetLastError());
        CHECK_CUDA(
            cudaMemcpyAsync(counted, histogram, sizeof(Histogram), cudaMemcpyDeviceToHost, stream));
    };
    const auto finish = [&](Counts& sums) {
        CHECK_CUDA(cudaStreamSynchronize(stream));
        cluster::add(counted[0], sums);
    };

    // 6. Is every rank ready for the same work, with the same program and kernels? From here on no
    //    rank waits for one that has failed.
    cluster::require_all_ready(argc, argv, {}, source);  // they are part of the program

    // 7. The resident pixels: this rank's part goes to its device.
    std::size_t resident = 0;
    while (cluster_options.resident && resident < on_device) {
        const std::span<const std::uint8_t> chunk = source.next(buffers[0]);
        copy_in(chunk, resident);
        CHECK_CUDA(cudaStreamSynchronize(stream));
        resident += chunk.size();
    }

    std::vector<cluster::Run> runs;
    while (static_cast<int>(runs.size()) < options.repeat.value_or(1)) {
        // 8. My share: every n-th chunk, for n ranks. All begin together. The next chunk is read
        //    while the device counts the one before.
        source.rewind();
        MPI_Barrier(MPI_COMM_WORLD);
        cluster::Run& run = runs.emplace_back();
        run.begun = MPI_Wtime();
        for (std::size_t first = 0; first < resident; first += cluster::kMaxLaunchPixels) {
            start(first, std::min(cluster::kMaxLaunchPixels, resident - first));
            finish(run.counts);
        }
        std::span<const std::uint8_t> chunk;
        if (!cluster_options.resident) chunk = source.next(buffers[0]);
        for (std::size_t turn = 1; !chunk.empty(); ++turn) {
            copy_in(chunk, 0);
            start(0, chunk.size());
            chunk = source.next(buffers[turn % 2]);
            finish(run.counts);
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
                                       {device.name, device.driver, device_id}, runs);
    MPI_Comm_free(&this_machine);
    MPI_Finalize();
    return status;
} catch (...) {
    return cluster::report_exception("05-launch-tuning/workshops/cluster/cuda");
}
