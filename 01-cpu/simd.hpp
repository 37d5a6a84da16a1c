// The histogram with AVX-512: what chapter 01's fastest variant calls. See simd.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef WITH_SIMD
/// Whether this processor has what simd.cpp is compiled for.
inline bool processor_has_simd() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bitalg") &&
           __builtin_cpu_supports("gfni") && __builtin_cpu_supports("popcnt");
}
#endif

/// Counts `count` pixels into 256 counters, which it sets. For processors with AVX-512 (BW, VL,
/// VBMI, VBMI2, BITALG) and GFNI alone: ask processor_has_simd() before.
void count_simd(const std::uint8_t* pixels, std::size_t count, std::uint32_t* histogram);
