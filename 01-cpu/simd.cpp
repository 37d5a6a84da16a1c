// Chapter 01, simd: 64 pixels at a time, with AVX-512. Only count_simd at the end is called from
// outside, and only where the processor has what this file is compiled for. memory/README.md has
// its two halves in words, and as a picture: pixels are split by their top two bits onto four
// stacks, and 2,048 pixels of the fullest are counted, eight columns of bits for each value.
//
// At most three turns find no stack that is full enough. From then on each turn pushes
// 2,048 pixels and counts 2,048, for four stacks with four turns' pixels have one with a turn's. So
// how long it takes does not depend on the picture. Counting by columns is older than this (Harley
// and Seal's population count).
#include "01-cpu/simd.hpp"

#include <immintrin.h>

namespace {

constexpr std::size_t kTurn = 2048;  // pixels that are split, and then counted
constexpr std::size_t kStep = 128;   // pixels: up to 16 in each of a value's eight columns
constexpr std::size_t kHalf = kTurn / 2;
constexpr std::size_t kAhead = 1024;  // bytes ahead that memory is asked for

// ---- 1. split ----

// One class of pixels: those that wait, and those that are counted.
struct Class {
    // Four turns' pixels are the most that wait; and what is pushed is written as 64 bytes.
    alignas(64) std::uint8_t pixels[4 * kTurn + 64];
    std::uint8_t* top = pixels;
    // What the columns hold: 1, 2, 4 and 8 pixels for each bit that is set.
    __m512i ones = _mm512_setzero_si512(), twos = ones, fours = ones, eights = ones;
    std::uint32_t counts[64] = {};  // of the six low bits
};

inline void push(std::uint8_t*& top, __mmask64 which, __m512i pixels) {
    _mm512_storeu_si512(top, _mm512_maskz_compress_epi8(which, pixels));
    top += _mm_popcnt_u64(_cvtmask64_u64(which));
}

inline void split_64(std::uint8_t* (&tops)[4], const std::uint8_t* from) {
    const __m512i pixels = _mm512_loadu_si512(from);
    const __mmask64 high = _mm512_movepi8_mask(pixels);  // bit 7
    const __mmask64 low = _mm512_test_epi8_mask(pixels, _mm512_set1_epi8(64));
    push(tops[0], _knot_mask64(_kor_mask64(high, low)), pixels);
    push(tops[1], _kandn_mask64(high, low), pixels);
    push(tops[2], _kandn_mask64(low, high), pixels);
    push(tops[3], _kand_mask64(high, low), pixels);
}

// ---- 2. count ----

// Adds two bits to each column: the sum stays, what is carried is worth twice as much.
inline __m512i add(__m512i& sum, __m512i a, __m512i b) {
    const __m512i carry = _mm512_ternarylogic_epi64(sum, a, b, 0xe8);  // at least two
    sum = _mm512_ternarylogic_epi64(sum, a, b, 0x96);                  // one, or three
    return carry;
}

// Pixel k of each of the eight 64-bit words, as a word with one bit set: 1, rotated left by the
// pixel. A rotation looks at the six lowest bits of its distance alone, those of the value.
template <int k>
inline __m512i one_bit(__m512i pixels) {
    return _mm512_rolv_epi64(_mm512_set1_epi64(1), _mm512_srli_epi64(pixels, 8 * k));
}

// Adds 64 pixels to the columns of a class: what is carried is worth 8 pixels a bit.
inline __m512i add_64(__m512i pixels, __m512i& ones, __m512i& twos, __m512i& fours) {
    const __m512i two_a = add(ones, one_bit<0>(pixels), one_bit<1>(pixels));
    const __m512i two_b = add(ones, one_bit<2>(pixels), one_bit<3>(pixels));
    const __m512i four_a = add(twos, two_a, two_b);
    const __m512i two_c = add(ones, one_bit<4>(pixels), one_bit<5>(pixels));
    const __m512i two_d = add(ones, one_bit<6>(pixels), one_bit<7>(pixels));
    const __m512i four_b = add(twos, two_c, two_d);
    return add(fours, four_a, four_b);
}

// How many of the eight columns of each value have a bit: 64 bytes, one for each value. A
// transposition: first of bytes, so that the eight bytes of a word are the same byte of all words,
// then of the 8 x 8 bits of each word. The instruction for that multiplies a matrix, here the data,
// with each byte; a byte with one bit set picks a column of it. In which order does not matter.
inline __m512i words_with_each_bit(__m512i columns) {
    const __m512i by_eights = _mm512_set_epi64(0x3f372f271f170f07, 0x3e362e261e160e06,  //
                                               0x3d352d251d150d05, 0x3c342c241c140c04,  //
                                               0x3b332b231b130b03, 0x3a322a221a120a02,  //
                                               0x3931292119110901, 0x3830282018100800);
    const __m512i identity = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201));
    const __m512i bytes = _mm512_permutexvar_epi8(by_eights, columns);
    return _mm512_popcnt_epi8(_mm512_gf2p8affine_epi64_epi8(identity, bytes, 0));
}

