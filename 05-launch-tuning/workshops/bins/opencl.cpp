// More bins than 256, in OpenCL: of interleaved colours, and of pixels of 16 bits. The kernels are
// in histogram.cl.
//
//   global  one table in global memory
//   local   a table for each group in local memory, as long as it fits
//   passes  a slice of the table at a time, and all pixels are read for each
//
// Run it:  build/05-launch-tuning/workshops/bins/opencl --random 100M                # RGB
//          build/05-launch-tuning/workshops/bins/opencl --random 100M --bins 65536   # 16 bits
//
// cuda.cu does the same in CUDA, in the same steps.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "05-launch-tuning/workshops/bins/values.hpp"
#include "common/histogram/histogram.hpp"
#include "common/opencl/opencl.hpp"
#include "common/options/options.hpp"
#include "common/process/exit_status.hpp"
#include "common/process/terminal.hpp"
#include "common/report/report.hpp"
#include "common/run/run.hpp"
#include "common/verify/verify.hpp"

const common::Program kProgram{
    "05-launch-tuning",
    "workshops/bins/opencl",
    "OpenCL",
    "more bins than 256: of colours, and of pixels of 16 bits",
    {{"global", "one table in global memory"},
     {"local", "a table for each group in local memory, as long as it fits"},
     {"passes", "a slice of the table at a time"}},
    {{"channels", {"3", "4"}, "interleaved RGB (as usual) or RGBA", {"global", "local", "passes"}},
     {"passes", {"2", "4", "8"}, "slices of the table", {"passes"}}}};

