// From the pixels in the host's memory to the histogram there, in OpenCL: three ways to copy and
// count, beside the copy alone.
//
//   copy       to the device, and nothing else
//   pageable   the pixels from where they happen to be, then the count
//   pinned     from memory that the driver can copy from without a detour
//   pipelined  the same in chunks: while one is counted, the next is on its way
//
// Run it:  build/05-launch-tuning/workshops/end-to-end/opencl --tile 1G
//
// cuda.cu does the same in CUDA, in the same steps.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "05-launch-tuning/launch.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/opencl/opencl.hpp"
#include "common/options/options.hpp"
#include "common/process/exit_status.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/report.hpp"
#include "common/verify/verify.hpp"

using common::Histogram;
using common::kBins;

const common::Program kProgram{"05-launch-tuning",
                               "workshops/end-to-end/opencl",
                               "OpenCL",
                               "ways to copy and count, by wall time",
                               {{"copy", "copied from pinned memory, and nothing else"},
                                {"pageable", "copied from ordinary memory, then counted"},
                                {"pinned", "copied from pinned memory, then counted"},
                                {"pipelined", "in chunks: one is counted, the next copied"}},
                               {},
                               {{"--plot", "there is nothing to draw"}}};

// Pixels in a chunk of the pipelined way: small beside a picture that is worth a pipeline, large
// beside what it costs to start a copy and a kernel.
constexpr std::uint64_t kChunkPixels = std::uint64_t{16} << 20;