// Adds 64 bytes to 64 counts, each worth 1 << shift pixels.
inline void add_bytes(std::uint32_t (&counts)[64], __m512i bytes, unsigned shift) {
    alignas(64) std::uint8_t values[64];
    _mm512_store_si512(values, bytes);
    for (int value = 0; value < 64; ++value)
        counts[value] += std::uint32_t{values[value]} << shift;
}

// Counts the uppermost pixels of a class: a multiple of kStep, at most kTurn. That is 16 steps,
// each of which adds at most 8 to a byte of the sixteens: 128, which a byte can hold.
inline void count_top(Class& of, std::size_t pixels) {
    of.top -= pixels;
    __m512i ones = of.ones, twos = of.twos, fours = of.fours, eights = of.eights;
    __m512i sixteens = _mm512_setzero_si512();
#pragma GCC unroll 2  // g++ would not, and its code was slower
    for (std::size_t i = 0; i < pixels; i += kStep) {
        const __m512i a = add_64(_mm512_loadu_si512(of.top + i), ones, twos, fours);
        const __m512i b = add_64(_mm512_loadu_si512(of.top + i + 64), ones, twos, fours);
        sixteens = _mm512_add_epi8(sixteens, words_with_each_bit(add(eights, a, b)));
    }
    of.ones = ones;
    of.twos = twos;
    of.fours = fours;
    of.eights = eights;
    add_bytes(of.counts, sixteens, 4);
}

// ---- and in turns ----

inline void ask_for(const std::uint8_t* pixels) {
    // A number, for it may lie behind the end, where no pointer may point.
    const auto address = reinterpret_cast<std::uintptr_t>(pixels) + kAhead;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is read through this pointer
    _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T0);
}

// Splits kHalf pixels from each of two positions, and counts kTurn of the fullest class, if it has
// them.
inline void take_turn(Class (&classes)[4], const std::uint8_t* one, const std::uint8_t* other) {
    std::uint8_t* tops[4] = {classes[0].top, classes[1].top, classes[2].top, classes[3].top};
    for (std::size_t i = 0; i < kHalf; i += 64) {
        ask_for(one + i);
        ask_for(other + i);
        split_64(tops, one + i);
        split_64(tops, other + i);
    }
    Class* fullest = classes;
    for (int c = 0; c < 4; ++c) {
        classes[c].top = tops[c];
        if (classes[c].top - classes[c].pixels > fullest->top - fullest->pixels)
            fullest = &classes[c];
    }
    if (fullest->top - fullest->pixels >= static_cast<std::ptrdiff_t>(kTurn))
        count_top(*fullest, kTurn);
}

}  // namespace

void count_simd(const std::uint8_t* pixels, std::size_t count, std::uint32_t* histogram) {
    Class classes[4];
    // Two halves of the picture side by side: two streams are read faster than one, unless they are
    // whole pages apart, where both want the same lines of the cache.
    std::size_t half = count / 2 / kHalf * kHalf;
    if (half > 0 && half % 4096 == 0) half -= kHalf;
    for (std::size_t i = 0; i < half; i += kHalf)
        take_turn(classes, pixels + i, pixels + half + i);
    std::size_t i = 2 * half;
    for (; i + kTurn <= count; i += kTurn)
        take_turn(classes, pixels + i, pixels + i + kHalf);

    for (int bin = 0; bin < 256; ++bin)
        histogram[bin] = 0;
    for (; i < count; ++i)  // less than a turn
        ++histogram[pixels[i]];
    for (std::size_t c = 0; c < 4; ++c) {  // what still waits, and what the columns hold
        Class& of = classes[c];
        while (of.top - of.pixels >= static_cast<std::ptrdiff_t>(kStep))
            count_top(of, kStep);
        while (of.top > of.pixels)
            ++histogram[*--of.top];
        add_bytes(of.counts, words_with_each_bit(of.ones), 0);
        add_bytes(of.counts, words_with_each_bit(of.twos), 1);
        add_bytes(of.counts, words_with_each_bit(of.fours), 2);
        add_bytes(of.counts, words_with_each_bit(of.eights), 3);
        for (std::size_t value = 0; value < 64; ++value)
            histogram[c * 64 + value] += of.counts[value];
    }
}
