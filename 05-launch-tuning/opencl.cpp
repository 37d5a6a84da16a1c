// Chapter 05 in OpenCL: the same counting, fed properly. The kernels are in histogram.cl; cuda.cu
// does the same in CUDA, in the same steps.
//
// Run it:  build/05-launch-tuning/opencl --tile 100M
//          build/05-launch-tuning/opencl --tile 100M --variant tuned --copies 8

#include <array>

#include "05-launch-tuning/launch.hpp"
#include "05-launch-tuning/layout.hpp"
#include "05-launch-tuning/limits_opencl.hpp"
#include "common/lesson.hpp"
#include "common/opencl/opencl.hpp"

using namespace common;
using namespace common::opencl;

const Program kProgram{
    "05-launch-tuning",
    "opencl",
    "OpenCL",
    "the same counting, launched as this device likes it",
    {{"two-per-sm", "chapter 03's kernel, two groups for each unit"},
     {"occupancy", "as many work-items as the device says it holds"},
     {"vector", "16 pixels per load"},
     {"tuned", "copies, loads ahead and one command, as tune has found"}},
    {{"copies", {"1", "2", "4", "8", "16", "32"}, "of the table", {"tuned"}},
     {"loads", {"1", "2", "3", "4"}, "under way at once", {"tuned"}},
     {"launches", {"one", "two"}, "two: zeroed by a command before", {"tuned"}}}};

