/* Kernels of float32 and float64.

   Conversions to integers saturate and take NaN to 0; max and min give NaN if an operand is.  Within one function,
   polynomials for instance, products and sums may be rounded together. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#else
#pragma STDC FP_CONTRACT ON
#endif

#include "blocks_program.h"
#include "blocks_halves.h"
#include "normals_maths.h"
#include "blocks_expressions.h"

/* The next number towards y: one step among the bits, away from 0 or towards it. */
#define ONAX_NEXTAFTER(t, T, U, bits_of, as_float, sign) \
    ONAX_INLINE T onax_nextafter_##t(T x, T y) { \
        const U bits = bits_of(x), least = (bits_of(y) & sign) | 1, step = (x < y) == (x > 0) ? 1 : (U)-1; \
        const T next = as_float(x == 0 ? least : bits + step); \
        return (x != x) | (y != y) ? x + y : x == y ? y : next; \
    }
ONAX_NEXTAFTER(f32, float, uint32_t, onax_bits, onax_as_float, 0x80000000u)
ONAX_NEXTAFTER(f64, double, uint64_t, onax_bits64, onax_as_double, 0x8000000000000000u)

#define ONAX_FLOAT(t, T, f) \
    ONAX_FLOAT_EXPRESSIONS(ONAX_OWN1, ONAX_OWN2, ONAX_OWN_SELECT, t, T, f) \
    ONAX_MAP1(PLAIN, round_##t, T, T, round##f(x)) \
    ONAX_TAKE(take_##t, T) \
    ONAX_MAP2(PLAIN, rem_##t, T, T, fmod##f(x, y)) \
    ONAX_MAP2(ONAX_CLONES, nextafter_##t, T, T, onax_nextafter_##t(x, y))
ONAX_FLOAT(f32, float, f)
ONAX_FLOAT(f64, double, )

#include "blocks_functions.h"
#include "blocks_rows.h"

/* ---- conversions */

#define ONAX_TO_NARROW_INTEGERS(t, T) \
    ONAX_MAP1(ONAX_CLONES, to_i8_##t, int8_t, T, (int32_t)ONAX_CLIPPED(x, T, int32_t, -128, 128, -128, 127)) \
    ONAX_MAP1(ONAX_CLONES, to_u8_##t, uint8_t, T, (int32_t)ONAX_CLIPPED(x, T, int32_t, 0, 256, 0, 255)) \
    ONAX_MAP1(ONAX_CLONES, to_i16_##t, int16_t, T, (int32_t)ONAX_CLIPPED(x, T, int32_t, -32768, 32768, -32768, 32767)) \
    ONAX_MAP1(ONAX_CLONES, to_u16_##t, uint16_t, T, (int32_t)ONAX_CLIPPED(x, T, int32_t, 0, 65536, 0, 65535))
ONAX_TO_NARROW_INTEGERS(f32, float) ONAX_TO_NARROW_INTEGERS(f64, double)
ONAX_MAP1(ONAX_CLONES, to_f64_f32, double, float, x)
ONAX_MAP1(ONAX_CLONES, to_f32_f64, float, double, x)
ONAX_MAP1(ONAX_TWO_CLONES, f64_to_f16, uint16_t, double, onax_to_f16(onax_round_to_odd(x)))
ONAX_MAP1(ONAX_TWO_CLONES, f64_to_bf16, uint16_t, double, onax_to_bf16((float)x))

/* With zero as the imaginary part. */
#define ONAX_TO_COMPLEX(name, D, T) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        D *d = to; const T *a = first; ONAX_UNUSED(); \
        ONAX_EACH { const T x = a[i]; d[2 * i] = (D)x; d[2 * i + 1] = 0; } }
ONAX_TO_COMPLEX(f32_to_c128, double, float)
ONAX_TO_COMPLEX(f64_to_c64, float, double) ONAX_TO_COMPLEX(f64_to_c128, double, double)
/* The zero is the upper half of eight bytes. */
ONAX_CLONES static void f32_to_c64(ONAX_ARGUMENTS) {
    char *d = to;
    const char *a = first;
    ONAX_UNUSED();
    ONAX_EACH {
        uint32_t x;
        memcpy(&x, a + 4 * i, 4);
        const uint64_t pair = x;
        memcpy(d + 8 * i, &pair, 8);
    }
}
#define ONAX_COMPLEX_OF(name, T) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        T *d = to; const T *a = first, *b = second; (void)third; \
        ONAX_EACH { const T x = a[i], y = b[i]; d[2 * i] = x; d[2 * i + 1] = y; } }
ONAX_COMPLEX_OF(complex_f32, float) ONAX_COMPLEX_OF(complex_f64, double)

/* It reads numbers again after it has written the first: to may be where first is. */
static void erf_inv_f32(ONAX_ARGUMENTS) {
    const float *a = first;
    float *d = to, copy[512];
    (void)second, (void)third;
    for (int64_t i = 0; i < n; i += 512) {
        const int64_t count = n - i < 512 ? n - i : 512;
        memcpy(copy, a + i, (size_t)count * sizeof(float));
        onax_erf_inv(copy, (uint64_t)count, d + i);
    }
}

/* ---- folds */

/* Of floats, what is NaN is counted beside: the choice alone is one instruction, and never a branch. */
/* The extreme of n >= count elements, in so many lanes; NaN if one of them is. */
#define ONAX_EXTREME_OF_ROW(name, T, I, none, is) \
    ONAX_INLINE T name##_in_lanes(const T *a, int64_t n, const int count) { \
        T lanes[ONAX_LANES]; I odd[ONAX_LANES]; int64_t i = 0; \
        for (int k = 0; k < count; k++) { lanes[k] = (T)(none); odd[k] = 0; } \
        for (; i + count <= n; i += count) \
            for (int k = 0; k < count; k++) { const T x = a[i + k]; lanes[k] = x is lanes[k] ? x : lanes[k]; odd[k] |= (I)(x != x); } \
        for (int k = 0; k < n - i; k++) { const T x = a[i + k]; lanes[k] = x is lanes[k] ? x : lanes[k]; odd[k] |= (I)(x != x); } \
        ONAX_HALVES(count, lanes[k] = lanes[k + w] is lanes[k] ? lanes[k + w] : lanes[k]; odd[k] |= odd[k + w]) \
        return odd[0] ? (T)NAN : lanes[0]; \
    }
#define ONAX_SHORT_FLOAT_ROWS(name, T) \
    if (second) { \
        const int64_t length = *(const int64_t *)second; T *d = to; \
        for (int64_t row = 0; row < n; row++, a += length) \
            d[row] = length >= 64 ? name##_in_lanes(a, length, 32) : length >= 8 ? name##_in_lanes(a, length, 8) \
                   : name##_in_lanes(a, length, 1); \
        return; }
#define ONAX_FLOAT_FOLD(name, T, I, none, is) \
    ONAX_EXTREME_OF_ROW(name, T, I, none, is) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        double *total = to; const T *a = first; T lanes[ONAX_LANES]; I odd[ONAX_LANES]; int64_t i = 0; \
        (void)third; \
        ONAX_SHORT_FLOAT_ROWS(name, T) \
        if (n == 0) { *total = none; return; } \
        if (n < 0) { const double x = *(const double *)first; if (x is *total || x != x) *total = x; return; } \
        if (n < ONAX_FEW_LANES) { \
            double y = *total; I any = 0; \
            for (; i < n; i++) { const double x = a[i]; y = x is y ? x : y; any |= (I)(x != x); } \
            *total = any ? NAN : y; \
            return; } \
        for (int k = 0; k < ONAX_LANES; k++) { lanes[k] = (T)(none); odd[k] = 0; } \
        for (; i + ONAX_LANES <= n; i += ONAX_LANES) \
            for (int k = 0; k < ONAX_LANES; k++) { \
                const T x = a[i + k]; lanes[k] = x is lanes[k] ? x : lanes[k]; odd[k] |= (I)(x != x); } \
        for (int k = 0; k < n - i; k++) { \
            const T x = a[i + k]; lanes[k] = x is lanes[k] ? x : lanes[k]; odd[k] |= (I)(x != x); } \
        ONAX_HALVES(ONAX_LANES, lanes[k] = lanes[k + w] is lanes[k] ? lanes[k + w] : lanes[k]; odd[k] |= odd[k + w]) \
        if (odd[0]) *total = NAN; \
        else *total = lanes[0] is *total ? lanes[0] : *total; }

ONAX_COUNTS(f32, float, double) ONAX_COUNTS(f64, double, double)
ONAX_FLOAT_FOLD(fold_max_f32, float, int32_t, -HUGE_VAL, >) ONAX_FLOAT_FOLD(fold_min_f32, float, int32_t, HUGE_VAL, <)
ONAX_FLOAT_FOLD(fold_max_f64, double, int64_t, -HUGE_VAL, >) ONAX_FLOAT_FOLD(fold_min_f64, double, int64_t, HUGE_VAL, <)

/* ---- by operation */

#define ONAX_ROW_OF(t, ...) \
    onax_kernel_row onax_kernels_##t = { \
        ONAX_REAL_ENTRIES(t), K(select, select_##t), K(move, move_##t), K(take, take_##t), K(complex, complex_##t), \
        K(sum, fold_sum_##t), K(prod, fold_prod_##t), K(largest, fold_max_##t), K(smallest, fold_min_##t), \
        K(to_bool, to_bool_##t), K(to_i8, to_i8_##t), K(to_u8, to_u8_##t), K(to_i16, to_i16_##t), \
        K(to_u16, to_u16_##t), K(to_i32, to_i32_##t), K(to_u32, to_u32_##t), K(to_i64, to_i64_##t), \
        K(to_u64, to_u64_##t), K(to_##t, move_##t), \
        K(to_c64, t##_to_c64), K(to_c128, t##_to_c128), __VA_ARGS__};
ONAX_ROW_OF(f32, K(to_f64, to_f64_f32), K(to_f16, onax_f32_to_f16), K(to_bf16, onax_f32_to_bf16), K(erf_inv, erf_inv_f32),
            K(bessel_i0e, bessel_i0e_f32), K(bessel_i1e, bessel_i1e_f32), K(digamma, digamma_f32))
ONAX_ROW_OF(f64, K(to_f32, to_f32_f64), K(to_f16, f64_to_f16), K(to_bf16, f64_to_bf16), K(erf_inv, erf_inv_f64))
