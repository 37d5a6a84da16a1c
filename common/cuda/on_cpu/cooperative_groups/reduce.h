// It is all in one header.
#include "common/cuda/on_cpu/cooperative_groups.h"
