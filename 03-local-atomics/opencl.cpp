// Chapter 03 in OpenCL: each work-group counts in its own local memory. The kernels are in
// histogram.cl; cuda.cu does the same in CUDA, in the same steps.
//
// Run it:  build/03-local-atomics/opencl --tile 100M

#include "common/opencl/opencl.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::opencl;

const Program kProgram{
    "03-local-atomics",
    "opencl",
    "OpenCL",
    "the histogram counted in the local memory of each work-group",
    {{"local", "a table for each work-group, merged with global atomics"},
     {"local-buckets", "each work-group writes a row of its own, and the host adds the rows"},
     {"local-subhist", "the same rows, added by a second kernel"}},
    {{"walk", {"interleaved", "blocked"}, "local: every n-th pixel, or a stretch", {"local"}}}};

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

    // 5. What the strategies share: the pixels (no buffer has 0 bytes) and the histogram.
    const Buffer pixels = clCreateBuffer(context, CL_MEM_READ_ONLY,
                                         std::max<std::size_t>(pixel_count, 1), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(pixels)");
    const Buffer histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    const cl_uint zero = 0;

    // 6. local, a kernel for each walk: zero, count, copy out. The first turn copies the pixels and
    //    warms up; timed turns follow, then some with the copy. next() compares (verify/runs.hpp).
    const bool blocked = lesson.choice("walk") == "blocked";
    if (lesson.wants("local")) {
        const char* const name = blocked ? "histogram_local_blocked" : "histogram_local";
        const Kernel local = clCreateKernel(program, name, &error);
        CHECK_CL(error, "clCreateKernel(local)");
        CHECK_CL(clSetKernelArg(local, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(local, 1, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(local, 2, sizeof(cl_mem), &histogram));
        Runs runs = lesson.runs("local", {groups, group_size},
                                unsupported_reason(local, device, group_size));
        while (runs.next()) {
            poison(queue, histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in() && pixel_count > 0)
                CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, pixel_count,
                                              lesson.pixels.data(), 0, nullptr, nullptr));
            Event zeroed, counted;
            CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram),
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clEnqueueNDRangeKernel(queue, local, 1, nullptr, &global_size, &group_size, 0,
                                            nullptr, counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         runs.counts.data(), 0, nullptr, nullptr));
            runs.end(milliseconds(zeroed, counted));
        }
    }

    // 7. local-buckets: nothing to zero: every group writes its whole row. The host maps the
    //    rows, which are in the device's memory, and adds them; that belongs to the end-to-end
    //    time, not to the kernel's.
    if (lesson.wants("local-buckets", blocked ? "--walk is for local" : "")) {
        const Kernel in_buckets = clCreateKernel(program, "histogram_buckets", &error);
        CHECK_CL(error, "clCreateKernel(histogram_buckets)");
        const std::size_t buckets_bytes = groups * sizeof(Histogram);
        const Buffer buckets =
            clCreateBuffer(context, CL_MEM_WRITE_ONLY, buckets_bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(buckets)");  // WRITE_ONLY is what kernels do
        CHECK_CL(clSetKernelArg(in_buckets, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(in_buckets, 1, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(in_buckets, 2, sizeof(cl_mem), &buckets));
        Runs runs = lesson.runs("local-buckets", {groups, group_size},
                                unsupported_reason(in_buckets, device, group_size));
        while (runs.next()) {
            poison(queue, buckets, buckets_bytes);
            runs.begin();
            if (runs.copies_in() && pixel_count > 0)
                CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, pixel_count,
                                              lesson.pixels.data(), 0, nullptr, nullptr));
            Event counted;
            CHECK_CL(clEnqueueNDRangeKernel(queue, in_buckets, 1, nullptr, &global_size,
                                            &group_size, 0, nullptr, counted.out()));
            void* const mapped = clEnqueueMapBuffer(queue, buckets, CL_TRUE, CL_MAP_READ, 0,
                                                    buckets_bytes, 0, nullptr, nullptr, &error);
            CHECK_CL(error, "clEnqueueMapBuffer");
            add_rows(static_cast<const std::uint32_t*>(mapped), groups, runs.counts);
            CHECK_CL(clEnqueueUnmapMemObject(queue, buckets, mapped, 0, nullptr, nullptr));
            CHECK_CL(clFinish(queue));  // the unmap is a command, too
            runs.end(milliseconds(counted, counted));
        }
    }

    // 8. local-subhist: the same rows, and a second kernel adds them where they are. The host says
    //    how much local memory a group of the first one gets.
    if (lesson.wants("local-subhist", blocked ? "--walk is for local" : "")) {
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
        CHECK_CL(clSetKernelArg(subhist, 2, sizeof(Histogram), nullptr));  // local memory
        CHECK_CL(clSetKernelArg(subhist, 3, sizeof(cl_mem), &tables));
        CHECK_CL(clSetKernelArg(sum_tables, 0, sizeof(cl_mem), &tables));
        CHECK_CL(clSetKernelArg(sum_tables, 1, sizeof table_count, &table_count));
        CHECK_CL(clSetKernelArg(sum_tables, 2, sizeof(cl_mem), &histogram));
        // Rounded up: OpenCL 1.2 launches whole groups only.
        const std::size_t sum_size = (kBins + group_size - 1) / group_size * group_size;
        Runs runs = lesson.runs("local-subhist", {groups, group_size},
                                unsupported_reason(subhist, device, group_size));
        while (runs.next()) {
            poison(queue, tables, tables_bytes);
            poison(queue, histogram, sizeof(Histogram));
            runs.begin();
            if (runs.copies_in() && pixel_count > 0)
                CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, pixel_count,
                                              lesson.pixels.data(), 0, nullptr, nullptr));
            Event counted, summed;
            CHECK_CL(clEnqueueNDRangeKernel(queue, subhist, 1, nullptr, &global_size, &group_size,
                                            0, nullptr, counted.out()));
            CHECK_CL(clEnqueueNDRangeKernel(queue, sum_tables, 1, nullptr, &sum_size, &group_size,
                                            0, nullptr, summed.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         runs.counts.data(), 0, nullptr, nullptr));
            runs.end(milliseconds(counted, summed));
        }
    }

    // 9. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
