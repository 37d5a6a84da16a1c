// The device of a rank of cluster.cpp on a processor: one thread. Start as many ranks as there are
// cores. cuda.cu has the same for NVIDIA's GPUs.

#include "common/host/cpu.hpp"
#include "01-cpu/histogram.hpp"
#include "05-launch-tuning/workshops/cluster/cluster.hpp"
#include "common/image/pixels.hpp"

const common::Program cluster::kProgram{
    .chapter = "05-launch-tuning",
    .name = "workshops/cluster/cpu",
    .api = "C++",
    .summary = "one histogram from many processes",
    .variants = {{"interleaved", "one loop, eight tables, as in chapter 01"}},
    .unsupported = {{"--plot", "there is nothing to draw"},
                    {"--time-limit", "mpirun --timeout S ends all ranks after S seconds"},
                    {"--no-ceiling", "none is measured"},
                    {"--device", "a rank is one thread"},
                    {"--list-devices", "a rank is one thread"},
                    {"--group-size", "a rank is one thread"},
                    {"--groups", "mpirun -n N says how many ranks"}},
    .max_pixels = kMaxPixels};

struct Core : cluster::Device {
    common::PixelBuffer memory;

    void copy_in(std::span<const std::uint8_t> pixels, std::size_t before) override {
        std::copy(pixels.begin(), pixels.end(), &memory[before]);
    }
    common::Histogram count(std::size_t first, std::size_t count) override {
        return count_interleaved(std::span(memory).subspan(first, count));
    }
};

std::unique_ptr<cluster::Device> cluster::device_for(const common::Options&, int,
                                                     std::size_t pixels) {
    auto core = std::make_unique<Core>();
    core->name = common::cpu_name();
    core->driver = "compiler " __VERSION__;
    core->memory.resize(pixels);
    return core;
}
