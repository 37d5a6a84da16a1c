/// @file
/// A job's cases in CUDA: on a GPU (run_cuda.cpp) and on a processor (run_emulated.cpp) they are
/// the same, but for how a kernel is launched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "common/cuda/cuda.hpp"
#include "common/tutor/exercise/job.hpp"

namespace common::exercise {

/// Launches a step's kernel, from one of the job's programs, and waits for its end: the time in ms.
/// The arguments are addresses, as cudaLaunchKernel takes them.
using LaunchStep = std::function<double(std::size_t program, const Step& step, void** arguments,
                                        std::size_t shared_bytes)>;

/// Runs all cases, each on buffers of its own. @throws what `launch` throws
inline void run_cases(const Job& job, const LaunchStep& launch, Results& results) {
    for (const Case& each : job.cases) {
        std::map<std::string, cuda::Memory<void>> buffers;
        for (const auto& [name, buffer] : each.buffers) {
            CHECK_CUDA(cudaMalloc(buffers[name].out(), buffer.bytes.size()));
            CHECK_CUDA(cudaMemcpy(buffers[name], buffer.bytes.data(), buffer.bytes.size(),
                                  cudaMemcpyHostToDevice));
        }
        double time_ms = 0;
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
            time_ms += launch(each.program, step, arguments.data(), shared_bytes);
        }
        std::vector<std::uint8_t> result(each.buffers.at(each.result).bytes.size());
        CHECK_CUDA(cudaMemcpy(result.data(), buffers.at(each.result), result.size(),
                              cudaMemcpyDeviceToHost));
        results.add(result, time_ms);
    }
}

}  // namespace common::exercise
