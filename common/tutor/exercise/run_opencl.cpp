// Runs a student's OpenCL kernels as a job says. See job.hpp.
//
//     run_opencl             0: all cases have run; 1: a call failed; 2: a bad job; 77: no device;
//                            3: the kernels do not compile (what the compiler says: standard error)
//     run_opencl compile     runs nothing, and each program comes back compiled
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/opencl/opencl.hpp"
#include "common/process/status.hpp"
#include "common/timing/timing.hpp"
#include "common/tutor/exercise/job.hpp"

namespace {

using namespace common::exercise;
using Buffers = std::map<std::string, common::opencl::Buffer>;

void set_argument(cl_kernel kernel, cl_uint at, const Argument& argument, const Buffers& buffers) {
    if (const auto* const local = std::get_if<Local>(&argument)) {
        CHECK_CL(clSetKernelArg(kernel, at, local->bytes, nullptr));
    } else if (const auto* const number = std::get_if<Number>(&argument)) {
        const auto value = static_cast<cl_uint>(number->value);
        if (number->bytes == 4) {
            CHECK_CL(clSetKernelArg(kernel, at, sizeof value, &value));
        } else {
            CHECK_CL(clSetKernelArg(kernel, at, sizeof number->value, &number->value));
        }
    } else {
        CHECK_CL(clSetKernelArg(kernel, at, sizeof(cl_mem),
                                &buffers.at(std::get<std::string>(argument))));
    }
}

// What the call took, in ms. On a processor: its time on all cores, which is the same where one of
// them is busy with something else.
double took_ms(const common::opencl::Device& device, const std::function<void()>& call) {
    if ((device.type & CL_DEVICE_TYPE_CPU) == 0) return common::wall_ms(call);
    const std::clock_t start = std::clock();
    call();
    return 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// Runs it once: how long its launches took, in ms.
double run(const Case& each, const common::opencl::Device& device, cl_context context,
           cl_command_queue queue, cl_program program, std::vector<std::uint8_t>& result) {
    double time_ms = 0;
    cl_int error = CL_SUCCESS;
    Buffers buffers;
    for (const auto& [name, buffer] : each.buffers) {
        buffers[name] =
            clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, buffer.bytes.size(),
                           const_cast<std::uint8_t*>(buffer.bytes.data()), &error);
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
        say_launch(group_size, step.group_size);
        const std::size_t all = step.groups * group_size;
        time_ms += took_ms(device, [&] {
            CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &all, &group_size, 0,
                                            nullptr, nullptr));
            CHECK_CL(clFinish(queue));
        });
    }
    CHECK_CL(clEnqueueReadBuffer(queue, buffers.at(each.result), CL_TRUE, 0, result.size(),
                                 result.data(), 0, nullptr, nullptr));
    return time_ms;
}

// The program as the driver keeps it, without its source.
std::vector<std::uint8_t> binary_of(cl_program program) {
    std::size_t size = 0;
    CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr));
    std::vector<std::uint8_t> binary(size);
    unsigned char* to = binary.data();
    CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof to, &to, nullptr));
    return binary;
}

}  // namespace

int main(int argc, char** argv) try {
    const bool only_compile = argc == 2 && std::string(argv[1]) == "compile";
    if (argc != 1 && !only_compile) throw common::BadInput("it takes nothing, or the word compile");
    const Job job = read_job();
    Results results;
    const common::opencl::Device device = common::opencl::choose_device(job.device);
    std::fprintf(stderr, "on %s (%s)\n", device.name.c_str(), device.platform_name.c_str());
    cl_int error = CL_SUCCESS;
    const common::opencl::Context context =
        clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
    CHECK_CL(error, "clCreateContext");
    const common::opencl::Queue queue = clCreateCommandQueue(context, device.id, 0, &error);
    CHECK_CL(error, "clCreateCommandQueue");
    std::vector<common::opencl::ProgramObject>
        programs;  // of one context, for which a driver loads its library once
    for (const Program& each : job.programs) {
        try {
            programs.push_back(common::opencl::build_program(context, device.id, each.name,
                                                             each.text, each.options));
        } catch (const std::exception& wrong) {
            std::fprintf(stderr, "%s\n", wrong.what());
            return kDoesNotCompile;
        }
        for (const std::string& name : kernels_of(job)) {
            const common::opencl::Kernel kernel =
                clCreateKernel(programs.back(), name.c_str(), &error);
            if (error == CL_INVALID_KERNEL_NAME) {
                std::fprintf(stderr, "there is no kernel %s in this file\n", name.c_str());
                return kDoesNotCompile;
            }
        }
    }
    for (const common::opencl::ProgramObject& each : programs)
        if (only_compile) results.add(binary_of(each));
    for (const Case& each : job.cases) {
        std::vector<std::uint8_t> result(each.buffers.at(each.result).bytes.size());
        const double time_ms = run(each, device, context, queue, programs.at(each.program), result);
        results.add(result, time_ms);
    }
    return 0;
} catch (...) {
    return common::report_exception("run_opencl");
}
