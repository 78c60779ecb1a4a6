/* Kernels of integers and bools.

   Integers wrap; a division by 0 gives -1 (unsigned: the largest number), a remainder by 0 the dividend, the lowest
   number over -1 itself; shifts by the width or more, or by less than 0, give 0 (copies of the sign to the right). */
#include "blocks_operations.h"
#include "blocks_maths.h"
#include "blocks_expressions.h"
#include "threefry_maths.h"
#include "blocks_rows.h"


/* ---- what depends on the width alone; P: a type in which products of U do not overflow as signed numbers */

#define ONAX_WIDTH(how, w, U, I, P) \
    ONAX_WIDTH_EXPRESSIONS(ONAX_OWN1, ONAX_OWN2, ONAX_OWN_SELECT, how, w, U, I, P) \
    ONAX_TAKE(take_##w, U) \
    ONAX_FOLD(fold_sum_##w, U, uint64_t, 0, x + y, x + y) \
    ONAX_FOLD(fold_prod_##w, U, uint64_t, 1, (P)x * y, x * y)

ONAX_WIDTH(ONAX_TWO_CLONES, 8, uint8_t, int8_t, uint32_t)
ONAX_WIDTH(ONAX_TWO_CLONES, 16, uint16_t, int16_t, uint32_t)
ONAX_WIDTH(ONAX_CLONES, 32, uint32_t, int32_t, uint32_t)
ONAX_WIDTH(ONAX_CLONES, 64, uint64_t, int64_t, uint64_t)

/* ---- what depends on the sign */

#define ONAX_INTEGER(how, t, T) \
    ONAX_INTEGER_EXPRESSIONS(ONAX_OWN1, ONAX_OWN2, how, t, T) \
    ONAX_MAP1(how, to_8_##t, uint8_t, T, x) \
    ONAX_MAP1(how, to_16_##t, uint16_t, T, x) \
    ONAX_CHAIN(t##_to_f16, sizeof(T), onax_kernels_##t, to_f32, onax_kernels_f32, to_f16, 2) \
    ONAX_CHAIN(t##_to_bf16, sizeof(T), onax_kernels_##t, to_f32, onax_kernels_f32, to_bf16, 2) \
    ONAX_CHAIN(t##_to_c64, sizeof(T), onax_kernels_##t, to_f32, onax_kernels_f32, to_c64, 8) \
    ONAX_CHAIN(t##_to_c128, sizeof(T), onax_kernels_##t, to_f64, onax_kernels_f64, to_c128, 16)
#define ONAX_NARROW_HIGH(t, T, W, bits) ONAX_MAP2(ONAX_TWO_CLONES, mulhi_##t, T, T, ((W)x * (W)y) >> bits)
#define ONAX_SIGNED(how, t, T, U, R) ONAX_SIGNED_EXPRESSIONS(ONAX_OWN1, ONAX_OWN2, how, t, T, U, R)
#define ONAX_UNSIGNED(how, t, T, R) ONAX_UNSIGNED_EXPRESSIONS(ONAX_OWN1, ONAX_OWN2, how, t, T, R)
#define ONAX_EXTREME_FOLDS(t, T, W, lowest, highest) \
    ONAX_FOLD(fold_max_##t, T, W, lowest, x > y ? x : y, x > y ? x : y) \
    ONAX_FOLD(fold_min_##t, T, W, highest, x < y ? x : y, x < y ? x : y)

/* The upper 64 bits of a product, from four products of halves. */
ONAX_INLINE uint64_t onax_product_high(uint64_t x, uint64_t y) {
    const uint64_t a = x >> 32, b = x & 0xFFFFFFFFu, c = y >> 32, d = y & 0xFFFFFFFFu, across = a * d;
    const uint64_t middle = (b * d >> 32) + (across & 0xFFFFFFFFu) + b * c;
    return a * c + (across >> 32) + (middle >> 32);
}

ONAX_INTEGER(ONAX_CLONES, i32, int32_t)
ONAX_INTEGER(ONAX_CLONES, u32, uint32_t)
ONAX_INTEGER(ONAX_CLONES, i64, int64_t)
ONAX_INTEGER(ONAX_CLONES, u64, uint64_t)
ONAX_INTEGER(ONAX_TWO_CLONES, i8, int8_t)
ONAX_INTEGER(ONAX_TWO_CLONES, u8, uint8_t)
ONAX_INTEGER(ONAX_TWO_CLONES, i16, int16_t)
ONAX_INTEGER(ONAX_TWO_CLONES, u16, uint16_t)
ONAX_NARROW_HIGH(i32, int32_t, int64_t, 32) ONAX_NARROW_HIGH(u32, uint32_t, uint64_t, 32)
ONAX_NARROW_HIGH(i8, int8_t, int32_t, 8) ONAX_NARROW_HIGH(u8, uint8_t, uint32_t, 8)
ONAX_NARROW_HIGH(i16, int16_t, int32_t, 16) ONAX_NARROW_HIGH(u16, uint16_t, uint32_t, 16)
ONAX_MAP2(PLAIN, mulhi_u64, uint64_t, uint64_t, onax_product_high(x, y))
ONAX_MAP2(PLAIN, mulhi_i64, uint64_t, uint64_t,
          onax_product_high(x, y) - ((int64_t)x < 0 ? y : 0) - ((int64_t)y < 0 ? x : 0))
ONAX_SIGNED(ONAX_CLONES, i32, int32_t, uint32_t, double) ONAX_SIGNED(PLAIN, i64, int64_t, uint64_t, int64_t)
ONAX_SIGNED(ONAX_TWO_CLONES, i8, int8_t, uint8_t, float) ONAX_SIGNED(ONAX_TWO_CLONES, i16, int16_t, uint32_t, float)
ONAX_UNSIGNED(ONAX_CLONES, u32, uint32_t, double) ONAX_UNSIGNED(PLAIN, u64, uint64_t, uint64_t)
ONAX_UNSIGNED(ONAX_TWO_CLONES, u8, uint8_t, float) ONAX_UNSIGNED(ONAX_TWO_CLONES, u16, uint16_t, float)
ONAX_EXTREME_FOLDS(i32, int32_t, int64_t, INT32_MIN, INT32_MAX)
ONAX_EXTREME_FOLDS(u32, uint32_t, uint64_t, 0, UINT32_MAX)
ONAX_EXTREME_FOLDS(i64, int64_t, int64_t, INT64_MIN, INT64_MAX)
ONAX_EXTREME_FOLDS(u64, uint64_t, uint64_t, 0, UINT64_MAX)
ONAX_EXTREME_FOLDS(i8, int8_t, int64_t, INT8_MIN, INT8_MAX)
ONAX_EXTREME_FOLDS(u8, uint8_t, uint64_t, 0, UINT8_MAX)
ONAX_EXTREME_FOLDS(i16, int16_t, int64_t, INT16_MIN, INT16_MAX)
ONAX_EXTREME_FOLDS(u16, uint16_t, uint64_t, 0, UINT16_MAX)

/* ---- bools */

ONAX_BOOL_EXPRESSIONS(ONAX_OWN1, ONAX_OWN2)
ONAX_FOLD(fold_or_bool, uint8_t, uint64_t, 0, x | y, x | y)
ONAX_FOLD(fold_and_bool, uint8_t, uint64_t, 1, x & y, x & y)

/* ---- random words: keys (x, y) and counters z below 2**32 */

ONAX_INLINE uint64_t onax_threefry(uint32_t k0, uint32_t k1, uint32_t counter) {
    const uint32_t k2 = k0 ^ k1 ^ ONAX_PARITY;
    uint32_t x0 = 0, x1 = counter;
    ONAX_THREEFRY(k0, k1, k2)
    return (uint64_t)x0 << 32 | x1;
}
ONAX_INLINE uint32_t onax_folded(uint64_t pair) { return (uint32_t)(pair >> 32) ^ (uint32_t)pair; }

ONAX_MAP3(ONAX_CLONES, threefry_first, uint32_t, uint32_t, onax_threefry(x, y, z) >> 32)
ONAX_MAP3(ONAX_CLONES, threefry_second, uint32_t, uint32_t, onax_threefry(x, y, z))
ONAX_MAP3(ONAX_CLONES, threefry_both, uint32_t, uint32_t, onax_folded(onax_threefry(x, y, z)))

/* ---- by operation */

#define ONAX_OF_WIDTH(w) \
    K(add, add_##w), K(sub, sub_##w), K(mul, mul_##w), K(neg, neg_##w), K(not, not_##w), K(and, and_##w), \
    K(or, or_##w), K(xor, xor_##w), K(eq, eq_##w), K(ne, ne_##w), K(shift_left, shift_left_##w), \
    K(shift_right_logical, shift_right_logical_##w), K(shift_right_arithmetic, shift_right_arithmetic_##w), \
    K(population_count, population_count_##w), K(clz, clz_##w), K(select, select_##w), K(move, move_##w), \
    K(take, take_##w), K(sum, fold_sum_##w), K(prod, fold_prod_##w)
#define ONAX_OF_INTEGER(t) \
    K(div, div_##t), K(rem, rem_##t), K(max, max_##t), K(min, min_##t), K(mulhi, mulhi_##t), K(sign, sign_##t), \
    K(lt, lt_##t), K(le, le_##t), K(largest, fold_max_##t), K(smallest, fold_min_##t)
#define ONAX_OF_CONVERSIONS(t) \
    K(to_f32, to_f32_##t), K(to_f64, to_f64_##t), K(to_i32, to_32_##t), K(to_u32, to_32_##t), K(to_i64, to_64_##t), \
    K(to_u64, to_64_##t), K(to_bool, to_bool_##t), K(to_i8, to_8_##t), K(to_u8, to_8_##t), K(to_i16, to_16_##t), \
    K(to_u16, to_16_##t), K(to_f16, t##_to_f16), K(to_bf16, t##_to_bf16), K(to_c64, t##_to_c64), \
    K(to_c128, t##_to_c128)
#define ONAX_ROW_OF(t, w, ...) \
    onax_kernel_row onax_kernels_##t = { \
        ONAX_OF_WIDTH(w), ONAX_OF_INTEGER(t), ONAX_OF_CONVERSIONS(t), __VA_ARGS__};
ONAX_ROW_OF(i32, 32, K(abs, abs_32))
ONAX_ROW_OF(u32, 32, K(threefry_first, threefry_first), K(threefry_second, threefry_second),
            K(threefry_both, threefry_both))
ONAX_ROW_OF(i64, 64, K(abs, abs_64))
ONAX_ROW_OF(u64, 64, K(abs, NULL))
ONAX_ROW_OF(i8, 8, K(abs, abs_8))
ONAX_ROW_OF(u8, 8, K(abs, NULL))
ONAX_ROW_OF(i16, 16, K(abs, abs_16))
ONAX_ROW_OF(u16, 16, K(abs, NULL))

onax_kernel_row onax_kernels_bool = {
    K(max, or_8), K(min, and_8), K(not, not_bool), K(and, and_8), K(or, or_8), K(xor, xor_8), K(eq, eq_8),
    K(ne, xor_8), K(lt, lt_bool), K(le, le_bool), K(select, select_8), K(move, move_8), K(take, take_8),
    K(largest, fold_or_bool), K(smallest, fold_and_bool), ONAX_OF_CONVERSIONS(u8)};
