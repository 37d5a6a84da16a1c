// Runs a student's CUDA kernels, or a host program, as a job says (job.hpp): on a GPU, or where it
// is linked with the emulation on a processor (common/cuda/on_cpu).
//
//     run_cuda               the exit status is run_opencl's
//
// They come as a library. Behind kernels the grader has put a function `launch_KERNEL` for each
// (submitted_file.py); a host program is a function `histogram`. What the library needs of the
// emulation it finds here; for a GPU it has a runtime of its own, with the same device.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "common/cuda/cuda.hpp"
#include "common/process/status.hpp"
#include "common/tutor/exercise/job.hpp"

namespace {

using namespace common::exercise;
// Launches, and waits. Where the device allows no such group, as large a one as it allows.
using Launch = cudaError_t (*)(unsigned groups, unsigned* group_size, void** arguments,
                               std::size_t shared_bytes);
using HostProgram = void (*)(unsigned blocks, unsigned block_size, const std::uint8_t* pixels,
                             std::size_t count, std::uint32_t* histogram);

// Each case has buffers of its own.
void run(const Case& each, const std::string& library, Results& results) {
    std::map<std::string, common::cuda::Memory<void>> buffers;
    for (const auto& [name, bytes] : each.buffers) {
        CHECK_CUDA(cudaMalloc(buffers[name].out(), bytes.size()));
        CHECK_CUDA(cudaMemcpy(buffers[name], bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    }
    std::size_t smallest = each.steps.at(0).group_size;
    for (const Step& step : each.steps) {
        std::vector<std::uint64_t> values;  // an argument each; a uint lies in the first half
        std::size_t shared_bytes = 0;
        for (const Argument& argument : step.arguments) {
            if (const auto* const local = std::get_if<Local>(&argument)) {
                shared_bytes += local->bytes;
            } else if (const auto* const number = std::get_if<Number>(&argument)) {
                values.push_back(number->value);
            } else {
                const void* const memory = buffers.at(std::get<std::string>(argument));
                values.push_back(reinterpret_cast<std::uint64_t>(memory));
            }
        }
        std::vector<void*> arguments;
        for (std::uint64_t& value : values)
            arguments.push_back(&value);
        const auto launch = reinterpret_cast<Launch>(find(library, "launch_" + step.kernel));
        auto group_size = static_cast<unsigned>(step.group_size);
        const cudaError_t call =
            launch(static_cast<unsigned>(step.groups), &group_size, arguments.data(), shared_bytes);
        CHECK_CUDA(call);
        smallest = std::min<std::size_t>(smallest, group_size);
    }
    Bytes result(each.buffers.at(each.result).size());
    CHECK_CUDA(
        cudaMemcpy(result.data(), buffers.at(each.result), result.size(), cudaMemcpyDeviceToHost));
    results.add(result, 0, smallest);
}

void run_host(const Case& each, HostProgram host, Results& results) {
    Bytes bytes = each.buffers.at(each.result);
    std::vector<std::uint32_t> histogram(bytes.size() / sizeof(std::uint32_t));
    std::memcpy(histogram.data(), bytes.data(), bytes.size());
    const Step& step = each.steps.at(0);
    host(static_cast<unsigned>(step.groups), static_cast<unsigned>(step.group_size),
         each.buffers.at("pixels").data(), std::get<Number>(step.arguments.at(0)).value,
         histogram.data());
    std::memcpy(bytes.data(), histogram.data(), bytes.size());
    results.add(bytes, 0, step.group_size);
}

}  // namespace

int main() try {
    const Job job = read_job();
    Results results;
    const std::string device = common::cuda::choose_device(job.device).name;
    if (job.cases.empty()) results.add(device + " (CUDA)");
    HostProgram host = nullptr;
    if (!job.library.empty()) host = reinterpret_cast<HostProgram>(find(job.library, "histogram"));
    for (const Case& each : job.cases) {
        if (host != nullptr) {
            run_host(each, host, results);
        } else {
            run(each, job.programs.at(each.program).name, results);
        }
    }
    return 0;
} catch (...) {
    return common::report_exception("run_cuda");
}
