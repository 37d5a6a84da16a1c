// One histogram from many processes, on OpenCL devices. The kernel is `tuned`, of chapter 05.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/cluster/opencl --random 8G
//          mpirun -n 2 build/05-launch-tuning/cluster/opencl --raw FILE --check
//          mpirun -n 2 build/05-launch-tuning/cluster/opencl FOLDER --each rows.csv
//
// A rank is a process of MPI, with a device of its own where there are enough. cuda.cu does the
// same in CUDA, in the same steps; cpu.cpp counts without a device.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "05-launch-tuning/cluster/report.hpp"
#include "05-launch-tuning/cluster/share.hpp"
#include "05-launch-tuning/cluster/together.hpp"
#include "05-launch-tuning/cluster/work.hpp"
#include "05-launch-tuning/tuned.hpp"
#include "common/histogram/histogram.hpp"
#include "common/opencl/opencl.hpp"
#include "common/options/options.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"

using cluster::Counts;
using common::Histogram;
using common::kBins;

const common::Program kProgram{
    "05-launch-tuning",
    "cluster/opencl",
    "OpenCL",
    "one histogram from many processes, on their devices",
    {{"tuned", "chapter 05's, as tune has found it or by default"}},
    {},
    cluster::unsupported_options({{"--no-diagnosis", "a wrong result is not looked into"}}),
    cluster::kMaxClusterPixels};

