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
     {"loads", {"0", "1", "4"}, "of 16 pixels in flight; 0: one pixel a load", {"lane-bins"}}}};

int main(int argc, char** argv) try {
    // 1. What is asked for, the pixels, and the right answer.
    Lesson lesson(argc, argv, kProgram);
    const cl_ulong pixel_count = lesson.pixels.size();

    // 2. The device, and what fits its local memory: work-items with 256 bytes each; copies of
    //    lane-bins (not all of it unasked, for a compiler may keep some for itself).
    const cl_device_id device = choose_device(lesson);
    const std::size_t local_bytes = local_memory_bytes(device), room = local_bytes / kBins;
    const std::optional<unsigned> asked = lesson.number("copies");
    unsigned copies = asked.value_or(32);
    while (copies > 1 && copies * sizeof(Histogram) + (asked ? 0 : 1) > local_bytes)
        copies /= 2;
    if (copies < asked.value_or(1))
        throw BadInput("--copies: local memory has room for " + std::to_string(copies));

    // 3. The launch: two work-groups for each compute unit; for lane-bins one that is large, for
    //    fewer tables are merged then; for core-bins one, of one work-item.
    const std::size_t units = compute_units(device), most = max_work_group_size(device);
    const std::size_t groups = lesson.groups(2 * units), unit_groups = lesson.groups(units);
    const std::size_t group_size = lesson.group_size(256, most), global_size = groups * group_size;
    const std::size_t uchar_size = lesson.group_size(std::min<std::size_t>(128, room), most);
    const std::size_t lane_size = lesson.group_size(1024, most);

    // 4. Where its commands go: a context for the device, and a queue that keeps their order and
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
    const cl_uint zero = 0;

    // 7. private: zero, count, copy out. The first turn copies the pixels in and warms up; timed
    //    turns follow, then some with the copy. next() compares (verify/runs.hpp).
    if (lesson.wants("private")) {
        const Kernel kernel = clCreateKernel(program, "histogram_private", &error);
        CHECK_CL(error, "clCreateKernel(histogram_private)");
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &histogram));
        Runs runs = lesson.runs("private", {groups, group_size},
                                unsupported_reason(kernel, device, group_size));
        while (runs.next()) {
            poison(queue, histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in() && pixel_count > 0)
                CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, pixel_count,
                                              lesson.pixels.data(), 0, nullptr, nullptr));
            Event zeroed, counted;
            CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram),
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &group_size, 0,
                                            nullptr, counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         runs.counts.data(), 0, nullptr, nullptr));
            runs.end(milliseconds(zeroed, counted));
        }
        cl_ulong bytes = 0;
        CHECK_CL(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof bytes,
                                          &bytes, nullptr));
        progress("    the compiler gave it " + std::to_string(bytes) +
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
    for (const std::string variant : {"uchar-bins", "uchar-bins-banked", "uchar-overflow"}) {
        if (!lesson.wants(variant, no_room_for_them)) continue;
        const bool banked = variant == "uchar-bins-banked";
        const char* const name = banked ? "histogram_uchar_banked" : "histogram_uchar";
        const cl_uint pixels_per_item = variant == "uchar-overflow" ? 256 : 255;
        const Kernel kernel = clCreateKernel(program, name, &error);
        CHECK_CL(error, name);
        const std::size_t rows_bytes = groups * sizeof(Histogram);
        const Buffer rows = clCreateBuffer(context, CL_MEM_READ_WRITE, rows_bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(rows)");
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof pixels_per_item, &pixels_per_item));
        CHECK_CL(clSetKernelArg(kernel, 3, uchar_size * kBins, nullptr));  // local memory
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &rows));
        const std::size_t uchar_items = groups * uchar_size;
        Runs runs = lesson.runs(variant, {groups, uchar_size},
                                unsupported_reason(kernel, device, uchar_size));
        while (runs.next()) {
            poison(queue, rows, rows_bytes);
            runs.begin();
            if (runs.copies_in() && pixel_count > 0)
                CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, pixel_count,
                                              lesson.pixels.data(), 0, nullptr, nullptr));
            Event counted;
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &uchar_items, &uchar_size, 0,
                                            nullptr, counted.out()));
            void* const mapped = clEnqueueMapBuffer(queue, rows, CL_TRUE, CL_MAP_READ, 0,
                                                    rows_bytes, 0, nullptr, nullptr, &error);
            CHECK_CL(error, "clEnqueueMapBuffer");
            add_rows(static_cast<const std::uint32_t*>(mapped), groups, runs.counts);
            CHECK_CL(clEnqueueUnmapMemObject(queue, rows, mapped, 0, nullptr, nullptr));
            CHECK_CL(clFinish(queue));  // the unmap is a command, too
            runs.end(milliseconds(counted, counted));
        }
    }

    // 9. lane-bins and core-bins: as private, each in a launch of its own.
    for (const std::string variant : {"lane-bins", "core-bins"}) {
        if (!lesson.wants(variant)) continue;
        const bool in_lanes = variant == "lane-bins";
        const cl_uint loads = lesson.number("loads").value_or(4);
        const char* const name = in_lanes ? "histogram_lanes" : "histogram_cores";
        const std::size_t size = in_lanes ? lane_size : 1, items = unit_groups * size;
        const Kernel kernel = clCreateKernel(program, name, &error);
        CHECK_CL(error, name);
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &histogram));
        if (in_lanes) CHECK_CL(clSetKernelArg(kernel, 3, sizeof loads, &loads));
        Runs runs =
            lesson.runs(variant, {unit_groups, size}, unsupported_reason(kernel, device, size));
        while (runs.next()) {
            poison(queue, histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in() && pixel_count > 0)
                CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, pixel_count,
                                              lesson.pixels.data(), 0, nullptr, nullptr));
            Event zeroed, counted;
            CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram),
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &size, 0, nullptr,
                                            counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         runs.counts.data(), 0, nullptr, nullptr));
            runs.end(milliseconds(zeroed, counted));
        }
        if (in_lanes && !asked && copies < 32)
            progress("    copies that the device's local memory has room for: " +
                     std::to_string(copies) + '\n');
    }

    // 10. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
