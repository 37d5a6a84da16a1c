// The kernel that your host program launches. Nothing here is for you to edit.
#include <cstddef>
#include <cstdint>

// The grader has another BIN_OF each time, which depends on the launch, too: so only what has been
// through the kernel, in the launch that was asked for, is right.
#ifndef BIN_OF
#define BIN_OF(pixel) (pixel)
#endif

// `histogram` is zero when this begins.
__global__ void histogram_global(const std::uint8_t* pixels, std::size_t count,
                                 std::uint32_t* histogram) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&histogram[BIN_OF(pixels[i])], 1U);
    }
}
