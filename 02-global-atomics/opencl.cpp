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

int main(int argc, char** argv) try {  // at `catch` all objects of main are gone
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
    const auto milliseconds = [](cl_event one, cl_event other) {
        cl_ulong t0 = 0, t1 = 0;  // nanoseconds by the device's clock
        CHECK_CL(clGetEventProfilingInfo(one, CL_PROFILING_COMMAND_START, sizeof t0, &t0, nullptr));
        CHECK_CL(clGetEventProfilingInfo(other, CL_PROFILING_COMMAND_END, sizeof t1, &t1, nullptr));
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

    // 5. What the strategies share: the histogram. It is read and written: an atomic does both.
    const Buffer histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    const cl_uint zero = 0;

    // 6. global, and racy, which differs in nothing but its kernel: zero the histogram, count, copy
    //    it out. `examine` copies in, poisons before each run, compares all bins, and times.
    const bool blocked = lesson.choice("walk") == "blocked";
    for (const std::string variant : {"global", "racy"}) {
        if (!lesson.wants(variant)) continue;
        const std::string name = "histogram_" + variant + (blocked ? "_blocked" : "");
        const Kernel kernel = clCreateKernel(program, name.c_str(), &error);
        CHECK_CL(error, ("clCreateKernel(" + name + ")").c_str());
        const Buffer pixels = clCreateBuffer(
            context, CL_MEM_READ_ONLY, std::max<std::size_t>(pixel_count, 1), nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(pixels)");
        lesson.copy_in = [&] {  // `examine` calls it; the queue keeps order, so nothing waits
            if (pixel_count == 0) return;
            CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, pixel_count,
                                          lesson.pixels.data(), 0, nullptr, nullptr));
        };
        const auto count_pixels = [&](Histogram& result) {
            Event zeroed, counted;  // .out() is where a call writes it
            CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, sizeof(Histogram),
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
            CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &histogram));
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &group_size, 0,
                                            nullptr, counted.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         result.data(), 0, nullptr, nullptr));
            return milliseconds(zeroed, counted);
        };
        lesson.examine(
            variant, {groups, group_size}, unsupported_reason(kernel, device, group_size),
            [&] { poison(queue, histogram, sizeof(Histogram)); }, count_pixels);
        if (variant == "racy") lesson.say_what_was_lost(variant);
    }

    // 7. subhist: the same with pitched rows, a table for each group, and a second kernel. Each row
    //    of `image` begins at a multiple of 512 bytes, where a device reads best.
    const cl_ulong width = lesson.width, pitch_bytes = (width + 511) / 512 * 512;
    const std::size_t image_bytes =
        std::max<cl_ulong>((pixel_count + width - 1) / width, 1) * pitch_bytes;
    if (lesson.wants("subhist", blocked ? "--walk is not for it" : no_room(device, image_bytes))) {
        // Across, as many groups as the columns need; the others share the rows.
        const std::size_t groups_x =
            std::clamp<std::size_t>((width + group_size - 1) / group_size, 1, groups);
        const std::size_t groups_y = groups / groups_x;
        const auto tables = static_cast<cl_uint>(groups_x * groups_y);
        const cl_ulong table_pitch_bins = kBins;
        const std::size_t tables_bytes = tables * table_pitch_bins * sizeof(cl_uint);
        const Kernel subhist = clCreateKernel(program, "subhist", &error);
        CHECK_CL(error, "clCreateKernel(subhist)");
        const Kernel sum_tables = clCreateKernel(program, "sum_tables", &error);
        CHECK_CL(error, "clCreateKernel(sum_tables)");
        const Buffer image =
            clCreateBuffer(context, CL_MEM_READ_ONLY, image_bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(image)");
        poison(queue, image, image_bytes);  // gaps behind the rows show where they are counted
        const Buffer sub_histograms =
            clCreateBuffer(context, CL_MEM_READ_WRITE, tables_bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(sub_histograms)");
        const auto poison_all = [&] {
            poison(queue, sub_histograms, tables_bytes);
            poison(queue, histogram, sizeof(Histogram));
        };
        lesson.copy_in = [&] {  // `examine` calls it; the queue keeps order, so nothing waits
            const std::size_t origin[3] = {0, 0, 0}, whole[3] = {width, pixel_count / width, 1};
            if (whole[1] > 0)  // whole rows: their pitch in the image, then here
                CHECK_CL(clEnqueueWriteBufferRect(queue, image, CL_FALSE, origin, origin, whole,
                                                  pitch_bytes, 0, width, 0, lesson.pixels.data(), 0,
                                                  nullptr, nullptr));
            if (const std::size_t rest = pixel_count % width; rest > 0)
                CHECK_CL(clEnqueueWriteBuffer(queue, image, CL_FALSE, whole[1] * pitch_bytes, rest,
                                              &lesson.pixels[pixel_count - rest], 0, nullptr,
                                              nullptr));
        };
        const auto count_rows = [&](Histogram& result) {
            Event zeroed, summed;
            CHECK_CL(clEnqueueFillBuffer(queue, sub_histograms, &zero, sizeof zero, 0, tables_bytes,
                                         0, nullptr, zeroed.out()));
            CHECK_CL(clSetKernelArg(subhist, 0, sizeof(cl_mem), &image));
            CHECK_CL(clSetKernelArg(subhist, 1, sizeof pitch_bytes, &pitch_bytes));
            CHECK_CL(clSetKernelArg(subhist, 2, sizeof width, &width));
            CHECK_CL(clSetKernelArg(subhist, 3, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(subhist, 4, sizeof(cl_mem), &sub_histograms));
            CHECK_CL(clSetKernelArg(subhist, 5, sizeof table_pitch_bins, &table_pitch_bins));
            const std::size_t size[2] = {groups_x * group_size, groups_y};
            const std::size_t local[2] = {group_size, 1};
            CHECK_CL(clEnqueueNDRangeKernel(queue, subhist, 2, nullptr, size, local, 0, nullptr,
                                            nullptr));
            CHECK_CL(clSetKernelArg(sum_tables, 0, sizeof(cl_mem), &sub_histograms));
            CHECK_CL(clSetKernelArg(sum_tables, 1, sizeof table_pitch_bins, &table_pitch_bins));
            CHECK_CL(clSetKernelArg(sum_tables, 2, sizeof tables, &tables));
            CHECK_CL(clSetKernelArg(sum_tables, 3, sizeof(cl_mem), &histogram));
            const std::size_t sum_size = (kBins + group_size - 1) / group_size * group_size;
            CHECK_CL(clEnqueueNDRangeKernel(queue, sum_tables, 1, nullptr, &sum_size, &group_size,
                                            0, nullptr, summed.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         result.data(), 0, nullptr, nullptr));
            return milliseconds(zeroed, summed);
        };
        lesson.examine("subhist", {tables, group_size, groups_x},
                       unsupported_reason(subhist, device, group_size), poison_all, count_rows);
    }

    // 8. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
