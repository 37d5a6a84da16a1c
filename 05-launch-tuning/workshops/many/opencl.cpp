// A histogram for each of many pictures, in OpenCL. The kernels are in histogram.cl.
//
//   one-by-one  a launch for each picture, and the host waits each time
//   queued      the same launches without waiting
//   group-each  one launch, a group for each picture
//
// Run it:  build/05-launch-tuning/workshops/many/opencl --random 250M --side 512
//
// cuda.cu does the same in CUDA, in the same steps.

#include "05-launch-tuning/workshops/many/pictures.hpp"
#include "05-launch-tuning/workshops/tuned_opencl.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::opencl;

const Program kProgram{"05-launch-tuning",
                       "workshops/many/opencl",
                       "OpenCL",
                       "a histogram for each of many pictures",
                       {{"one-by-one", "a launch for each picture, and the host waits each time"},
                        {"queued", "a launch for each picture, without waiting"},
                        {"group-each", "one launch, a group for each picture"}},
                       {{"copies", {"4", "32"}, "copies of a group's table", {"group-each"}},
                        {"loads", {"1", "2"}, "loads under way at once", {"group-each"}}}};

int main(int argc, char** argv) try {
    // 1. What is asked for, the pictures, where each begins, and the right answer for each.
    many::Batch batch;
    Lesson lesson(
        argc, argv, kProgram, [&](CLI::App& app) { batch.add_options(app); },
        [&](const Options& options) { return batch.load(options); });

    // 2. The device.
    const cl_device_id device = choose_device(lesson);
    require_memory(device, batch.bytes());
    const DeviceLimits limits = limits_of(device);
    lesson.group_size(1, limits.max_group_size);  // it refuses a --group-size that is too large

    // 3. Where its commands go: a context for the device, and a queue that keeps their order and
    //    notes when each began and ended. Each is released at the end of its scope.
    const Context context = context_of(device);
    const Queue queue = queue_of(context, device, profiling(device));
    lesson.read_ceiling([&] { return read_ceiling_gb_s(context, queue, lesson.pixels.size()); });

    // 4. The kernels: the lesson's, of which `tuned` counts a picture alone, and behind them ours.
    //    Each is compiled when it is wanted, for a size of group, copies of its table and loads.
    const char* source = lesson.kernel_file("histogram.cl", "../../histogram.cl");
    Tuned tuned(context, device, source);

    // 5. What the strategies share: the pixels on the device, where each picture begins, and a row
    //    for each, which is a buffer of its own, too.
    const std::size_t rows_bytes = batch.size() * sizeof(Histogram);
    const Buffer pixels = buffer_of(context, CL_MEM_READ_ONLY, batch.bytes());
    const Buffer first = buffer_of(context, CL_MEM_READ_ONLY, batch.first.size() * sizeof(cl_ulong),
                                   batch.first.data());
    const Buffer rows = buffer_of(context, CL_MEM_READ_WRITE, rows_bytes);
    const std::vector<Buffer> row_of = rows_of(rows, batch.size());
    lesson.copy_in = [&] {  // `examine` calls it
        if (lesson.pixels.empty()) return;
        CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, lesson.pixels.size(),
                                      lesson.pixels.data(), 0, nullptr, nullptr));
    };
    std::vector<cl_uint> counted(batch.size() * kBins);
    // `count` returns the commands that it begins and ends with.
    const auto examine = [&](const char* variant, const many::Launch& launch, cl_kernel kernel,
                             const auto& count) {
        lesson.examine(
            variant, {launch.groups, launch.group_size},
            unsupported_reason(kernel, device, launch.group_size),
            [&] { poison(queue, rows, rows_bytes); },
            [&](Histogram& result) {
                const auto& [begin, end] = count();
                CHECK_CL(clEnqueueReadBuffer(queue, rows, CL_TRUE, 0, rows_bytes, counted.data(), 0,
                                             nullptr, nullptr));
                batch.judge(counted.data(), result);
                return elapsed_ms(begin, end == nullptr ? begin : end);
            },
            launch.text());
    };

    // 6. one-by-one and queued: a launch of `tuned` for each picture, of as many groups as have
    //    work. The host waits for each, or for the last.
    many::Launch alone{many::kAlone};
    alone.group_size = lesson.group_size(alone.group_size, limits.max_group_size);
    const std::size_t mean = batch.bytes() / batch.size();
    alone.groups =
        lesson.groups(groups_with_work(mean, alone.group_size, 16 * alone.loads, 2 * limits.units));
    for (const bool waits : {true, false}) {
        const char* const variant = waits ? "one-by-one" : "queued";
        if (!lesson.wants(variant)) continue;
        examine(variant, alone, tuned.built(alone), [&] {
            std::pair<Event, Event> commands;
            for (std::size_t p = 0; p < batch.size(); ++p) {
                Tuned::Commands now =
                    tuned.enqueue(queue, alone, alone.groups, pixels, batch.first[p],
                                  batch.first[p + 1] - batch.first[p], row_of[p]);
                if (p == 0) commands.first = std::move(now.first != nullptr ? now.first : now.last);
                if (now.last != nullptr) commands.second = std::move(now.last);
                if (waits) CHECK_CL(clFinish(queue));
            }
            return commands;
        });
    }

    // 7. group-each: one launch, a group for each picture, whose row nobody else writes.
    if (lesson.wants("group-each")) {
        const many::Launch launch = many::launch_of_all(batch, lesson.options, limits);
        const cl_ulong count = batch.size();
        const Kernel kernel = compiled(
            context, device, source, side_by_side(launch.group_size, 1).macros() + launch.macros(),
            "histogram_group_each");
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof(cl_mem), &first));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof count, &count));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), &rows));
        examine("group-each", launch, kernel, [&] {
            std::pair<Event, Event> commands;
            const std::size_t global_size = launch.groups * launch.group_size;
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size,
                                            &launch.group_size, 0, nullptr, commands.first.out()));
            return commands;
        });
    }

    // 8. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
