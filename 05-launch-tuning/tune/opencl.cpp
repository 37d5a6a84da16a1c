// Looks for the best launch of `tuned` in OpenCL: every kernel in every launch that is worth a try,
// checked and timed on three pictures of several sizes. search.cpp decides what is tried and when.
//
// Run it:  build/05-launch-tuning/tune/opencl
//          build/05-launch-tuning/tune/opencl --seconds 10
//
// cuda.cu does the same in CUDA, in the same steps.

#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "05-launch-tuning/tune/on_opencl.hpp"
#include "05-launch-tuning/tune/program.hpp"
#include "05-launch-tuning/tune/search.hpp"
#include "common/histogram/histogram.hpp"
#include "common/opencl/opencl.hpp"
#include "common/status/status.hpp"
#include "common/timing/timing.hpp"

using common::Histogram;

int main(int argc, char** argv) try {
    // 1. What is asked for.
    const tuning::Request request =
        tuning::parse_request(argc, argv, "05-launch-tuning/tune/opencl");
    if (request.list_devices) {
        std::fputs(common::opencl::list(common::opencl::devices()).c_str(), stdout);
        return common::kEveryVariantMatches;
    }

    // 2. The device, and what it allows.
    const common::opencl::Device device = common::opencl::choose_device(request.device);
    const tuning::Facts facts = tuning::facts_of(device, tuning::all_kernels());

    // 3. Where its commands go: a context for the device, and a queue that keeps their order and
    //    notes when each began and ended.
    cl_int error = CL_SUCCESS;
    const cl_context context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const cl_command_queue queue =
        clCreateCommandQueue(context, device.id, common::opencl::profiling(device.id), &error);
    CHECK_CL(error, "clCreateCommandQueue");

    // 4. The pictures, in the device's memory, and room for the results.
    const tuning::TestPictures pictures = tuning::test_pictures(facts);
    std::vector<cl_mem> buffers;
    for (const tuning::TestPicture& picture : pictures) {
        const std::size_t bytes = picture.pixels.size();
        buffers.push_back(clCreateBuffer(context, CL_MEM_READ_ONLY, bytes, nullptr, &error));
        CHECK_CL(error, "clCreateBuffer(picture)");
        CHECK_CL(clEnqueueWriteBuffer(queue, buffers.back(), CL_TRUE, 0, bytes,
                                      picture.pixels.data(), 0, nullptr, nullptr));
    }
    const cl_mem totals = tuning::create_totals(context, tuning::has_64_bit_atomics(device.id));
    const cl_mem histogram =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(histogram)");
    const cl_mem unread =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(Histogram), nullptr, &error);
    CHECK_CL(error, "clCreateBuffer(unread)");

    // 5. The kernels: a choice is compiled when it is first run, and serves every size and number
    // of groups.
    std::map<std::string, std::string> sources;
    for (const tuning::Kernel* kernel : tuning::all_kernels()) {
        std::string& source = sources[kernel->file];
        source = common::opencl::read_kernel_file("histogram.cl", CHAPTER_FOLDER);
        if (!kernel->file.empty())
            source += common::opencl::read_kernel_file(kernel->file, CHAPTER_FOLDER "/tune");
    }
    std::map<std::string, cl_kernel> built;
    const auto kernel_of = [&](tuning::Choice choice) {
        choice.groups_per_unit = 1;
        cl_kernel& kernel = built[choice.text()];
        if (kernel == nullptr)
            kernel = tuning::build(context, device.id, sources.at(choice.kernel->file), choice);
        return kernel;
    };

    // 6. Runs a choice. Only the last launch writes what is read: no other can be right in its
    //    place. The gaps between the launches are left out: noting the times makes them larger.
    const auto run_in_a_row = [&](const tuning::Choice& choice, std::size_t picture,
                                  std::span<const tuning::Stretch> stretches, Histogram& result) {
        std::vector<tuning::Commands> launches;
        double time_ms = 0;
        std::string refusal;
        try {
            const cl_kernel kernel = kernel_of(choice);
            const std::size_t groups = groups_of(choice, facts, stretches.back().count);
            common::opencl::poison(queue, histogram, sizeof(Histogram));
            for (const tuning::Stretch& stretch : stretches) {
                const bool last = &stretch == &stretches.back();
                launches.push_back(tuning::enqueue(queue, kernel, choice, groups, buffers[picture],
                                                   stretch.first, stretch.count, totals,
                                                   last ? histogram : unread));
            }
            CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram),
                                         result.data(), 0, nullptr, nullptr));
            for (const tuning::Commands& commands : launches)
                time_ms += common::opencl::elapsed_ms(commands.first, commands.last);
        } catch (const std::exception& problem) {
            refusal = problem.what();
        }
        for (const tuning::Commands& commands : launches)
            tuning::release(commands);
        if (!refusal.empty()) throw tuning::Refused(refusal);
        return time_ms;
    };

    // 7. The search.
    const auto run_by_a_true_clock = [&](const tuning::Choice& choice, std::size_t picture,
                                         std::span<const tuning::Stretch> stretches,
                                         Histogram& result) {
        return common::plausible_ms(
            [&] { return run_in_a_row(choice, picture, stretches, result); });
    };
    const tuning::Tuning found =
        tuning::search(facts, request.seconds, tuning::measure_on(pictures, run_by_a_true_clock));

    // 8. What was created is released, in the opposite order.
    for (const auto& [choice, kernel] : built) {
        if (kernel != nullptr) CHECK_CL(clReleaseKernel(kernel));
    }
    for (const cl_mem buffer : {unread, histogram, totals}) {
        if (buffer != nullptr) CHECK_CL(clReleaseMemObject(buffer));
    }
    for (const cl_mem buffer : buffers)
        CHECK_CL(clReleaseMemObject(buffer));
    CHECK_CL(clReleaseCommandQueue(queue));
    CHECK_CL(clReleaseContext(context));

    // 9. The heat map, and what is kept for `tuned`.
    return tuning::finish(request, facts, found);
} catch (...) {
    return common::report_exception("05-launch-tuning/tune/opencl");
}
