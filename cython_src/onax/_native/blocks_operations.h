/* The operations of programs over blocks, and what the files that define their kernels share.

   ONAX_EACH_OPERATION lists name, signature (blocks_kernels.h), result type of V, and the guessed nanoseconds for an
   element of float32 and of float64.  Each type has an array of kernels by operation; NULL where there is none. */
#ifndef ONAX_BLOCKS_OPERATIONS_H
#define ONAX_BLOCKS_OPERATIONS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "blocks_kernels.h"
#include "vector_code.h"

#define ONAX_EACH_OPERATION(O) \
    O(add, 'B', -1, 0.12f, 0.25f) \
    O(sub, 'B', -1, 0.12f, 0.25f) \
    O(mul, 'B', -1, 0.12f, 0.25f) \
    O(div, 'B', -1, 0.15f, 0.4f) \
    O(rem, 'B', -1, 3.0f, 3.0f) \
    O(max, 'B', -1, 0.12f, 0.25f) \
    O(min, 'B', -1, 0.12f, 0.25f) \
    O(mulhi, 'B', -1, 0.5f, 0.5f) \
    O(neg, 'U', -1, 0.12f, 0.25f) \
    O(abs, 'U', -1, 0.12f, 0.25f) \
    O(sign, 'U', -1, 0.12f, 0.25f) \
    O(floor, 'U', -1, 0.12f, 0.25f) \
    O(ceil, 'U', -1, 0.12f, 0.25f) \
    O(rint, 'U', -1, 0.12f, 0.25f) \
    O(round, 'U', -1, 1.0f, 1.0f) \
    O(sqrt, 'U', -1, 0.2f, 0.6f) \
    O(rsqrt, 'U', -1, 0.3f, 0.9f) \
    O(exp, 'U', -1, 0.35f, 1.0f) \
    O(exp2, 'U', -1, 0.3f, 0.9f) \
    O(expm1, 'U', -1, 0.4f, 1.1f) \
    O(log, 'U', -1, 0.45f, 1.3f) \
    O(log1p, 'U', -1, 0.9f, 1.7f) \
    O(tanh, 'U', -1, 0.35f, 1.0f) \
    O(logistic, 'U', -1, 0.4f, 1.2f) \
    O(sin, 'U', -1, 0.5f, 1.1f) \
    O(cos, 'U', -1, 0.5f, 1.1f) \
    O(tan, 'U', -1, 1.4f, 1.4f) \
    O(asin, 'U', -1, 1.7f, 1.7f) \
    O(acos, 'U', -1, 1.7f, 1.7f) \
    O(atan, 'U', -1, 0.5f, 1.3f) \
    O(sinh, 'U', -1, 0.5f, 1.2f) \
    O(cosh, 'U', -1, 0.5f, 1.1f) \
    O(asinh, 'U', -1, 1.4f, 4.8f) \
    O(acosh, 'U', -1, 1.3f, 4.6f) \
    O(atanh, 'U', -1, 1.2f, 2.3f) \
    O(cbrt, 'U', -1, 3.1f, 9.5f) \
    O(erf, 'U', -1, 0.4f, 4.2f) \
    O(erfc, 'U', -1, 0.9f, 10.3f) \
    O(erf_inv, 'U', -1, 1.6f, 9.0f) \
    O(lgamma, 'U', -1, 7.0f, 20.0f) \
    O(digamma, 'U', -1, 3.0f, 20.0f) \
    O(bessel_i0e, 'U', -1, 1.8f, 20.0f) \
    O(bessel_i1e, 'U', -1, 1.8f, 20.0f) \
    O(pow, 'B', -1, 2.8f, 11.5f) \
    O(atan2, 'B', -1, 2.9f, 2.9f) \
    O(nextafter, 'B', -1, 0.3f, 0.5f) \
    O(is_finite, 'P', -1, 0.12f, 0.25f) \
    O(not, 'U', -1, 0.12f, 0.25f) \
    O(and, 'B', -1, 0.12f, 0.25f) \
    O(or, 'B', -1, 0.12f, 0.25f) \
    O(xor, 'B', -1, 0.12f, 0.25f) \
    O(shift_left, 'B', -1, 0.12f, 0.25f) \
    O(shift_right_logical, 'B', -1, 0.12f, 0.25f) \
    O(shift_right_arithmetic, 'B', -1, 0.12f, 0.25f) \
    O(population_count, 'U', -1, 0.5f, 0.5f) \
    O(clz, 'U', -1, 0.5f, 0.5f) \
    O(eq, 'C', -1, 0.12f, 0.25f) \
    O(ne, 'C', -1, 0.12f, 0.25f) \
    O(lt, 'C', -1, 0.12f, 0.25f) \
    O(le, 'C', -1, 0.12f, 0.25f) \
    O(select, 'S', -1, 0.12f, 0.25f) \
    O(conj, 'U', -1, 0.12f, 0.25f) \
    O(real, 'X', -1, 0.12f, 0.25f) \
    O(imag, 'X', -1, 0.12f, 0.25f) \
    O(magnitude, 'X', -1, 2.0f, 2.0f) \
    O(complex, 'Y', -1, 0.12f, 0.25f) \
    O(to_f32, 'V', ONAX_F32, 0.12f, 0.25f) \
    O(to_f64, 'V', ONAX_F64, 0.12f, 0.25f) \
    O(to_i32, 'V', ONAX_I32, 1.0f, 1.0f) \
    O(to_u32, 'V', ONAX_U32, 1.0f, 1.0f) \
    O(to_i64, 'V', ONAX_I64, 1.0f, 1.0f) \
    O(to_u64, 'V', ONAX_U64, 1.0f, 1.0f) \
    O(to_bool, 'V', ONAX_BOOL, 0.12f, 0.25f) \
    O(to_i8, 'V', ONAX_I8, 0.5f, 1.0f) \
    O(to_u8, 'V', ONAX_U8, 0.5f, 1.0f) \
    O(to_i16, 'V', ONAX_I16, 0.5f, 1.0f) \
    O(to_u16, 'V', ONAX_U16, 0.5f, 1.0f) \
    O(to_f16, 'V', ONAX_F16, 0.3f, 0.5f) \
    O(to_bf16, 'V', ONAX_BF16, 0.3f, 0.5f) \
    O(to_c64, 'V', ONAX_C64, 0.3f, 0.3f) \
    O(to_c128, 'V', ONAX_C128, 0.5f, 0.5f) \
    O(move, 'M', -1, 0.12f, 0.25f) \
    O(threefry_first, 'T', -1, 0.5f, 0.5f) \
    O(threefry_second, 'T', -1, 0.5f, 0.5f) \
    O(threefry_both, 'T', -1, 0.5f, 0.5f) \
    O(take, 'G', -1, 0.5f, 0.5f) \
    O(sum, 'R', -1, 0.12f, 0.25f) \
    O(prod, 'R', -1, 0.12f, 0.25f) \
    O(largest, 'R', -1, 0.12f, 0.25f) \
    O(smallest, 'R', -1, 0.12f, 0.25f)

