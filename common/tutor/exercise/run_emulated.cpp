// Runs a student's CUDA kernels as a job says, on a processor. See job.hpp.
//
//     run_emulated        the exit status is run_opencl's
//
// The kernels are a library beside it (common/cuda/on_cpu), with ON_CPU_KERNEL(name) behind them
// for each kernel. What the library needs of the emulation it finds here.
#include <dlfcn.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cuda/cuda.hpp"
#include "common/process/status.hpp"
#include "common/tutor/exercise/cuda_cases.hpp"
#include "common/tutor/exercise/job.hpp"

namespace {

using namespace common::exercise;

void* loaded(const Program& program) {
    void* const library = dlopen(program.name.c_str(), RTLD_NOW);
    if (library == nullptr) throw std::runtime_error(dlerror());
    return library;
}

double launch(void* library, const Step& step, void** arguments, std::size_t shared_bytes) {
    const auto kernel =
        reinterpret_cast<on_cpu::LaunchByName>(dlsym(library, ("launch_" + step.kernel).c_str()));
    if (kernel == nullptr) {
        throw std::runtime_error("there is no kernel extern \"C\" __global__ void " + step.kernel);
    }
    const cudaError_t call =
        kernel(static_cast<unsigned>(step.groups), static_cast<unsigned>(step.group_size),
               arguments, shared_bytes);
    CHECK_CUDA(call);
    CHECK_CUDA(cudaDeviceSynchronize());
    return 0;  // it has no times
}

}  // namespace

int main() try {
    const Job job = read_job();
    Results results;
    std::fprintf(stderr, "on %s (CUDA)\n", common::cuda::choose_device("").name.c_str());
    std::vector<void*> libraries;
    for (const Program& each : job.programs)
        libraries.push_back(loaded(each));
    const auto launch_step = [&](std::size_t program, const Step& step, void** arguments,
                                 std::size_t shared_bytes) {
        return launch(libraries.at(program), step, arguments, shared_bytes);
    };
    run_cases(job, launch_step, results);
    return 0;
} catch (...) {
    return common::report_exception("run_emulated");
}
