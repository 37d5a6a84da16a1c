/// @file
/// What the CUDA programs of this chapter share of `tuned`: what they want to know of a device, its
/// kernel for a choice, its totals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "05-launch-tuning/arguments.hpp"
#include "05-launch-tuning/histogram.cuh"
#include "05-launch-tuning/tune/choice.hpp"
#include "common/cuda/cuda.hpp"

namespace tuning {

/// @param kernels those that the program has
Facts facts_of(const common::cuda::Device& device, const std::vector<const Kernel*>& kernels);

/// A kernel that counts `count` pixels from `first` on.
using Counting = void (*)(const std::uint8_t* pixels, std::uint64_t first, std::uint64_t count,
                          kernels::Total* totals, std::uint32_t* histogram);

/// `tuned` for some copies (1, 2, 4 ... 32) and loads (1 to 4). They are compiled once, with
/// on_cuda.cu, for all programs: the compiler takes its time with each.
Counting histogram_tuned(unsigned copies, unsigned loads);

/// The most threads that a block of this kernel may have: one that needs many registers leaves room
/// for fewer.
std::size_t max_threads(Counting kernel);

/// As choose_tuned, in blocks that have registers enough.
/// @throws common::BadInput where the command line asks for larger ones
Choice choose_launchable(const Arguments& arguments, const Facts& facts, std::uint64_t pixels);

/// The totals of 256 bins, zeroed once: every launch of `tuned` leaves zeros behind.
/// @return for the caller to free; null where `tuned` is to be zeroed before instead
kernels::Total* create_totals(bool one_launch);

/// They hold no poison before a run, as other buffers do, so it is looked whether they are zero.
/// @throws std::runtime_error where they are not
void require_zero(const kernels::Total* totals);

}  // namespace tuning
