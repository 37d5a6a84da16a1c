// A program that is linked with this keeps no times, and in place of read_ceiling.cu it has this.
#include "common/cuda/read_ceiling.hpp"
#include "common/timing/timing.hpp"

namespace common::cuda {

static const bool emulated = (set_emulated(), true);

std::optional<double> read_ceiling_gb_s(std::uint64_t) {
    return std::nullopt;
}

cudaError_t find_a_kernel() {
    return emulated ? cudaSuccess : cudaErrorNoKernelImageForDevice;
}

}  // namespace common::cuda
