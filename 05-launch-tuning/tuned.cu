// The instances of histogram_tuned. The compiler takes its time with each.
#include <bit>

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/launch.hpp"

namespace kernels {

static_assert(kTotalWords == kBins * kApart, "the host makes room for the totals");

template <unsigned kCopies>
constexpr Tuned kOfLoads[] = {histogram_tuned<kCopies, 1>, histogram_tuned<kCopies, 2>,
                              histogram_tuned<kCopies, 3>, histogram_tuned<kCopies, 4>};

Tuned tuned(unsigned copies, unsigned loads) {
    static constexpr const Tuned* kOfCopies[] = {kOfLoads<1>, kOfLoads<2>,  kOfLoads<4>,
                                                 kOfLoads<8>, kOfLoads<16>, kOfLoads<32>};
    return kOfCopies[std::bit_width(copies) - 1][loads - 1];
}

}  // namespace kernels
