// Chapter 02 in OpenCL: every work-item counts in global memory. The kernels are in histogram.cl.
//
//   racy     plain ++, broken on purpose: it loses counts
//   global   one table, one atomic addition for each pixel
//   subhist  one table for each work-group in global memory, then a second kernel that sums them
//
// Run it:  build/02-global-atomics/opencl --tile 4M
//          build/02-global-atomics/opencl --tile 4M --variant racy
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
    "02-global-atomics",
    "opencl",
    "OpenCL",
    "the histogram counted in global memory",
    {{"global", "one table, one atomic addition for each pixel"},
     {"subhist", "one table for each work-group in global memory, then a sum"},
     {"racy", "plain ++ instead of an atomic addition: counts are lost", true}},
    {{"walk",
      {"interleaved", "blocked"},
      "in global and racy a work-item takes every n-th pixel, or a stretch of its own",
      {"global", "racy"}}}};

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

    // 8. What the strategies share: the histogram. It is read and written: an atomic does both.
    const common::opencl::Buffer histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    const auto poison_result = [&] { common::opencl::poison(queue, histogram, sizeof(Histogram)); };

    // 9. global, and racy, which differs in nothing but its kernel; each has one for each walk. The
    //    pixels are copied in; then zero the histogram, count, copy it out. Each is poisoned,
    //    checked, timed, and checked again.
    const bool blocked = options.choice("walk") == "blocked";
    for (const std::string variant : {"global", "racy"}) {
        if (!options.wants(variant)) continue;
        const std::string name = "histogram_" + variant + (blocked ? "_blocked" : "");
        const common::opencl::Kernel kernel = clCreateKernel(program, name.c_str(), &error);
        CHECK_CL(error, ("clCreateKernel(" + name + ")").c_str());
        const std::string unsupported_reason =
            common::opencl::unsupported_reason(kernel, device.id, group_size);
        // A buffer of no bytes is an error, a picture of no pixels is not.
        const common::opencl::Buffer pixels = clCreateBuffer(
            context, CL_MEM_READ_ONLY, std::max<std::size_t>(pixel_count, 1), nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(pixels)");
        const auto write_pixels = [&] {
            if (pixel_count == 0) return;
            CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, pixel_count,
                                          input.pixels.data(), 0, nullptr, nullptr));
        };
        Histogram last{};
        const auto count_pixels = [&](Histogram& result) {
            const cl_uint zero = 0;
            common::opencl::Event zeroed;
            CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram),
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
            CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &histogram));
            const std::size_t global_size = groups * group_size;
            common::opencl::Event counted;
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &group_size, 0,
                                            nullptr, counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         result.data(), 0, nullptr, nullptr));
            last = result;
            return common::opencl::elapsed_ms(zeroed, counted);
        };
        report.add(common::verify_and_time(variant, expected, options.repeat,
                                           {.poison = poison_result,
                                            .copy_in = write_pixels,
                                            .run = count_pixels,
                                            .launch = {groups, group_size},
                                            .unsupported_reason = unsupported_reason}));
        if (variant == "racy" && unsupported_reason.empty())
            report.say_what_was_lost(variant, last);
    }

    // 10. subhist: the same with pitched rows, a table for each group, and a second kernel. In
    //     `image` each row begins at a multiple of 512 bytes, where a device reads best; a narrow
    //     picture may so become too large.
    const cl_ulong width = input.width;
    // The last row may be short, and a picture of no pixels gets memory for one row.
    const cl_ulong rows = std::max<cl_ulong>((pixel_count + width - 1) / width, 1);
    const cl_ulong image_pitch_bytes = (width + 511) / 512 * 512;
    const std::string too_large = common::opencl::no_room(device.id, rows * image_pitch_bytes);
    if (options.wants("subhist") && blocked) {
        report.add(common::skipped("subhist", "its work-items walk down columns, without --walk"));
    } else if (options.wants("subhist") && !too_large.empty()) {
        report.add(common::skipped("subhist", too_large));
    } else if (options.wants("subhist")) {
        // Across, as many groups as the columns need; the others share the rows.
        const std::size_t groups_x =
            std::clamp<std::size_t>((width + group_size - 1) / group_size, 1, groups);
        const std::size_t groups_y = groups / groups_x;
        const auto tables = static_cast<cl_uint>(groups_x * groups_y);
        const common::opencl::Kernel subhist = clCreateKernel(program, "subhist", &error);
        CHECK_CL(error, "clCreateKernel(subhist)");
        const common::opencl::Kernel sum_tables = clCreateKernel(program, "sum_tables", &error);
        CHECK_CL(error, "clCreateKernel(sum_tables)");
        const cl_ulong table_pitch_bins = kBins;
        const std::size_t tables_bytes = tables * table_pitch_bins * sizeof(cl_uint);
        const common::opencl::Buffer image =
            clCreateBuffer(context, CL_MEM_READ_ONLY, rows * image_pitch_bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(image)");
        // So that gaps behind the rows show where they are counted.
        common::opencl::poison(queue, image, rows * image_pitch_bytes);
        const common::opencl::Buffer sub_histograms =
            clCreateBuffer(context, CL_MEM_READ_WRITE, tables_bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(sub_histograms)");
        const auto poison_all = [&] {
            common::opencl::poison(queue, sub_histograms, tables_bytes);
            poison_result();
        };
        const auto write_rows = [&] {
            const std::size_t origin[3] = {0, 0, 0};
            const std::size_t whole_rows[3] = {width, pixel_count / width, 1};
            if (pixel_count >= width) {
                CHECK_CL(clEnqueueWriteBufferRect(queue, image, CL_FALSE, origin, origin,
                                                  whole_rows, image_pitch_bytes, 0, width, 0,
                                                  input.pixels.data(), 0, nullptr, nullptr));
            }
            if (const std::size_t rest = pixel_count % width; rest > 0) {
                CHECK_CL(clEnqueueWriteBuffer(
                    queue, image, CL_FALSE, whole_rows[1] * image_pitch_bytes, rest,
                    &input.pixels[pixel_count - rest], 0, nullptr, nullptr));
            }
        };
        const auto count_in_sub_histograms = [&](Histogram& result) {
            const cl_uint zero = 0;
            common::opencl::Event zeroed;
            CHECK_CL(clEnqueueFillBuffer(queue, sub_histograms, &zero, sizeof zero, 0, tables_bytes,
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clSetKernelArg(subhist, 0, sizeof(cl_mem), &image));
            CHECK_CL(clSetKernelArg(subhist, 1, sizeof image_pitch_bytes, &image_pitch_bytes));
            CHECK_CL(clSetKernelArg(subhist, 2, sizeof width, &width));
            CHECK_CL(clSetKernelArg(subhist, 3, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(subhist, 4, sizeof(cl_mem), &sub_histograms));
            CHECK_CL(clSetKernelArg(subhist, 5, sizeof table_pitch_bins, &table_pitch_bins));
            const std::size_t global_size[2] = {groups_x * group_size, groups_y};
            const std::size_t local_size[2] = {group_size, 1};
            CHECK_CL(clEnqueueNDRangeKernel(queue, subhist, 2, nullptr, global_size, local_size, 0,
                                            nullptr, nullptr));
            CHECK_CL(clSetKernelArg(sum_tables, 0, sizeof(cl_mem), &sub_histograms));
            CHECK_CL(clSetKernelArg(sum_tables, 1, sizeof table_pitch_bins, &table_pitch_bins));
            CHECK_CL(clSetKernelArg(sum_tables, 2, sizeof tables, &tables));
            CHECK_CL(clSetKernelArg(sum_tables, 3, sizeof(cl_mem), &histogram));
            const std::size_t sum_size = (kBins + group_size - 1) / group_size * group_size;
            common::opencl::Event summed;
            CHECK_CL(clEnqueueNDRangeKernel(queue, sum_tables, 1, nullptr, &sum_size, &group_size,
                                            0, nullptr, summed.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         result.data(), 0, nullptr, nullptr));
            return common::opencl::elapsed_ms(zeroed, summed);
        };
        report.add(common::verify_and_time(
            "subhist", expected, options.repeat,
            {.poison = poison_all,
             .copy_in = write_rows,
             .run = count_in_sub_histograms,
             .launch = {tables, group_size, groups_x},
             .unsupported_reason =
                 common::opencl::unsupported_reason(subhist, device.id, group_size)}));
        report.say_how_many_idle(group_size);
    }

    // 11. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
