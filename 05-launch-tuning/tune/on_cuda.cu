#include "05-launch-tuning/tune/on_cuda.cuh"

#include <array>
#include <bit>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "common/status/status.hpp"

namespace tuning {
namespace {

using Totals = std::array<kernels::Total, kernels::kBins * kernels::kApart>;

template <unsigned kCopies>
constexpr Counting kOfLoads[] = {
    kernels::histogram_tuned<kCopies, 1>, kernels::histogram_tuned<kCopies, 2>,
    kernels::histogram_tuned<kCopies, 3>, kernels::histogram_tuned<kCopies, 4>};

constexpr const Counting* kOfCopies[] = {kOfLoads<1>, kOfLoads<2>,  kOfLoads<4>,
                                         kOfLoads<8>, kOfLoads<16>, kOfLoads<32>};

}  // namespace

Facts facts_of(const common::cuda::Device& device, const std::vector<const Kernel*>& kernels) {
    Facts facts{"CUDA", device.name, device.driver};
    const auto ask = [&](cudaDeviceAttr attribute) {
        int value = 0;
        CHECK_CUDA(cudaDeviceGetAttribute(&value, attribute, device.id));
        return static_cast<std::size_t>(value);
    };
    facts.units = common::cuda::multiprocessors(device.id);
    facts.max_group_size = ask(cudaDevAttrMaxThreadsPerBlock);
    facts.local_bytes = ask(cudaDevAttrMaxSharedMemoryPerBlock);
    facts.kernels = kernels;
    std::size_t free_bytes = 0;
    std::size_t memory_bytes = 0;
    CHECK_CUDA(cudaMemGetInfo(&free_bytes, &memory_bytes));
    facts.picture_bytes = memory_bytes / 4;
    return facts;
}

Counting histogram_tuned(unsigned copies, unsigned loads) {
    return kOfCopies[std::bit_width(copies) - 1][loads - 1];
}

std::size_t max_threads(Counting kernel) {
    cudaFuncAttributes attributes{};
    CHECK_CUDA(cudaFuncGetAttributes(&attributes, kernel));
    return static_cast<std::size_t>(attributes.maxThreadsPerBlock);
}

Choice choose_launchable(const Arguments& arguments, const Facts& facts, std::uint64_t pixels) {
    Choice choice = choose_tuned(arguments, facts, pixels);
    const std::size_t most = max_threads(histogram_tuned(choice.copies, choice.loads));
    if (choice.group_size > most) {
        const std::string reason = choice.text() + ": its registers allow blocks of at most " +
                                   std::to_string(most) + " threads";
        if (arguments.common.group_size) throw common::BadInput(reason);
        while (choice.group_size > most)
            choice.group_size /= 2;
        std::fprintf(stderr, "  %s; it gets blocks of %zu\n", reason.c_str(), choice.group_size);
    }
    return choice;
}

kernels::Total* create_totals(bool one_launch) {
    if (!one_launch) return nullptr;
    kernels::Total* totals = nullptr;
    CHECK_CUDA(cudaMalloc(&totals, sizeof(Totals)));
    CHECK_CUDA(cudaMemset(totals, 0, sizeof(Totals)));
    return totals;
}

void require_zero(const kernels::Total* totals) {
    if (totals == nullptr) return;
    Totals words{};
    CHECK_CUDA(cudaMemcpy(words.data(), totals, sizeof words, cudaMemcpyDeviceToHost));
    if (words != Totals{})
        throw std::runtime_error("the last launch did not leave its totals at zero");
}

}  // namespace tuning
