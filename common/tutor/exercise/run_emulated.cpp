// Runs a student's CUDA kernels as a job says, on a processor. See job.hpp.
//
//     run_emulated        the exit status is run_opencl's
//
// The kernels come as a library (common/cuda/on_cpu), with ON_CPU_KERNEL(name) behind them for each
// kernel. What the library needs of the emulation it finds here.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cuda/cuda.hpp"
#include "common/cuda/handles.hpp"
#include "common/status/status.hpp"
#include "common/tutor/exercise/job.hpp"

namespace {

using namespace common::exercise;
using Buffers = std::map<std::string, common::cuda::Memory<void>>;

// The library, from a file that has no name and that nobody else can open.
void* loaded(const Program& program) {
    const int file = memfd_create("kernels", MFD_CLOEXEC);
    for (std::size_t at = 0; at < program.binary.size();) {
        const ssize_t written = write(file, &program.binary[at], program.binary.size() - at);
        if (written <= 0) throw std::runtime_error("no memory for the kernels");
        at += static_cast<std::size_t>(written);
    }
    void* const library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW);
    if (library == nullptr) throw std::runtime_error(dlerror());
    return library;
}

void launch(void* library, const Step& step, const Buffers& buffers) {
    const auto kernel =
        reinterpret_cast<on_cpu::LaunchByName>(dlsym(library, ("launch_" + step.kernel).c_str()));
    if (kernel == nullptr) {
        throw std::runtime_error("there is no kernel extern \"C\" __global__ void " + step.kernel);
    }
    std::vector<std::uint64_t> values;  // an argument each; a uint lies in the first half
    std::size_t shared = 0;
    for (const Argument& argument : step.arguments) {
        if (const auto* const local = std::get_if<Local>(&argument)) {
            shared += local->bytes;
        } else if (const auto* const number = std::get_if<Number>(&argument)) {
            values.push_back(number->value);
        } else {
            const void* const memory = buffers.at(std::get<std::string>(argument));
            values.push_back(reinterpret_cast<std::uint64_t>(memory));
        }
    }
    std::vector<void*> pointers;
    for (std::uint64_t& value : values)
        pointers.push_back(&value);
    const cudaError_t call =
        kernel(static_cast<unsigned>(step.groups), static_cast<unsigned>(step.group_size),
               pointers.data(), shared);
    CHECK_CUDA(call);
    CHECK_CUDA(cudaDeviceSynchronize());
}

// Runs it once.
void run(const Case& each, void* library, std::vector<std::uint8_t>& result) {
    Buffers buffers;
    for (const auto& [name, buffer] : each.buffers) {
        CHECK_CUDA(cudaMalloc(buffers[name].out(), buffer.bytes.size()));
        CHECK_CUDA(cudaMemcpy(buffers[name], buffer.bytes.data(), buffer.bytes.size(),
                              cudaMemcpyHostToDevice));
    }
    for (const Step& step : each.steps)
        launch(library, step, buffers);
    CHECK_CUDA(
        cudaMemcpy(result.data(), buffers.at(each.result), result.size(), cudaMemcpyDeviceToHost));
}

}  // namespace

int main() try {
    const Job job = read_job();
    Results results;
    std::fprintf(stderr, "on %s (CUDA)\n", common::cuda::choose_device("").name.c_str());
    std::vector<void*> libraries;
    for (const Program& each : job.programs)
        libraries.push_back(loaded(each));
    for (const Case& each : job.cases) {
        std::vector<std::uint8_t> result(each.buffers.at(each.result).bytes.size());
        run(each, libraries.at(each.program), result);
        results.add(result, 0);  // it has no times
    }
    return 0;
} catch (...) {
    return common::report_exception("run_emulated");
}
