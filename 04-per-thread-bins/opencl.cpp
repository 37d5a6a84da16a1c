// Chapter 04 in OpenCL: counters of one's own. The kernels are in histogram.cl.
//
//   private            256 counters in each work-item's private memory: see them spill
//   uchar-bins         256 counters of 8 bits for each work-item, in local memory
//   uchar-bins-banked  the same, laid out so that neighbouring work-items never share a bank
//   uchar-overflow     256 pixels for an 8-bit counter, broken on purpose
//   lane-bins          a table for each lane, wholly in that lane's bank
//
// Run it:  build/04-per-thread-bins/opencl --tile 100M
//          build/04-per-thread-bins/opencl --constant 127 --random 10M --variant uchar-overflow
//
// cuda.cu does the same in CUDA, in the same steps.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/opencl/handles.hpp"
#include "common/opencl/opencl.hpp"
#include "common/opencl/read_ceiling.hpp"
#include "common/options/options.hpp"
#include "common/report/report.hpp"
#include "common/run/run.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"
#include "common/timing/timing.hpp"
#include "common/verify/verify.hpp"

using common::Histogram;
using common::kBins;

const common::Program kProgram{
    "04-per-thread-bins",
    "opencl",
    "OpenCL",
    "the histogram counted in tables for each work-item or lane",
    {{"private", "256 counters in each work-item's private memory"},
     {"uchar-bins", "256 counters of 8 bits for each work-item, in local memory"},
     {"uchar-bins-banked", "the same, neighbouring work-items never share a bank"},
     {"lane-bins", "a table for each lane, wholly in that lane's bank"},
     {"uchar-overflow", "256 pixels for an 8-bit counter: 256 equal ones count as none", true}},
    {{"copies",
      {"1", "2", "4", "8", "16", "32"},
      "in lane-bins: copies of the table",
      {"lane-bins"}},
     {"loads",
      {"0", "1", "4"},
      "in lane-bins: loads of 16 pixels under way, or 0 for one pixel to a load",
      {"lane-bins"}}}};

