// One histogram from many processes, on NVIDIA's GPUs. The kernel is `tuned`, of chapter 05; for
// pictures it is `group-each` of many/, with a launch for many of them.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/workshops/cluster/cuda --random 8G
//          mpirun -n 2 build/05-launch-tuning/workshops/cluster/cuda --raw FILE --check
//          mpirun -n 2 build/05-launch-tuning/workshops/cluster/cuda FOLDER --each rows.csv
//
// A rank is a process of MPI, with a device of its own where there are enough. opencl.cpp does the
// same in OpenCL, in the same steps; cpu.cpp counts without a device.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/tuned.hpp"
#include "05-launch-tuning/workshops/cluster/nccl.hpp"
#include "05-launch-tuning/workshops/cluster/options.hpp"
#include "05-launch-tuning/workshops/cluster/ranks.hpp"
#include "05-launch-tuning/workshops/cluster/report.hpp"
#include "05-launch-tuning/workshops/cluster/source.hpp"
#include "05-launch-tuning/workshops/cluster/work_queue.hpp"
#include "05-launch-tuning/workshops/many/histogram.cuh"
#include "05-launch-tuning/workshops/tune/limits_cuda.hpp"
#include "common/cuda/cuda.hpp"
#include "common/histogram/histogram.hpp"
#include "common/options/options.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"

using cluster::Counts;
using common::Histogram;
using common::kBins;

const common::Program kProgram{
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
    return std::to_string(static_cast<std::size_t>(n) % common::cuda::devices().size());
}

