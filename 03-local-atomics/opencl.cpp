// Chapter 03 in OpenCL: each work-group counts in its own local memory. The kernels are in
// histogram.cl.
//
//   local          a table for each work-group, merged with global atomics
//   local-buckets  each work-group writes a row of its own, and the host adds the rows
//   local-subhist  the same rows, added by a second kernel
//
// Run it:  build/03-local-atomics/opencl --tile 100M
//
// cuda.cu does the same in CUDA, in the same steps.

#include <algorithm>
#include <cstdint>
#include <cstdio>
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
    "03-local-atomics",
    "opencl",
    "OpenCL",
    "the histogram counted in the local memory of each work-group",
    {{"local", "a table for each work-group, merged with global atomics"},
     {"local-buckets", "each work-group writes a row of its own, and the host adds the rows"},
     {"local-subhist", "the same rows, added by a second kernel"}},
    {{"walk",
      {"interleaved", "blocked"},
      "in local a work-item takes every n-th pixel, or a stretch of its own",
      {"local"}}}};

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

    // 4. The launch: two work-groups for each compute unit, 256 work-items in each by default.
    const std::size_t most = common::opencl::max_work_group_size(device.id);
    const std::size_t group_size = options.group_size.value_or(std::min<std::size_t>(256, most));
    common::opencl::require_group_size(device.id, group_size);
    common::opencl::require_memory(device.id, pixel_count);
    const std::size_t groups =
        options.groups.value_or(2 * common::opencl::compute_units(device.id));
    common::Report report(output, kProgram, options, input, expected, device.name,
                          device.driver_line());

    // 5. Where its commands go: a context for the device, and a queue that keeps their order and
    //    notes when each began and ended. Each is released at the end of its scope.
    const common::opencl::Context context = common::opencl::context_for(device.id);
    cl_int error = CL_SUCCESS;
    const common::opencl::CommandQueue queue =
        clCreateCommandQueue(context, device.id, common::opencl::profiling(device.id), &error);
    CHECK_CL(error, "clCreateCommandQueue");

    // 6. The read ceiling: how fast this device's memory gives pixels to a kernel that only reads.
    if (options.read_ceiling) {
        report.set_read_ceiling(common::opencl::read_ceiling_gb_s(context, queue, pixel_count));
    }

    // 7. The kernels. They are compiled now, for this device and for this size of work-group.
    const common::opencl::Program program = common::opencl::build_program(
        context, device.id, "histogram.cl",
        common::opencl::read_kernel_file("histogram.cl", CHAPTER_FOLDER, options.kernels),
        "-DGROUP_SIZE=" + std::to_string(group_size));

    // 8. What the strategies share: the pixels and the histogram on the device. (A buffer of no
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
    const std::size_t global_size = groups * group_size;

    // 9. local, which has a kernel for each walk: the pixels are copied in; then zero the
    //    histogram, count, copy it out. It is poisoned, checked, timed, and checked again.
    const bool blocked = options.choice("walk") == "blocked";
    if (options.wants("local")) {
        const char* const name = blocked ? "histogram_local_blocked" : "histogram_local";
        const common::opencl::Kernel local = clCreateKernel(program, name, &error);
        CHECK_CL(error, name);
        const auto count_local = [&](Histogram& result) {
            const cl_uint zero = 0;
            common::opencl::Event zeroed;
            CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram),
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clSetKernelArg(local, 0, sizeof(cl_mem), &pixels));
            CHECK_CL(clSetKernelArg(local, 1, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(local, 2, sizeof(cl_mem), &histogram));
            common::opencl::Event counted;
            CHECK_CL(clEnqueueNDRangeKernel(queue, local, 1, nullptr, &global_size, &group_size, 0,
                                            nullptr, counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         result.data(), 0, nullptr, nullptr));
            return common::opencl::elapsed_ms(zeroed, counted);
        };
        report.add(common::verify_and_time(
            "local", expected, options.repeat,
            {.poison = poison_result,
             .copy_in = write_pixels,
             .run = count_local,
             .launch = {groups, group_size},
             .unsupported_reason =
                 common::opencl::unsupported_reason(local, device.id, group_size)}));
    }

    // 10. local-buckets: nothing to zero, for each group writes its whole row. The host maps the
    //     rows, which are in the device's memory, and adds them; that belongs to the end-to-end
    //     time, not to the kernel's.
    if (options.wants("local-buckets") && blocked) {
        report.add(common::skipped("local-buckets", "--walk is for local"));
    } else if (options.wants("local-buckets")) {
        const common::opencl::Kernel in_buckets =
            clCreateKernel(program, "histogram_buckets", &error);
        CHECK_CL(error, "clCreateKernel(histogram_buckets)");
        const std::size_t buckets_bytes = groups * sizeof(Histogram);
        const common::opencl::Buffer buckets =
            clCreateBuffer(context, CL_MEM_WRITE_ONLY, buckets_bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(buckets)");
        const auto poison_buckets = [&] { common::opencl::poison(queue, buckets, buckets_bytes); };
        const auto count_in_buckets = [&](Histogram& result) {
            CHECK_CL(clSetKernelArg(in_buckets, 0, sizeof(cl_mem), &pixels));
            CHECK_CL(clSetKernelArg(in_buckets, 1, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(in_buckets, 2, sizeof(cl_mem), &buckets));
            common::opencl::Event counted;
            CHECK_CL(clEnqueueNDRangeKernel(queue, in_buckets, 1, nullptr, &global_size,
                                            &group_size, 0, nullptr, counted.out()));
            void* const mapped = clEnqueueMapBuffer(queue, buckets, CL_TRUE, CL_MAP_READ, 0,
                                                    buckets_bytes, 0, nullptr, nullptr, &error);
            CHECK_CL(error, "clEnqueueMapBuffer");
            common::add_rows(static_cast<const std::uint32_t*>(mapped), groups, result);
            CHECK_CL(clEnqueueUnmapMemObject(queue, buckets, mapped, 0, nullptr, nullptr));
            CHECK_CL(clFinish(queue));
            return common::opencl::elapsed_ms(counted, counted);
        };
        report.add(common::verify_and_time(
            "local-buckets", expected, options.repeat,
            {.poison = poison_buckets,
             .copy_in = write_pixels,
             .run = count_in_buckets,
             .launch = {groups, group_size},
             .unsupported_reason =
                 common::opencl::unsupported_reason(in_buckets, device.id, group_size)}));
    }

    // 11. local-subhist: the same rows, and a second kernel adds them where they are. The host says
    //     how much local memory a group of the first one gets.
    if (options.wants("local-subhist") && blocked) {
        report.add(common::skipped("local-subhist", "--walk is for local"));
    } else if (options.wants("local-subhist")) {
        const common::opencl::Kernel subhist = clCreateKernel(program, "subhist", &error);
        CHECK_CL(error, "clCreateKernel(subhist)");
        const common::opencl::Kernel sum_tables = clCreateKernel(program, "sum_tables", &error);
        CHECK_CL(error, "clCreateKernel(sum_tables)");
        const auto table_count = static_cast<cl_uint>(groups);
        const std::size_t tables_bytes = groups * sizeof(Histogram);
        const common::opencl::Buffer tables =
            clCreateBuffer(context, CL_MEM_READ_WRITE, tables_bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(tables)");
        const auto poison_all = [&] {
            common::opencl::poison(queue, tables, tables_bytes);
            poison_result();
        };
        const auto count_in_tables = [&](Histogram& result) {
            CHECK_CL(clSetKernelArg(subhist, 0, sizeof(cl_mem), &pixels));
            CHECK_CL(clSetKernelArg(subhist, 1, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(subhist, 2, sizeof(Histogram), nullptr));  // local memory
            CHECK_CL(clSetKernelArg(subhist, 3, sizeof(cl_mem), &tables));
            common::opencl::Event counted;
            CHECK_CL(clEnqueueNDRangeKernel(queue, subhist, 1, nullptr, &global_size, &group_size,
                                            0, nullptr, counted.out()));
            CHECK_CL(clSetKernelArg(sum_tables, 0, sizeof(cl_mem), &tables));
            CHECK_CL(clSetKernelArg(sum_tables, 1, sizeof table_count, &table_count));
            CHECK_CL(clSetKernelArg(sum_tables, 2, sizeof(cl_mem), &histogram));
            const std::size_t sum_size = (kBins + group_size - 1) / group_size * group_size;
            common::opencl::Event summed;
            CHECK_CL(clEnqueueNDRangeKernel(queue, sum_tables, 1, nullptr, &sum_size, &group_size,
                                            0, nullptr, summed.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         result.data(), 0, nullptr, nullptr));
            return common::opencl::elapsed_ms(counted, summed);
        };
        report.add(common::verify_and_time(
            "local-subhist", expected, options.repeat,
            {.poison = poison_all,
             .copy_in = write_pixels,
             .run = count_in_tables,
             .launch = {groups, group_size},
             .unsupported_reason =
                 common::opencl::unsupported_reason(subhist, device.id, group_size)}));
    }

    // 12. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