// One command line, from what is asked for to the table.
static int run(int argc, const char* const* argv, const common::Output& output) {
    // 1. What is asked for.
    const common::Options options = common::parse_options(argc, argv, kProgram);
    if (options.list_devices) {
        common::print(common::opencl::list(common::opencl::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, and the right answer.
    const common::Input input = common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const cl_ulong pixel_count = input.pixels.size();

    // 3. The device.
    const common::opencl::Device device = common::opencl::choose_device(options.device);

    // 4. What fits: how much local memory a work-group has decides how many copies lane-bins keeps,
    //    and how many work-items have room for 256 bytes each. A compiler may keep some for itself:
    //    lane-bins does not take all of it unasked.
    cl_ulong local_bytes = 0;
    CHECK_CL(clGetDeviceInfo(device.id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes,
                             nullptr));
    const std::optional<unsigned> asked = options.number("copies");
    unsigned copies = asked.value_or(32);
    while (copies > 1 && copies * sizeof(Histogram) + (asked ? 0 : 1) > local_bytes)
        copies /= 2;
    if (copies < asked.value_or(1)) {
        throw common::BadInput("--copies " + std::to_string(*asked) + ": no more than " +
                               std::to_string(copies) + " fit the device's local memory");
    }
    const cl_uint loads = options.number("loads").value_or(4);
    const std::size_t room = local_bytes / kBins;

    // 5. The launch: two work-groups for each compute unit, 256 work-items in each by default; 128,
    //    or as many as have room, for the 8-bit counters; for lane-bins one group for each compute
    //    unit, as large as can be: its loads keep the memory busy, and fewer tables are merged.
    const std::size_t units = common::opencl::compute_units(device.id);
    const std::size_t groups = options.groups.value_or(2 * units);
    const std::size_t lane_groups = options.groups.value_or(units);
    const std::size_t most = common::opencl::max_work_group_size(device.id);
    const std::size_t group_size = options.group_size.value_or(std::min<std::size_t>(256, most));
    const std::size_t uchar_size =
        options.group_size.value_or(std::min({std::size_t{128}, room, most}));
    const std::size_t lane_size = options.group_size.value_or(std::min<std::size_t>(1024, most));
    for (const std::size_t size : {group_size, uchar_size, lane_size}) {
        common::opencl::require_group_size(device.id, size);
    }
    common::opencl::require_memory(device.id, pixel_count);
    common::Report report(output, kProgram, options, input, expected, device.name,
                          device.driver_line());

    // 6. Where its commands go: a context for the device, and a queue that keeps their order and
    //    notes when each began and ended. Each is released at the end of its scope.
    const common::opencl::Context context = common::opencl::context_for(device.id);
    cl_int error = CL_SUCCESS;
    const common::opencl::CommandQueue queue =
        clCreateCommandQueue(context, device.id, common::opencl::profiling(device.id), &error);
    CHECK_CL(error, "clCreateCommandQueue");

    // 7. The read ceiling: how fast this device's memory gives pixels to a kernel that only reads.
    if (options.read_ceiling) {
        report.set_read_ceiling(common::opencl::read_ceiling_gb_s(context, queue, pixel_count));
    }

    // 8. The kernels. They are compiled now, for this device and for these sizes of work-group.
    const std::string source =
        common::opencl::read_kernel_file("histogram.cl", CHAPTER_FOLDER, options.kernels);
    const common::opencl::Program program = common::opencl::build_program(
        context, device.id, "histogram.cl", source,
        "-DCOPIES=" + std::to_string(copies) + " -DGROUP_SIZE=" + std::to_string(group_size) +
            " -DUCHAR_GROUP_SIZE=" + std::to_string(uchar_size) +
            " -DLANE_GROUP_SIZE=" + std::to_string(lane_size));

    // 9. What the strategies share: the pixels and the histogram on the device. (A buffer of no
    //    bytes is an error, a picture of no pixels is not.)
    const common::opencl::Buffer pixels = clCreateBuffer(
        context, CL_MEM_READ_ONLY, std::max<std::size_t>(pixel_count, 1), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(pixels)");
    const common::opencl::Buffer histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    const auto write_pixels = [&] {
        if (pixel_count == 0) return;
        CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, pixel_count, input.pixels.data(),
                                      0, nullptr, nullptr));
    };
    const auto poison_result = [&] { common::opencl::poison(queue, histogram, sizeof(Histogram)); };

    // 10. private: the pixels are copied in; then zero the histogram, count, copy it out. It is
    //     poisoned, checked, timed, and checked again. lane-bins will go the same way.
    const auto run_with_atomics = [&](const char* variant, cl_kernel kernel,
                                      std::size_t launched_groups, std::size_t size) {
        const auto count_pixels = [&](Histogram& result) {
            const cl_uint zero = 0;
            common::opencl::Event zeroed;
            CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram),
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
            CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &histogram));
            const std::size_t global_size = launched_groups * size;
            common::opencl::Event counted;
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &size, 0,
                                            nullptr, counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         result.data(), 0, nullptr, nullptr));
            return common::opencl::elapsed_ms(zeroed, counted);
        };
        report.add(common::verify_and_time(
            variant, expected, options.repeat,
            {.poison = poison_result,
             .copy_in = write_pixels,
             .run = count_pixels,
             .launch = {launched_groups, size},
             .unsupported_reason = common::opencl::unsupported_reason(kernel, device.id, size)}));
    };
    if (options.wants("private")) {
        const common::opencl::Kernel in_private =
            clCreateKernel(program, "histogram_private", &error);
        CHECK_CL(error, "clCreateKernel(histogram_private)");
        run_with_atomics("private", in_private, groups, group_size);
        cl_ulong private_bytes = 0;
        CHECK_CL(clGetKernelWorkGroupInfo(in_private, device.id, CL_KERNEL_PRIVATE_MEM_SIZE,
                                          sizeof private_bytes, &private_bytes, nullptr));
        std::fprintf(stderr, "    the compiler gave it %llu bytes of memory per work-item\n",
                     static_cast<unsigned long long>(private_bytes));
    }

    // 11. uchar-bins, uchar-bins-banked and uchar-overflow: local memory for 256 bytes a work-item,
    //     a row for each work-group in the device's memory; the host maps the rows and adds them,
    //     which belongs to the end-to-end time, not to the kernel's.
    const auto run_in_bytes = [&](const char* variant, const std::string& name,
                                  cl_uint pixels_per_item) {
        if (!options.wants(variant)) return;
        if (uchar_size > room) {
            report.add(common::skipped(variant, std::to_string(uchar_size) +
                                                    " work-items need 256 bytes of local memory "
                                                    "each, and the device has " +
                                                    std::to_string(local_bytes)));
            return;
        }
        const common::opencl::Kernel kernel = clCreateKernel(program, name.c_str(), &error);
        CHECK_CL(error, ("clCreateKernel(" + name + ")").c_str());
        CHECK_CL(clSetKernelArg(kernel, 3, uchar_size * kBins, nullptr));  // local memory
        const std::size_t rows_bytes = groups * sizeof(Histogram);
        const common::opencl::Buffer rows =
            clCreateBuffer(context, CL_MEM_READ_WRITE, rows_bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(rows)");
        const auto poison_rows = [&] { common::opencl::poison(queue, rows, rows_bytes); };
        const auto count_in_bytes = [&](Histogram& result) {
            CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
            CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(kernel, 2, sizeof pixels_per_item, &pixels_per_item));
            CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &rows));
            const std::size_t global_size = groups * uchar_size;
            common::opencl::Event counted;
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &uchar_size, 0,
                                            nullptr, counted.out()));
            void* const mapped = clEnqueueMapBuffer(queue, rows, CL_TRUE, CL_MAP_READ, 0,
                                                    rows_bytes, 0, nullptr, nullptr, &error);
            CHECK_CL(error, "clEnqueueMapBuffer");
            common::add_rows(static_cast<const std::uint32_t*>(mapped), groups, result);
            CHECK_CL(clEnqueueUnmapMemObject(queue, rows, mapped, 0, nullptr, nullptr));
            CHECK_CL(clFinish(queue));
            return common::opencl::elapsed_ms(counted, counted);
        };
        report.add(common::verify_and_time(
            variant, expected, options.repeat,
            {.poison = poison_rows,
             .copy_in = write_pixels,
             .run = count_in_bytes,
             .launch = {groups, uchar_size},
             .unsupported_reason =
                 common::opencl::unsupported_reason(kernel, device.id, uchar_size)}));
    };
    run_in_bytes("uchar-bins", "histogram_uchar", 255);
    run_in_bytes("uchar-bins-banked", "histogram_uchar_banked", 255);
    run_in_bytes("uchar-overflow", "histogram_uchar", 256);

    // 12. lane-bins: as private, in a launch of its own.
    if (options.wants("lane-bins")) {
        const common::opencl::Kernel lanes = clCreateKernel(program, "histogram_lanes", &error);
        CHECK_CL(error, "clCreateKernel(histogram_lanes)");
        CHECK_CL(clSetKernelArg(lanes, 3, sizeof loads, &loads));
        run_with_atomics("lane-bins", lanes, lane_groups, lane_size);
        if (copies < asked.value_or(32))
            std::fprintf(stderr, "    copies that the device's local memory has room for: %u\n",
                         copies);
    }

    // 13. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
