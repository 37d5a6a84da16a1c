// One histogram from many processes, on OpenCL devices. The kernel is `tuned`, of chapter 05; the
// program itself is in cluster.cpp.
//
// Run it:  mpirun -n 2 build/05-launch-tuning/workshops/cluster/opencl --random 8G
//          mpirun -n 2 build/05-launch-tuning/workshops/cluster/opencl --raw FILE --check
//
// A rank is a process of MPI, with a device of its own where there are enough. cuda.cu does the
// same in CUDA, in the same steps; cpu.cpp counts without a device.

#include "05-launch-tuning/workshops/cluster/cluster.hpp"
#include "05-launch-tuning/workshops/tuned_opencl.hpp"

using namespace common;
using namespace common::opencl;

// Number n of this machine's GPUs in turn; if it has none, of its other devices.
static std::string nth_device(int n) {
    const std::vector<opencl::Device> all = devices();
    std::vector<std::size_t> gpus, others;
    for (std::size_t i = 0; i < all.size(); ++i)
        ((all[i].type & CL_DEVICE_TYPE_GPU) != 0 ? gpus : others).push_back(i);
    const std::vector<std::size_t>& used = gpus.empty() ? others : gpus;
    // Without any, choose_device says that there is none.
    return used.empty() ? "" : std::to_string(used[static_cast<std::size_t>(n) % used.size()]);
}

class OpenClDevice : public cluster::Device {
 public:
    OpenClDevice(const Options& options, int nth, std::size_t pixel_count) {
        // 1. The first rank of a machine takes its first device, the next one the next, and so on
        //    around. Several ranks may share one.
        number = options.device.empty() ? nth_device(nth) : options.device;
        const opencl::Device device = choose_device(number);
        name = device.name;
        driver = device.driver_line();
        limits_ = limits_of(device.id);

        // 2. Where its commands go, and memory.
        context_ = context_of(device.id);
        queue_ = queue_of(context_, device.id, 0);
        require_memory(device.id, pixel_count);
        pixels_ = buffer_of(context_, CL_MEM_READ_ONLY, pixel_count);
        histogram_ = buffer_of(context_, CL_MEM_READ_WRITE, sizeof(Histogram));

        // 3. How to count: `tuned`, as chapter 05 launches it on this device.
        launch_ = launch_for(limits_, options, std::min(pixel_count, cluster::kMaxLaunchPixels));
        groups_ = options.groups;
        const std::string source =
            read_kernel_file("histogram.cl", CHAPTER_FOLDER, options.kernels);
        tuned_.emplace(context_, device.id, with_its_name("histogram.cl", source));
        tuned_->built(launch_);
    }

    // 4. My share goes to the device, some at a time.
    void copy_in(std::span<const std::uint8_t> some, std::size_t before) override {
        CHECK_CL(clEnqueueWriteBuffer(queue_, pixels_, CL_TRUE, before, some.size(), some.data(), 0,
                                      nullptr, nullptr));
    }

    // 5. Count a part of it.
    Histogram count(std::size_t first, std::size_t count) override {
        Histogram counted{};
        tuned_->enqueue(queue_, launch_, groups_.value_or(launch_.groups(limits_.units, count)),
                        pixels_, first, count, histogram_);
        CHECK_CL(clEnqueueReadBuffer(queue_, histogram_, CL_TRUE, 0, sizeof counted, counted.data(),
                                     0, nullptr, nullptr));
        return counted;
    }

 private:
    DeviceLimits limits_;
    TunedLaunch launch_;
    std::optional<std::size_t> groups_;
    Context context_;
    Queue queue_;
    Buffer pixels_, histogram_;
    std::optional<Tuned> tuned_;
};

int main(int argc, char** argv) {
    return cluster::run_tuned(
        argc, argv, "workshops/cluster/opencl", "OpenCL", [] { return list(devices()); },
        [](const Options& options, int nth, std::size_t pixels) {
            return std::make_unique<OpenClDevice>(options, nth, pixels);
        });
}