int main(int argc, char** argv) try {
    // 1. Which rank this is, of how many, and which of those on this machine. One speaks for all.
    MPI_Init(&argc, &argv);
    cluster::require_same_program();
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm this_machine = MPI_COMM_NULL;  // the ranks that share its memory
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &this_machine);
    int local_rank = 0;
    MPI_Comm_rank(this_machine, &local_rank);
    if (rank != 0) common::be_silent();

    // 2. What is asked for, and where the pixels come from.
    cluster::ClusterOptions cluster_options;
    tuning::TunedOptions tuned;
    const common::Options options = tuning::parse_options(
        argc, argv, kProgram, tuned, [&](CLI::App& app) { cluster_options.add_to(app); });
    if (options.list_devices) {
        common::print(common::cuda::list(common::cuda::devices()));
        throw common::Finished();
    }
    cluster_options.refuse_contradictions(options);
    cluster::require_launcher(ranks);
    const cluster::Source source = cluster::find_source(options, cluster_options, ranks);

    // 3. The device: the first rank of a machine takes its first device, the next one the next, and
    //    so on around. Several ranks may share one.
    const std::string wanted = options.device.empty() ? nth_device(local_rank) : options.device;
    const common::cuda::Device device = common::cuda::choose_device(wanted);
    // Its address on the bus: ranks may know the same device by different numbers.
    char device_id[32] = "";
    CHECK_CUDA(cudaDeviceGetPCIBusId(device_id, sizeof device_id, device.id));

    // 4. Where its commands go, and its memory: three chunks on the host, of which one is counted
    //    while the next is read, and on the device one, or all that --resident keeps there.
    common::cuda::Stream stream;
    CHECK_CUDA(cudaStreamCreateWithFlags(stream.out(), cudaStreamNonBlocking));
    const std::size_t on_device =
        cluster_options.resident ? source.resident_pixels(rank, ranks) : source.max_piece();
    common::cuda::Memory<std::uint8_t> pixels;
    // Of pictures a row for each part of a piece, and where each begins. Pinned on the host, so
    // that the copy of the rows does not wait for them.
    const bool of_pictures = !source.pictures.empty();
    const std::size_t max_rows = of_pictures ? cluster::kMaxParts : 1;
    common::cuda::Memory<std::uint32_t> rows;
    common::cuda::Memory<std::uint64_t> begins;
    common::cuda::HostMemory<Histogram> counted;
    CHECK_CUDA(cudaMalloc(pixels.out(), on_device));
    CHECK_CUDA(cudaMalloc(rows.out(), max_rows * sizeof(Histogram)));
    CHECK_CUDA(cudaMalloc(begins.out(), (max_rows + 1) * sizeof(std::uint64_t)));
    CHECK_CUDA(cudaMallocHost(counted.out(), max_rows * sizeof(Histogram)));
    std::array<common::cuda::HostMemory<std::uint8_t>, cluster::WorkQueue::kBuffers> pinned;
    cluster::WorkQueue::Buffers buffers{};
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        CHECK_CUDA(cudaMallocHost(pinned[i].out(), source.buffer_pixels()));
        buffers[i] = pinned[i];
    }

    // 5. How to count: `tuned`, as chapter 05 launches it on this device.
    const tuning::DeviceLimits limits = tuning::limits_of(device);
    const tuning::LaunchConfig config =
        of_pictures ? tuning::LaunchConfig()
                    : tuning::resolve(tuned, options, limits,
                                      std::min(on_device, cluster::kMaxLaunchPixels));
    const auto block_size =
        static_cast<unsigned>(options.group_size.value_or(512));  // for pictures
    if (of_pictures) common::cuda::require_group_size(device.id, block_size);
    const kernels::Tuned kernel = kernels::tuned(config.copies, config.loads);
    common::cuda::Memory<kernels::Total> totals;
    if (!tuned.two_launches) {
        CHECK_CUDA(cudaMalloc(totals.out(), tuning::kTotalWords * sizeof(kernels::Total)));
        CHECK_CUDA(cudaMemset(totals, 0, tuning::kTotalWords * sizeof(kernels::Total)));
        CHECK_CUDA(cudaDeviceSynchronize());  // the stream does not wait for it
    }
    const auto copy_in = [&](std::span<const std::uint8_t> piece, std::size_t to) {
        CHECK_CUDA(cudaMemcpyAsync(pixels + to, piece.data(), piece.size(), cudaMemcpyHostToDevice,
                                   stream));
    };
    std::size_t row_count = 0;
    const auto copy_out = [&](std::size_t number) {
        row_count = number;
        CHECK_CUDA(cudaGetLastError());
        CHECK_CUDA(cudaMemcpyAsync(counted, rows, row_count * sizeof(Histogram),
                                   cudaMemcpyDeviceToHost, stream));
    };
    // Starts the count, and does not wait for it.
    const auto start = [&](std::size_t first, std::size_t pixel_count) {
        const std::size_t groups =
            options.groups.value_or(config.groups(limits.units, pixel_count));
        if (tuned.two_launches) CHECK_CUDA(cudaMemsetAsync(rows, 0, sizeof(Histogram), stream));
        kernel<<<static_cast<unsigned>(groups), static_cast<unsigned>(config.group_size), 0,
                 stream>>>(pixels, first, pixel_count, totals, rows);
        copy_out(1);
    };
    // The same of pictures: `group-each`, as many/ launches it for pictures of 512 x 512, with a
    // block for each part.
    std::vector<std::uint64_t> bounds;
    const auto start_pictures = [&](const cluster::Piece& piece) {
        const std::size_t parts = piece.parts.size();
        bounds = {0};
        for (const cluster::Piece::Part& part : piece.parts)
            bounds.push_back(bounds.back() + part.pixels);
        CHECK_CUDA(cudaMemcpyAsync(begins, bounds.data(), bounds.size() * sizeof(std::uint64_t),
                                   cudaMemcpyHostToDevice, stream));
        kernels::histogram_group_each<32, 2>
            <<<static_cast<unsigned>(options.groups.value_or(parts)), block_size, 0, stream>>>(
                pixels, begins, parts, rows);
        copy_out(parts);
    };
    const auto finish = [&](Counts& sums) {
        CHECK_CUDA(cudaStreamSynchronize(stream));
        for (std::size_t i = 0; i < row_count; ++i)
            cluster::add(counted[i], sums);
    };

    // 6. Is every rank ready for the same work, with the same program and kernels? From here on no
    //    rank waits for one that has failed.
    cluster::require_all_ready(argc, argv, {}, source);  // they are part of the program
    cluster::WorkQueue work(MPI_COMM_WORLD, source, cluster_options, buffers);
    cluster::Report report(kProgram, options, cluster_options, source, device.name, device.driver,
                           device_id);

    // 7. The resident pixels: this rank's part goes to its device.
    std::size_t resident = 0;
    while (cluster_options.resident) {
        const cluster::Piece piece = work.next();
        if (piece.pixels.empty()) break;
        copy_in(piece.pixels, resident);
        CHECK_CUDA(cudaStreamSynchronize(stream));
        resident += piece.pixels.size();
    }

    std::map<std::uint64_t, Counts> each;  // of the pictures that this rank took
    for (int run = 0; run < options.repeat.value_or(1); ++run) {
        // 8. My share: whoever is done with a piece takes the next one, and reads it while the
        //    device counts the one before.
        Counts counts{};
        each.clear();
        work.begin();
        cluster::Times times{MPI_Wtime()};
        for (std::size_t first = 0; first < resident; first += cluster::kMaxLaunchPixels) {
            start(first, std::min(cluster::kMaxLaunchPixels, resident - first));
            finish(counts);
        }
        cluster::Piece piece = cluster_options.resident ? cluster::Piece() : work.next();
        while (!piece.pixels.empty()) {
            copy_in(piece.pixels, 0);
            of_pictures ? start_pictures(piece) : start(0, piece.pixels.size());
            cluster::Piece next = work.next();
            finish(counts);
            for (std::size_t i = 0; cluster_options.each && i < row_count; ++i)
                cluster::add(counted[i], each[piece.parts[i].item]);
            piece = std::move(next);
        }
        times.counted = MPI_Wtime();

        // 9. Merge: one collective of 256 counters. The barrier is not for the sums, but to tell
        //    the time of waiting for the slowest from that of adding up.
        MPI_Barrier(MPI_COMM_WORLD);
        times.all_counted = MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, counts.data(), kBins, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        times.merged = MPI_Wtime();
        report.add_run(times, counts);
    }

    // 10. What that collective costs.
    Counts sums{};
    report.time_all_reduce("MPI", [&] {
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), kBins, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    });
    cluster::time_nccl(report, device_id, stream);

    // 11. Rank 0's report, and the exit status that tells the truth.
    const int status = report.finish(work, each);
    work.end();
    MPI_Comm_free(&this_machine);
    MPI_Finalize();
    return status;
} catch (...) {
    return cluster::report_exception("05-launch-tuning/workshops/cluster/cuda");
}
