// Which kernel and launch of `tuned` a choice means in CUDA. The device's code of all these kernels
// is compiled here, once, for cuda.cu and for peers.cu.
#include "05-launch-tuning/cuda_tuned.cuh"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/status/status.hpp"

namespace {

template <unsigned kLoads>
kernels::Tuned lanes_with(unsigned copies) {
    switch (copies) {
        case 1:
            return kernels::tuned_lanes<1, kLoads>;
        case 2:
            return kernels::tuned_lanes<2, kLoads>;
        case 4:
            return kernels::tuned_lanes<4, kLoads>;
        case 8:
            return kernels::tuned_lanes<8, kLoads>;
        case 16:
            return kernels::tuned_lanes<16, kLoads>;
        default:
            return kernels::tuned_lanes<32, kLoads>;
    }
}

kernels::Tuned kernel_of(const tuning::Choice& choice) {
    if (choice.kernel == "byte-bins") return kernels::tuned_bytes;
    const bool local = choice.kernel == "local";
    switch (choice.loads) {
        case 1:
            return local ? kernels::tuned_local<1> : lanes_with<1>(choice.copies);
        case 2:
            return local ? kernels::tuned_local<2> : lanes_with<2>(choice.copies);
        case 3:
            return local ? kernels::tuned_local<3> : lanes_with<3>(choice.copies);
        default:
            return local ? kernels::tuned_local<4> : lanes_with<4>(choice.copies);
    }
}

}  // namespace

Launch as_launch(const Shape& shape) {
    return {dim3(static_cast<unsigned>(shape.groups_x), static_cast<unsigned>(shape.groups_y)),
            dim3(static_cast<unsigned>(shape.items_x), static_cast<unsigned>(shape.items_y))};
}

TunedLaunch make_tuned(const tuning::Choice& choice, const Picture& picture, std::size_t groups) {
    return {kernel_of(choice),
            as_launch(
                lay_over(picture.as_one_row(), choice.group_size, groups, pixels_at_once(choice))),
            tuning::local_bytes_of(choice)};
}

kernels::Total* create_totals() {
    kernels::Total* totals = nullptr;
    CHECK_CUDA(cudaMalloc(&totals, kTotalsBytes));
    CHECK_CUDA(cudaMemset(totals, 0, kTotalsBytes));
    return totals;
}

void require_zero(const kernels::Total* totals) {
    std::vector<kernels::Total> words(common::kBins);
    CHECK_CUDA(cudaMemcpy(words.data(), totals, kTotalsBytes, cudaMemcpyDeviceToHost));
    if (std::any_of(words.begin(), words.end(), [](kernels::Total word) { return word != 0; })) {
        throw std::runtime_error("the last launch did not leave its totals at zero");
    }
}

tuning::Facts cuda_facts(const common::cuda::Device& device) {
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

std::size_t most_threads(const tuning::Choice& choice) {
    cudaFuncAttributes attributes{};
    CHECK_CUDA(cudaFuncGetAttributes(&attributes, kernel_of(choice)));
    return static_cast<std::size_t>(attributes.maxThreadsPerBlock);
}

tuning::Choice choose_launchable(const Arguments& arguments,
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