#define ONAX_NUMBERED(name, signature, target, cost, double_cost) ONAX_OP_##name,
enum onax_operation_number { ONAX_EACH_OPERATION(ONAX_NUMBERED) ONAX_OPERATIONS };

typedef const onax_kernel onax_kernel_row[ONAX_OPERATIONS];
extern onax_kernel_row onax_kernels_f32, onax_kernels_f64, onax_kernels_i32, onax_kernels_u32, onax_kernels_i64,
    onax_kernels_u64, onax_kernels_bool, onax_kernels_i8, onax_kernels_u8, onax_kernels_i16, onax_kernels_u16,
    onax_kernels_f16, onax_kernels_bf16, onax_kernels_c64, onax_kernels_c128;

/* functions of bfloat16 for CPUs with vectors of 16 float32 */
int onax_has_sixteens(void);
void onax_exp_bf16(void *to, const void *first, const void *second, const void *third, int64_t n);
void onax_log_bf16(void *to, const void *first, const void *second, const void *third, int64_t n);
void onax_tanh_bf16(void *to, const void *first, const void *second, const void *third, int64_t n);
void onax_logistic_bf16(void *to, const void *first, const void *second, const void *third, int64_t n);
void onax_erf_bf16(void *to, const void *first, const void *second, const void *third, int64_t n);
/* float32 rounded to float16 and to bfloat16 */
void onax_f32_to_f16(void *to, const void *first, const void *second, const void *third, int64_t n);
void onax_f32_to_bf16(void *to, const void *first, const void *second, const void *third, int64_t n);

