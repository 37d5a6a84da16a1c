// Chapter 05 in OpenCL: the same counting, fed properly. The kernels are in histogram.cl.
//
//   two-per-sm  chapter 03's kernel, two groups of 256 for each compute unit
//   occupancy   as many work-items as the device holds, moved over the picture down and across
//   vector      16 pixels per load
//   tuned       the best launch for this device, in one command
//
// Run it:  build/05-launch-tuning/opencl --tile 100M
//          build/05-launch-tuning/opencl --tile 100M --variant tuned --copies 8
//
// cuda.cu does the same in CUDA, in the same steps. Beside this: tune/ looks for the best launch,
// peers/ runs NVIDIA's libraries beside these kernels.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "05-launch-tuning/layout.hpp"
#include "05-launch-tuning/resident.hpp"
#include "05-launch-tuning/tuned.hpp"
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

const common::Program kProgram{"05-launch-tuning",
                               "opencl",
                               "OpenCL",
                               "the same counting, launched as this device likes it",
                               {{"two-per-sm", "chapter 03's kernel, two groups for each unit"},
                                {"occupancy", "as many work-items as the device says it holds"},
                                {"vector", "16 pixels per load"},
                                {"tuned", "the best launch for this device, in one command"}}};

// One command line, from what is asked for to the table.
static int run(int argc, const char* const* argv, const common::Output& output) {
    // 1. What is asked for.
    LayoutOptions layout;
    tuning::TunedOptions tuned;
    const common::Options options = tuning::parse_options(
        argc, argv, kProgram, tuned, [&](CLI::App& app) { add_layout_options(app, layout); });
    if (options.list_devices) {
        common::print(common::opencl::list(common::opencl::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, the right answer, and where the rows are to lie in the device's buffer.
    const common::Input input = common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const Rows rows = lay_out(input, layout);
    const cl_ulong first = rows.first;
    const cl_ulong pixel_count = rows.count;

    // 3. The device.
    const common::opencl::Device device = common::opencl::choose_device(options.device);
    common::opencl::require_group_size(device.id, options.group_size.value_or(1));
    common::opencl::require_memory(device.id, rows.bytes());
    const std::size_t most = common::opencl::max_work_group_size(device.id);
    const std::size_t units = common::opencl::compute_units(device.id);
    common::Report report(output, kProgram, options, input, expected, device.name,
                          device.driver_line());

    // 4. Where its commands go: a context for the device, and a queue that keeps their order and
    //    notes when each began and ended. Each is released at the end of its scope.
    const common::opencl::Context context = common::opencl::context_for(device.id);
    cl_int error = CL_SUCCESS;
    const common::opencl::CommandQueue queue =
        clCreateCommandQueue(context, device.id, common::opencl::profiling(device.id), &error);
    CHECK_CL(error, "clCreateCommandQueue");

    // 5. The read ceiling: how fast this device's memory gives pixels to a kernel that only reads.
    if (options.read_ceiling)
        report.set_read_ceiling(common::opencl::read_ceiling_gb_s(context, queue, pixel_count));

    // 6. What the strategies share: the pixels and the histogram on the device; and how a kernel
    //    that adds to the histogram is compiled and run: zero it, count, copy it out.
    const common::opencl::Buffer pixels =
        clCreateBuffer(context, CL_MEM_READ_ONLY, rows.bytes(), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(pixels)");
    const common::opencl::Buffer histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    const common::PixelBuffer spread =
        rows.bytes() == input.pixels.size() ? common::PixelBuffer() : with_gaps(input, rows);
    const std::uint8_t* const bytes = spread.empty() ? input.pixels.data() : spread.data();
    const auto write_pixels = [&] {
        CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, rows.bytes(), bytes, 0, nullptr,
                                      nullptr));
    };
    const auto poison_result = [&] { common::opencl::poison(queue, histogram, sizeof(Histogram)); };
    const std::string source =
        common::opencl::read_kernel_file("histogram.cl", CHAPTER_FOLDER, options.kernels);
    const auto build = [&](const char* name, const std::string& macros) {
        const common::opencl::Program program =
            common::opencl::build_program(context, device.id, "histogram.cl", source, macros);
        common::opencl::Kernel kernel = clCreateKernel(program, name, &error);
        CHECK_CL(error, name);
        return kernel;  // the program stays as long as it does
    };
    const auto count_in_two = [&](cl_kernel kernel, const Grid& grid, Histogram& result) {
        const cl_uint zero = 0;
        common::opencl::Event zeroed;
        CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram), 0,
                                     nullptr, zeroed.out()));
        const std::size_t local_size[] = {grid.items_x, grid.items_y};
        const std::size_t global_size[] = {grid.groups_x * local_size[0],
                                           grid.groups_y * local_size[1]};
        common::opencl::Event counted;
        CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global_size, local_size, 0,
                                        nullptr, counted.out()));
        CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram), result.data(),
                                     0, nullptr, nullptr));
        return common::opencl::elapsed_ms(zeroed, counted);
    };

    // 7. two-per-sm: chapter 03's kernel, two groups of 256 for each compute unit.
    if (options.wants("two-per-sm") && (rows.first > 0 || rows.have_gaps())) {
        report.add(common::skipped("two-per-sm", "it takes neither --offset nor --pitch"));
    } else if (options.wants("two-per-sm")) {
        const std::size_t group_size =
            options.group_size.value_or(std::min<std::size_t>(256, most));
        const Grid grid = side_by_side(group_size, options.groups.value_or(2 * units));
        const common::opencl::Kernel kernel = build("histogram_local", grid.macros());
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &histogram));
        report.add(common::verify_and_time(
            "two-per-sm", expected, options.repeat,
            {.poison = poison_result,
             .copy_in = write_pixels,
             .run = [&](Histogram& result) { return count_in_two(kernel, grid, result); },
             .launch = grid.launch(),
             .unsupported_reason =
                 common::opencl::unsupported_reason(kernel, device.id, group_size)}));
    }

    // 8. occupancy and vector: groups of 512, as many as fill the device. They lie below each
    //    other, and walk the rows where those are; or side by side, and take 16 pixels at once.
    const std::size_t full_size = options.group_size.value_or(std::min<std::size_t>(512, most));
    const Resident resident = resident_items(device);
    const std::size_t full_groups =
        options.groups.value_or(std::max<std::size_t>(units * resident.items / full_size, 1));
    const Grid stamp = below_each_other(full_size, full_groups);
    const Grid strip = lay_over(rows.as_one(), full_size, full_groups, 16);
    const auto run_on_rows = [&](const char* variant, const char* name, const Grid& grid,
                                 const Rows& part) {
        if (!options.wants(variant)) return;
        const cl_ulong width = part.width;
        const cl_ulong pitch = part.pitch;
        const common::opencl::Kernel kernel = build(name, grid.macros());
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof first, &first));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof width, &width));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof pitch, &pitch));
        CHECK_CL(clSetKernelArg(kernel, 5, sizeof(cl_mem), &histogram));
        report.add(common::verify_and_time(
            variant, expected, options.repeat,
            {.poison = poison_result,
             .copy_in = write_pixels,
             .run = [&](Histogram& result) { return count_in_two(kernel, grid, result); },
             .launch = grid.launch(),
             .unsupported_reason = common::opencl::unsupported_reason(
                 kernel, device.id, grid.items_x, grid.items_y)}));
    };
    if (options.wants("occupancy")) {
        std::fprintf(stderr, "  occupancy: %zu units x %zu work-items (%s) / groups of %zu = %zu\n",
                     units, resident.items, resident.why.c_str(), full_size, full_groups);
        report.say_how_many_idle(full_size);
    }
    run_on_rows("occupancy", "histogram_occupancy", stamp, rows);
    run_on_rows("vector", "histogram_vector", strip, rows.as_one());

    // 9. tuned: the launch that was found for this device. One command, which zeroes, counts and
    //    finishes. It keeps totals of 64 bits, zeroed once: each launch leaves zeros behind. (Two
    //    commands, where there are no 64-bit atomics or the command line asks for them.)
    if (options.wants("tuned") && rows.have_gaps()) {
        report.add(common::skipped("tuned", "it takes pixels without gaps between the rows"));
    } else if (options.wants("tuned")) {
        cl_ulong local_bytes = 0;
        CHECK_CL(clGetDeviceInfo(device.id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes,
                                 &local_bytes, nullptr));
        const tuning::DeviceLimits limits{.api = "OpenCL",
                                          .device = device.name,
                                          .driver = device.driver_line(),
                                          .cpu = (device.type & CL_DEVICE_TYPE_CPU) != 0,
                                          .units = units,
                                          .max_group_size = most,
                                          .local_bytes = local_bytes,
                                          .kernels = {&tuning::kReplicated, &tuning::kItemBins}};
        const tuning::LaunchConfig config = tuning::resolve(tuned, options, limits, pixel_count);
        const std::size_t groups = options.groups.value_or(config.groups(units, pixel_count));
        const common::opencl::Kernel kernel =
            build(config.kernel->function.c_str(), config.macros());

        const bool in_one = common::opencl::has_extension(device.id, "cl_khr_int64_base_atomics") &&
                            !tuned.two_launches;
        std::array<cl_ulong, tuning::kTotalWords> zeros{};
        common::opencl::Buffer totals;
        if (in_one) {
            totals = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros,
                                    zeros.data(), &error);
            CHECK_CL(error, "clCreateBuffer(totals)");
        }
        // They are not filled with a pattern before a run, as other buffers are. In place of that
        // the program checks that the run before has left zeros.
        const auto poison_and_check = [&] {
            poison_result();
            if (!in_one) return;
            std::array<cl_ulong, tuning::kTotalWords> words{};
            CHECK_CL(clEnqueueReadBuffer(queue, totals, CL_TRUE, 0, sizeof words, words.data(), 0,
                                         nullptr, nullptr));
            if (words != zeros)
                throw std::runtime_error("the last launch did not leave its totals at zero");
        };

        const auto count_tuned = [&](Histogram& result) {
            common::opencl::Event zeroed;
            if (!in_one) {
                const cl_uint zero = 0;
                CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0,
                                             sizeof(Histogram), 0, nullptr, zeroed.out()));
            }
            CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
            CHECK_CL(clSetKernelArg(kernel, 1, sizeof first, &first));
            CHECK_CL(clSetKernelArg(kernel, 2, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), in_one ? &totals : nullptr));
            CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &histogram));
            const std::size_t global_size = groups * config.group_size;
            common::opencl::Event counted;
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size,
                                            &config.group_size, 0, nullptr, counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         result.data(), 0, nullptr, nullptr));
            return common::opencl::elapsed_ms(in_one ? counted : zeroed, counted);
        };
        common::Result timed =
            common::verify_and_time("tuned", expected, options.repeat,
                                    {.poison = poison_and_check,
                                     .copy_in = write_pixels,
                                     .run = count_tuned,
                                     .launch = {groups, config.group_size},
                                     .unsupported_reason = common::opencl::unsupported_reason(
                                         kernel, device.id, config.group_size)});
        timed.launch_text = config.launch_text(groups);
        report.add(std::move(timed));
    }

    // 10. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
