/// @file
/// The histogram with AVX-512: what chapter 01's fastest variant calls. See simd.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

/// Counts `count` pixels into 256 counters, which it sets. For processors with AVX-512 (BW, VBMI,
/// VBMI2, BITALG) and GFNI alone: ask before you call.
void count_simd(const std::uint8_t* pixels, std::size_t count, std::uint32_t* histogram);
