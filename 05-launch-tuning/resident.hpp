/// @file
/// How many work-items an OpenCL device holds at once. (CUDA has an attribute for it.)
#pragma once

#include <cstddef>
#include <string>

#include "common/opencl/opencl.hpp"

struct Resident {
    std::size_t items = 0;  ///< work-items that a compute unit holds at once
    std::string why;        ///< what the number follows from, or that nothing tells it
};

/// OpenCL has no question for it. An extension of NVIDIA's tells what it follows from. Elsewhere it
/// is what one group may have, and `why` says so.
Resident resident_items(cl_device_id device);
