// A stand-in for NVIDIA's driver, libcuda.so.1, that is of the version in GPU_DRIVER_VERSION (0: as
// if there were none) and finds no device, as the true one does where CUDA_VISIBLE_DEVICES hides
// them all. The CUDA runtime asks it for hundreds of functions, and calls these.
#include <cstdlib>
#include <cstring>

extern "C" {

int cuInit(unsigned) {
    return 100;  // CUDA_ERROR_NO_DEVICE
}

int cuDriverGetVersion(int* version) {
    *version = std::atoi(std::getenv("GPU_DRIVER_VERSION"));
    return 0;
}

int not_called() {
    return 999;  // CUDA_ERROR_UNKNOWN
}

int cuGetProcAddress_v2(const char* name, void** function, int, unsigned long long, int* result) {
    *function = reinterpret_cast<void*>(not_called);
    if (std::strcmp(name, "cuInit") == 0) *function = reinterpret_cast<void*>(cuInit);
    if (std::strcmp(name, "cuDriverGetVersion") == 0) {
        *function = reinterpret_cast<void*>(cuDriverGetVersion);
    }
    if (std::strncmp(name, "cuGetProcAddress", 16) == 0) {
        *function = reinterpret_cast<void*>(cuGetProcAddress_v2);
    }
    if (result != nullptr) *result = 0;
    return 0;
}
}
