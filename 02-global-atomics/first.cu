// A whole CUDA program in one file: it counts how often each grey value occurs in a picture.
// Nothing is hidden elsewhere. first.cpp does the same in OpenCL, in the same steps.
//
//   Compile:  nvcc first.cu -o first
//   Run:      ./first ../images/landscape.bmp
//
// It needs the CUDA toolkit, the package libstb-dev, and an NVIDIA GPU to run on.
// Exit status: 0 right, 1 wrong, 2 no such picture or a call failed, 77 no device to run on.

#include <cuda_runtime.h>
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

// The kernel: what each thread does. nvcc compiles it together with the rest of the file.
__global__ void count_pixels(const unsigned char* pixels, size_t count, unsigned* histogram) {
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
        atomicAdd(&histogram[pixels[i]], 1U);
}

// Every call of CUDA tells whether it has worked. Where one has not, the program ends there.
#define CHECK_CUDA(error) check(error, __LINE__)
static void check(cudaError_t error, int line) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "first.cu:%d: %s\n", line, cudaGetErrorString(error));
    std::exit(2);
}

int main(int argc, char** argv) {
    // 1. The picture, as one byte of grey for each pixel.
    const char* const path = argc > 1 ? argv[1] : "../images/landscape.bmp";
    int width = 0, height = 0;
    stbi_uc* const picture = stbi_load(path, &width, &height, nullptr, 1);
    const size_t count = size_t(width) * size_t(height);
    if (picture == nullptr || count == 0) {
        std::fprintf(stderr, "first: %s is not a picture that can be read\n", path);
        return 2;
    }

    // 2. The right answer: the same loop on the CPU.
    std::vector<unsigned> expected(256, 0);
    for (size_t i = 0; i < count; ++i)
        ++expected[picture[i]];

    // 3. The device. NVIDIA's GPUs have numbers; a program that does not choose gets number 0.
    cudaDeviceProp device{};
    const cudaError_t error = cudaGetDeviceProperties(&device, 0);
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver) {
        std::fprintf(stderr, "first: there is no CUDA device: %s\n", cudaGetErrorString(error));
        return 77;
    }
    CHECK_CUDA(error);
    int units = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0));

    // 4. Where commands go: into CUDA's default stream. Two events there will keep the time.
    cudaEvent_t begin = nullptr, end = nullptr;
    CHECK_CUDA(cudaEventCreate(&begin));
    CHECK_CUDA(cudaEventCreate(&end));

    // 5. The kernel: nvcc has compiled it. Asked about now, it is loaded now, not when launched.
    cudaFuncAttributes attributes{};
    CHECK_CUDA(cudaFuncGetAttributes(&attributes, count_pixels));

    // 6. Two buffers in the device's memory. The kernel reads the one, and adds to the other.
    unsigned char* pixels = nullptr;
    CHECK_CUDA(cudaMalloc(&pixels, count));
    const size_t bytes = 256 * sizeof(unsigned);
    unsigned* histogram = nullptr;
    CHECK_CUDA(cudaMalloc(&histogram, bytes));

    // 7. The picture is copied to the device. The call returns when that is done.
    CHECK_CUDA(cudaMemcpy(pixels, picture, count, cudaMemcpyHostToDevice));

    // 8. The counts begin at zero, byte by byte: new memory holds whatever was in it before.
    CHECK_CUDA(cudaMemsetAsync(histogram, 0, bytes));

    // 9. The launch: two blocks of 256 threads for each multiprocessor. It returns at once.
    CHECK_CUDA(cudaEventRecord(begin));
    count_pixels<<<2 * units, 256>>>(pixels, count, histogram);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaEventRecord(end));

    // 10. The counts are copied back. The stream keeps its order, so the kernel is done by then.
    std::vector<unsigned> result(256, 0);
    CHECK_CUDA(cudaMemcpy(result.data(), histogram, bytes, cudaMemcpyDeviceToHost));

    // 11. How long the kernel ran, by the device's clock, in milliseconds.
    float milliseconds = 0;
    CHECK_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));

    // 12. Right or wrong: all 256 bins are compared. Their sum alone would hide much.
    int wrong = 0;
    for (int bin = 0; bin < 256; ++bin)
        wrong += result[bin] != expected[bin];
    std::printf("%s: %d x %d pixels in %.3f ms, %d of 256 bins are wrong\n", device.name, width,
                height, milliseconds, wrong);

    // 13. What was created is released.
    CHECK_CUDA(cudaFree(histogram));
    CHECK_CUDA(cudaFree(pixels));
    CHECK_CUDA(cudaEventDestroy(end));
    CHECK_CUDA(cudaEventDestroy(begin));
    stbi_image_free(picture);
    return wrong == 0 ? 0 : 1;
}
