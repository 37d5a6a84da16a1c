// The kernel that your host program launches. Nothing here is for you to edit.

// The grader has another BIN_OF each time, which depends on the launch, too: so only what has been
// through the kernel, in the launch that was asked for, is right.
#ifndef BIN_OF
#define BIN_OF(pixel) (pixel)
#endif

// `histogram` is zero when this begins.
__kernel void histogram_global(__global const uchar* pixels, ulong count,
                               __global uint* histogram) {
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        atomic_inc(&histogram[BIN_OF(pixels[i])]);
    }
}
