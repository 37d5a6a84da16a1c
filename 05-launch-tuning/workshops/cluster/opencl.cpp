// One histogram from many processes, on OpenCL devices. The kernel is `tuned`, of chapter 05.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/workshops/cluster/opencl --random 8G
//          mpirun -n 2 build/05-launch-tuning/workshops/cluster/opencl --raw FILE --check
//
// A rank is a process of MPI, with a device of its own where there are enough. cuda.cu does the
// same in CUDA, in the same steps; cpu.cpp counts without a device.

#include <mpi.h>

#include <array>
#include <cstdlib>

#include "05-launch-tuning/workshops/cluster/ranks.hpp"
#include "05-launch-tuning/workshops/cluster/report.hpp"
#include "05-launch-tuning/workshops/limits_opencl.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"

using namespace common;
using namespace common::opencl;
using cluster::Counts;

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

// A rank that fails waits for its device, which may still be reading from a buffer.
struct AtEnd {
    cl_command_queue queue;
    ~AtEnd() { clFinish(queue); }
};

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
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");  // may differ between ranks
    const std::string device_id = wanted + " of " + (visible != nullptr ? visible : "all");

    // 4. Where its commands go, and its memory: two chunks on the host, of which one is counted
    //    while the next is read, and on the device one, or all that --resident keeps there.
    cl_int error = CL_SUCCESS;
    const Context context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const Queue queue = clCreateCommandQueue(context, device.id, 0, &error);
    CHECK_CL(error, "clCreateCommandQueue");
    const std::size_t on_device =
        cluster_options.resident ? source.own_pixels() : source.max_chunk();
    const auto create = [&](cl_mem_flags flags, std::size_t bytes) {
        Buffer buffer = clCreateBuffer(context, flags, bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer");
        return buffer;
    };
    // (A buffer of no bytes is an error, no pixels are not.)
    const Buffer pixels = create(CL_MEM_READ_ONLY, std::max<std::size_t>(on_device, 1));
    const Buffer histogram = create(CL_MEM_READ_WRITE, sizeof(Histogram));
    const std::size_t on_host = std::max<std::size_t>(source.max_chunk(), 1);
    std::vector<Buffer> pinned;
    std::array<std::uint8_t*, 2> buffers{};
    for (std::uint8_t*& buffer : buffers) {
        pinned.push_back(create(CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, on_host));
        buffer = static_cast<std::uint8_t*>(
            clEnqueueMapBuffer(queue, pinned.back(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                               on_host, 0, nullptr, nullptr, &error));
        CHECK_CL(error, "clEnqueueMapBuffer");
    }
    Histogram counted{};
    const AtEnd finished{queue};

    // 5. How to count: `tuned`, as chapter 05 launches it on this device.
    const DeviceLimits limits = limits_of(device.id);
    const TunedLaunch config =
        launch_for(limits, options, std::min(on_device, cluster::kMaxLaunchPixels));
    const std::string kernels = with_its_name(
        "histogram.cl", read_kernel_file("histogram.cl", CHAPTER_FOLDER, options.kernels));
    const char* text = kernels.c_str();
    const std::string macros = side_by_side(config.group_size, 1).macros() + config.macros();
    const ProgramObject program = clCreateProgramWithSource(context, 1, &text, nullptr, &error);
    CHECK_CL(error, "clCreateProgramWithSource");
    check_build(clBuildProgram(program, 1, &device.id, macros.c_str(), nullptr, nullptr), program,
                device.id);
    const Kernel kernel = clCreateKernel(program, "histogram_tuned", &error);
    CHECK_CL(error, "clCreateKernel");
    const bool in_one = has_extension(device.id, "cl_khr_int64_base_atomics");
    std::array<cl_ulong, kTotalWords> zeros{};
    Buffer totals;
    if (in_one) {
        totals = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros,
                                zeros.data(), &error);
        CHECK_CL(error, "clCreateBuffer(totals)");
    }
    const auto copy_in = [&](std::span<const std::uint8_t> piece, std::size_t to) {
        CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, to, piece.size(), piece.data(), 0,
                                      nullptr, nullptr));
    };
    // Starts the count, and does not wait for it.
    const auto start = [&](cl_ulong first, cl_ulong pixel_count) {
        if (!in_one) {
            const cl_uint zero = 0;
            CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram),
                                         0, nullptr, nullptr));
        }
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof first, &first));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), in_one ? &totals : nullptr));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &histogram));
        const std::size_t global_size =
            options.groups.value_or(config.groups(limits.units, pixel_count)) * config.group_size;
        CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &config.group_size,
                                        0, nullptr, nullptr));
        CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_FALSE, 0, sizeof counted, counted.data(),
                                     0, nullptr, nullptr));
        CHECK_CL(clFlush(queue));  // without it a driver may wait for more
    };
    const auto finish = [&](Counts& sums) {
        CHECK_CL(clFinish(queue));
        cluster::add(counted, sums);
    };

    // 6. Is every rank ready for the same work, with the same program and kernels? From here on no
    //    rank waits for one that has failed.
    cluster::require_all_ready(argc, argv, kernels, source);

    // 7. The resident pixels: this rank's part goes to its device.
    std::size_t resident = 0;
    while (cluster_options.resident && resident < on_device) {
        const std::span<const std::uint8_t> chunk = source.next(buffers[0]);
        copy_in(chunk, resident);
        CHECK_CL(clFinish(queue));
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
                                       {device.name, device.driver_line(), device_id}, runs);
    MPI_Comm_free(&this_machine);
    MPI_Finalize();
    return status;
} catch (...) {
    return cluster::report_exception("05-launch-tuning/workshops/cluster/opencl");
}
