// What the check of every CUDA call makes of an error. No GPU is needed.
#include "common/cuda/cuda.hpp"

#include <gtest/gtest.h>

#include "common/process/status.hpp"
#include "common/tests/support.hpp"

namespace {

namespace cuda = common::cuda;

std::string nothing_to_run_on(cudaError_t error) {
    try {
        cuda::check(error, "a_call", "cuda.cu", 123);
    } catch (const common::NothingToRunOn& caught) {
        return caught.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
}

TEST(CudaError, AFailureNamesErrorCallFileAndLine) {
    EXPECT_NO_THROW(cuda::check(cudaSuccess, "a_call", "cuda.cu", 123));
    try {
        cuda::check(cudaErrorInvalidValue, "cudaMalloc(&p, 0)", "cuda.cu", 123);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(),
                     "cudaErrorInvalidValue (1): invalid argument, from cudaMalloc(&p, 0) at "
                     "cuda.cu:123");
    }
}

TEST(CudaError, TooLittleMemoryIsForTheUserToMend) {
    EXPECT_EQ(tests::bad_input([] { CHECK_CUDA(cudaErrorMemoryAllocation); }),
              "this device has too little memory: cudaErrorMemoryAllocation from "
              "cudaErrorMemoryAllocation");
}

TEST(CudaError, ADeviceWithoutCodeForItIsNothingToRunOn) {
    for (const cudaError_t error :
         {cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction}) {
        EXPECT_EQ(
            nothing_to_run_on(error),
            "no CUDA device that this build has code for: configure with "
            "-DCMAKE_CUDA_ARCHITECTURES=native, or with a CUDA toolkit that knows the device");
    }
    EXPECT_EQ(nothing_to_run_on(cudaErrorUnsupportedPtxVersion),
              "no CUDA device whose driver can compile this build's code: configure with "
              "-DCMAKE_CUDA_ARCHITECTURES=native, or install a newer NVIDIA driver");
}

}  // namespace
