
#include "common/cuda/cuda.hpp"
#include "common/timing/timing.hpp"
#include "common/verify/watchdog.hpp"

namespace common::cuda {
namespace {

// The sum is written only if it is one certain number, which the compiler cannot rule out: so it
// has to read everything, and hardly ever is anything written. kLoads are on their way at once.
template <unsigned kLoads>
__global__ void read_all(const uint4* words, std::size_t count, unsigned* hardly_ever) {
    uint4 sum{0, 0, 0, 0};
    const auto add = [&](const uint4& word) {
        sum.x += word.x;
        sum.y += word.y;
        sum.z += word.z;
        sum.w += word.w;
    };
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (; i + (kLoads - 1) * stride < count; i += kLoads * stride) {
        uint4 loaded[kLoads];
#pragma unroll
        for (unsigned n = 0; n < kLoads; ++n)
            loaded[n] = words[i + n * stride];
#pragma unroll
        for (unsigned n = 0; n < kLoads; ++n)
            add(loaded[n]);
    }
    for (; i < count; i += stride)
        add(words[i]);
    constexpr unsigned kCertain = 0x9E37'79B9;
    if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == kCertain) *hardly_ever = 1;
}

// The rates of each launch shape, slowest first.
std::vector<std::vector<double>> rates_of_shapes(const std::vector<const std::uint8_t*>& copies,
                                                 std::uint64_t bytes,
                                                 const std::function<void()>& before_each) {
    int device = 0;
    CHECK_CUDA(cudaGetDevice(&device));
    Memory<unsigned> hardly_ever;
    Event begin;
    Event end;
    CHECK_CUDA(cudaMalloc(hardly_ever.out(), sizeof(unsigned)));
    CHECK_CUDA(cudaEventCreate(begin.out()));
    CHECK_CUDA(cudaEventCreate(end.out()));

    std::vector<std::vector<double>> shapes;
    std::size_t next = 0;
    for (const auto read : {read_all<1>, read_all<4>}) {
        for (const unsigned threads : {256U, 512U, 1024U}) {
            for (const unsigned blocks_per_multiprocessor : {1U, 2U, 4U, 16U}) {
                const unsigned blocks = blocks_per_multiprocessor * multiprocessors(device);
                std::vector<double>& rates = shapes.emplace_back();
                for (int repeat = 0; repeat < 5; ++repeat) {
                    const auto* const words =
                        reinterpret_cast<const uint4*>(copies[next++ % copies.size()]);
                    const Deadline deadline("the read ceiling", time_limit(bytes));
                    before_each();
                    CHECK_CUDA(cudaEventRecord(begin));
                    read<<<blocks, threads>>>(words, bytes / sizeof(uint4), hardly_ever);
                    CHECK_CUDA(cudaGetLastError());
                    CHECK_CUDA(cudaEventRecord(end));
                    rates.push_back(
                        gigabytes_per_second(static_cast<double>(bytes), elapsed_ms(begin, end)));
                }
                std::sort(rates.begin(), rates.end());
            }
        }
    }
    return shapes;
}

}  // namespace

double read_ceiling_gb_s(const std::vector<const std::uint8_t*>& copies, std::uint64_t bytes) {
    double best = 0;
    for (const std::vector<double>& rates : rates_of_shapes(copies, bytes, [] {}))
        best = std::max(best, rates.back());
    return best;
}

double reading_alone_gb_s(const std::vector<const std::uint8_t*>& copies, std::uint64_t bytes,
                          const std::function<void()>& before_each) {
    double best = 0;
    for (const std::vector<double>& rates : rates_of_shapes(copies, bytes, before_each))
        best = std::max(best, rates[rates.size() / 2]);
    return best;
}

std::optional<double> read_ceiling_gb_s(std::uint64_t pixels) {
    const std::size_t bytes = read_ceiling_bytes(pixels);
    Memory<std::uint8_t> buffer;
    CHECK_CUDA(cudaMalloc(buffer.out(), bytes));
    CHECK_CUDA(cudaMemset(buffer, 0, bytes));
    return read_ceiling_gb_s({buffer}, bytes);
}

cudaError_t find_a_kernel() {
    cudaFuncAttributes ignored{};
    return cudaFuncGetAttributes(&ignored, read_all<1>);
}

}  // namespace common::cuda
