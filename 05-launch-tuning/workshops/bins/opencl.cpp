// More bins than 256, of pixels of 16 bits, in OpenCL. The kernels are in histogram.cl.
//
//   global  one table in global memory
//   local   a table for each group in local memory, as long as it fits
//   passes  a slice of the table at a time, and all pixels are read for each
//
// Run it:  build/05-launch-tuning/workshops/bins/opencl --random 100M --bins 65536
//
// cuda.cu does the same in CUDA, in the same steps.

#include "05-launch-tuning/workshops/opencl.hpp"
#include "05-launch-tuning/workshops/bins/values.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::opencl;

const Program kProgram{"05-launch-tuning",
                       "workshops/bins/opencl",
                       "OpenCL",
                       "more bins than 256, of pixels of 16 bits",
                       {{"global", "one table in global memory"},
                        {"local", "a table for each group in local memory, as long as it fits"},
                        {"passes", "a slice of the table at a time"}},
                       {{"passes", {"2", "4", "8"}, "slices of the table", {"passes"}}}};

int main(int argc, char** argv) try {
    // 1. What is asked for, the pixels, and the right answer.
    bins::Values values;
    Lesson lesson(
        argc, argv, kProgram, [&](CLI::App& app) { values.add_options(app); },
        [&](const Options& options) { return values.load(options); });
    const cl_ulong pixel_count = values.pixels.size();

    // 2. The device, and the work-items of a group: on a CPU a group runs on one core, work-item by
    //    work-item.
    const cl_device_id device = choose_device(lesson);
    require_memory(device, values.bytes());
    const DeviceLimits limits = limits_of(device);
    const std::size_t group_size = lesson.group_size(limits.cpu ? 1 : 1024, limits.max_group_size);

    // 3. Where its commands go: a context for the device, and a queue that keeps their order and
    //    notes when each began and ended. Each is released at the end of its scope.
    const Context context = context_of(device);
    const Queue queue = queue_of(context, device, profiling(device));
    lesson.read_ceiling([&] { return read_ceiling_gb_s(context, queue, values.bytes()); });

    // 4. The kernels. Each is compiled when it is wanted, for a table of so many words; one that
    //    does not fit is not compiled either.
    const char* source = lesson.kernel_file("histogram.cl");
    const auto build = [&](const char* name, const bins::Plan& plan) {
        const std::size_t words = plan.local_bytes() / 4;
        const std::string options =
            "-DGROUP_SIZE=" + std::to_string(plan.group_size) + " -DTABLE_WORDS=" +
            std::to_string(plan.unsupported_reason.empty() ? words
                                                           : std::min<std::size_t>(words, 1)) +
            " -DWHOLE=" + (plan.slices == 1 ? "1" : "0");
        return compiled(context, device, source, options, name);
    };

    // 5. What the strategies share: the pixels on the device and the histogram, and how a kernel
    //    that adds to it is run. What is added up needs the time of zeroing, too.
    const std::size_t histogram_bytes = values.bins * sizeof(cl_uint);
    const Buffer pixels = buffer_of(context, CL_MEM_READ_ONLY, values.bytes());
    const Buffer histogram = buffer_of(context, CL_MEM_READ_WRITE, histogram_bytes);
    std::vector<cl_uint> counted(values.bins);
    lesson.copy_in = [&] {  // `examine` calls it
        if (pixel_count == 0) return;
        CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, values.bytes(),
                                      values.pixels.data(), 0, nullptr, nullptr));
    };
    const auto enqueue = [&](cl_kernel kernel, std::size_t items, std::size_t items_of_group) {
        Event done;
        CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &items_of_group, 0,
                                        nullptr, done.out()));
        return done;
    };
    const auto zero_and_count = [&](const auto& count, Histogram& result) {
        const cl_uint zero = 0;
        Event zeroed;
        CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0, histogram_bytes, 0,
                                     nullptr, zeroed.out()));
        const Event last = count();
        CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, histogram_bytes, counted.data(),
                                     0, nullptr, nullptr));
        result = values.judge(counted, lesson.expected);
        return elapsed_ms(zeroed, last);
    };
    const auto set_pixels = [&](cl_kernel kernel) {
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof values.shift, &values.shift));
    };

    // 6. global: every pixel is an atomic addition in global memory.
    if (lesson.wants("global")) {
        const bins::Plan plan = bins::plan("global", values, lesson.options, limits, group_size);
        const Kernel kernel = build("histogram_global", plan);
        const auto count = [&] {
            set_pixels(kernel);
            CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), &histogram));
            return enqueue(kernel, plan.groups * group_size, group_size);
        };
        lesson.examine(
            "global", {plan.groups, group_size}, unsupported_reason(kernel, device, group_size),
            [&] { poison(queue, histogram, histogram_bytes); },
            [&](Histogram& result) { return zero_and_count(count, result); }, plan.text());
    }

    // 7. local and passes: a launch for each slice of the table, of which local has one. Each group
    //    writes a row, and a second kernel adds the rows up.
    for (const std::string variant : {"local", "passes"}) {
        if (!lesson.wants(variant)) continue;
        bins::Plan plan = bins::plan(variant, values, lesson.options, limits, group_size);
        const Kernel kernel = build("histogram_local", plan);
        const Kernel sum = build("histogram_sum", plan);
        std::size_t rows_bytes = plan.groups * plan.slice.counters * sizeof(cl_uint);
        if (plan.unsupported_reason.empty()) plan.unsupported_reason = no_room(device, rows_bytes);
        if (!plan.unsupported_reason.empty()) rows_bytes = 0;
        const Buffer rows = buffer_of(context, CL_MEM_READ_WRITE, rows_bytes);
        const auto count = [&] {
            Event last;
            set_pixels(kernel);
            CHECK_CL(clSetKernelArg(kernel, 5, sizeof plan.slice.copies, &plan.slice.copies));
            CHECK_CL(clSetKernelArg(kernel, 6, sizeof(cl_mem), &rows));
            const auto row_count = static_cast<cl_uint>(plan.groups);
            CHECK_CL(clSetKernelArg(sum, 0, sizeof(cl_mem), &rows));
            CHECK_CL(clSetKernelArg(sum, 1, sizeof row_count, &row_count));
            CHECK_CL(clSetKernelArg(sum, 5, sizeof(cl_mem), &histogram));
            for (bins::Slice slice = plan.slice; slice.from < values.bins;
                 slice.from += slice.counters) {
                CHECK_CL(clSetKernelArg(kernel, 3, sizeof slice.from, &slice.from));
                CHECK_CL(clSetKernelArg(kernel, 4, sizeof slice.counters, &slice.counters));
                enqueue(kernel, plan.groups * group_size, group_size);
                const cl_uint parts = bins::parts(slice.counters, row_count);
                CHECK_CL(clSetKernelArg(sum, 2, sizeof slice.counters, &slice.counters));
                CHECK_CL(clSetKernelArg(sum, 3, sizeof parts, &parts));
                CHECK_CL(clSetKernelArg(sum, 4, sizeof slice.from, &slice.from));
                // One size of group for all tables: it is compiled once.
                const std::size_t size = std::min<std::size_t>(64, limits.max_group_size);
                const std::size_t items = std::size_t{slice.counters} * parts;
                last = enqueue(sum, (items + size - 1) / size * size, size);
            }
            return last;
        };
        const auto poison_both = [&] {
            poison(queue, histogram, histogram_bytes);
            if (rows_bytes > 0) poison(queue, rows, rows_bytes);
        };
        lesson.examine(
            variant, {plan.groups, group_size},
            plan.unsupported_reason.empty() ? unsupported_reason(kernel, device, group_size)
                                            : plan.unsupported_reason,
            poison_both, [&](Histogram& result) { return zero_and_count(count, result); },
            plan.text());
    }

    // 8. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
