// One histogram from many processes, on NVIDIA's GPUs. The kernel is `tuned`, of chapter 05; the
// program itself is in cluster.cpp.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/workshops/cluster/cuda --random 8G
//          mpirun -n 2 build/05-launch-tuning/workshops/cluster/cuda --raw FILE --check
//
// A rank is a process of MPI, with a device of its own where there are enough. cpu.cpp counts
// without a device.

#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/workshops/cluster/cluster.hpp"
#include "05-launch-tuning/workshops/limits_cuda.hpp"
#include "common/process/status.hpp"
#include "common/process/terminal.hpp"

using namespace common;
using namespace common::cuda;

// Number n of this machine's devices in turn.
static std::string nth_device(int n) {
    return std::to_string(static_cast<std::size_t>(n) % devices().size());
}

class CudaDevice : public cluster::Device {
 public:
    CudaDevice(const Options& options, int nth, std::size_t pixel_count) {
        // 1. The first rank of a machine takes its first device, the next one the next, and so on
        //    around. Several ranks may share one.
        number = options.device.empty() ? nth_device(nth) : options.device;
        const cuda::Device device = choose_device(number);
        name = device.name;
        driver = device.driver;
        limits_ = limits_of(device.id);

        // 2. Where its commands go: the default stream; and memory.
        CHECK_CUDA(cudaMalloc(pixels_.out(), pixel_count));
        CHECK_CUDA(cudaMalloc(histogram_.out(), sizeof(Histogram)));
        CHECK_CUDA(cudaMalloc(totals_.out(), kTotalWords * sizeof(kernels::Total)));
        CHECK_CUDA(cudaMemset(totals_, 0, kTotalWords * sizeof(kernels::Total)));

        // 3. How to count: `tuned`, as chapter 05 launches it on this device.
        launch_ = launch_for(limits_, options, std::min(pixel_count, cluster::kMaxLaunchPixels));
        groups_ = options.groups;
        tuned_ = kernels::tuned(launch_.copies, launch_.loads);
    }

    // 4. My share goes to the device, some at a time.
    void copy_in(std::span<const std::uint8_t> some, std::size_t before) override {
        CHECK_CUDA(cudaMemcpy(pixels_ + before, some.data(), some.size(), cudaMemcpyHostToDevice));
    }

    // 5. Count a part of it.
    Histogram count(std::size_t first, std::size_t count) override {
        Histogram counted{};
        const std::size_t groups = groups_.value_or(launch_.groups(limits_.units, count));
        tuned_<<<static_cast<unsigned>(groups), static_cast<unsigned>(launch_.group_size)>>>(
            pixels_, first, count, totals_, histogram_);
        CHECK_CUDA(cudaGetLastError());
        CHECK_CUDA(cudaMemcpy(counted.data(), histogram_, sizeof counted, cudaMemcpyDeviceToHost));
        return counted;
    }

 private:
    DeviceLimits limits_;
    TunedLaunch launch_;
    std::optional<std::size_t> groups_;
    Memory<std::uint8_t> pixels_;
    Memory<std::uint32_t> histogram_;
    Memory<kernels::Total> totals_;
    kernels::Tuned tuned_ = nullptr;
};

int main(int argc, char** argv) {
    const Program program =
        cluster::program("workshops/cluster/cuda", "CUDA",
                         {"tuned", "chapter 05's, as tune has found it or by default"},
                         {{"--no-diagnosis", "a wrong result is not looked into"}});
    return cluster::run(argc, argv, program,
                        [](const Options& options, int nth, std::size_t pixels) {
                            if (options.list_devices) {
                                print(list(devices()));
                                throw Finished();
                            }
                            return std::make_unique<CudaDevice>(options, nth, pixels);
                        });
}
