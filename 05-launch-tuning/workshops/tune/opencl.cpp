// Looks for the best launch of `tuned` in OpenCL: every one that is worth a try, checked and timed
// on three pictures of several sizes. search.cpp decides what is tried and when.
//
// Run it:  build/05-launch-tuning/workshops/tune/opencl
//          build/05-launch-tuning/workshops/tune/opencl --seconds 10
//
// cuda.cu does the same in CUDA, in the same steps.

#include "05-launch-tuning/workshops/opencl.hpp"
#include "05-launch-tuning/workshops/tune/search.hpp"
#include "common/process/status.hpp"
#include "common/timing/timing.hpp"

using namespace common;
using namespace common::opencl;

int main(int argc, char** argv) try {
    // 1. What is asked for.
    const tuning::Request request =
        tuning::parse_request(argc, argv, "05-launch-tuning/workshops/tune/opencl");
    if (request.list_devices) {
        print(list(devices()));
        return kEveryVariantMatches;
    }

    // 2. The device, what it allows, and the sizes of pictures that fit it.
    const cl_device_id device = choose_device(request.device).id;
    const DeviceLimits limits = limits_of(device);
    cl_ulong memory = 0, largest = 0;  // bytes in all, and of one buffer
    CHECK_CL(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, nullptr));
    CHECK_CL(
        clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, nullptr));
    const std::vector<std::uint64_t> sizes =
        tuning::tuned_sizes(limits.cpu, std::min(memory / 4, largest));

    // 3. Where its commands go: a context for the device, and a queue that keeps their order and
    //    notes when each began and ended. Each is released at the end of its scope.
    const Context context = context_of(device);
    const Queue queue = queue_of(context, device, profiling(device));

    // 4. The pictures, in the device's memory, and room for the results.
    const tuning::TestPictures pictures = tuning::test_pictures(sizes.back());
    std::array<Buffer, std::tuple_size_v<tuning::TestPictures>> buffers;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        const std::size_t bytes = pictures[i].pixels.size();
        buffers[i] = buffer_of(context, CL_MEM_READ_ONLY, bytes);
        CHECK_CL(clEnqueueWriteBuffer(queue, buffers[i], CL_TRUE, 0, bytes,
                                      pictures[i].pixels.data(), 0, nullptr, nullptr));
    }
    const Buffer histogram = buffer_of(context, CL_MEM_READ_WRITE, sizeof(Histogram));
    const Buffer unread = buffer_of(context, CL_MEM_READ_WRITE, sizeof(Histogram));

    // 5. The kernels: one is compiled when it is first run, and serves every size and number of
    //    groups.
    Tuned tuned(context, device,
                with_its_name("histogram.cl", read_kernel_file("../../histogram.cl",
                                                               CHAPTER_FOLDER "/workshops/tune")));

    // 6. Runs a launch on each of the stretches. Only the last one writes what is read: no other
    //    can be right in its place. The gaps between the launches are left out: noting the times
    //    makes them larger.
    const auto run_in_a_row = [&](const TunedLaunch& launch, std::size_t picture,
                                  std::span<const tuning::Stretch> stretches, Histogram& result) {
        const std::size_t groups = launch.groups(limits.units, stretches.back().count);
        poison(queue, histogram, sizeof(Histogram));
        std::vector<Tuned::Commands> counted;
        for (const auto& [first, pixel_count] : stretches) {
            const bool last = counted.size() + 1 == stretches.size();
            counted.push_back(tuned.enqueue(queue, launch, groups, buffers[picture], first,
                                            pixel_count, last ? histogram : unread));
        }
        CHECK_CL(clEnqueueReadBuffer(queue, histogram, CL_TRUE, 0, sizeof(Histogram), result.data(),
                                     0, nullptr, nullptr));
        double time_ms = 0;
        for (const Tuned::Commands& commands : counted)
            time_ms += Tuned::milliseconds(commands);
        return time_ms;
    };

    // 7. The search. A compiler may refuse what the device cannot do, in many lines: that rules out
    //    one launch, and no more.
    const auto run_or_refuse = [&](const TunedLaunch& launch, std::size_t picture,
                                   std::span<const tuning::Stretch> stretches, Histogram& result) {
        try {
            return plausible_ms([&] { return run_in_a_row(launch, picture, stretches, result); });
        } catch (const DoesNotBuild& problem) {
            const std::string reason = problem.what();
            throw Unsupported(reason.substr(0, reason.find('\n')));
        }
    };
    const tuning::Tuning found =
        tuning::search(limits, sizes, request.seconds, tuning::measure_on(pictures, run_or_refuse));

    // 8. The best launches, and what is kept for `tuned`.
    return tuning::finish(request, found);
} catch (...) {
    return common::report_exception("05-launch-tuning/workshops/tune/opencl");
}
