// Lists every device that the chapters' programs could run on, by the number that --device takes.
// `./tutorial doctor` shows it.
#include <fmt/format.h>

#include "common/cpu/cpu.hpp"
#include "common/opencl/opencl.hpp"
#include "common/status/status.hpp"
#ifdef WITH_CUDA
#include "common/cuda/cuda.hpp"
#endif

int main() try {
    fmt::print("C++ (chapter 01)\n0: {}\n", common::cpu_name());
    const auto opencl = common::opencl::devices();
    fmt::print("OpenCL\n{}",
               opencl.empty() ? "none: no driver finds a device\n" : common::opencl::list(opencl));
    fmt::print("CUDA\n");
#ifdef WITH_CUDA
    try {
        fmt::print("{}", common::cuda::list(common::cuda::devices()));
    } catch (const common::NothingToRunOn& error) {
        fmt::print("none: {}\n", error.what());
    }
#else
    fmt::print("none: built without a CUDA compiler\n");
#endif
    return common::kEveryVariantMatches;
} catch (...) {
    return common::report_exception("devices");
}
