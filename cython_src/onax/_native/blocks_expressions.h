/* What elementwise operations compute, as expressions of their operands x, y (and z).  The loops over elements
   (blocks_floats.c, blocks_integers.c) and the programs over single numbers (blocks_scalars.c) are both made of these.

   MAP1 and MAP2 take how a loop is compiled, operation, suffix, type of the result, type of the operands, expression. */
#ifndef ONAX_BLOCKS_EXPRESSIONS_H
#define ONAX_BLOCKS_EXPRESSIONS_H

#include "blocks_maths.h"

/* ---- floats: t, T are the type's names, f is what C's functions of it end with */

/* Saturates; NaN becomes 0. */
#define ONAX_CLIPPED(x, T, D, low, past, lowest, highest) \
    (x >= (T)(past) ? (D)(highest) : x < (T)(low) ? (D)(lowest) : x == x ? (D)x : 0)

#define ONAX_FLOAT_EXPRESSIONS(MAP1, MAP2, SELECT, t, T, f) \
    MAP2(ONAX_CLONES, add, t, T, T, x + y) \
    MAP2(ONAX_CLONES, sub, t, T, T, x - y) \
    MAP2(ONAX_CLONES, mul, t, T, T, x * y) \
    MAP2(ONAX_CLONES, div, t, T, T, x / y) \
    MAP2(ONAX_CLONES, max, t, T, T, onax_max_##t(x, y)) \
    MAP2(ONAX_CLONES, min, t, T, T, onax_min_##t(x, y)) \
    MAP1(ONAX_CLONES, neg, t, T, T, -x) \
    MAP1(ONAX_CLONES, abs, t, T, T, fabs##f(x)) \
    MAP1(ONAX_CLONES, sign, t, T, T, x > 0 ? 1 : x < 0 ? -1 : x) \
    MAP1(ONAX_CLONES, floor, t, T, T, floor##f(x)) \
    MAP1(ONAX_CLONES, ceil, t, T, T, ceil##f(x)) \
    MAP1(ONAX_CLONES, rint, t, T, T, rint##f(x)) \
    MAP1(ONAX_CLONES, sqrt, t, T, T, sqrt##f(x)) \
    MAP1(ONAX_CLONES, rsqrt, t, T, T, 1 / sqrt##f(x)) \
    MAP1(ONAX_CLONES, move, t, T, T, x) \
    MAP2(ONAX_CLONES, eq, t, uint8_t, T, x == y) \
    MAP2(ONAX_CLONES, ne, t, uint8_t, T, x != y) \
    MAP2(ONAX_CLONES, lt, t, uint8_t, T, x < y) \
    MAP2(ONAX_CLONES, le, t, uint8_t, T, x <= y) \
    MAP1(ONAX_CLONES, is_finite, t, uint8_t, T, x - x == 0) \
    SELECT(ONAX_CLONES, select, t, T) \
    MAP1(ONAX_CLONES, to_bool, t, uint8_t, T, x != 0) \
    MAP1(ONAX_CLONES, to_i32, t, int32_t, T, ONAX_CLIPPED(x, T, int32_t, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX)) \
    MAP1(ONAX_CLONES, to_u32, t, uint32_t, T, ONAX_CLIPPED(x, T, uint32_t, 0, 0x1p32, 0, UINT32_MAX)) \
    MAP1(ONAX_CLONES, to_i64, t, int64_t, T, ONAX_CLIPPED(x, T, int64_t, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX)) \
    MAP1(ONAX_CLONES, to_u64, t, uint64_t, T, ONAX_CLIPPED(x, T, uint64_t, 0, 0x1p64, 0, UINT64_MAX))

/* ---- integers: what depends on the width w alone; P: a type in which products of U do not overflow as signed numbers */

/* Bits that are set, and x with every bit set below its first one, by width: vectors hold as many narrow numbers as fit. */
#define ONAX_BIT_COUNTS(w, U, join_bytes, fill_bytes) \
    ONAX_INLINE U onax_population_count_##w(U x) { \
        x = (U)(x - (x >> 1 & (U)0x5555555555555555u)); \
        x = (U)((x & (U)0x3333333333333333u) + (x >> 2 & (U)0x3333333333333333u)); \
        x = (U)((x + (x >> 4)) & (U)0x0F0F0F0F0F0F0F0Fu); \
        join_bytes; \
        return (U)(x & (2 * w - 1)); \
    } \
    ONAX_INLINE U onax_filled_##w(U x) { \
        x = (U)(x | x >> 1); \
        x = (U)(x | x >> 2); \
        x = (U)(x | x >> 4); \
        fill_bytes; \
        return x; \
    }
ONAX_BIT_COUNTS(8, uint8_t, , )
ONAX_BIT_COUNTS(16, uint16_t, x = (uint16_t)(x + (x >> 8)), x = (uint16_t)(x | x >> 8))
ONAX_BIT_COUNTS(32, uint32_t, x += x >> 8; x += x >> 16, x |= x >> 8; x |= x >> 16)
ONAX_BIT_COUNTS(64, uint64_t, x += x >> 8; x += x >> 16; x += x >> 32, x |= x >> 8; x |= x >> 16; x |= x >> 32)

#define ONAX_WIDTH_EXPRESSIONS(MAP1, MAP2, SELECT, how, w, U, I, P) \
    MAP2(how, add, w, U, U, x + y) \
    MAP2(how, sub, w, U, U, x - y) \
    MAP2(how, mul, w, U, U, (P)x * y) \
    MAP1(how, neg, w, U, U, (U)0 - x) \
    MAP1(how, not, w, U, U, ~x) \
    MAP2(how, and, w, U, U, x & y) \
    MAP2(how, or, w, U, U, x | y) \
    MAP2(how, xor, w, U, U, x ^ y) \
    MAP2(how, eq, w, uint8_t, U, x == y) \
    MAP2(how, ne, w, uint8_t, U, x != y) \
    MAP2(how, shift_left, w, U, U, y < w ? (P)x << (y & (w - 1)) : 0) \
    MAP2(how, shift_right_logical, w, U, U, y < w ? x >> (y & (w - 1)) : 0) \
    MAP2(how, shift_right_arithmetic, w, U, U, (I)x >> ((P)y < w ? (P)y : w - 1)) \
    MAP1(how, abs, w, U, U, (I)x < 0 ? (U)0 - x : x) \
    MAP1(how, move, w, U, U, x) \
    MAP1(how, population_count, w, U, U, onax_population_count_##w(x)) \
    MAP1(how, clz, w, U, U, w - onax_population_count_##w(onax_filled_##w(x))) \
    SELECT(how, select, w, U)

/* ---- integers: what depends on the sign */

#define ONAX_INTEGER_EXPRESSIONS(MAP1, MAP2, how, t, T) \
    MAP2(how, lt, t, uint8_t, T, x < y) \
    MAP2(how, le, t, uint8_t, T, x <= y) \
    MAP2(how, max, t, T, T, x > y ? x : y) \
    MAP2(how, min, t, T, T, x < y ? x : y) \
    MAP1(how, to_f32, t, float, T, x) \
    MAP1(how, to_f64, t, double, T, x) \
    MAP1(how, to_32, t, uint32_t, T, x) \
    MAP1(how, to_64, t, uint64_t, T, x) \
    MAP1(how, to_bool, t, uint8_t, T, x != 0)
/* R: a float type in which quotients of T, rounded towards zero, are exact; T itself if there is none. */
#define ONAX_SIGNED_EXPRESSIONS(MAP1, MAP2, how, t, T, U, R) \
    MAP1(how, sign, t, T, T, (x > 0) - (x < 0)) \
    MAP2(how, div, t, T, T, y == 0 ? -1 : y == -1 ? (T)((U)0 - (U)x) : (T)((R)x / (R)y)) \
    MAP2(how, rem, t, T, T, y == 0 ? x : y == -1 ? 0 : (T)((U)x - (U)(T)((R)x / (R)y) * (U)y))
#define ONAX_UNSIGNED_EXPRESSIONS(MAP1, MAP2, how, t, T, R) \
    MAP1(how, sign, t, T, T, x != 0) \
    MAP2(how, div, t, T, T, y == 0 ? (T)~(T)0 : (T)((R)x / (R)y)) \
    MAP2(how, rem, t, T, T, y == 0 ? x : (T)(x - (T)((R)x / (R)y) * y))

/* ---- bools */

#define ONAX_BOOL_EXPRESSIONS(MAP1, MAP2) \
    MAP1(ONAX_TWO_CLONES, not, bool, uint8_t, uint8_t, !x) \
    MAP2(ONAX_TWO_CLONES, lt, bool, uint8_t, uint8_t, x < y) \
    MAP2(ONAX_TWO_CLONES, le, bool, uint8_t, uint8_t, x <= y)

#endif
