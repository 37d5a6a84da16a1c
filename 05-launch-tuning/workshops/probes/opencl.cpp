// Small kernels that each measure one thing, in OpenCL: what additions to few counters cost, how
// long an answer takes, and what counting adds to reading. The kernels are in probes.cl; cuda.cu
// does the same in CUDA, in the same steps.
//
// Run it:  build/05-launch-tuning/workshops/probes/opencl --random 1M --variant contention
// --counters 1024

#include "05-launch-tuning/workshops/opencl.hpp"
#include "05-launch-tuning/workshops/probes/answers.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::opencl;

const Program kProgram = probes::program("workshops/probes/opencl", "OpenCL");

int main(int argc, char** argv) try {
    // 1. What is asked for, and the pixels.
    Lesson lesson(argc, argv, kProgram);
    const cl_ulong pixel_count = lesson.pixels.size();
    if (pixel_count == 0 && !lesson.options.list_devices) throw BadInput("there are no pixels");
    const Options& asked = lesson.options;
    const unsigned bytes = asked.number("bytes").value_or(16);
    const unsigned loads = asked.number("loads").value_or(1);
    const unsigned counted = asked.number("counted").value_or(loads == 1 ? bytes : 0);

    // 2. The device, and the launch: two groups for each compute unit, 256 work-items in each.
    const cl_device_id device = choose_device(lesson);
    const std::size_t group_size = lesson.group_size(256, max_work_group_size(device));
    const std::size_t groups = lesson.groups(2 * compute_units(device));

    // 3. Where its commands go: a queue that notes when each began and ended.
    const Context context = context_of(device);
    const Queue queue = queue_of(context, device, profiling(device));
    lesson.read_ceiling([&] { return read_ceiling_gb_s(context, queue, pixel_count); });

    // 4. The kernels. They are compiled now, with the numbers as constants.
    const char* source = lesson.kernel_file("probes.cl");
    std::string constants;
    for (const auto& [name, value] :
         std::map<std::string, unsigned>{{"BYTES", bytes}, {"LOADS", loads}, {"COUNTED", counted}})
        constants += "-D" + name + "=" + std::to_string(value) + " ";
    const auto build = [&](const char* name) {
        return compiled(context, device, source, constants, name);
    };

    // 5. What the probes share: the pixels. Each zeroes the words of its answer, which does not
    //    count, runs, and reads them.
    const Buffer pixels = buffer_of(context, CL_MEM_READ_ONLY, pixel_count);
    const std::size_t items = groups * group_size;
    const cl_uint zero = 0;

    // 6. contention: the counters lie so many words apart.
    if (lesson.wants("contention")) {
        const cl_uint counters = asked.number("counters").value_or(256), mask = counters - 1;
        const cl_uint spacing = asked.number("spacing").value_or(4) / 4;
        const cl_uint together = asked.number("together").value_or(1);
        const std::vector<std::uint32_t> expected = probes::chosen(pixel_count, counters, together);
        std::vector<cl_uint> read(counters * spacing);
        const std::size_t answer_bytes = read.size() * sizeof zero;
        const Buffer answer = buffer_of(context, CL_MEM_READ_WRITE, answer_bytes);
        const Kernel kernel = build("contention");
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof pixel_count, &pixel_count));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof mask, &mask));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof spacing, &spacing));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof together, &together));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &answer));
        Runs runs = lesson.runs("contention", {groups, group_size},
                                unsupported_reason(kernel, device, group_size));
        while (runs.next()) {
            poison(queue, answer, answer_bytes);
            runs.begin();
            CHECK_CL(clEnqueueFillBuffer(queue, answer, &zero, sizeof zero, 0, answer_bytes, 0,
                                         nullptr, nullptr));
            Event ran;
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &group_size, 0,
                                            nullptr, ran.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, answer, CL_TRUE, 0, answer_bytes, read.data(), 0,
                                         nullptr, nullptr));
            runs.end(elapsed_ms(ran, ran));
            runs.wrong = probes::verdict(probes::every_nth(read, spacing) == expected);
        }
    }

    // 7. chase: one work-item, from where the run before has ended.
    if (lesson.wants("chase",
                     pixel_count % 128 == 0 ? "" : "the bytes are not whole lines of 128")) {
        const probes::Chain chain = probes::chain_through(pixel_count);
        std::size_t hops = 0;
        const Buffer next = buffer_of(context, CL_MEM_READ_ONLY, pixel_count, chain.next.data());
        const Buffer at =
            buffer_of(context, CL_MEM_READ_WRITE, sizeof(cl_uint), chain.order.data());
        const Kernel kernel = build("chase");
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &next));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof probes::kHops, &probes::kHops));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &at));
        Runs runs = lesson.runs("chase", {1, 1}, unsupported_reason(kernel, device, 1));
        while (runs.next()) {
            const std::size_t one = 1;
            cl_uint reached = 0;
            runs.begin();
            Event ran;
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr,
                                            ran.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, at, CL_TRUE, 0, sizeof reached, &reached, 0,
                                         nullptr, nullptr));
            runs.end(elapsed_ms(ran, ran));
            hops += probes::kHops;
            runs.wrong = probes::verdict(reached == chain.order[hops % chain.order.size()]);
        }
    }

    // 8. read: compiled for one kind of load.
    if (lesson.wants("read", probes::cannot_read(pixel_count, bytes, loads, counted))) {
        const auto expected = probes::read_in_loads(lesson.pixels, bytes, counted);
        std::vector<cl_uint> read(kBins + 1);
        const std::size_t answer_bytes = read.size() * sizeof zero;
        const Buffer answer = buffer_of(context, CL_MEM_READ_WRITE, answer_bytes);
        const cl_ulong load_count = pixel_count / bytes;
        const Kernel kernel = build("read");
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof load_count, &load_count));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &answer));
        Runs runs = lesson.runs("read", {groups, group_size},
                                unsupported_reason(kernel, device, group_size));
        while (runs.next()) {
            poison(queue, answer, answer_bytes);
            runs.begin();
            if (runs.copies_in())
                CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_TRUE, 0, pixel_count,
                                              lesson.pixels.data(), 0, nullptr, nullptr));
            CHECK_CL(clEnqueueFillBuffer(queue, answer, &zero, sizeof zero, 0, answer_bytes, 0,
                                         nullptr, nullptr));
            Event ran;
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &group_size, 0,
                                            nullptr, ran.out()));
            CHECK_CL(clEnqueueReadBuffer(queue, answer, CL_TRUE, 0, answer_bytes, read.data(), 0,
                                         nullptr, nullptr));
            runs.end(elapsed_ms(ran, ran));
            runs.wrong = probes::verdict(read == expected);
        }
    }

    // 9. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
