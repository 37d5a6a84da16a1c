// One histogram from many processes, on OpenCL devices. The kernel is `tuned`, of chapter 05.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/workshops/cluster/opencl --random 8G
//          mpirun -n 2 build/05-launch-tuning/workshops/cluster/opencl --raw FILE --check
//
// A rank is a process of MPI, with a device of its own where there are enough. cuda.cu does the
// same in CUDA, in the same steps; cpu.cpp counts without a device.

#include <mpi.h>

#include "05-launch-tuning/workshops/cluster/ranks.hpp"
#include "05-launch-tuning/workshops/cluster/report.hpp"
#include "05-launch-tuning/workshops/tuned_opencl.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"

using namespace common;
using namespace common::opencl;

const Program kProgram{
    "05-launch-tuning",
    "workshops/cluster/opencl",
    "OpenCL",
    "one histogram from many processes, on their devices",
    {{"tuned", "chapter 05's, as tune has found it or by default"}},
    {},
    cluster::unsupported_options({{"--no-diagnosis", "a wrong result is not looked into"}}),
    cluster::kMaxClusterPixels};

// This machine's GPUs in turn; if it has none, its other devices in turn.
std::string nth_device(int n) {
    const std::vector<Device> all = devices();
    std::vector<std::size_t> gpus, others;
    for (std::size_t i = 0; i < all.size(); ++i)
        ((all[i].type & CL_DEVICE_TYPE_GPU) != 0 ? gpus : others).push_back(i);
    const std::vector<std::size_t>& used = gpus.empty() ? others : gpus;
    // Without any, choose_device says that there is none.
    return used.empty() ? "" : std::to_string(used[static_cast<std::size_t>(n) % used.size()]);
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

    // 4. Where its commands go, and memory for my share: of n ranks each has an nth of the pixels.
    cl_int error = CL_SUCCESS;
    const Context context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const Queue queue = clCreateCommandQueue(context, device.id, 0, &error);
    CHECK_CL(error, "clCreateCommandQueue");
    require_memory(device.id, source.own);
    const Buffer pixels = clCreateBuffer(context, CL_MEM_READ_ONLY,
                                         std::max<std::size_t>(source.own, 1), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(pixels)");
    const Buffer histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");

    // 5. How to count: `tuned`, as chapter 05 launches it on this device.
    const DeviceLimits limits = limits_of(device.id);
    const TunedLaunch config =
        launch_for(limits, options, std::min(source.own, cluster::kMaxLaunchPixels));
    Tuned tuned(context, device.id,
                with_its_name("histogram.cl",
                              read_kernel_file("histogram.cl", CHAPTER_FOLDER, options.kernels)));
    tuned.built(config);

    // 6. Is every rank ready for the same work? From here on no rank waits for one that has failed.
    cluster::require_all_ready(argc, argv, source);

    // 7. My share goes to the device.
    source.read_own([&](std::span<const std::uint8_t> some, std::size_t before) {
        CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_TRUE, before, some.size(), some.data(), 0,
                                      nullptr, nullptr));
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
            tuned.enqueue(queue, config, groups, pixels, first, count, histogram);
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof counted,
                                         counted.data(), 0, nullptr, nullptr));
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
                                       {device.name, device.driver_line(), wanted}, runs);
    MPI_Comm_free(&this_machine);
    MPI_Finalize();
    return status;
} catch (...) {
    return cluster::report_exception("05-launch-tuning/workshops/cluster/opencl");
}