int main(int argc, char** argv) try {
    // 1. What is asked for, the right answer, and where the rows are to lie in the device's buffer.
    LayoutOptions layout;
    Lesson lesson(argc, argv, kProgram, [&](CLI::App& app) { add_layout_options(app, layout); });
    const Rows rows = lay_out(lesson.input, layout);
    const cl_ulong first = rows.first, pixel_count = rows.count;  // first: bytes before them

    // 2. The device, what it allows, and groups of 512 for those that fill it.
    const cl_device_id device = choose_device(lesson);
    require_memory(device, rows.bytes());
    const std::size_t units = compute_units(device), most = max_work_group_size(device);
    const std::size_t full_size = lesson.group_size(512, most);

    // 3. Where its commands go: a context for the device, and a queue that keeps their order and
    //    notes when each began and ended. Each is released at the end of its scope.
    cl_int error = CL_SUCCESS;
    const Context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const Queue queue = clCreateCommandQueue(context, device, profiling(device), &error);
    CHECK_CL(error, "clCreateCommandQueue");
    const auto milliseconds = [](cl_event one, cl_event last) {
        cl_ulong t0 = 0, t1 = 0;  // nanoseconds by the device's clock
        CHECK_CL(clGetEventProfilingInfo(one, CL_PROFILING_COMMAND_START, sizeof t0, &t0, nullptr));
        CHECK_CL(clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof t1, &t1, nullptr));
        return static_cast<double>(t1 - t0) * 1e-6;
    };
    lesson.read_ceiling([&] { return read_ceiling_gb_s(context, queue, pixel_count); });

    // 4. The kernels. Each is compiled when it is wanted, for one shape of its groups.
    const char* source = lesson.kernel_file("histogram.cl");
    const auto build = [&](const char* name, const Grid& grid, const TunedLaunch& launch = {1, 1}) {
        const std::string options = grid.macros() + launch.macros();
        const ProgramObject program =
            clCreateProgramWithSource(context, 1, &source, nullptr, &error);
        CHECK_CL(error, "clCreateProgramWithSource");
        check_build(clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr), program,
                    device);
        Kernel kernel = clCreateKernel(program, name, &error);
        CHECK_CL(error, name);
        return kernel;  // OpenCL keeps the program as long as there is the kernel
    };

    // 5. What the strategies share: the pixels, with gaps where asked for, and the histogram.
    const PixelBuffer gapped = with_gaps(lesson.input, rows);  // empty where there are none
    const std::uint8_t* const from = gapped.empty() ? lesson.pixels.data() : gapped.data();
    const Buffer pixels = clCreateBuffer(context, CL_MEM_READ_ONLY, rows.bytes(), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(pixels)");
    const Buffer histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    const cl_uint zero = 0;

    // 6. two-per-sm: chapter 03's kernel and launch: zero the histogram, count, copy it out.
    const bool has_gaps = rows.have_gaps();
    if (lesson.wants("two-per-sm",
                     first > 0 || has_gaps ? "it takes neither --offset nor --pitch" : "")) {
        const std::size_t group_size = lesson.group_size(256, most);
        const Grid grid = side_by_side(group_size, lesson.groups(2 * units));
        const std::size_t global_size = grid.groups_x * group_size;
        const Kernel kernel = build("histogram_local", grid);
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &histogram));
        Runs runs = lesson.runs("two-per-sm", grid.launch(),
                                unsupported_reason(kernel, device, group_size));
        while (runs.next()) {
            poison(queue, histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in())
                CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, rows.bytes(), from, 0,
                                              nullptr, nullptr));
            Event zeroed, counted;
            CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram),
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &group_size, 0,
                                            nullptr, counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         runs.counts.data(), 0, nullptr, nullptr));
            runs.end(milliseconds(zeroed, counted));
        }
    }

    // 7. occupancy: groups of 512, as many as fill the device. They lie below each other, and walk
    //    down the rows. vector: as many groups, side by side, and 16 pixels in one load; there rows
    //    without gaps are one long row.
    const Resident resident = resident_items(device);
    const std::size_t full_groups =
        lesson.groups(std::max<std::size_t>(units * resident.items / full_size, 1));
    for (const std::string variant : {"occupancy", "vector"}) {
        if (!lesson.wants(variant)) continue;
        if (variant == "occupancy")
            std::fprintf(stderr,
                         "  occupancy: %zu units x %zu work-items (%s) / groups of %zu = %zu\n",
                         units, resident.items, resident.why.c_str(), full_size, full_groups);
        const bool wide = variant == "vector";
        const Rows walked = wide ? rows.as_one() : rows;
        const Grid grid = wide ? lay_over(walked, full_size, full_groups, 16)
                               : below_each_other(full_size, full_groups);
        const std::size_t local_size[] = {grid.items_x, grid.items_y};
        const std::size_t global_size[] = {grid.groups_x * local_size[0],
                                           grid.groups_y * local_size[1]};
        const Kernel kernel = build(("histogram_" + variant).c_str(), grid);
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof first, &first));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof walked.width, &walked.width));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof walked.pitch, &walked.pitch));
        CHECK_CL(clSetKernelArg(kernel, 5, sizeof(cl_mem), &histogram));
        Runs runs = lesson.runs(variant, grid.launch(),
                                unsupported_reason(kernel, device, grid.items_x, grid.items_y));
        while (runs.next()) {
            poison(queue, histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in())
                CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, rows.bytes(), from, 0,
                                              nullptr, nullptr));
            Event zeroed, counted;
            CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram),
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global_size, local_size, 0,
                                            nullptr, counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         runs.counts.data(), 0, nullptr, nullptr));
            runs.end(milliseconds(zeroed, counted));
        }
    }

    // 8. tuned: the launch that tune has found, or a rule of thumb, in one command. Nothing is
    //    zeroed before a run: the last group to add to a bin writes it out and leaves its total, of
    //    64 bits, at zero for the next launch. (In two commands, as above, where there are no
    //    64-bit atomics or the command line asks for them.)
    if (lesson.wants("tuned", has_gaps ? "it takes rows without gaps" : "")) {
        const TunedLaunch launch = launch_for(limits_of(device), lesson.options, pixel_count);
        const std::size_t groups = lesson.groups(launch.groups(units, pixel_count));
        const std::size_t group_size = launch.group_size, global_size = groups * group_size;
        const Grid grid = side_by_side(group_size, groups);
        const Kernel kernel = build("histogram_tuned", grid, launch);
        const bool in_one = has_extension(device, "cl_khr_int64_base_atomics") &&
                            lesson.choice("launches") != "two";
        std::array<cl_ulong, kTotalWords> zeros{}, left{};
        const Buffer totals = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                             sizeof zeros, zeros.data(), &error);
        CHECK_CL(error, "clCreateBuffer(totals)");
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof first, &first));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), in_one ? &totals : nullptr));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &histogram));
        Runs runs =
            lesson.runs("tuned", grid.launch(), unsupported_reason(kernel, device, group_size),
                        launch.text(groups));
        while (runs.next()) {
            poison(queue, histogram, sizeof(Histogram));
            // The totals hold no pattern before a run. In place of that: the run before has left
            // zeros.
            CHECK_CL(clEnqueueReadBuffer(queue, totals, CL_TRUE, 0, sizeof left, left.data(), 0,
                                         nullptr, nullptr));
            if (left != zeros)
                throw std::runtime_error("the last launch did not leave its totals at zero");
            runs.begin();
            if (runs.copies_in())
                CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, rows.bytes(), from, 0,
                                              nullptr, nullptr));
            Event zeroed, counted;
            if (!in_one)
                CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0,
                                             sizeof(Histogram), 0, nullptr, zeroed.out()));
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &group_size, 0,
                                            nullptr, counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         runs.counts.data(), 0, nullptr, nullptr));
            runs.end(milliseconds(in_one ? counted : zeroed, counted));
        }
    }

    // 9. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