// One command line, from what is asked for to the table.
static int run(int argc, const char* const* argv, const common::Output& output) {
    // 1. What is asked for.
    bins::ValueOptions asked;
    const common::Options options = bins::parse_options(argc, argv, kProgram, asked);
    if (options.list_devices) {
        common::print(common::opencl::list(common::opencl::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The values, and the right answer.
    const bins::Values values = bins::load(options, asked);
    const std::size_t value_bytes = values.value_bytes();

    // 3. The device.
    const common::opencl::Device device = common::opencl::choose_device(options.device);
    common::opencl::require_group_size(device.id, options.group_size.value_or(1));
    common::opencl::require_memory(device.id, values.bytes_on_device());
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
    common::Report report(output, kProgram, options, values.input, values.sum, device.name,
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
            common::opencl::read_ceiling_gb_s(context, queue, values.bytes().size()));

    // 6. What the strategies share: the values on the device and the histogram, the kernels, and
    //    how a strategy is examined. What is added up needs the time of zeroing, too.
    const auto make = [&](cl_mem_flags flags, std::size_t bytes) {
        common::opencl::Buffer buffer = clCreateBuffer(
            context, flags, std::max<std::size_t>(bytes, sizeof(cl_uint)), nullptr, &error);
        CHECK_CL(error, "clCreateBuffer");
        return buffer;
    };
    const std::size_t histogram_bytes = values.counters() * sizeof(cl_uint);
    const common::opencl::Buffer pixels = make(CL_MEM_READ_ONLY, values.bytes_on_device());
    const common::opencl::Buffer histogram = make(CL_MEM_READ_WRITE, histogram_bytes);
    const std::string source =
        common::read_kernel_file("histogram.cl", CHAPTER_FOLDER "/workshops/bins", options.kernels);
    const auto kernel_for = [&](const char* name, const bins::Plan& plan) {
        // A table that does not fit is not compiled either.
        const std::size_t words = plan.local_bytes() / 4;
        const std::string macros =
            "-DCHANNELS=" + std::to_string(values.channels) +
            " -DGROUP_SIZE=" + std::to_string(plan.group_size) + " -DTABLE_WORDS=" +
            std::to_string(plan.unsupported_reason.empty() ? words
                                                           : std::min<std::size_t>(words, 1)) +
            " -DWHOLE=" + (plan.slices == 1 ? "1" : "0");
        const common::opencl::ProgramObject program =
            common::opencl::build_program(context, device.id, "histogram.cl", source, macros);
        common::opencl::Kernel kernel = clCreateKernel(program, name, &error);
        CHECK_CL(error, name);
        return kernel;
    };
    const auto enqueue = [&](cl_kernel kernel, std::size_t items, const std::size_t* group_size) {
        common::opencl::Event counted;
        CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, group_size, 0, nullptr,
                                        counted.out()));
        return counted;
    };
    const auto examine = [&](const std::string& variant, const bins::Plan& plan, cl_kernel kernel,
                             const common::opencl::Buffer& rows, std::size_t rows_bytes,
                             const auto& count) {
        std::vector<std::uint32_t> counted(values.counters());
        common::Result timed = common::verify_and_time(
            variant, values.sum, options.repeat,
            {.poison =
                 [&] {
                     common::opencl::poison(queue, histogram, histogram_bytes);
                     if (rows_bytes > 0) common::opencl::poison(queue, rows, rows_bytes);
                 },
             .copy_in =
                 [&] {
                     if (values.count() == 0) return;
                     CHECK_CL(clEnqueueWriteBuffer(
                         queue, pixels, CL_FALSE, values.offset * value_bytes,
                         values.bytes().size(), values.bytes().data(), 0, nullptr, nullptr));
                 },
             .run =
                 [&](common::Histogram& result) {
                     const cl_uint zero = 0;
                     common::opencl::Event zeroed;
                     CHECK_CL(clEnqueueFillBuffer(queue, histogram, &zero, sizeof zero, 0,
                                                  histogram_bytes, 0, nullptr, zeroed.out()));
                     const common::opencl::Event last = count();
                     CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, histogram_bytes,
                                                  counted.data(), 0, nullptr, nullptr));
                     values.judge(counted, result);
                     return common::opencl::elapsed_ms(zeroed, last);
                 },
             .launch = {plan.groups, plan.group_size},
             .unsupported_reason =
                 plan.unsupported_reason.empty()
                     ? common::opencl::unsupported_reason(kernel, device.id, plan.group_size)
                     : plan.unsupported_reason});
        timed.launch_text = plan.text();
        report.add(std::move(timed));
    };
    const auto set_values = [&](cl_kernel kernel) {
        const cl_ulong count = values.count();
        CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &pixels));
        CHECK_CL(clSetKernelArg(kernel, 1, sizeof values.offset, &values.offset));
        CHECK_CL(clSetKernelArg(kernel, 2, sizeof count, &count));
        CHECK_CL(clSetKernelArg(kernel, 3, sizeof values.bins, &values.bins));
        CHECK_CL(clSetKernelArg(kernel, 4, sizeof values.shift, &values.shift));
    };

    // 7. global: every value is an atomic addition in global memory.
    if (options.wants("global")) {
        const bins::Plan plan = bins::plan("global", values, options, limits);
        const common::opencl::Kernel kernel = kernel_for("histogram_global", plan);
        set_values(kernel);
        CHECK_CL(clSetKernelArg(kernel, 5, sizeof(cl_mem), &histogram));
        examine("global", plan, kernel, histogram, 0,
                [&] { return enqueue(kernel, plan.groups * plan.group_size, &plan.group_size); });
    }

    // 8. local and passes: a launch for each slice of the table, of which local has one. Each group
    //    writes a row, and a second kernel adds the rows up.
    for (const std::string& variant : std::vector<std::string>{"local", "passes"}) {
        if (!options.wants(variant)) continue;
        bins::Plan plan = bins::plan(variant, values, options, limits);
        const common::opencl::Kernel kernel = kernel_for("histogram_local", plan);
        const common::opencl::Kernel sum = kernel_for("histogram_sum", plan);
        std::size_t rows_bytes = plan.groups * plan.slice.counters * sizeof(cl_uint);
        if (plan.unsupported_reason.empty())
            plan.unsupported_reason = common::opencl::no_room(device.id, rows_bytes);
        if (!plan.unsupported_reason.empty()) rows_bytes = 0;
        const common::opencl::Buffer rows = make(CL_MEM_READ_WRITE, rows_bytes);
        examine(variant, plan, kernel, rows, rows_bytes, [&] {
            common::opencl::Event last;
            set_values(kernel);
            CHECK_CL(clSetKernelArg(kernel, 7, sizeof plan.slice.copies, &plan.slice.copies));
            CHECK_CL(clSetKernelArg(kernel, 8, sizeof(cl_mem), &rows));
            const auto row_count = static_cast<cl_uint>(plan.groups);
            CHECK_CL(clSetKernelArg(sum, 0, sizeof(cl_mem), &rows));
            CHECK_CL(clSetKernelArg(sum, 1, sizeof row_count, &row_count));
            CHECK_CL(clSetKernelArg(sum, 5, sizeof(cl_mem), &histogram));
            for (bins::Slice slice = plan.slice; slice.from < values.counters();
                 slice.from += slice.counters) {
                slice.counters = std::min(slice.counters, values.counters() - slice.from);
                CHECK_CL(clSetKernelArg(kernel, 5, sizeof slice.from, &slice.from));
                CHECK_CL(clSetKernelArg(kernel, 6, sizeof slice.counters, &slice.counters));
                enqueue(kernel, plan.groups * plan.group_size, &plan.group_size);
                const cl_uint parts = bins::parts(slice.counters, row_count);
                CHECK_CL(clSetKernelArg(sum, 2, sizeof slice.counters, &slice.counters));
                CHECK_CL(clSetKernelArg(sum, 3, sizeof parts, &parts));
                CHECK_CL(clSetKernelArg(sum, 4, sizeof slice.from, &slice.from));
                // One size of group for all tables: it is compiled once.
                const std::size_t size = std::min<std::size_t>(64, limits.max_group_size);
                const std::size_t items = std::size_t{slice.counters} * parts;
                last = enqueue(sum, (items + size - 1) / size * size, &size);
            }
            return last;
        });
    }

    // 9. The table, and the exit status that tells the truth.
    return report.finish();
}

int main(int argc, char** argv) {
    return common::run_program(argc, argv, kProgram, run);
}