int main(int argc, char** argv) try {
    // 1. What is asked for.
    const common::Options options = common::parse_options(argc, argv, kProgram);
    if (options.list_devices) {
        common::print(common::opencl::list(common::opencl::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, and the right answer.
    const common::Input input = common::load_input(options);
    if (input.pixels.empty()) throw common::BadInput("there are no pixels to copy");
    const Histogram expected = common::reference_histogram(input.pixels);
    const std::size_t pixel_count = input.pixels.size();
    const std::size_t chunks = (pixel_count + kChunkPixels - 1) / kChunkPixels;

    // 3. The device.
    const common::opencl::Device device = common::opencl::choose_device(options.device);
    common::opencl::require_memory(device.id, pixel_count);
    const common::Output output;
    common::Report report(output, kProgram, options, input, expected, device.name,
                          device.driver_line());

    // 4. Where its commands go: a queue keeps the order of its commands, so what is to overlap
    //    needs two. Each is released at the end of its scope.
    cl_int error = CL_SUCCESS;
    const common::opencl::Context context =
        clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const common::opencl::Queue counts = clCreateCommandQueue(context, device.id, 0, &error);
    CHECK_CL(error, "clCreateCommandQueue");
    const common::opencl::Queue copies = clCreateCommandQueue(context, device.id, 0, &error);
    CHECK_CL(error, "clCreateCommandQueue");

    // 5. The launch of `tuned` for all pixels, and one for a chunk.
    cl_ulong local_bytes = 0;
    CHECK_CL(clGetDeviceInfo(device.id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes,
                             nullptr));
    const DeviceLimits limits{.api = "OpenCL",
                              .device = device.name,
                              .driver = device.driver_line(),
                              .cpu = (device.type & CL_DEVICE_TYPE_CPU) != 0,
                              .units = common::opencl::compute_units(device.id),
                              .max_group_size = common::opencl::max_work_group_size(device.id),
                              .local_bytes = local_bytes};
    const TunedLaunch for_all = launch_for(limits, options, pixel_count);
    const TunedLaunch for_chunk =
        launch_for(limits, options, std::min<std::size_t>(pixel_count, kChunkPixels));
    const std::string source =
        common::read_kernel_file("histogram.cl", CHAPTER_FOLDER, options.kernels);
    const auto build = [&](const TunedLaunch& config) {
        const Grid groups_of = side_by_side(config.group_size, 1);
        const common::opencl::ProgramObject program = common::opencl::build_program(
            context, device.id, "histogram.cl", source, groups_of.macros() + config.macros());
        common::opencl::Kernel kernel = clCreateKernel(program, "histogram_tuned", &error);
        CHECK_CL(error, "clCreateKernel");
        return kernel;
    };
    const common::opencl::Kernel count_all_kernel = build(for_all);
    const common::opencl::Kernel count_chunk_kernel = build(for_chunk);

    // 6. Memory. Pinned memory is what CL_MEM_ALLOC_HOST_PTR gives when it is mapped. Each chunk
    //    has a histogram of its own: a row of 1 KiB, which any device can address.
    const auto create = [&](cl_mem_flags flags, std::size_t bytes) {
        common::opencl::Buffer buffer = clCreateBuffer(context, flags, bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer");
        return buffer;
    };
    const common::opencl::Buffer staging =
        create(CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR, pixel_count);
    void* const pinned = clEnqueueMapBuffer(counts, staging, CL_TRUE, CL_MAP_WRITE, 0, pixel_count,
                                            0, nullptr, nullptr, &error);
    CHECK_CL(error, "clEnqueueMapBuffer");
    std::memcpy(pinned, input.pixels.data(), pixel_count);
    const common::opencl::Buffer pixels = create(CL_MEM_READ_ONLY, pixel_count);
    const common::opencl::Buffer rows = create(CL_MEM_READ_WRITE, chunks * sizeof(Histogram));
    std::vector<common::opencl::Buffer> row_of_chunk(chunks);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        const cl_buffer_region region{chunk * sizeof(Histogram), sizeof(Histogram)};
        row_of_chunk[chunk] = clCreateSubBuffer(rows, CL_MEM_READ_WRITE,
                                                CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        CHECK_CL(error, "clCreateSubBuffer");
    }
    const bool in_one = common::opencl::has_extension(device.id, "cl_khr_int64_base_atomics");
    std::array<cl_ulong, kTotalWords> zeros{};
    common::opencl::Buffer totals;
    if (in_one) {
        totals = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros,
                                zeros.data(), &error);
        CHECK_CL(error, "clCreateBuffer(totals)");
    }
    // Counts `length` pixels from `first` on, as soon as they have been copied.
    const auto launch = [&](const TunedLaunch& config, cl_kernel kernel, cl_ulong first,
                            cl_ulong length, const common::opencl::Buffer& row,
                            const common::opencl::Event& copied) {
        if (!in_one) {
            const cl_uint zero = 0;
            CHECK_CL(clEnqueueFillBuffer(counts, row, &zero, sizeof zero, 0, sizeof(Histogram), 0,
                                         nullptr, nullptr));
        }
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof first, &first));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof length, &length));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), in_one ? &totals : nullptr));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &row));
        const std::size_t groups = options.groups.value_or(config.groups(limits.units, length));
        const std::size_t global_size = groups * config.group_size;
        const cl_event wait_for = copied;
        const bool waits = wait_for != nullptr;
        CHECK_CL(clEnqueueNDRangeKernel(counts, kernel, 1, nullptr, &global_size,
                                        &config.group_size, waits ? 1 : 0,
                                        waits ? &wait_for : nullptr, nullptr));
    };

    // 7. A row of the table, by wall time, checked before and after it is timed; and the first one:
    //    the copy alone, which no way can be faster than. It is counted when its time is over.
    using Work = std::function<void(Histogram&)>;
    const auto measure = [&](const char* way, const Work& timed, const Work& untimed = {}) {
        if (!options.wants(way)) return 0.0;
        common::Result row = common::verify_and_time(
            way, expected, options.repeat, [&](Histogram& result) -> common::RunTime {
                const double ms = common::wall_ms([&] { timed(result); });
                if (untimed) untimed(result);
                return {ms, std::nullopt};
            });
        row.timed_by_host = true;
        report.add(row);
        return row.kernel.median_ms;
    };
    const auto copy_all = [&](const void* from) {
        CHECK_CL(clEnqueueWriteBuffer(counts, pixels, CL_FALSE, 0, pixel_count, from, 0, nullptr,
                                      nullptr));
    };
    const auto count_all = [&](Histogram& result) {
        launch(for_all, count_all_kernel, 0, pixel_count, row_of_chunk.front(), {});
        CHECK_CL(clEnqueueReadBuffer(counts, row_of_chunk.front(), CL_TRUE, 0, sizeof(Histogram),
                                     result.data(), 0, nullptr, nullptr));
    };
    const double copy_ms = measure(
        "copy",
        [&](Histogram&) {
            copy_all(pinned);
            CHECK_CL(clFinish(counts));
        },
        count_all);
    report.add_column("% of copy", [&](const common::Result& way) -> std::optional<double> {
        if (copy_ms == 0 || way.check != common::Check::kMatch) return {};
        return 100 * copy_ms / way.kernel.median_ms;
    });

    // 8. pageable and pinned: copy all, then count all.
    measure("pageable", [&](Histogram& result) {
        copy_all(input.pixels.data());
        count_all(result);
    });
    measure("pinned", [&](Histogram& result) {
        copy_all(pinned);
        count_all(result);
    });

    // 9. pipelined: each chunk is counted while the next is copied, and the host adds the rows.
    measure("pipelined", [&](Histogram& result) {
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
            const std::size_t first = chunk * kChunkPixels;
            const std::size_t length = std::min<std::size_t>(kChunkPixels, pixel_count - first);
            common::opencl::Event copied;
            CHECK_CL(clEnqueueWriteBuffer(copies, pixels, CL_FALSE, first, length,
                                          static_cast<const std::uint8_t*>(pinned) + first, 0,
                                          nullptr, copied.out()));
            // Without a flush a driver may wait for more commands before it begins.
            CHECK_CL(clFlush(copies));
            launch(for_chunk, count_chunk_kernel, first, length, row_of_chunk[chunk], copied);
            CHECK_CL(clFlush(counts));
        }
        std::vector<std::uint32_t> counted(chunks * kBins);
        CHECK_CL(clEnqueueReadBuffer(counts, rows, CL_TRUE, 0, chunks * sizeof(Histogram),
                                     counted.data(), 0, nullptr, nullptr));
        common::add_rows(counted.data(), chunks, result);
    });
    CHECK_CL(clEnqueueUnmapMemObject(counts, staging, pinned, 0, nullptr, nullptr));
    CHECK_CL(clFinish(counts));

    // 10. The table, and the exit status that tells the truth.
    return report.finish();
} catch (...) {
    return common::report_exception("05-launch-tuning/workshops/end-to-end/opencl");
}
