#include "common/cuda/cuda.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "common/lesson.hpp"

namespace common::cuda {
static std::string version(int number) {
    return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

void check(cudaError_t error, const char* call, const char* file, int line) {
    if (error == cudaSuccess) return;
    if (error == cudaErrorMemoryAllocation)
        throw Unsupported(fmt::format("this device has too little memory: {} from {}",
                                      cudaGetErrorName(error), call));
    // Known when the device is chosen: see choose_device.
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction)
        throw NothingToRunOn(
            "no CUDA device that this build has code for: configure with "
            "-DCMAKE_CUDA_ARCHITECTURES=native, or with a CUDA toolkit that knows the device");
    if (error == cudaErrorUnsupportedPtxVersion)
        throw NothingToRunOn(
            "no CUDA device whose driver can compile this build's code: configure with "
            "-DCMAKE_CUDA_ARCHITECTURES=native, or install a newer NVIDIA driver");
    // As on a CPU, where such a kernel crashes (common/verify/watchdog.cpp).
    const bool outside = error == cudaErrorIllegalAddress || error == cudaErrorMisalignedAddress;
    throw std::runtime_error(fmt::format("{} ({}): {}{}, from {} at {}:{}", cudaGetErrorName(error),
                                         static_cast<int>(error), cudaGetErrorString(error),
                                         outside ? " (out-of-bounds)" : "", call, file, line));
}

Device described(int id) {
    int driver = 0;
    int runtime = 0;
    CHECK_CUDA(cudaDriverGetVersion(&driver));
    CHECK_CUDA(cudaRuntimeGetVersion(&runtime));
    cudaDeviceProp properties{};
    CHECK_CUDA(cudaGetDeviceProperties(&properties, id));
    return {id, properties.name,
            is_emulated() ? "common/cuda/on_cpu"
                          : fmt::format("compute capability {}.{}, CUDA driver {}, runtime {}",
                                        properties.major, properties.minor, version(driver),
                                        version(runtime))};
}

std::vector<Device> devices() {
    // Left untouched where there is no driver, so it must not be read then.
    int count = 0;
    const cudaError_t found = cudaGetDeviceCount(&count);
    int driver = 0;
    if (found == cudaErrorInsufficientDriver) {
        CHECK_CUDA(cudaDriverGetVersion(&driver));  // 0 where there is none
        if (driver == 0) throw NothingToRunOn("no CUDA device: there is no NVIDIA driver");
        throw NothingToRunOn(
            fmt::format("no CUDA device: the NVIDIA driver is one for CUDA {}, too old for a "
                        "program built with CUDA {}",
                        version(driver), version(CUDART_VERSION)));
    }
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (found == cudaErrorNoDevice && visible != nullptr)
        throw NothingToRunOn(
            fmt::format("no CUDA device: CUDA_VISIBLE_DEVICES='{}' leaves none", visible));
    if (found != cudaSuccess)
        throw NothingToRunOn(fmt::format("no CUDA device: {}", cudaGetErrorString(found)));
    if (count == 0) throw NothingToRunOn("no CUDA device: the driver finds none");
    std::vector<Device> all;
    for (int id = 0; id < count; ++id)
        all.push_back(described(id));
    return all;
}

std::string list(const std::vector<Device>& devices) {
    std::string text;
    for (const Device& device : devices)
        text += fmt::format("{}: {} ({})\n", device.id, device.name, device.driver);
    return text;
}

int choose_device(Lesson& lesson) {
    if (lesson.options.list_devices) {
        print(list(devices()));
        throw Finished();
    }
    const Device device = choose_device(lesson.options.device);
    lesson.runs_on(device.name, device.driver);
    return device.id;
}

Device choose_device(const std::string& wanted) {
    const std::vector<Device> all = devices();
    std::vector<std::string> names;
    names.reserve(all.size());
    for (const Device& device : all)
        names.push_back(device.name);
    const Device& chosen =
        wanted.empty() ? all.front() : all[device_by_text(wanted, names, "CUDA")];
    CHECK_CUDA(cudaSetDevice(chosen.id));
    CHECK_CUDA(find_a_kernel());
    return chosen;
}

unsigned multiprocessors(int device) {
    int count = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(count);
}

unsigned max_block_size(int device) {
    int most = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, device));
    return static_cast<unsigned>(most);
}

std::string unsupported_reason(const void* kernel, std::size_t block_size) {
    cudaFuncAttributes attributes{};
    CHECK_CUDA(cudaFuncGetAttributes(&attributes, kernel));
    const auto most = static_cast<std::size_t>(attributes.maxThreadsPerBlock);
    if (block_size <= most) return {};
    return fmt::format("this device runs it in blocks of at most {}: --group-size {}", most, most);
}

void poison(void* memory, std::size_t bytes) {
    CHECK_CUDA(cudaMemset(memory, kPoisonByte, bytes));
    CHECK_CUDA(cudaDeviceSynchronize());
}

double elapsed_ms(cudaEvent_t begin, cudaEvent_t end) {
    float time_ms = 0;
    CHECK_CUDA(cudaEventSynchronize(end));
    CHECK_CUDA(cudaEventElapsedTime(&time_ms, begin, end));
    return time_ms;
}

}  // namespace common::cuda
