// One histogram from many processes, on processors. The program itself is in cluster.cpp.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/workshops/cluster/cpu --random 8G
//          mpirun -n 2 build/05-launch-tuning/workshops/cluster/cpu --raw FILE --check
//
// A rank is a process of MPI, and counts on one thread: start as many as there are cores.
// cuda.cu does the same on devices.

#include <algorithm>

#include "01-cpu/histogram.hpp"
#include "05-launch-tuning/workshops/cluster/cluster.hpp"
#include "common/image/pixels.hpp"
#include "common/process/choice.hpp"
#include "common/process/cpu.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"

class Core : public cluster::Device {
 public:
    Core(const common::Options& options, std::size_t pixels) : memory_(pixels) {
        name = common::cpu_name();
        driver = "compiler " __VERSION__;
        number = "0";
        if (!options.device.empty()) common::device_by_text(options.device, {name}, "C++");
    }

    void copy_in(std::span<const std::uint8_t> pixels, std::size_t before) override {
        std::copy(pixels.begin(), pixels.end(),
                  memory_.begin() + static_cast<std::ptrdiff_t>(before));
    }

    common::Histogram count(std::size_t first, std::size_t count) override {
        return count_interleaved(std::span(memory_).subspan(first, count));
    }

 private:
    common::PixelBuffer memory_;
};

int main(int argc, char** argv) {
    const common::Program program = cluster::program(
        "workshops/cluster/cpu", "C++", {"interleaved", "one loop, eight tables, as in chapter 01"},
        {{"--group-size", "a rank is one thread"},
         {"--groups", "mpirun -n N says how many ranks"}});
    return cluster::run(argc, argv, program,
                        [](const common::Options& options, int, std::size_t pixels) {
                            if (options.list_devices) {
                                common::print("0: " + common::cpu_name() + "\n");
                                throw common::Finished();
                            }
                            return std::make_unique<Core>(options, pixels);
                        });
}
