/// @file
/// What cuda.cu and peers.cu share of `tuned`: which kernel and launch a choice means, what the
/// tuner wants to know of a device, and a choice that the device can launch. The kernels are
/// compiled once for both, with cuda_tuned.cu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <cuda_runtime.h>

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/launch.hpp"
#include "05-launch-tuning/tuning/tuning.hpp"
#include "common/cuda/cuda.hpp"
#include "common/histogram/histogram.hpp"

/// Blocks, and threads in each.
struct Launch {
    dim3 blocks;
    dim3 threads;
};

Launch as_launch(const Shape& shape);

/// A tuned kernel, and the launch that a choice means for a picture of some size.
struct TunedLaunch {
    kernels::Tuned kernel = nullptr;
    Launch launch;
    std::size_t shared_bytes = 0;  ///< that the host gives it
};

/// @param groups blocks, at most
TunedLaunch make_tuned(const tuning::Choice& choice, const Picture& picture, std::size_t groups);

/// The bytes of 256 totals of 64 bits.
constexpr std::size_t kTotalsBytes = common::kBins * sizeof(kernels::Total);

/// The totals in the device's memory, zeroed once: every launch of `tuned` leaves zeros behind.
/// @return for the caller to free
kernels::Total* create_totals();

/// They hold no poison before a run, as other buffers do, so it is looked whether they are zero.
/// @throws std::runtime_error where they are not
void require_zero(const kernels::Total* totals);

/// What decides which choices there are on this device.
tuning::Facts cuda_facts(const common::cuda::Device& device);

/// The most threads that a block of this choice may have: a kernel that needs many registers leaves
/// room for fewer.
std::size_t most_threads(const tuning::Choice& choice);

/// As choose_tuned, in blocks that have registers enough.
/// @throws common::BadInput where the command line asks for larger ones
tuning::Choice choose_launchable(const Arguments& arguments,
                                 const std::optional<tuning::Tuning>& known,
                                 const tuning::Facts& facts, std::uint64_t pixels);
