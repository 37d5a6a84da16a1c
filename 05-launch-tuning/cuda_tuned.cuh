/// @file
/// What cuda.cu and peers.cu share: what the tuner wants to know of a device, and a choice that the
/// device can launch.
#pragma once

#include <cstdio>
#include <optional>

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/tuning/tuning.hpp"
#include "common/cuda/cuda.hpp"
#include "common/status/status.hpp"

inline tuning::Facts cuda_facts(const common::cuda::Device& device) {
    tuning::Facts facts{"CUDA", device.name, device.driver};
    const auto ask = [&](cudaDeviceAttr attribute) {
        int value = 0;
        CHECK_CUDA(cudaDeviceGetAttribute(&value, attribute, device.id));
        return static_cast<std::size_t>(value);
    };
    facts.units = common::cuda::multiprocessors(device.id);
    facts.most_items = ask(cudaDevAttrMaxThreadsPerBlock);
    facts.local_bytes = ask(cudaDevAttrMaxSharedMemoryPerBlock);
    std::size_t free_bytes = 0;
    std::size_t memory_bytes = 0;
    CHECK_CUDA(cudaMemGetInfo(&free_bytes, &memory_bytes));
    facts.picture_bytes = memory_bytes / 4;
    facts.kernels = {"local", "lane-bins", "byte-bins"};  // item-bins is for CPUs
    return facts;
}

/// The most threads that a block of this choice may have: a kernel that needs many registers leaves
/// room for fewer.
inline std::size_t most_threads(const tuning::Choice& choice) {
    cudaFuncAttributes attributes{};
    CHECK_CUDA(cudaFuncGetAttributes(
        &attributes, kernels::tuned_kernel(choice.kernel, choice.copies, choice.loads)));
    return static_cast<std::size_t>(attributes.maxThreadsPerBlock);
}

/// As choose_tuned, in blocks that have registers enough.
/// @throws common::BadInput where the command line asks for larger ones
inline tuning::Choice choose_launchable(const Arguments& arguments,
                                        const std::optional<tuning::Tuning>& known,
                                        const tuning::Facts& facts, std::uint64_t pixels) {
    tuning::Choice choice = choose_tuned(arguments, known, facts, pixels);
    const std::size_t most = most_threads(choice);
    if (choice.group_size > most) {
        const std::string reason = to_string(choice) + ": its registers allow blocks of at most " +
                                   std::to_string(most) + " threads";
        if (arguments.common.group_size) throw common::BadInput(reason);
        while (choice.group_size > most)
            choice.group_size /= 2;
        std::fprintf(stderr, "  %s; it gets blocks of %zu\n", reason.c_str(), choice.group_size);
    }
    return choice;
}
