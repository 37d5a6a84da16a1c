// Chapter 05 in OpenCL: the same counting, fed properly. The kernels are in histogram.cl.
//
//   two-per-sm  chapter 03's kernel, two groups of 256 for each compute unit
//   occupancy   as many work-items as the device holds, moved over the picture down and across
//   vector      16 pixels to a load
//   tuned       the best launch for this device, in one command
//
// Run it:  build/05-launch-tuning/opencl --tile 100M
//          build/05-launch-tuning/opencl --tile 100M --variant tuned --copies 8
//
// cuda.cu does the same in CUDA, in the same steps. Beside this: tune/ looks for the best launch,
// peers/ runs NVIDIA's libraries beside these kernels.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/layout.hpp"
#include "05-launch-tuning/tune/choice.hpp"
#include "05-launch-tuning/tune/on_opencl.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/opencl/opencl.hpp"
#include "common/opencl/read_ceiling.hpp"
#include "common/options/options.hpp"
#include "common/report/report.hpp"
#include "common/run/run.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"
#include "common/timing/timing.hpp"
#include "common/tutor/diagnosis/explain.hpp"
#include "common/verify/verify.hpp"

using common::Histogram;

const common::Program kProgram{"05-launch-tuning",
                               "opencl",
                               "OpenCL",
                               "the same counting, launched as this device likes it",
                               {{"two-per-sm", "chapter 03's kernel, two groups for each unit"},
                                {"occupancy", "as many work-items as the device holds"},
                                {"vector", "16 pixels to a load"},
                                {"tuned", "the best launch for this device, in one command"}}};

// How many work-items a compute unit holds at once. OpenCL has no question for it. An extension of
// NVIDIA's tells the compute capability, and the table of those is in the CUDA C++ Programming
// Guide ("maximum number of resident threads per SM"). Elsewhere what one group may have is taken.
std::size_t resident_items(cl_device_id device) {
    constexpr cl_device_info kCapabilityMajor = 0x4000;  // of cl_nv_device_attribute_query
    constexpr cl_device_info kCapabilityMinor = 0x4001;
    if (!common::opencl::has_extension(device, "cl_nv_device_attribute_query"))
        return common::opencl::max_work_group_size(device);
    cl_uint major = 0;
    cl_uint minor = 0;
    CHECK_CL(clGetDeviceInfo(device, kCapabilityMajor, sizeof major, &major, nullptr));
    CHECK_CL(clGetDeviceInfo(device, kCapabilityMinor, sizeof minor, &minor, nullptr));
    const cl_uint capability = 10 * major + minor;
    const bool fewer = capability == 86 || capability == 87 || capability == 89 || major >= 12;
    return capability == 75 ? 1024 : fewer ? 1536 : 2048;
}

