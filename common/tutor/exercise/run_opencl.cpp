// Runs a student's OpenCL kernels, or a host program that launches the grader's, as a job says. See
// job.hpp.
//
//     run_opencl             0: all cases have run; 1: a call failed; 2: a bad job; 77: no device;
//                            3: the kernels do not compile (what the compiler says: standard error)
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "common/opencl/opencl.hpp"
#include "common/process/status.hpp"
#include "common/tutor/exercise/job.hpp"

namespace {

using namespace common::exercise;
using Buffers = std::vector<common::opencl::Buffer>;
using HostFunction = void (*)(cl_context, cl_command_queue, cl_kernel, std::size_t groups,
                              std::size_t group_size, const std::uint8_t* pixels, std::size_t count,
                              std::uint32_t* histogram);

void set_argument(cl_kernel kernel, cl_uint at, const Argument& argument, const Buffers& buffers) {
    switch (const auto small = static_cast<cl_uint>(argument.value); argument.kind) {
        case Argument::Kind::kBuffer:
            return CHECK_CL(
                clSetKernelArg(kernel, at, sizeof(cl_mem), &buffers.at(argument.value)));
        case Argument::Kind::kLocal:
            return CHECK_CL(clSetKernelArg(kernel, at, argument.value, nullptr));
        case Argument::Kind::kUint:
            return CHECK_CL(clSetKernelArg(kernel, at, sizeof small, &small));
        case Argument::Kind::kUlong:
            return CHECK_CL(clSetKernelArg(kernel, at, sizeof argument.value, &argument.value));
    }
}

struct Device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
};

// Runs it once, and adds its result.
void run(const Case& each, const Device& device, cl_program program, Results& results) {
    cl_int error = CL_SUCCESS;
    Buffers buffers;
    for (const Bytes& bytes : each.buffers) {
        buffers.emplace_back(clCreateBuffer(device.context,
                                            CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.size(),
                                            const_cast<std::uint8_t*>(bytes.data()), &error));
        CHECK_CL(error, "clCreateBuffer");
    }
    for (const Step& step : each.steps) {
        const common::opencl::Kernel kernel = clCreateKernel(program, step.kernel.c_str(), &error);
        CHECK_CL(error, ("clCreateKernel for " + step.kernel).c_str());
        for (cl_uint at = 0; at < step.arguments.size(); ++at)
            set_argument(kernel, at, step.arguments[at], buffers);
        std::size_t most = 0;
        CHECK_CL(clGetKernelWorkGroupInfo(kernel, device.id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most,
                                          &most, nullptr));
        const std::size_t group_size = std::min(step.group_size, most);
        const std::size_t all = step.groups * group_size;
        CHECK_CL(clEnqueueNDRangeKernel(device.queue, kernel, 1, nullptr, &all, &group_size, 0,
                                        nullptr, nullptr));
        CHECK_CL(clFinish(device.queue));
    }
    Bytes result(each.buffers.at(each.result).size());
    CHECK_CL(clEnqueueReadBuffer(device.queue, buffers.at(each.result), CL_TRUE, 0, result.size(),
                                 result.data(), 0, nullptr, nullptr));
    results.add(result);
}

}  // namespace

int main() try {
    const Job job = read_job();
    Results results;
    const common::opencl::Device found = common::opencl::choose_device(job.device);
    if (job.cases.empty()) results.add(found.name + " (" + found.platform_name + ")");
    cl_int error = CL_SUCCESS;
    const common::opencl::Context context =
        clCreateContext(nullptr, 1, &found.id, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const common::opencl::Queue queue = clCreateCommandQueue(context, found.id, 0, &error);
    CHECK_CL(error, "clCreateCommandQueue");
    const Device device{found.id, context, queue};
    std::vector<common::opencl::ProgramObject>
        programs;  // of one context, for which a driver loads its library once
    common::opencl::Kernel kernel;
    for (const Program& each : job.programs) {
        try {
            programs.push_back(common::opencl::build_program(context, found.id, each.name,
                                                             each.text, each.options));
            std::size_t size = 0;
            CHECK_CL(clGetProgramBuildInfo(programs.back(), found.id, CL_PROGRAM_BUILD_LOG, 0,
                                           nullptr, &size));
            std::string warnings(size, '\0');
            CHECK_CL(clGetProgramBuildInfo(programs.back(), found.id, CL_PROGRAM_BUILD_LOG, size,
                                           warnings.data(), nullptr));
            std::fprintf(stderr, "%s\n", warnings.c_str());
        } catch (const std::exception& wrong) {
            std::fprintf(stderr, "%s\n", wrong.what());
            return kDoesNotCompile;
        }
        for (const Step& step : job.cases.at(0).steps) {
            kernel = clCreateKernel(programs.back(), step.kernel.c_str(), &error);
            if (error == CL_INVALID_KERNEL_NAME) {
                std::fprintf(stderr, "there is no kernel %s in this file\n", step.kernel.c_str());
                return kDoesNotCompile;
            }
        }
    }
    HostFunction host = nullptr;
    if (!job.library.empty()) host = reinterpret_cast<HostFunction>(find(job.library, "histogram"));
    for (const Case& each : job.cases) {
        if (host == nullptr) {
            run(each, device, programs.at(each.program), results);
            continue;
        }
        results.add_counted(each, [&](const Step& step, auto... pixels_to_counts) {
            host(context, queue, kernel, step.groups, step.group_size, pixels_to_counts...);
        });
    }
    return 0;
} catch (...) {
    return common::report_exception("run_opencl");
}