/* ---- loops over n elements */

#define ONAX_ARGUMENTS void *to, const void *first, const void *second, const void *third, int64_t n
#define ONAX_UNUSED(k) (void)first, (void)second, (void)third

#define ONAX_MAP1(how, name, D, T, value) \
    how static void name(ONAX_ARGUMENTS) { \
        D *d = to; const T *a = first; ONAX_UNUSED(); ONAX_EACH { const T x = a[i]; d[i] = (D)(value); } }
#define ONAX_MAP2(how, name, D, T, value) \
    how static void name(ONAX_ARGUMENTS) { \
        D *d = to; const T *a = first, *b = second; ONAX_UNUSED(); \
        ONAX_EACH { const T x = a[i], y = b[i]; d[i] = (D)(value); } }
#define ONAX_MAP3(how, name, D, T, value) \
    how static void name(ONAX_ARGUMENTS) { \
        D *d = to; const T *a = first, *b = second, *c = third; \
        ONAX_EACH { const T x = a[i], y = b[i], z = c[i]; d[i] = (D)(value); } }
#define ONAX_SELECT(how, name, T) \
    how static void name(ONAX_ARGUMENTS) { \
        T *d = to; const uint8_t *m = first; const T *a = second, *b = third; \
        ONAX_EACH { const T x = a[i], y = b[i]; d[i] = m[i] ? x : y; } }
#define PLAIN
/* The same with the name made of an operation and a suffix. */
#define ONAX_OWN1(how, operation, t, D, T, value) ONAX_MAP1(how, operation##_##t, D, T, value)
#define ONAX_OWN2(how, operation, t, D, T, value) ONAX_MAP2(how, operation##_##t, D, T, value)
#define ONAX_OWN_SELECT(how, operation, t, T) ONAX_SELECT(how, operation##_##t, T)

/* Elements of a table at integer indices, clamped; `third` is the table's length. */
#define ONAX_TAKE(name, T) \
    static void name(ONAX_ARGUMENTS) { \
        T *d = to; const T *a = first; const int32_t *b = second; const int64_t last = *(const int64_t *)third - 1; \
        for (int64_t i = 0; i < n; i++) d[i] = a[b[i] < 0 ? 0 : b[i] > last ? last : b[i]]; }