// The n-th device of this machine's GPUs, or where there are none of its other devices, in turn.
std::string nth_device(int n) {
    const std::vector<common::opencl::Device> all = common::opencl::devices();
    std::vector<std::size_t> gpus, others;
    for (std::size_t i = 0; i < all.size(); ++i)
        ((all[i].type & CL_DEVICE_TYPE_GPU) != 0 ? gpus : others).push_back(i);
    const std::vector<std::size_t>& takes_part = gpus.empty() ? others : gpus;
    // Where there is none, choosing one says so.
    return takes_part.empty()
               ? ""
               : std::to_string(takes_part[static_cast<std::size_t>(n) % takes_part.size()]);
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
        common::print(common::opencl::list(common::opencl::devices()));
        throw common::Finished();
    }
    own.refuse_contradictions(options);
    cluster::require_launcher(ranks);
    const cluster::Work work(options, own, ranks);

    // 3. The device: the first rank of a machine takes its first device, the next one the next, and
    //    so on around. Several ranks may share one.
    const std::string wanted = options.device.empty() ? nth_device(local_rank) : options.device;
    const common::opencl::Device device = common::opencl::choose_device(wanted);
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");  // to this rank, maybe
    const std::string device_id = wanted + " of " + (visible != nullptr ? visible : "all");

    // 4. Where its commands go, and its memory: three chunks on the host, of which one is counted
    //    while the next is read, and on the device one, or all that --resident keeps there.
    cl_int error = CL_SUCCESS;
    const cl_context context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const cl_command_queue queue = clCreateCommandQueue(context, device.id, 0, &error);
    CHECK_CL(error, "clCreateCommandQueue");
    const std::size_t chunk = work.largest_piece();
    const std::size_t staged = work.pictures.empty() ? chunk : 1;  // they have memory of their own
    const std::size_t kept = own.resident ? work.resident_pixels(rank, ranks) : chunk;
    const auto create = [&](cl_mem_flags flags, std::size_t bytes) {
        const cl_mem buffer =
            clCreateBuffer(context, flags, std::max<std::size_t>(bytes, 1), nullptr, &error);
        CHECK_CL(error, "clCreateBuffer");
        return buffer;
    };
    const cl_mem pixels = create(CL_MEM_READ_ONLY, kept);
    const cl_mem row = create(CL_MEM_READ_WRITE, sizeof(Histogram));
    std::vector<cl_mem> pinned;
    cluster::Share::Buffers buffers{};
    for (std::uint8_t*& buffer : buffers) {
        pinned.push_back(create(CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, staged));
        buffer = static_cast<std::uint8_t*>(
            clEnqueueMapBuffer(queue, pinned.back(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                               std::max<std::size_t>(staged, 1), 0, nullptr, nullptr, &error));
        CHECK_CL(error, "clEnqueueMapBuffer");
    }

    // 5. How to count: `tuned`, as chapter 05 launches it on this device.
    cl_ulong local_bytes = 0;
    CHECK_CL(clGetDeviceInfo(device.id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes,
                             nullptr));
    const tuning::DeviceLimits limits{
        .api = "OpenCL",
        .device = device.name,
        .driver = device.driver_line(),
        .cpu = (device.type & CL_DEVICE_TYPE_CPU) != 0,
        .units = common::opencl::compute_units(device.id),
        .max_group_size = common::opencl::max_work_group_size(device.id),
        .local_bytes = local_bytes,
        .kernels = {&tuning::kReplicated, &tuning::kItemBins}};
    const tuning::LaunchConfig config =
        tuning::resolve(tuned, options, limits, std::min(kept, cluster::kMaxAtOnce));
    const std::string source =
        common::opencl::read_kernel_file("histogram.cl", CHAPTER_FOLDER, options.kernels);
    const cl_program program =
        common::opencl::build_program(context, device.id, "histogram.cl", source, config.macros());
    const cl_kernel kernel = clCreateKernel(program, config.kernel->function.c_str(), &error);
    CHECK_CL(error, "clCreateKernel");
    CHECK_CL(clReleaseProgram(program));  // it stays as long as its kernel does
    const bool in_one = common::opencl::has_extension(device.id, "cl_khr_int64_base_atomics") &&
                        !tuned.two_launches;
    std::vector<cl_ulong> zeros(tuning::kTotalWords);
    cl_mem totals = nullptr;
    if (in_one) {
        totals = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                zeros.size() * sizeof zeros[0], zeros.data(), &error);
        CHECK_CL(error, "clCreateBuffer(totals)");
    }
    const auto copy_in = [&](std::span<const std::uint8_t> piece, std::size_t to) {
        CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, to, piece.size(), piece.data(), 0,
                                      nullptr, nullptr));
    };
    // Starts to count, and returns.
    Histogram histogram{};
    const auto start = [&](std::size_t first, std::size_t count) {
        const cl_ulong first_pixel = first;
        const cl_ulong pixel_count = count;
        if (!in_one) {
            const cl_uint zero = 0;
            CHECK_CL(clEnqueueFillBuffer(queue, row, &zero, sizeof zero, 0, sizeof(Histogram), 0,
                                         nullptr, nullptr));
        }
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof first_pixel, &first_pixel));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), in_one ? &totals : nullptr));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &row));
        const std::size_t groups = options.groups.value_or(config.groups(limits.units, count));
        const std::size_t global_size = groups * config.group_size;
        CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &config.group_size,
                                        0, nullptr, nullptr));
        CHECK_CL(clEnqueueReadBuffer(queue, row, CL_FALSE, 0, sizeof histogram, histogram.data(), 0,
                                     nullptr, nullptr));
        CHECK_CL(clFlush(queue));  // without it a driver may wait for more
    };
    const auto finish = [&](Counts& sums) {
        CHECK_CL(clFinish(queue));
        cluster::add(histogram, sums);
    };

    // 6. Is every rank ready for the same work, with the same program and kernels? From here on no
    //    rank waits for one that has failed.
    cluster::require_all_ready(argc, argv, source, work);
    cluster::Share share(MPI_COMM_WORLD, work, own, buffers);
    cluster::Report report(kProgram, options, own, work, device.name, device.driver_line(),
                           device_id);

    // 7. The resident pixels: this rank's part goes to its device.
    std::size_t resident = 0;
    while (own.resident) {
        const cluster::Piece piece = share.next();
        if (piece.pixels.empty()) break;
        copy_in(piece.pixels, resident);
        CHECK_CL(clFinish(queue));
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

    // 11. Rank 0's report, and the exit status that tells the truth.
    const int status = report.finish(share, each);
    share.end();

    // 12. What was created is released, in the opposite order.
    if (totals != nullptr) CHECK_CL(clReleaseMemObject(totals));
    CHECK_CL(clReleaseKernel(kernel));
    for (std::size_t i = 0; i < pinned.size(); ++i) {
        CHECK_CL(clEnqueueUnmapMemObject(queue, pinned[i], buffers[i], 0, nullptr, nullptr));
        CHECK_CL(clFinish(queue));
        CHECK_CL(clReleaseMemObject(pinned[i]));
    }
    CHECK_CL(clReleaseMemObject(row));
    CHECK_CL(clReleaseMemObject(pixels));
    CHECK_CL(clReleaseCommandQueue(queue));
    CHECK_CL(clReleaseContext(context));
    MPI_Comm_free(&this_machine);
    MPI_Finalize();
    return status;
} catch (...) {
    return cluster::report_exception("05-launch-tuning/cluster/opencl");
}
