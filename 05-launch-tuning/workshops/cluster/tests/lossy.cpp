// A program whose device loses a pixel of each launch.
#include "05-launch-tuning/workshops/cluster/cluster.hpp"

struct Lossy : cluster::Device {
    void copy_in(std::span<const std::uint8_t>, std::size_t) override {}
    common::Histogram count(std::size_t, std::size_t count) override {
        return {static_cast<std::uint32_t>(count - 1)};
    }
};

int main(int argc, char** argv) {
    const common::Program program = cluster::program("workshops/cluster/lossy", "C++", {}, {});
    return cluster::run(argc, argv, program, [](const common::Options&, int, std::size_t) {
        return std::make_unique<Lossy>();
    });
}