/* A conversion in two steps, by kernels of two types. */
#define ONAX_CHUNK 256
#define ONAX_CHAIN(name, from_size, row, step, wide_row, wide_step, to_size) \
    static void name(ONAX_ARGUMENTS) { \
        double wide[ONAX_CHUNK]; \
        ONAX_UNUSED(); \
        for (int64_t i = 0; i < n; i += ONAX_CHUNK) { \
            const int64_t m = n - i < ONAX_CHUNK ? n - i : ONAX_CHUNK; \
            row[ONAX_OP_##step](wide, (const char *)first + i * (from_size), NULL, NULL, m); \
            wide_row[ONAX_OP_##wide_step]((char *)to + i * (to_size), wide, NULL, NULL, m); } }

/* ---- folds: n elements into a total of a wider type W; of n = 0 it becomes what a fold starts from, of n = -1 another
   total is folded into it.  32 lanes run side by side, which keeps sums of floats near pairwise ones.

   With a length as `second`, below ONAX_SHORT, n rows of so many elements become one element each, without totals. */

#define ONAX_LANES 32
#define ONAX_SHORT 256
#define ONAX_FEW_LANES 16
/* The upper half of `count` lanes joins the lower one, until a single lane is left: the statement, for each lane k of w.  Each
   loop has a constant length, so that lanes stay in vectors: one loop over all w goes through memory, in pieces. */
#define ONAX_HALVE(count, half, ...) \
    if ((count) > (half)) { enum { w = half }; for (int k = 0; k < w; k++) { __VA_ARGS__; } }
#define ONAX_HALVES(count, ...) \
    ONAX_HALVE(count, 16, __VA_ARGS__) ONAX_HALVE(count, 8, __VA_ARGS__) ONAX_HALVE(count, 4, __VA_ARGS__) \
    ONAX_HALVE(count, 2, __VA_ARGS__) ONAX_HALVE(count, 1, __VA_ARGS__)
/* The lanes of a row, of which there are fewer: `joined` joins x to y. */
#define ONAX_SHORT_ROWS(T, W, none, joined, statement) \
    if (second) { \
        const int64_t length = *(const int64_t *)second; T *d = to; \
        for (int64_t row = 0; row < n; row++, a += length) { \
            W result = (W)(none); \
            int64_t k = 0; \
            if (length >= ONAX_FEW_LANES) { \
                T few[ONAX_FEW_LANES]; \
                for (int v = 0; v < ONAX_FEW_LANES; v++) few[v] = a[v]; \
                for (k = ONAX_FEW_LANES; k + ONAX_FEW_LANES <= length; k += ONAX_FEW_LANES) \
                    for (int v = 0; v < ONAX_FEW_LANES; v++) { const T x = a[k + v], y = few[v]; few[v] = (T)(joined); } \
                ONAX_HALVES(ONAX_FEW_LANES, const T x = few[k + w], y = few[k]; few[k] = (T)(joined)) \
                result = few[0]; \
            } \
            for (; k < length; k++) { const W x = a[k]; W y = result; statement; result = y; } \
            d[row] = (T)result; } \
        return; }
#define ONAX_FOLD(name, T, W, none, value, wide) \
    ONAX_CLONES static void name(ONAX_ARGUMENTS) { \
        W *total = to; const T *a = first; T lanes[ONAX_LANES]; int64_t i = 0; \
        (void)third; \
        ONAX_SHORT_ROWS(T, W, none, value, y = (W)(wide)) \
        if (n == 0) { *total = (W)(none); return; } \
        if (n < 0) { const W x = *(const W *)first, y = *total; *total = (W)(wide); return; } \
        if (n < ONAX_FEW_LANES) { \
            W y = *total; \
            for (; i < n; i++) { const W x = a[i]; y = (W)(wide); } \
            *total = y; \
            return; } \
        for (int k = 0; k < ONAX_LANES; k++) lanes[k] = (T)(none); \
        for (; i + ONAX_LANES <= n; i += ONAX_LANES) \
            for (int k = 0; k < ONAX_LANES; k++) { const T x = a[i + k], y = lanes[k]; lanes[k] = (T)(value); } \
        for (int k = 0; k < n - i; k++) { const T x = a[i + k], y = lanes[k]; lanes[k] = (T)(value); } \
        ONAX_HALVES(ONAX_LANES, const T x = lanes[k + w], y = lanes[k]; lanes[k] = (T)(value)) \
        { const W x = lanes[0], y = *total; *total = (W)(wide); } }
#define ONAX_COUNTS(t, T, W) \
    ONAX_FOLD(fold_sum_##t, T, W, 0, x + y, x + y) \
    ONAX_FOLD(fold_prod_##t, T, W, 1, x * y, x * y)

#endif
