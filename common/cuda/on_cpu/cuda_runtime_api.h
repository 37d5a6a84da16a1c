// The runtime's own header has the same two names.
#pragma once

#include "common/cuda/on_cpu/cuda_runtime.h"
