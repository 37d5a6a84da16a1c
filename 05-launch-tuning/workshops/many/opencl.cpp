// A histogram for each of many pictures, in OpenCL. The kernels are in histogram.cl.
//
//   one-by-one  a launch for each picture, and the host waits each time
//   queued      the same launches without waiting
//   group-each  one launch, a group for each picture
//   shared-out  one launch, an even share of all pixels for each group
//
// Run it:  build/05-launch-tuning/workshops/many/opencl --pictures 1000 --side 512
//          build/05-launch-tuning/workshops/many/opencl --pictures 1000 --side 64..2048
//          build/05-launch-tuning/workshops/many/opencl FOLDER --csv counts.csv
//
// cuda.cu does the same in CUDA, in the same steps.

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "05-launch-tuning/workshops/many/pictures.hpp"
#include "common/files/output_file.hpp"
#include "common/histogram/histogram.hpp"
#include "common/inputs/inputs.hpp"
#include "common/opencl/opencl.hpp"
#include "common/options/options.hpp"
#include "common/process/exit_status.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/report.hpp"
#include "common/run/run.hpp"
#include "common/verify/verify.hpp"

using common::Histogram;

const std::vector<std::string> kStrategies{"one-by-one", "queued", "group-each", "shared-out"};
const common::Program kProgram{
    "05-launch-tuning",
    "workshops/many/opencl",
    "OpenCL",
    "a histogram for each of many pictures",
    {{"one-by-one", "a launch for each picture, and the host waits each time"},
     {"queued", "a launch for each picture, without waiting"},
     {"group-each", "one launch, a group for each picture"},
     {"shared-out", "one launch, an even share of all pixels for each group"}},
    {{"copies", {"1", "4", "8", "32"}, "copies of a group's table", kStrategies},
     {"loads", {"1", "2", "4"}, "loads under way at once", kStrategies}}};