// One command line, from what is asked for to the table.
static int run(int argc, const char* const* argv, const common::Output& output) {
    // 1. What is asked for.
    const Arguments arguments = parse_arguments(argc, argv, kProgram, add_places);
    const common::Options& options = arguments.common;
    if (options.list_devices) {
        common::print(common::opencl::list(common::opencl::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The pixels, the right answer, and where the rows are to lie in the device's buffer.
    const common::Input input = common::load_input(options);
    const Histogram expected = common::reference_histogram(input.pixels);
    const Rows rows = place_rows(arguments, input);

    // 3. The device.
    const common::opencl::Device device = common::opencl::choose_device(options.device);
    common::opencl::require_group_size(device.id, options.group_size.value_or(1));
    common::opencl::require_memory(device.id, rows.bytes());
    const std::size_t most = common::opencl::max_work_group_size(device.id);
    const std::size_t units = common::opencl::compute_units(device.id);
    common::Report report(output, kProgram, options, input, expected, device.name,
                          device.driver_line());

    // 4. Where its commands go: a context for the device, and a queue that keeps their order and
    //    notes when each began and ended.
    cl_int error = CL_SUCCESS;
    const cl_context context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const cl_command_queue queue =
        clCreateCommandQueue(context, device.id, common::opencl::profiling(device.id), &error);
    CHECK_CL(error, "clCreateCommandQueue");

    // 5. The read ceiling: how fast this device's memory gives pixels to a kernel that only reads.
    if (options.read_ceiling) {
        report.set_read_ceiling(common::opencl::read_ceiling_gb_s(context, queue, rows.count));
    }

    // 6. What the strategies share: the pixels, the histogram, and how a kernel that adds to it is
    //    compiled and run: zero the histogram, count, copy it out.
    const cl_mem pixels = clCreateBuffer(context, CL_MEM_READ_ONLY, rows.bytes(), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(pixels)");
    const cl_mem histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    const common::PixelBuffer placed =
        rows.bytes() == input.pixels.size() ? common::PixelBuffer() : with_gaps(input, rows);
    const std::uint8_t* const bytes = placed.empty() ? input.pixels.data() : placed.data();
    const auto write_pixels = [&] {
        CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, rows.bytes(), bytes, 0, nullptr,
                                      nullptr));
    };
    const auto poison = [&] { common::opencl::poison(queue, histogram, sizeof(Histogram)); };
    const std::string source =
        common::opencl::read_kernel_file("histogram.cl", CHAPTER_FOLDER, options.kernels);
    const auto build = [&](const char* name, const Shape& shape) {
        const cl_program program =
            common::opencl::build_program(context, device.id, "histogram.cl", source,
                                          "-DGROUP_X=" + std::to_string(shape.items_x) +
                                              " -DGROUP_Y=" + std::to_string(shape.items_y));
        const cl_kernel kernel = clCreateKernel(program, name, &error);
        CHECK_CL(error, "clCreateKernel");
        CHECK_CL(clReleaseProgram(program));  // it stays as long as its kernel does
        return kernel;
    };
    const auto copy_out = [&](cl_event first, cl_event last, Histogram& result) {
        CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram), result.data(),
                                     0, nullptr, nullptr));
        return common::opencl::elapsed_ms(first, last);
    };
    const auto count_in_two = [&](cl_kernel kernel, const Shape& shape, Histogram& result) {
        const cl_uint zero = 0;
        cl_event zeroed = nullptr;
        CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram), 0,
                                     nullptr, &zeroed));
        const std::size_t local_size[] = {shape.items_x, shape.items_y};
        const std::size_t global_size[] = {shape.groups_x * local_size[0],
                                           shape.groups_y * local_size[1]};
        cl_event counted = nullptr;
        CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global_size, local_size, 0,
                                        nullptr, &counted));
        const double kernel_ms = copy_out(zeroed, counted, result);
        CHECK_CL(clReleaseEvent(counted));
        CHECK_CL(clReleaseEvent(zeroed));
        return kernel_ms;
    };
    const cl_ulong first = rows.first;
    const cl_ulong count = rows.count;

    // 7. two-per-sm: chapter 03's kernel, two groups of 256 for each compute unit.
    if (options.wants("two-per-sm")) {
        if (rows.first > 0 || rows.have_gaps()) {
            report.add(common::skipped("two-per-sm", "it takes neither --offset nor --pitch"));
        } else {
            const std::size_t group_size =
                options.group_size.value_or(std::min<std::size_t>(256, most));
            const Shape shape = side_by_side(group_size, options.groups.value_or(2 * units));
            const cl_kernel kernel = build("histogram_local", shape);
            CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
            CHECK_CL(clSetKernelArg(kernel, 1, sizeof count, &count));
            CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &histogram));
            report.add(common::verify_and_time(
                "two-per-sm", expected, options.repeat,
                {poison, write_pixels,
                 [&](Histogram& result) { return count_in_two(kernel, shape, result); },
                 shape.launch(),
                 common::opencl::unsupported_reason(kernel, device.id, group_size)}));
            CHECK_CL(clReleaseKernel(kernel));
        }
    }

    // 8. occupancy and vector: groups of 512, as many as fill the device. They lie below each
    //    other, and walk the rows where those are; or side by side, and take 16 pixels at once.
    const std::size_t full_size = options.group_size.value_or(std::min<std::size_t>(512, most));
    const std::size_t resident = resident_items(device.id);
    const std::size_t full_groups =
        options.groups.value_or(std::max<std::size_t>(units * resident / full_size, 1));
    const Shape stamp = below_each_other(full_size, full_groups);
    const Shape strip = lay_over(rows.as_one(), full_size, full_groups, 16);
    const auto run_on_rows = [&](const char* variant, const char* name, const Shape& shape,
                                 const Rows& part) {
        if (!options.wants(variant)) return;
        const cl_ulong width = part.width;
        const cl_ulong pitch = part.pitch;
        const cl_kernel kernel = build(name, shape);
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof first, &first));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof count, &count));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof width, &width));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof pitch, &pitch));
        CHECK_CL(clSetKernelArg(kernel, 5, sizeof(cl_mem), &histogram));
        report.add(common::verify_and_time(
            variant, expected, options.repeat,
            {poison, write_pixels,
             [&](Histogram& result) { return count_in_two(kernel, shape, result); }, shape.launch(),
             common::opencl::unsupported_reason(kernel, device.id, shape.items_x, shape.items_y)}));
        CHECK_CL(clReleaseKernel(kernel));
    };
    if (options.wants("occupancy")) {
        std::fprintf(stderr, "  occupancy: %zu units x %zu work-items / groups of %zu = %zu\n",
                     units, resident, full_size, full_groups);
    }
    run_on_rows("occupancy", "histogram_occupancy", stamp, rows);
    run_on_rows("vector", "histogram_vector", strip, rows.as_one());

    // 9. tuned: the launch that was found for this device. One command, which zeroes, counts and
    //    finishes (two, where there are no 64-bit atomics or the command line asks for them).
    if (options.wants("tuned")) {
        if (rows.have_gaps()) {
            report.add(common::skipped("tuned", "it takes pixels without gaps between the rows"));
        } else {
            const tuning::Facts facts =
                tuning::facts_of(device, {&tuning::kLaneBins, &tuning::kItemBins});
            const tuning::Choice choice = choose_tuned(arguments, facts, count);
            const std::size_t groups = options.groups.value_or(groups_of(choice, facts, count));
            const cl_kernel kernel = tuning::build(context, device.id, source, choice);
            const cl_mem totals = tuning::create_totals(
                context, tuning::has_64_bit_atomics(device.id) && !arguments.two_launches);
            const auto poison_and_look = [&] {
                poison();
                tuning::require_zero(queue, totals);
            };
            const auto count_in_one = [&](Histogram& result) {
                const tuning::Commands commands = tuning::enqueue(
                    queue, kernel, choice, groups, pixels, first, count, totals, histogram);
                const double kernel_ms = copy_out(commands.first, commands.last, result);
                tuning::release(commands);
                return kernel_ms;
            };
            common::Result timed = common::verify_and_time(
                "tuned", expected, options.repeat,
                {poison_and_look,
                 write_pixels,
                 count_in_one,
                 {groups, choice.group_size},
                 common::opencl::unsupported_reason(kernel, device.id, choice.group_size)});
            timed.launch_text = choice.launch_text(groups);
            report.add(std::move(timed));
            tuning::require_zero(queue, totals);
            if (totals != nullptr) CHECK_CL(clReleaseMemObject(totals));
            CHECK_CL(clReleaseKernel(kernel));
        }
    }

    // 10. What is left is released, in the opposite order.
    CHECK_CL(clReleaseMemObject(histogram));
    CHECK_CL(clReleaseMemObject(pixels));
    CHECK_CL(clReleaseCommandQueue(queue));
    CHECK_CL(clReleaseContext(context));

    // 11. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run, common::diagnosis::explain);
}
