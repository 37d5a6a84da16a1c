// Chapter 04 in OpenCL: each work-item, or each lane, counts in a table of its own. The kernels are
// in histogram.cl; cuda.cu does the same in CUDA, in the same steps.
//
// Run it:  build/04-per-thread-bins/opencl --tile 100M

#include "common/opencl/opencl.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::opencl;

const Program kProgram{
    "04-per-thread-bins",
    "opencl",
    "OpenCL",
    "the histogram counted in tables for each work-item or lane",
    {{"private", "256 counters in each work-item's private memory"},
     {"uchar-bins", "256 counters of 8 bits for each work-item, in local memory"},
     {"uchar-bins-banked", "the same, neighbouring work-items never share a bank"},
     {"lane-bins", "a table for each lane, wholly in that lane's bank"},
     {"core-bins", "tables for each work-item, and one work-item for each core"},
     {"uchar-overflow", "256 pixels for an 8-bit counter: 256 equal ones count as none", true}},
    {{"copies", {"1", "2", "4", "8", "16", "32"}, "copies of the table", {"lane-bins"}},
     {"loads",
      {"0", "1", "4"},
      "loads of 16 pixels under way, or 0 for one pixel to a load",
      {"lane-bins"}}}};

int main(int argc, char** argv) try {  // at `catch` all objects of main are gone
    // 1. What is asked for, the pixels, and the right answer.
    Lesson lesson(argc, argv, kProgram);
    const cl_ulong pixel_count = lesson.pixels.size();
    const cl_uint loads = lesson.number("loads").value_or(4);

    // 2. The device, and what fits: how much local memory a work-group has decides how many copies
    //    lane-bins keeps, and how many work-items have room for 256 bytes each. A compiler may keep
    //    some for itself: lane-bins does not take all of it unasked.
    const cl_device_id device = choose_device(lesson);
    cl_ulong local_bytes = 0;
    CHECK_CL(clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes,
                             nullptr));
    const std::optional<unsigned> asked = lesson.number("copies");
    unsigned copies = asked.value_or(32);
    while (copies > 1 && copies * sizeof(Histogram) + (asked ? 0 : 1) > local_bytes)
        copies /= 2;
    if (copies < asked.value_or(1))
        throw BadInput("--copies " + std::to_string(*asked) + ": no more than " +
                       std::to_string(copies) + " fit the device's local memory");
    const std::size_t room = local_bytes / kBins;

    // 3. The launch: two work-groups for each compute unit, 256 work-items in each by default; 128,
    //    or as many as have room, for the 8-bit counters; for lane-bins one group for each compute
    //    unit, as large as can be: its loads keep the memory busy, and fewer tables are merged; for
    //    core-bins one group of one work-item for each compute unit.
    const std::size_t units = compute_units(device), most = max_work_group_size(device);
    const std::size_t groups = lesson.groups(2 * units), unit_groups = lesson.groups(units);
    const std::size_t group_size = lesson.group_size(256, most);
    const std::size_t uchar_size = lesson.group_size(std::min<std::size_t>(128, room), most);
    const std::size_t lane_size = lesson.group_size(1024, most);

    // 4. Where its commands go: a context for the device, and a queue that keeps their order and
    //    notes when each began and ended. Each is released at the end of its scope.
    cl_int error = CL_SUCCESS;
    const Context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const Queue queue = clCreateCommandQueue(context, device, profiling(device), &error);
    CHECK_CL(error, "clCreateCommandQueue");
    const auto milliseconds = [](cl_event one, cl_event other) {
        cl_ulong t0 = 0, t1 = 0;  // nanoseconds by the device's clock
        CHECK_CL(clGetEventProfilingInfo(one, CL_PROFILING_COMMAND_START, sizeof t0, &t0, nullptr));
        CHECK_CL(clGetEventProfilingInfo(other, CL_PROFILING_COMMAND_END, sizeof t1, &t1, nullptr));
        return static_cast<double>(t1 - t0) * 1e-6;
    };
    lesson.read_ceiling([&] { return read_ceiling_gb_s(context, queue, pixel_count); });

    // 5. The kernels. They are compiled now, for this device and for these sizes of work-group.
    const char* source = lesson.kernel_file("histogram.cl");
    const ProgramObject program = clCreateProgramWithSource(context, 1, &source, nullptr, &error);
    CHECK_CL(error, "clCreateProgramWithSource");
    const std::string options = "-DCOPIES=" + std::to_string(copies) +
                                " -DGROUP_SIZE=" + std::to_string(group_size) +
                                " -DUCHAR_GROUP_SIZE=" + std::to_string(uchar_size) +
                                " -DLANE_GROUP_SIZE=" + std::to_string(lane_size);
    check_build(clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr), program,
                device);

    // 6. What the strategies share: the pixels (no buffer has 0 bytes) and the histogram.
    const Buffer pixels = clCreateBuffer(context, CL_MEM_READ_ONLY,
                                         std::max<std::size_t>(pixel_count, 1), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(pixels)");
    const Buffer histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    lesson.copy_in = [&] {  // `examine` calls it; the queue keeps order, so nothing waits
        if (pixel_count == 0) return;
        CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, pixel_count, lesson.pixels.data(),
                                      0, nullptr, nullptr));
    };

    // 7. private: zero the histogram, count, copy it out. `examine` copies the pixels in, poisons
    //    the histogram before each run, compares all bins, and times. lane-bins and core-bins go
    //    the same way.
    const auto run_with_atomics = [&](const char* variant, cl_kernel kernel,
                                      std::size_t launched_groups, std::size_t size) {
        const auto count_pixels = [&](Histogram& result) {
            const cl_uint zero = 0;
            const std::size_t global_size = launched_groups * size;
            Event zeroed, counted;
            CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram),
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
            CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &histogram));
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &size, 0,
                                            nullptr, counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         result.data(), 0, nullptr, nullptr));
            return milliseconds(zeroed, counted);
        };
        lesson.examine(
            variant, {launched_groups, size}, unsupported_reason(kernel, device, size),
            [&] { poison(queue, histogram, sizeof(Histogram)); }, count_pixels);
    };
    if (lesson.wants("private")) {
        const Kernel in_private = clCreateKernel(program, "histogram_private", &error);
        CHECK_CL(error, "clCreateKernel(histogram_private)");
        run_with_atomics("private", in_private, groups, group_size);
        cl_ulong private_bytes = 0;
        CHECK_CL(clGetKernelWorkGroupInfo(in_private, device, CL_KERNEL_PRIVATE_MEM_SIZE,
                                          sizeof private_bytes, &private_bytes, nullptr));
        progress("    the compiler gave it " + std::to_string(private_bytes) +
                 " bytes of memory per work-item\n");
    }

    // 8. uchar-bins, uchar-bins-banked and uchar-overflow: local memory for 256 bytes a work-item;
    //    a row for each work-group in the device's memory. The host maps the rows and adds them,
    //    which belongs to the end-to-end time, not to the kernel's.
    const std::string no_room_for_them =
        uchar_size <= room
            ? ""
            : std::to_string(uchar_size) +
                  " work-items need 256 bytes of local memory each, and the device has " +
                  std::to_string(local_bytes);
    const auto run_in_bytes = [&](const char* variant, const std::string& name,
                                  cl_uint pixels_per_item) {
        if (!lesson.wants(variant, no_room_for_them)) return;
        const Kernel kernel = clCreateKernel(program, name.c_str(), &error);
        CHECK_CL(error, ("clCreateKernel(" + name + ")").c_str());
        CHECK_CL(clSetKernelArg(kernel, 3, uchar_size * kBins, nullptr));  // local memory
        const std::size_t rows_bytes = groups * sizeof(Histogram);
        const Buffer rows = clCreateBuffer(context, CL_MEM_READ_WRITE, rows_bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(rows)");
        const auto count_in_bytes = [&](Histogram& result) {
            const std::size_t global_size = groups * uchar_size;
            Event counted;
            CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
            CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(kernel, 2, sizeof pixels_per_item, &pixels_per_item));
            CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &rows));
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &uchar_size, 0,
                                            nullptr, counted.out()));
            void* const mapped = clEnqueueMapBuffer(queue, rows, CL_TRUE, CL_MAP_READ, 0,
                                                    rows_bytes, 0, nullptr, nullptr, &error);
            CHECK_CL(error, "clEnqueueMapBuffer");
            add_rows(static_cast<const std::uint32_t*>(mapped), groups, result);
            CHECK_CL(clEnqueueUnmapMemObject(queue, rows, mapped, 0, nullptr, nullptr));
            CHECK_CL(clFinish(queue));  // the unmap is a command, too
            return milliseconds(counted, counted);
        };
        lesson.examine(
            variant, {groups, uchar_size}, unsupported_reason(kernel, device, uchar_size),
            [&] { poison(queue, rows, rows_bytes); }, count_in_bytes);
    };
    run_in_bytes("uchar-bins", "histogram_uchar", 255);
    run_in_bytes("uchar-bins-banked", "histogram_uchar_banked", 255);
    run_in_bytes("uchar-overflow", "histogram_uchar", 256);

    // 9. lane-bins: as private, in a launch of its own.
    if (lesson.wants("lane-bins")) {
        const Kernel lanes = clCreateKernel(program, "histogram_lanes", &error);
        CHECK_CL(error, "clCreateKernel(histogram_lanes)");
        CHECK_CL(clSetKernelArg(lanes, 3, sizeof loads, &loads));  // the others as private's
        run_with_atomics("lane-bins", lanes, unit_groups, lane_size);
        if (!asked && copies < 32)
            progress("    copies that the device's local memory has room for: " +
                     std::to_string(copies) + '\n');
    }

    // 10. core-bins: as private, in groups of one work-item, one for each compute unit.
    if (lesson.wants("core-bins")) {
        const Kernel cores = clCreateKernel(program, "histogram_cores", &error);
        CHECK_CL(error, "clCreateKernel(histogram_cores)");
        run_with_atomics("core-bins", cores, unit_groups, 1);
    }

    // 11. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
