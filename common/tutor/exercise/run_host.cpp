// Runs a student's host program as a job says. See job.hpp.
//
//     run_host opencl|cuda LIBRARY     the exit status is run_opencl's
//
// The library is the student's: a function `histogram`, which gets the pixels, launches the kernel
// and brings the counts back. The job has one step, for its launch and the number of pixels, and
// its kernels are the grader's: in OpenCL they come compiled, so that no source can be asked for;
// in CUDA they are in the library already. The job is read before the library is loaded.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef WITH_CUDA
#include "common/cuda/cuda.hpp"
#endif
#include "common/tutor/exercise/job.hpp"
#ifdef WITH_OPENCL
#include "common/opencl/opencl.hpp"
#endif
#include "common/process/status.hpp"

namespace {

using namespace common::exercise;

#ifdef WITH_OPENCL
using InOpenCL = void (*)(cl_context, cl_command_queue, cl_kernel, std::size_t groups,
                          std::size_t group_size, const std::uint8_t* pixels, std::size_t count,
                          std::uint32_t* histogram);
#endif
using InCuda = void (*)(unsigned blocks, unsigned block_size, const std::uint8_t* pixels,
                        std::size_t count, std::uint32_t* histogram);

// Calls it for each case, with a poisoned result.
template <typename Call>
void run(const Job& job, Results& results, Call&& call) {
    for (const Case& each : job.cases) {
        std::vector<std::uint8_t> bytes = each.buffers.at(each.result).bytes;
        std::vector<std::uint32_t> histogram(bytes.size() / sizeof(std::uint32_t));
        std::memcpy(histogram.data(), bytes.data(), bytes.size());
        const Step& step = each.steps.at(0);
        call(step, each.buffers.at("pixels").bytes.data(),
             std::get<Number>(step.arguments.at(0)).value, histogram.data());
        std::memcpy(bytes.data(), histogram.data(), bytes.size());
        results.add(bytes);
    }
}

// The function of the student's library, whose own code begins to run when it is loaded.
void* student(const char* library) {
    void* const loaded = dlopen(library, RTLD_NOW);
    if (loaded == nullptr) throw std::runtime_error(dlerror());
    void* const histogram = dlsym(loaded, "histogram");
    if (histogram == nullptr) throw std::runtime_error("there is no function histogram");
    return histogram;
}

#ifdef WITH_OPENCL
void run_in_opencl(const Job& job, Results& results, const char* library) {
    const common::opencl::Device device = common::opencl::choose_device(job.device);
    std::fprintf(stderr, "on %s (%s)\n", device.name.c_str(), device.platform_name.c_str());
    cl_int error = CL_SUCCESS;
    const common::opencl::Context context =
        clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const common::opencl::Queue queue = clCreateCommandQueue(context, device.id, 0, &error);
    CHECK_CL(error, "clCreateCommandQueue");
    const Program& its = job.programs.at(0);
    const unsigned char* binary = its.binary.data();
    const std::size_t size = its.binary.size();
    const common::opencl::ProgramObject program =
        clCreateProgramWithBinary(context, 1, &device.id, &size, &binary, nullptr, &error);
    CHECK_CL(error, "clCreateProgramWithBinary");
    CHECK_CL(clBuildProgram(program, 1, &device.id, its.options.c_str(), nullptr, nullptr));
    const common::opencl::Kernel kernel = clCreateKernel(program, "histogram_global", &error);
    CHECK_CL(error, "clCreateKernel");
    const auto histogram = reinterpret_cast<InOpenCL>(student(library));
    run(job, results,
        [&](const Step& step, const std::uint8_t* pixels, std::size_t count,
            std::uint32_t* result) {
            histogram(context, queue, kernel, step.groups, step.group_size, pixels, count, result);
        });
}
#else
void run_in_opencl(const Job&, Results&, const char*) {
    throw common::NothingToRunOn("built without OpenCL");
}
#endif

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 3) throw common::BadInput("it takes an API and a library");
    const Job job = read_job();
    Results results;
    if (std::string(argv[1]) == "opencl") {
        run_in_opencl(job, results, argv[2]);
        return 0;
    }
#ifdef WITH_CUDA
    // The library has a runtime of its own, which takes the first device all the same.
    std::fprintf(stderr, "on %s (CUDA)\n", common::cuda::choose_device("").name.c_str());
#endif
    const auto histogram = reinterpret_cast<InCuda>(student(argv[2]));
    run(job, results,
        [&](const Step& step, const std::uint8_t* pixels, std::size_t count,
            std::uint32_t* result) {
            histogram(static_cast<unsigned>(step.groups), static_cast<unsigned>(step.group_size),
                      pixels, count, result);
        });
    return 0;
} catch (...) {
    return common::report_exception("run_host");
}
