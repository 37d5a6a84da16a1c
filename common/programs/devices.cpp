// Lists every device that the chapters' programs could run on, by the number that --device takes.
// `./tutorial doctor` shows it.
#include <fmt/format.h>

#include "common/process/cpu.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"
#ifdef WITH_OPENCL
#include "common/opencl/opencl.hpp"
#endif
#ifdef WITH_CUDA
#include "common/cuda/cuda.hpp"
#endif

int main() try {
    common::require_standard_output("devices");
    common::print(fmt::format("C++\n0: {}\n", common::cpu_name()));
    common::print("OpenCL\n");
#ifdef WITH_OPENCL
    const auto opencl = common::opencl::devices();
    common::print(opencl.empty() ? "none: " + common::opencl::why_no_device() + '\n'
                                 : common::opencl::list(opencl));
#else
    common::print("none: built without OpenCL\n");
#endif
    common::print("CUDA\n");
#ifdef WITH_CUDA
    try {
        common::print(common::cuda::list(common::cuda::devices()));
    } catch (const common::NothingToRunOn& error) {
        common::print(fmt::format("none: {}\n", error.what()));
    }
#else
    common::print("none: built without a CUDA compiler\n");
#endif
    return common::kEveryVariantMatches;
} catch (...) {
    return common::report_exception("devices");
}
