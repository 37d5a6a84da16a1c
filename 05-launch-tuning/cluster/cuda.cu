// One histogram from many processes, on NVIDIA's GPUs. The kernel is `tuned`, of chapter 05.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/cluster/cuda --random 8G
//          mpirun -n 2 build/05-launch-tuning/cluster/cuda --raw FILE --check
//          mpirun -n 2 build/05-launch-tuning/cluster/cuda FOLDER --each rows.csv
//
// A rank is a process of MPI, with a device of its own where there are enough. opencl.cpp does the
// same in OpenCL, in the same steps; cpu.cpp counts without a device.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "05-launch-tuning/cluster/nccl.hpp"
#include "05-launch-tuning/cluster/report.hpp"
#include "05-launch-tuning/cluster/share.hpp"
#include "05-launch-tuning/cluster/together.hpp"
#include "05-launch-tuning/cluster/work.hpp"
#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/tuned.hpp"
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
    "cluster/cuda",
    "CUDA",
    "one histogram from many processes, on their devices",
    {{"tuned", "chapter 05's, as tune has found it or by default"}},
    {},
    cluster::unsupported_options({{"--no-diagnosis", "a wrong result is not looked into"}}),
    cluster::kMaxClusterPixels};

// The n-th device of this machine's, in turn.
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

    // 2. What is asked for, and the work that there is.
    cluster::Own own;
    tuning::TunedOptions tuned;
    const common::Options options =
        tuning::parse_options(argc, argv, kProgram, tuned, [&](CLI::App& app) { own.add_to(app); });
    if (options.list_devices) {
        common::print(common::cuda::list(common::cuda::devices()));
        throw common::Finished();
    }
    own.refuse_contradictions(options);
    cluster::require_launcher(ranks);
    const cluster::Work work(options, own, ranks);

    // 3. The device: the first rank of a machine takes its first device, the next one the next, and
    //    so on around. Several ranks may share one.
    const std::string wanted = options.device.empty() ? nth_device(local_rank) : options.device;
    const common::cuda::Device device = common::cuda::choose_device(wanted);
    char device_id[32] = "";  // where it sits: the number may be another one for another rank
    CHECK_CUDA(cudaDeviceGetPCIBusId(device_id, sizeof device_id, device.id));

    // 4. Where its commands go, and its memory: three chunks on the host, of which one is counted
    //    while the next is read, and on the device one, or all that --resident keeps there.
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const std::size_t chunk = work.largest_piece();
    const std::size_t staged = work.pictures.empty() ? chunk : 0;  // they have memory of their own
    const std::size_t kept = own.resident ? work.resident_pixels(rank, ranks) : chunk;
    std::uint8_t* pixels = nullptr;
    std::uint32_t* row = nullptr;
    std::uint32_t* histogram_words =
        nullptr;  // pinned, or a copy would not return before it is done
    CHECK_CUDA(cudaMalloc(&pixels, kept));
    CHECK_CUDA(cudaMalloc(&row, sizeof(Histogram)));
    CHECK_CUDA(cudaMallocHost(&histogram_words, sizeof(Histogram)));
    cluster::Share::Buffers buffers{};
    for (std::uint8_t*& buffer : buffers)
        CHECK_CUDA(cudaMallocHost(&buffer, staged));

    // 5. How to count: `tuned`, as chapter 05 launches it on this device.
    const tuning::DeviceLimits limits{
        .api = "CUDA",
        .device = device.name,
        .driver = device.driver,
        .units = common::cuda::multiprocessors(device.id),
        .max_group_size = tuning::kMaxCudaThreads,
        .local_bytes = tuning::kCudaSharedBytes,
        .kernels = {&tuning::kReplicated},
        .max_threads = [](const tuning::LaunchConfig& config) {
            cudaFuncAttributes kernel{};
            CHECK_CUDA(cudaFuncGetAttributes(&kernel, kernels::tuned(config.copies, config.loads)));
            return static_cast<std::size_t>(kernel.maxThreadsPerBlock);
        }};
    const tuning::LaunchConfig config =
        tuning::resolve(tuned, options, limits, std::min(kept, cluster::kMaxAtOnce));
    const kernels::Tuned kernel = kernels::tuned(config.copies, config.loads);
    kernels::Total* totals = nullptr;
    if (!tuned.two_launches) {
        CHECK_CUDA(cudaMalloc(&totals, tuning::kTotalWords * sizeof(kernels::Total)));
        CHECK_CUDA(cudaMemset(totals, 0, tuning::kTotalWords * sizeof(kernels::Total)));
        CHECK_CUDA(cudaDeviceSynchronize());  // the stream does not wait for it
    }
    const auto copy_in = [&](std::span<const std::uint8_t> piece, std::size_t to) {
        CHECK_CUDA(cudaMemcpyAsync(pixels + to, piece.data(), piece.size(), cudaMemcpyHostToDevice,
                                   stream));
    };
    // Starts to count, and returns.
    Histogram histogram{};
    const auto start = [&](std::size_t first, std::size_t count) {
        const std::size_t groups = options.groups.value_or(config.groups(limits.units, count));
        if (totals == nullptr) CHECK_CUDA(cudaMemsetAsync(row, 0, sizeof histogram, stream));
        kernel<<<static_cast<unsigned>(groups), static_cast<unsigned>(config.group_size), 0,
                 stream>>>(pixels, first, count, totals, row);
        CHECK_CUDA(cudaGetLastError());
        CHECK_CUDA(cudaMemcpyAsync(histogram_words, row, sizeof histogram, cudaMemcpyDeviceToHost,
                                   stream));
    };
    const auto finish = [&](Counts& sums) {
        CHECK_CUDA(cudaStreamSynchronize(stream));
        std::copy_n(histogram_words, kBins, histogram.begin());
        cluster::add(histogram, sums);
    };

    // 6. Is every rank ready for the same work, with the same program and kernels? From here on no
    //    rank waits for one that has failed.
    cluster::require_all_ready(argc, argv, {}, work);  // the kernels are in it
    cluster::Share share(MPI_COMM_WORLD, work, own, buffers);
    cluster::Report report(kProgram, options, own, work, device.name, device.driver, device_id);

    // 7. The resident pixels: this rank's part goes to its device.
    std::size_t resident = 0;
    while (own.resident) {
        const cluster::Piece piece = share.next();
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
        share.begin();
        cluster::Times times{MPI_Wtime()};
        for (std::size_t first = 0; first < resident; first += cluster::kMaxAtOnce) {
            start(first, std::min(cluster::kMaxAtOnce, resident - first));
            finish(counts);
        }
        cluster::Piece piece = own.resident ? cluster::Piece() : share.next();
        while (!piece.pixels.empty()) {
            copy_in(piece.pixels, 0);
            start(0, piece.pixels.size());
            cluster::Piece next = share.next();
            finish(counts);
            if (own.each) cluster::add(histogram, each[piece.item]);
            piece = std::move(next);
        }
        times.counted = MPI_Wtime();

        // 9. Merge: one collective of 256 counters. The barrier is not for the sums, but to tell
        //    the time of waiting for the slowest from that of adding up.
        MPI_Barrier(MPI_COMM_WORLD);
        times.all_had = MPI_Wtime();
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
    const int status = report.finish(share, each);
    share.end();

    // 12. What was created is released, in the opposite order.
    CHECK_CUDA(cudaFree(totals));
    for (std::uint8_t* const buffer : buffers)
        CHECK_CUDA(cudaFreeHost(buffer));
    CHECK_CUDA(cudaFreeHost(histogram_words));
    CHECK_CUDA(cudaFree(row));
    CHECK_CUDA(cudaFree(pixels));
    CHECK_CUDA(cudaStreamDestroy(stream));
    MPI_Comm_free(&this_machine);
    MPI_Finalize();
    return status;
} catch (...) {
    return cluster::report_exception("05-launch-tuning/cluster/cuda");
}
