// Runs a student's CUDA kernels, or a host program, as a job says (job.hpp): on a GPU, or where it
// is linked with the emulation on a processor (common/cuda/on_cpu).
//
//     run_cuda               the exit status is run_opencl's
//
// They come as a library. Behind kernels the grader has put a function `launch_KERNEL` for each
// (submitted_file.py); a host program is a function `histogram`. The library finds the
// emulation here; for a GPU it has a runtime of its own, with the same device.
#include <algorithm>
#include <string>
#include <vector>

#include "common/cuda/cuda.hpp"
#include "common/process/status.hpp"
#include "common/tutor/exercise/job.hpp"

namespace {

using namespace common::exercise;
// Launches, and waits. Where the device allows no such group, as large a one as it allows.
using LaunchFunction = cudaError_t (*)(unsigned groups, unsigned group_size, void** arguments,
                                       std::size_t shared_bytes);
using HostFunction = void (*)(unsigned blocks, unsigned block_size, const std::uint8_t* pixels,
                              std::size_t count, std::uint32_t* histogram);

// Each case has buffers of its own.
void run(const Case& each, const std::string& library, Results& results) {
    std::vector<common::cuda::Memory<void>> buffers(each.buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const Bytes& bytes = each.buffers[i];
        CHECK_CUDA(cudaMalloc(buffers[i].out(), bytes.size()));
        CHECK_CUDA(cudaMemcpy(buffers[i], bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    }
    for (const Step& step : each.steps) {
        std::vector<std::uint64_t> values;  // an argument each; a uint lies in the first half
        std::size_t shared_bytes = 0;
        for (const Argument& argument : step.arguments) {
            if (argument.kind == Argument::Kind::kLocal) {
                shared_bytes += argument.value;
            } else if (argument.kind == Argument::Kind::kBuffer) {
                const void* const memory = buffers.at(argument.value);
                values.push_back(reinterpret_cast<std::uint64_t>(memory));
            } else {
                values.push_back(argument.value);
            }
        }
        std::vector<void*> arguments;
        for (std::uint64_t& value : values)
            arguments.push_back(&value);
        const auto launch =
            reinterpret_cast<LaunchFunction>(find(library, "launch_" + step.kernel));
        const cudaError_t call =
            launch(static_cast<unsigned>(step.groups), static_cast<unsigned>(step.group_size),
                   arguments.data(), shared_bytes);
        CHECK_CUDA(call);  // by this name, for a student reads what it says
    }
    Bytes result(each.buffers.at(each.result).size());
    const void* const counted = buffers.at(each.result);
    CHECK_CUDA(cudaMemcpy(result.data(), counted, result.size(), cudaMemcpyDeviceToHost));
    results.add(result);
}

}  // namespace

int main() try {
    const Job job = read_job();
    Results results;
    const std::string device = common::cuda::choose_device(job.device).name;
    if (job.cases.empty()) results.add(device + " (CUDA)");
    HostFunction host = nullptr;
    if (!job.library.empty()) host = reinterpret_cast<HostFunction>(find(job.library, "histogram"));
    for (const Case& each : job.cases) {
        if (host == nullptr) {
            run(each, job.programs.at(each.program).name, results);
            continue;
        }
        results.add_counted(each, [host](const Step& step, auto... pixels_to_counts) {
            host(static_cast<unsigned>(step.groups), static_cast<unsigned>(step.group_size),
                 pixels_to_counts...);
        });
    }
    return 0;
} catch (...) {
    return common::report_exception("run_cuda");
}
