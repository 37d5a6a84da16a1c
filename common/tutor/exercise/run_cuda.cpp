// Runs a student's CUDA kernels as a job says. See job.hpp.
//
//     run_cuda        the exit status is run_opencl's
//
// The kernels come as PTX (nvcc -ptx), and are loaded as OpenCL's are: of what else stands in the
// student's file nothing runs. So the driver's own interface is used, from the library that the
// GPU's driver brings: without a GPU it is not there.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cuda/cuda.hpp"
#include "common/process/status.hpp"
#include "common/timing/timing.hpp"
#include "common/tutor/exercise/cuda_cases.hpp"
#include "common/tutor/exercise/job.hpp"

namespace {

using namespace common::exercise;

// The functions of the driver that are needed.
class Driver {
 public:
    Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
        if (library_ == nullptr) throw common::NothingToRunOn("there is no CUDA driver");
        find(load_module, "cuModuleLoadDataEx");
        find(get_function, "cuModuleGetFunction");
        find(get_attribute, "cuFuncGetAttribute");
        find(launch, "cuLaunchKernel");
    }

    CUresult (*load_module)(CUmodule*, const void*, unsigned, CUjit_option*, void**) = nullptr;
    CUresult (*get_function)(CUfunction*, CUmodule, const char*) = nullptr;
    CUresult (*get_attribute)(int*, CUfunction_attribute, CUfunction) = nullptr;
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, CUstream, void**, void**) = nullptr;

 private:
    template <typename Function>
    void find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(library_, name));
        if (function == nullptr) throw common::NothingToRunOn("the CUDA driver is too old");
    }

    void* library_;
};

double launch(const Driver& driver, CUmodule module, const Step& step, void** arguments,
              std::size_t shared_bytes) {
    CUfunction kernel = nullptr;
    if (driver.get_function(&kernel, module, step.kernel.c_str()) != CUDA_SUCCESS) {
        throw std::runtime_error("there is no kernel " + step.kernel);
    }
    int most = 0;
    if (driver.get_attribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel) !=
        CUDA_SUCCESS) {
        throw std::runtime_error(step.kernel +
                                 ": the driver does not say how large a block may be");
    }
    const auto block_size =
        std::min(static_cast<unsigned>(step.group_size), static_cast<unsigned>(most));
    say_launch(block_size, step.group_size);
    return common::wall_ms([&] {
        if (driver.launch(kernel, static_cast<unsigned>(step.groups), 1, 1, block_size, 1, 1,
                          static_cast<unsigned>(shared_bytes), nullptr, arguments,
                          nullptr) != CUDA_SUCCESS) {
            throw std::runtime_error(step.kernel +
                                     " could not be launched: too large a block for it?");
        }
        CHECK_CUDA(cudaDeviceSynchronize());
    });
}

}  // namespace

int main() try {
    const Job job = read_job();
    Results results;
    std::fprintf(stderr, "on %s (CUDA)\n", common::cuda::choose_device(job.device).name.c_str());
    CHECK_CUDA(cudaFree(nullptr));  // makes the context that the driver's functions use
    const Driver driver;
    std::vector<CUmodule> modules;
    for (const Program& each : job.programs) {
        std::string log(8192, '\0');
        CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver takes numbers as pointers
        void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
        if (driver.load_module(&modules.emplace_back(), each.text.c_str(), 2, names, values) !=
            CUDA_SUCCESS) {
            std::fprintf(stderr, "the driver does not take the kernels: %s\n", log.c_str());
            return kDoesNotCompile;
        }
        for (const std::string& name : kernels_of(job)) {
            CUfunction kernel = nullptr;
            if (driver.get_function(&kernel, modules.back(), name.c_str()) != CUDA_SUCCESS) {
                std::fprintf(stderr, "there is no extern \"C\" __global__ void %s in this file\n",
                             name.c_str());
                return kDoesNotCompile;
            }
        }
    }
    const auto launch_step = [&](std::size_t program, const Step& step, void** arguments,
                                 std::size_t shared_bytes) {
        return launch(driver, modules.at(program), step, arguments, shared_bytes);
    };
    run_cases(job, launch_step, results);
    return 0;
} catch (...) {
    return common::report_exception("run_cuda");
}
