/* Conversions of float16 and bfloat16, which are bits here, from and to float32: loops over them become vector code. */
#ifndef ONAX_BLOCKS_HALVES_H
#define ONAX_BLOCKS_HALVES_H

#include "blocks_maths.h"

ONAX_INLINE float onax_from_f16(uint16_t h) {
    const uint32_t size = (uint32_t)(h & 0x7FFF) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    const float subnormal = onax_as_float(size + 0x38800000u) - onax_as_float(0x38800000u);  /* 2**-14 */
    uint32_t bits = size + (size >= 0x0F800000u ? 0x70000000u : 0x38000000u);
    bits = size < 0x00800000u ? onax_bits(subnormal) : bits;
    return onax_as_float(bits | sign);
}

/* Rounds to nearest even. */
ONAX_INLINE uint16_t onax_to_f16(float x) {
    const uint32_t bits = onax_bits(x), size = bits & 0x7FFFFFFFu;
    const uint32_t rounded = (size + 0xC8000FFFu + ((size >> 13) & 1)) >> 13;
    const uint32_t subnormal = onax_bits(onax_as_float(size) + 0.5f) - 0x3F000000u;
    uint32_t out = size < 0x38800000u ? subnormal : rounded;
    out = size >= 0x47800000u ? (size > 0x7F800000u ? 0x7E00u : 0x7C00u) : out;
    return (uint16_t)(out | (bits >> 31) << 15);
}

ONAX_INLINE float onax_from_bf16(uint16_t h) { return onax_as_float((uint32_t)h << 16); }

ONAX_INLINE uint16_t onax_to_bf16(float x) {
    const uint32_t bits = onax_bits(x), rounded = (bits + 0x7FFFu + ((bits >> 16) & 1)) >> 16;
    return (uint16_t)(x == x ? rounded : (bits >> 16 | 0x0040u));
}

/* A float32 from which rounding to a narrower type gives what rounding x itself would: the last bit is set if x is no
   float32.  Of what is too large for float16 the infinity is right. */
ONAX_INLINE float onax_round_to_odd(double x) {
    const float near = (float)x;
    const double back = near;
    uint32_t bits = onax_bits(near);
    const uint32_t beyond = (back < 0 ? -back : back) > (x < 0 ? -x : x);
    bits = back == x || near - near != 0 ? bits : (bits - beyond) | 1;
    return onax_as_float(bits);
}

#endif
