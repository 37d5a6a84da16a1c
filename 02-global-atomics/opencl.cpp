// Chapter 02 in OpenCL: every work-item counts in the device's global memory. The kernels are in
// histogram.cl; cuda.cu does the same in CUDA, in the same steps. first.cpp is the way in.
//
// Run it:  build/02-global-atomics/opencl --tile 100M

#include "common/opencl/opencl.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::opencl;

const Program kProgram{
    "02-global-atomics",
    "opencl",
    "OpenCL",
    "the histogram counted in global memory",
    {{"global", "one table, one atomic addition for each pixel"},
     {"subhist", "one table for each work-group in global memory, then a sum"},
     {"racy", "plain ++ instead of an atomic addition: counts are lost", true}},  // on purpose
    {{"walk", {"interleaved", "blocked"}, "every n-th pixel, or a stretch", {"global", "racy"}}}};

int main(int argc, char** argv) try {
    // 1. What is asked for, the pixels, and the right answer.
    Lesson lesson(argc, argv, kProgram);
    const cl_ulong pixel_count = lesson.pixels.size();

    // 2. The device, and the launch: two work-groups for each compute unit, 256 work-items in each.
    const cl_device_id device = choose_device(lesson);
    const std::size_t group_size = lesson.group_size(256, max_work_group_size(device));
    const std::size_t groups = lesson.groups(2 * compute_units(device));
    const std::size_t global_size = groups * group_size;

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

    // 4. The kernels. They are compiled now, for this device and for this size of work-group.
    const char* source = lesson.kernel_file("histogram.cl");
    const ProgramObject program = clCreateProgramWithSource(context, 1, &source, nullptr, &error);
    CHECK_CL(error, "clCreateProgramWithSource");
    const std::string options = "-DGROUP_SIZE=" + std::to_string(group_size);
    check_build(clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr), program,
                device);

    // 5. What the strategies share: the histogram, which is read and written, for an atomic does
    //    both; and the pixels (no buffer has 0 bytes).
    const Buffer histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    const Buffer pixels = clCreateBuffer(context, CL_MEM_READ_ONLY,
                                         std::max<std::size_t>(pixel_count, 1), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(pixels)");
    const cl_uint zero = 0;

    // 6. global, and racy, whose kernel alone differs: zero, count, copy out. The first turn copies
    //    the pixels in and warms up; timed turns follow, then some with the copy. next() compares.
    const bool blocked = lesson.choice("walk") == "blocked";
    for (const std::string variant : {"global", "racy"}) {
        if (!lesson.wants(variant)) continue;
        const std::string name = "histogram_" + variant + (blocked ? "_blocked" : "");
        const Kernel kernel = clCreateKernel(program, name.c_str(), &error);
        CHECK_CL(error, ("clCreateKernel(" + name + ")").c_str());
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &histogram));
        Runs runs = lesson.runs(variant, {groups, group_size},
                                unsupported_reason(kernel, device, group_size));
        while (runs.next()) {
            poison(queue, histogram, sizeof(Histogram));  // what a run does not zero shows
            runs.begin();
            if (runs.copies_in() && pixel_count > 0)  // the queue keeps order, so nothing waits
                CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, pixel_count,
                                              lesson.pixels.data(), 0, nullptr, nullptr));
            Event zeroed, counted;  // .out() is where a call writes it
            CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram),
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &group_size, 0,
                                            nullptr, counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         runs.counts.data(), 0, nullptr, nullptr));
            runs.end(milliseconds(zeroed, counted));
        }
        if (variant == "racy") lesson.say_what_was_lost(runs);
    }

    // 7. subhist: a table for each group, all of them zeroed, and a second kernel, which adds them.
    if (lesson.wants("subhist", blocked ? "--walk is not for it" : "")) {
        const Kernel subhist = clCreateKernel(program, "subhist", &error);
        CHECK_CL(error, "clCreateKernel(subhist)");
        const Kernel sum_tables = clCreateKernel(program, "sum_tables", &error);
        CHECK_CL(error, "clCreateKernel(sum_tables)");
        const auto table_count = static_cast<cl_uint>(groups);
        const std::size_t tables_bytes = groups * sizeof(Histogram);
        const Buffer tables =
            clCreateBuffer(context, CL_MEM_READ_WRITE, tables_bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(tables)");
        CHECK_CL(clSetKernelArg(subhist, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(subhist, 1, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(subhist, 2, sizeof(cl_mem), &tables));
        CHECK_CL(clSetKernelArg(sum_tables, 0, sizeof(cl_mem), &tables));
        CHECK_CL(clSetKernelArg(sum_tables, 1, sizeof table_count, &table_count));
        CHECK_CL(clSetKernelArg(sum_tables, 2, sizeof(cl_mem), &histogram));
        // A work-item for each bin, rounded up: OpenCL 1.2 launches whole groups only.
        const std::size_t sum_size = (kBins + group_size - 1) / group_size * group_size;
        Runs runs = lesson.runs("subhist", {groups, group_size},
                                unsupported_reason(subhist, device, group_size));
        while (runs.next()) {
            poison(queue, tables, tables_bytes);
            poison(queue, histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in() && pixel_count > 0)
                CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, pixel_count,
                                              lesson.pixels.data(), 0, nullptr, nullptr));
            Event zeroed, summed;
            CHECK_CL(clEnqueueFillBuffer(queue, tables, &zero, sizeof zero, 0, tables_bytes, 0,
                                         nullptr, zeroed.out()));
            CHECK_CL(clEnqueueNDRangeKernel(queue, subhist, 1, nullptr, &global_size, &group_size,
                                            0, nullptr, nullptr));
            CHECK_CL(clEnqueueNDRangeKernel(queue, sum_tables, 1, nullptr, &sum_size, &group_size,
                                            0, nullptr, summed.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         runs.counts.data(), 0, nullptr, nullptr));
            runs.end(milliseconds(zeroed, summed));
        }
    }

    // 8. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
