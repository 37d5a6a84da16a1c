// A histogram for each of many pictures, in OpenCL. The kernels are in histogram.cl.
//
//   one-by-one  a launch for each picture, and the host waits each time
//   queued      the same launches without waiting
//   group-each  one launch, a group for each picture
//
// Run it:  build/05-launch-tuning/workshops/many/opencl --random 250M --side 512
//
// cuda.cu does the same in CUDA, in the same steps.

#include "05-launch-tuning/workshops/opencl.hpp"
#include "05-launch-tuning/workshops/many/pictures.hpp"
#include "common/lesson.hpp"

using namespace common;
using namespace common::opencl;

const std::vector<std::string> kStrategies{"one-by-one", "queued", "group-each"};
const Program kProgram{"05-launch-tuning",
                       "workshops/many/opencl",
                       "OpenCL",
                       "a histogram for each of many pictures",
                       {{"one-by-one", "a launch for each picture, and the host waits each time"},
                        {"queued", "a launch for each picture, without waiting"},
                        {"group-each", "one launch, a group for each picture"}},
                       {{"copies", {"4", "32"}, "copies of a group's table", kStrategies},
                        {"loads", {"1", "2"}, "loads under way at once", kStrategies}}};

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

    // 4. The kernels: the lesson's, and behind them these. Each is compiled when it is wanted, for
    //    a size of group, copies of its table and loads under way.
    const char* source = lesson.kernel_file("histogram.cl", "../../histogram.cl");
    const auto build = [&](const char* name, const many::Launch& launch) {
        const std::string options = side_by_side(launch.group_size, 1).macros() + launch.macros();
        return compiled(context, device, source, options, name);
    };

    // 5. What the strategies share: the pixels on the device, where each picture begins, a row for
    //    each; and totals, which are zero between two launches. (Without 64-bit atomics there are
    //    no totals, and rows are zeroed.)
    const bool in_one = has_extension(device, "cl_khr_int64_base_atomics");
    const many::Launches launches = many::launches(batch, lesson.options, limits);
    std::vector<cl_ulong> zeros(kTotalWords);
    const std::size_t rows_bytes = batch.size() * sizeof(Histogram);
    const Buffer pixels = buffer_of(context, CL_MEM_READ_ONLY, batch.bytes());
    const Buffer first = buffer_of(context, CL_MEM_READ_ONLY, batch.first.size() * sizeof(cl_ulong),
                                   batch.first.data());
    const Buffer rows = buffer_of(context, CL_MEM_READ_WRITE, rows_bytes);
    Buffer totals;
    if (in_one) {
        totals =
            buffer_of(context, CL_MEM_READ_WRITE, zeros.size() * sizeof(cl_ulong), zeros.data());
    }
    lesson.copy_in = [&] {  // `examine` calls it
        if (lesson.pixels.empty()) return;
        CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, 0, lesson.pixels.size(),
                                      lesson.pixels.data(), 0, nullptr, nullptr));
    };
    // The totals are not filled with a pattern before a run, as the rows are. In place of that the
    // program checks that the run before has left zeros.
    const auto poison_and_check = [&] {
        poison(queue, rows, rows_bytes);
        if (!in_one) return;
        std::vector<cl_ulong> words(zeros.size());
        CHECK_CL(clEnqueueReadBuffer(queue, totals, CL_TRUE, 0, words.size() * sizeof(cl_ulong),
                                     words.data(), 0, nullptr, nullptr));
        if (words != zeros)
            throw std::runtime_error("the last launch did not leave its totals at zero");
    };
    // The first and the last command of a run, which may be one.
    struct Commands {
        Event first, last;
        void note(Event one) { (first == nullptr ? first : last) = std::move(one); }
    };
    const auto zero_row = [&](std::size_t row, Commands& commands) {
        if (in_one) return;
        const cl_uint zero = 0;
        Event zeroed;
        CHECK_CL(clEnqueueFillBuffer(queue, rows, &zero, sizeof zero, row * sizeof(Histogram),
                                     sizeof(Histogram), 0, nullptr, zeroed.out()));
        commands.note(std::move(zeroed));
    };
    const auto enqueue = [&](cl_kernel kernel, const many::Launch& launch, Commands& commands) {
        const std::size_t global_size = launch.groups * launch.group_size;
        Event counted;
        CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &launch.group_size,
                                        0, nullptr, counted.out()));
        commands.note(std::move(counted));
    };
    std::vector<cl_uint> counted(batch.size() * kBins);
    const auto examine = [&](const char* variant, const many::Launch& launch,
                             const std::string& unsupported, const auto& count) {
        lesson.examine(
            variant, {launch.groups, launch.group_size}, unsupported, poison_and_check,
            [&](Histogram& result) {
                Commands commands;
                count(commands);
                CHECK_CL(clEnqueueReadBuffer(queue, rows, CL_TRUE, 0, rows_bytes, counted.data(), 0,
                                             nullptr, nullptr));
                batch.judge(counted.data(), result);
                return elapsed_ms(commands.first,
                                  commands.last == nullptr ? commands.first : commands.last);
            },
            launch.text());
    };

    // 6. one-by-one and queued: a launch for each picture, of as many groups as have work. It
    //    zeroes, counts and finishes, as chapter 05's `tuned` does. The host waits for each, or for
    //    the last.
    for (const bool waits : {true, false}) {
        const char* const variant = waits ? "one-by-one" : "queued";
        if (!lesson.wants(variant)) continue;
        const Kernel kernel = build("histogram_picture", launches.one);
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), in_one ? &totals : nullptr));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &rows));
        examine(variant, launches.one, unsupported_reason(kernel, device, launches.one.group_size),
                [&](Commands& commands) {
                    for (cl_ulong p = 0; p < batch.size(); ++p) {
                        zero_row(p, commands);
                        CHECK_CL(clSetKernelArg(kernel, 1, sizeof(cl_ulong), &batch.first[p]));
                        CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_ulong), &batch.first[p + 1]));
                        CHECK_CL(clSetKernelArg(kernel, 5, sizeof p, &p));
                        enqueue(kernel, launches.one, commands);
                        if (waits) CHECK_CL(clFinish(queue));
                    }
                });
    }

    // 7. group-each: one launch, a group for each picture, whose row nobody else writes.
    if (lesson.wants("group-each")) {
        const cl_ulong count = batch.size();
        const Kernel kernel = build("histogram_group_each", launches.each);
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof(cl_mem), &first));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof count, &count));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), &rows));
        examine("group-each", launches.each,
                unsupported_reason(kernel, device, launches.each.group_size),
                [&](Commands& commands) { enqueue(kernel, launches.each, commands); });
    }

    // 8. The table, and the exit status that tells the truth.
    return lesson.finish();
} catch (...) {
    return report_exception(kProgram);
}
