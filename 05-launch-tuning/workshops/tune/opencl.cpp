// Looks for the best launch of `tuned` in OpenCL: every kernel in every launch that is worth a try,
// checked and timed on three pictures of several sizes. search.cpp decides what is tried and when.
//
// Run it:  build/05-launch-tuning/workshops/tune/opencl
//          build/05-launch-tuning/workshops/tune/opencl --seconds 10
//
// cuda.cu does the same in CUDA, in the same steps.

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "05-launch-tuning/workshops/tune/program.hpp"
#include "05-launch-tuning/workshops/tune/search.hpp"
#include "common/histogram/histogram.hpp"
#include "common/opencl/opencl.hpp"
#include "common/process/exit_status.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#include "common/timing/timing.hpp"

using common::Histogram;

int main(int argc, char** argv) try {
    // 1. What is asked for.
    const tuning::Request request =
        tuning::parse_request(argc, argv, "05-launch-tuning/workshops/tune/opencl");
    if (request.list_devices) {
        common::print(common::opencl::list(common::opencl::devices()));
        return common::kEveryVariantMatches;
    }

    // 2. The device, and what it allows.
    const common::opencl::Device device = common::opencl::choose_device(request.device);
    const auto ask = [&](cl_device_info what) {
        cl_ulong value = 0;
        CHECK_CL(clGetDeviceInfo(device.id, what, sizeof value, &value, nullptr));
        return value;
    };
    const tuning::Space space{{.api = "OpenCL",
                               .device = device.name,
                               .driver = device.driver_line(),
                               .cpu = (device.type & CL_DEVICE_TYPE_CPU) != 0,
                               .units = common::opencl::compute_units(device.id),
                               .max_group_size = common::opencl::max_work_group_size(device.id),
                               .local_bytes = ask(CL_DEVICE_LOCAL_MEM_SIZE)},
                              tuning::all_kernels()};
    const std::vector<std::uint64_t> sizes = tuning::tuned_sizes(
        space.device.cpu,
        std::min(ask(CL_DEVICE_GLOBAL_MEM_SIZE) / 4, ask(CL_DEVICE_MAX_MEM_ALLOC_SIZE)));

    // 3. Where its commands go: a context for the device, and a queue that keeps their order and
    //    notes when each began and ended. Each is released at the end of its scope.
    cl_int error = CL_SUCCESS;
    const common::opencl::Context context =
        clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const common::opencl::Queue queue =
        clCreateCommandQueue(context, device.id, common::opencl::profiling(device.id), &error);
    CHECK_CL(error, "clCreateCommandQueue");

    // 4. The pictures, in the device's memory, and room for the results.
    const tuning::TestPictures pictures = tuning::test_pictures(sizes.back());
    std::array<common::opencl::Buffer, std::tuple_size_v<tuning::TestPictures>> buffers;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        const std::size_t bytes = pictures[i].pixels.size();
        buffers[i] = clCreateBuffer(context, CL_MEM_READ_ONLY, bytes, nullptr, &error);
        CHECK_CL(error, "clCreateBuffer(picture)");
        CHECK_CL(clEnqueueWriteBuffer(queue, buffers[i], CL_TRUE, 0, bytes,
                                      pictures[i].pixels.data(), 0, nullptr, nullptr));
    }
    const bool in_one = common::opencl::has_extension(device.id, "cl_khr_int64_base_atomics");
    std::array<cl_ulong, kTotalWords> zeros{};
    common::opencl::Buffer totals;
    if (in_one) {
        totals = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros,
                                zeros.data(), &error);
        CHECK_CL(error, "clCreateBuffer(totals)");
    }
    const common::opencl::Buffer histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    const common::opencl::Buffer unread =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(unread)");

    // 5. The kernels: one is compiled when it is first run, and serves every size and number of
    //    groups.
    const std::string lesson = common::read_kernel_file("histogram.cl", CHAPTER_FOLDER);
    std::map<std::string, common::opencl::Kernel> built;
    const auto kernel_of = [&](const tuning::LaunchConfig& config) -> cl_kernel {
        common::opencl::Kernel& kernel = built[config.kernel->name + config.macros()];
        if (kernel != nullptr) return kernel;
        std::string source = lesson;
        if (config.kernel == &tuning::kLocal)
            source += common::read_kernel_file("local.cl", CHAPTER_FOLDER "/workshops/tune");
        if (config.kernel == &tuning::kUcharBins)
            source += common::read_kernel_file("uchar.cl", CHAPTER_FOLDER "/workshops/tune");
        const std::string& name = config.kernel->function;
        const common::opencl::ProgramObject program =
            common::opencl::build_program(context, device.id, name, source, config.macros());
        kernel = clCreateKernel(program, name.c_str(), &error);
        CHECK_CL(error, "clCreateKernel");
        return kernel;
    };

    // 6. Runs a launch on each of the stretches. Only the last one writes what is read: no other
    //    can be right in its place. The gaps between the launches are left out: noting the times
    //    makes them larger.
    const auto run_in_a_row = [&](const tuning::LaunchConfig& config, std::size_t picture,
                                  std::span<const tuning::Stretch> stretches, Histogram& result) {
        const cl_kernel kernel = kernel_of(config);
        const std::size_t groups = config.groups(space.device.units, stretches.back().count);
        const std::size_t global_size = groups * config.group_size;
        common::opencl::poison(queue, histogram, sizeof(Histogram));
        std::vector<common::opencl::Event> zeroed(stretches.size());
        std::vector<common::opencl::Event> counted(stretches.size());
        for (std::size_t i = 0; i < stretches.size(); ++i) {
            const common::opencl::Buffer& row = i + 1 == stretches.size() ? histogram : unread;
            const cl_ulong first = stretches[i].first;
            const cl_ulong pixel_count = stretches[i].count;
            if (!in_one) {
                const cl_uint zero = 0;
                CHECK_CL(clEnqueueFillBuffer(queue, row, &zero, sizeof zero, 0, sizeof(Histogram),
                                             0, nullptr, zeroed[i].out()));
            }
            CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffers[picture]));
            CHECK_CL(clSetKernelArg(kernel, 1, sizeof first, &first));
            CHECK_CL(clSetKernelArg(kernel, 2, sizeof pixel_count, &pixel_count));
            CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_mem), in_one ? &totals : nullptr));
            CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_mem), &row));
            // Only what the launch itself says is a refusal; whatever comes later is an error.
            const cl_int refused =
                clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &config.group_size,
                                       0, nullptr, counted[i].out());
            if (refused != CL_SUCCESS)
                throw common::Unsupported(common::opencl::error_name(refused));
        }
        CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram), result.data(),
                                     0, nullptr, nullptr));
        double time_ms = 0;
        for (std::size_t i = 0; i < stretches.size(); ++i)
            time_ms += common::opencl::elapsed_ms(in_one ? counted[i] : zeroed[i], counted[i]);
        return time_ms;
    };

    // 7. The search. What a device cannot do its compiler may say, in many lines: that rules out
    //    one launch, and no more.
    const auto run_or_refuse = [&](const tuning::LaunchConfig& config, std::size_t picture,
                                   std::span<const tuning::Stretch> stretches, Histogram& result) {
        try {
            return common::plausible_ms(
                [&] { return run_in_a_row(config, picture, stretches, result); });
        } catch (const common::DoesNotBuild& problem) {
            const std::string reason = problem.what();
            throw common::Unsupported(reason.substr(0, reason.find('\n')));
        }
    };
    const tuning::Tuning found =
        tuning::search(space, sizes, request.seconds, tuning::measure_on(pictures, run_or_refuse));

    // 8. The heat map, and what is kept for `tuned`.
    return tuning::finish(request, found);
} catch (...) {
    return common::report_exception("05-launch-tuning/workshops/tune/opencl");
}