// One command line, from what is asked for to the table.
static int run(int argc, const char* const* argv, const common::Output& output) {
    // 1. What is asked for.
    many::PictureOptions pictures;
    const common::Options options = many::parse_options(argc, argv, kProgram, pictures);
    if (options.list_devices) {
        common::print(common::opencl::list(common::opencl::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The pictures, where each begins, and the right answer for each.
    common::Input input;
    many::Batch batch;
    many::load(options, pictures, input, batch);

    // 3. The device.
    const common::opencl::Device device = common::opencl::choose_device(options.device);
    common::opencl::require_group_size(device.id, options.group_size.value_or(1));
    common::opencl::require_memory(device.id, batch.bytes());
    cl_ulong local_bytes = 0;
    CHECK_CL(clGetDeviceInfo(device.id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes,
                             nullptr));
    const DeviceLimits limits{.api = "OpenCL",
                              .device = device.name,
                              .driver = device.driver_line(),
                              .cpu = (device.type & CL_DEVICE_TYPE_CPU) != 0,
                              .units = common::opencl::compute_units(device.id),
                              .max_group_size = common::opencl::max_work_group_size(device.id),
                              .local_bytes = local_bytes};
    common::Report report(output, kProgram, options, input, batch.sum, device.name,
                          device.driver_line());

    // 4. Where its commands go: a queue that keeps their order and notes when each began and ended.
    //    It is released at the end of its scope.
    const common::opencl::Context context = common::opencl::context_for(device.id);
    cl_int error = CL_SUCCESS;
    const common::opencl::Queue queue =
        clCreateCommandQueue(context, device.id, common::opencl::profiling(device.id), &error);
    CHECK_CL(error, "clCreateCommandQueue");

    // 5. The read ceiling: how fast this device's memory gives pixels to a kernel that only reads.
    if (options.read_ceiling)
        report.set_read_ceiling(
            common::opencl::read_ceiling_gb_s(context, queue, input.pixels.size()));

    // 6. What the strategies share: the pixels on the device, where each picture begins, a row for
    //    each; the places of the shares; and totals, which are zero between two launches.
    //    (Without 64-bit atomics there are no totals, and rows are zeroed.)
    const bool in_one = common::opencl::has_extension(device.id, "cl_khr_int64_base_atomics");
    const many::Launches launches = many::launches(batch, options, limits);
    const std::vector<many::Place> shares = many::share_out(batch.first, launches.shared.groups);
    const std::vector<cl_ulong> zeros(std::max<std::size_t>(16, shares.size()) * common::kBins);
    const std::size_t rows_bytes = batch.size() * sizeof(Histogram);
    const auto make = [&](cl_mem_flags flags, std::size_t bytes, const void* from) {
        common::opencl::Buffer buffer =
            clCreateBuffer(context, flags | (from != nullptr ? CL_MEM_COPY_HOST_PTR : 0),
                           std::max<std::size_t>(bytes, 1), const_cast<void*>(from), &error);
        CHECK_CL(error, "clCreateBuffer");
        return buffer;
    };
    const common::opencl::Buffer pixels = make(CL_MEM_READ_ONLY, batch.bytes(), nullptr);
    const common::opencl::Buffer first =
        make(CL_MEM_READ_ONLY, batch.first.size() * sizeof(cl_ulong), batch.first.data());
    const common::opencl::Buffer rows = make(CL_MEM_READ_WRITE, rows_bytes, nullptr);
    const common::opencl::Buffer places =
        make(CL_MEM_READ_ONLY, shares.size() * sizeof(many::Place), shares.data());
    common::opencl::Buffer totals;
    if (in_one) totals = make(CL_MEM_READ_WRITE, zeros.size() * sizeof(cl_ulong), zeros.data());
    const auto copy_in = [&] {
        if (batch.pixels.empty()) return;
        CHECK_CL(clEnqueueWriteBuffer(queue, pixels, CL_FALSE, batch.first.front(),
                                      batch.pixels.size(), batch.pixels.data(), 0, nullptr,
                                      nullptr));
    };
    const auto poison_and_check = [&] {
        common::opencl::poison(queue, rows, rows_bytes);
        if (!in_one) return;
        std::vector<cl_ulong> words(zeros.size());
        CHECK_CL(clEnqueueReadBuffer(queue, totals, CL_TRUE, 0, words.size() * sizeof(cl_ulong),
                                     words.data(), 0, nullptr, nullptr));
        if (words != zeros)
            throw std::runtime_error("the last launch did not leave its totals at zero");
    };
    // The lesson's kernels, and behind them these.
    const std::string folder = CHAPTER_FOLDER "/workshops/many";
    const std::string source = common::read_kernel_file("../../histogram.cl", folder) +
                               "#line 1 \"histogram.cl\"\n" +
                               common::read_kernel_file("histogram.cl", folder, options.kernels);
    std::map<std::string, common::opencl::Kernel> built;
    const auto kernel_for = [&](const char* name, const many::Launch& launch) -> cl_kernel {
        common::opencl::Kernel& kernel = built[name + launch.macros()];
        if (kernel == nullptr) {
            const common::opencl::ProgramObject program = common::opencl::build_program(
                context, device.id, "histogram.cl", source, launch.macros());
            kernel = clCreateKernel(program, name, &error);
            CHECK_CL(error, name);
        }
        return kernel;
    };
    // The first and the last command of a run.
    struct Commands {
        common::opencl::Event begin, end;
        void note(common::opencl::Event command) {
            (begin == nullptr ? begin : end) = std::move(command);
        }
        [[nodiscard]] cl_event last() const { return end == nullptr ? begin : end; }
    };
    const auto zero_rows = [&](std::size_t from, std::size_t count, Commands& commands) {
        if (in_one) return;
        const cl_uint zero = 0;
        common::opencl::Event zeroed;
        CHECK_CL(clEnqueueFillBuffer(queue, rows, &zero, sizeof zero, from * sizeof(Histogram),
                                     count * sizeof(Histogram), 0, nullptr, zeroed.out()));
        commands.note(std::move(zeroed));
    };
    const auto enqueue = [&](cl_kernel kernel, const many::Launch& launch, Commands& commands) {
        const std::size_t global_size = launch.groups * launch.group_size;
        common::opencl::Event counted;
        CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &launch.group_size,
                                        0, nullptr, counted.out()));
        commands.note(std::move(counted));
    };
    const auto examine = [&](const char* variant, const many::Launch& launch, cl_kernel kernel,
                             const auto& count) {
        std::vector<std::uint32_t> counted(batch.size() * common::kBins);
        common::Result timed = common::verify_and_time(
            variant, batch.sum, options.repeat,
            {.poison = poison_and_check,
             .copy_in = copy_in,
             .run =
                 [&](Histogram& result) {
                     Commands commands;
                     count(commands);
                     CHECK_CL(clEnqueueReadBuffer(queue, rows, CL_TRUE, 0, rows_bytes,
                                                  counted.data(), 0, nullptr, nullptr));
                     batch.judge(counted.data(), result);
                     return common::opencl::elapsed_ms(commands.begin, commands.last());
                 },
             .launch = {launch.groups, launch.group_size},
             .unsupported_reason =
                 common::opencl::unsupported_reason(kernel, device.id, launch.group_size)});
        timed.launch_text = launch.text();
        report.add(std::move(timed));
    };

    // 7. one-by-one and queued: a launch for each picture, of as many groups as have work. It
    //    zeroes, counts and finishes, as chapter 05's `tuned` does. The host waits for each, or for
    //    the last.
    for (const bool waits : {true, false}) {
        const char* const variant = waits ? "one-by-one" : "queued";
        if (!options.wants(variant)) continue;
        const cl_kernel kernel = kernel_for("histogram_picture", launches.one);
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), in_one ? &totals : nullptr));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &rows));
        examine(variant, launches.one, kernel, [&](Commands& commands) {
            for (cl_ulong p = 0; p < batch.size(); ++p) {
                zero_rows(p, 1, commands);
                CHECK_CL(clSetKernelArg(kernel, 1, sizeof(cl_ulong), &batch.first[p]));
                CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_ulong), &batch.first[p + 1]));
                CHECK_CL(clSetKernelArg(kernel, 5, sizeof p, &p));
                enqueue(kernel, launches.one, commands);
                if (waits) CHECK_CL(clFinish(queue));
            }
        });
    }

    // 8. group-each: one launch, a group for each picture, whose row nobody else writes.
    if (options.wants("group-each")) {
        const cl_ulong count = batch.size();
        const cl_kernel kernel = kernel_for("histogram_group_each", launches.each);
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof(cl_mem), &first));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof count, &count));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), &rows));
        examine("group-each", launches.each, kernel,
                [&](Commands& commands) { enqueue(kernel, launches.each, commands); });
    }

    // 9. shared-out: one launch, in which each group has an even share.
    if (options.wants("shared-out")) {
        const cl_kernel kernel = kernel_for("histogram_shared_out", launches.shared);
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof(cl_mem), &first));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof(cl_mem), &places));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), in_one ? &totals : nullptr));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &rows));
        examine("shared-out", launches.shared, kernel, [&](Commands& commands) {
            zero_rows(0, batch.size(), commands);
            enqueue(kernel, launches.shared, commands);
        });
    }

    // 10. The table, a line for each picture, and the exit status that tells the truth.
    const int status = report.finish();
    if (pictures.csv && status == common::kEveryVariantMatches)
        common::write_whole(*pictures.csv, many::csv_text(batch));
    return status;
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
