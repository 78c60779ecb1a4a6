/* float16 and bfloat16, which are bits here, as float32 and back, without branches: loops over them become vector code.

   Narrowing rounds once, to nearest even; overflow gives infinity, NaN stays a quiet NaN of its sign. */
#ifndef ONAX_BLOCKS_HALVES_H
#define ONAX_BLOCKS_HALVES_H

#include "blocks_maths.h"

ONAX_INLINE float onax_from_bf16(uint16_t x) { return onax_as_float((uint32_t)x << 16); }

ONAX_INLINE uint16_t onax_to_bf16(float x) {
    const uint32_t bits = onax_bits(x), rounded = bits + 0x7fffu + (bits >> 16 & 1);
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16 & 0x8000u) | 0x7fc0u : rounded >> 16);
}

ONAX_INLINE float onax_from_f16(uint16_t x) {
    const uint32_t sign = (uint32_t)(x & 0x8000u) << 16, size = (uint32_t)(x & 0x7fffu) << 13;
    const uint32_t normal = size + (112u << 23), special = size + (224u << 23);
    const uint32_t subnormal = onax_bits(onax_as_float(size + (113u << 23)) - onax_as_float(113u << 23));
    return onax_as_float(sign | (size >= 0x7c00u << 13 ? special : size < 0x0400u << 13 ? subnormal : normal));
}

ONAX_INLINE uint16_t onax_to_f16(float x) {
    const uint32_t bits = onax_bits(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    const uint32_t normal = (size + 0xc8000fffu + (size >> 13 & 1)) >> 13;           /* the exponent less 112 */
    const uint32_t subnormal = onax_bits(onax_as_float(size) + 0.5f) - 0x3f000000u;  /* 0.5's last place is 2**-24 */
    const uint32_t special = size > 0x7f800000u ? 0x7e00u | (size >> 13 & 0x03ffu) : 0x7c00u;
    return (uint16_t)(sign | (size >= 0x47800000u ? special : size < 0x38800000u ? subnormal : normal));
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
