/* Sums of rows of floats for tape_folds.c, in vectors.  Four float32 are joined first; what comes of them is summed in float64. */
#ifndef ONAX_TAPE_SUMS_H
#define ONAX_TAPE_SUMS_H

#include "tape_types.h"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector) && __has_builtin(__builtin_convertvector)
#define ONAX_HAS_VECTOR_SUMS
#endif
#endif

#ifdef ONAX_HAS_VECTOR_SUMS
typedef double onax_two_f64 __attribute__((vector_size(16)));
typedef double onax_four_f64 __attribute__((vector_size(32)));
typedef float onax_eight_f32 __attribute__((vector_size(32)));
typedef uint16_t onax_eight_u16 __attribute__((vector_size(16)));
typedef uint32_t onax_eight_u32 __attribute__((vector_size(32)));

/* From place k on, the last k of eight lanes are kept. */
static const uint16_t onax_last_u16[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff};
static const int32_t onax_last_u32[16] = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};

#define ONAX_HALF_OF(x, ...) __builtin_shufflevector(x, x, __VA_ARGS__)

/* ---- eight elements, the last `count` of eight, and sixteen joined to eight */

#define ONAX_BITS(name, u, from) onax_eight_##u name; memcpy(&name, from, sizeof name);
#define ONAX_LAST_BITS(name, u, past, count) \
    ONAX_BITS(name, u, (past) - 8) \
    { ONAX_BITS(kept, u, onax_last_##u + (count)) name &= kept; }

ONAX_INLINE void onax_float_eight(const onax_eight_u32 *bits, onax_eight_f32 *to) { memcpy(to, bits, sizeof *to); }

ONAX_INLINE void onax_eight_of_f32(const float *a, onax_eight_f32 *to) { memcpy(to, a, sizeof *to); }
ONAX_INLINE void onax_last_of_f32(const float *past, int64_t count, onax_eight_f32 *to) {
    ONAX_LAST_BITS(bits, u32, past, count)
    onax_float_eight(&bits, to);
}
ONAX_INLINE void onax_pairs_of_f32(const float *a, onax_eight_f32 *to) {
    ONAX_BITS(low, f32, a)
    ONAX_BITS(high, f32, a + 8)
    *to = low + high;
}

ONAX_INLINE void onax_widen_eight(const onax_eight_u16 *bits, onax_eight_f32 *to) {
    const onax_eight_u32 wide = __builtin_convertvector(*bits, onax_eight_u32) << 16;
    onax_float_eight(&wide, to);
}
ONAX_INLINE void onax_eight_of_bf16(const uint16_t *a, onax_eight_f32 *to) {
    ONAX_BITS(bits, u16, a)
    onax_widen_eight(&bits, to);
}
ONAX_INLINE void onax_last_of_bf16(const uint16_t *past, int64_t count, onax_eight_f32 *to) {
    ONAX_LAST_BITS(bits, u16, past, count)
    onax_widen_eight(&bits, to);
}
/* Two neighbours are one word. */
ONAX_INLINE void onax_pairs_of_bf16(const uint16_t *a, onax_eight_f32 *to) {
    ONAX_BITS(words, u32, a)
    const onax_eight_u32 low = words << 16, high = words & 0xffff0000u;
    onax_eight_f32 other;
    onax_float_eight(&low, to);
    onax_float_eight(&high, &other);
    *to += other;
}

/* ---- the sum of n >= 8 elements */

/* Float64 goes by fours: without AVX-512, compilers keep eight of them in memory. */
ONAX_INLINE double onax_sum_of_four(const onax_four_f64 *x) {
    const onax_two_f64 two = ONAX_HALF_OF(*x, 0, 1) + ONAX_HALF_OF(*x, 2, 3);
    return two[0] + two[1];
}
ONAX_INLINE void onax_add_halves(const onax_eight_f32 *x, onax_four_f64 *low, onax_four_f64 *high) {
    *low += __builtin_convertvector(ONAX_HALF_OF(*x, 0, 1, 2, 3), onax_four_f64);
    *high += __builtin_convertvector(ONAX_HALF_OF(*x, 4, 5, 6, 7), onax_four_f64);
}

#define ONAX_FLOAT_SUM(t, T) \
    ONAX_INLINE double sum_of_##t(const T *a, int64_t n) { \
        onax_four_f64 p = {0}, q = {0}; \
        onax_eight_f32 x, y; \
        int64_t i = 0; \
        for (; i + 32 <= n; i += 32) { \
            onax_pairs_of_##t(a + i, &x), onax_pairs_of_##t(a + i + 16, &y); \
            x += y; \
            onax_add_halves(&x, &p, &q); \
        } \
        if (i < n) { \
            x = (onax_eight_f32){0}; \
            if (i + 16 <= n) onax_pairs_of_##t(a + i, &x), i += 16; \
            if (i + 8 <= n) onax_eight_of_##t(a + i, &y), x += y, i += 8; \
            if (i < n) onax_last_of_##t(a + n, n - i, &y), x += y; \
            onax_add_halves(&x, &p, &q); \
        } \
        p += q; \
        return onax_sum_of_four(&p); \
    }
ONAX_FLOAT_SUM(f32, float) ONAX_FLOAT_SUM(bf16, uint16_t)

#define ONAX_ADD_FOUR(p, k) { ONAX_FOUR(x, a + i + 4 * (k)) p += x; }
#define ONAX_FOUR(name, from) onax_four_f64 name; memcpy(&name, from, sizeof name);
ONAX_INLINE double sum_of_f64(const double *a, int64_t n) {
    onax_four_f64 p = {0}, q = {0}, r = {0}, s = {0}, t = {0}, u = {0}, v = {0}, w = {0};
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        ONAX_ADD_FOUR(p, 0) ONAX_ADD_FOUR(q, 1) ONAX_ADD_FOUR(r, 2) ONAX_ADD_FOUR(s, 3)
        ONAX_ADD_FOUR(t, 4) ONAX_ADD_FOUR(u, 5) ONAX_ADD_FOUR(v, 6) ONAX_ADD_FOUR(w, 7)
    }
    for (; i + 8 <= n; i += 8) { ONAX_ADD_FOUR(p, 0) ONAX_ADD_FOUR(q, 1) }
    for (int64_t k = 0; i < n; i++, k++) r[k & 3] += a[i];
    p = ((p + q) + (r + s)) + ((t + u) + (v + w));
    return onax_sum_of_four(&p);
}

/* t: the type of elements; T: the C type that holds one; `rounded` makes an element of a sum.  Rows of fewer than eight
   elements are row_sum_t's and rows_sum_t's. */
#define ONAX_VECTOR_SUMS(t, T, rounded) \
    ONAX_CLONES static void vector_row_##t(void *total, const void *from, int64_t n) { \
        if (n >= 8) *(double *)total += sum_of_##t(from, n); \
        else row_sum_##t(total, from, n); \
    } \
    ONAX_CLONES static void vector_rows_##t(void *to, const void *from, int64_t count, int64_t n) { \
        const T *a = from; \
        T *d = to; \
        if (n < 8) { rows_sum_##t(to, from, count, n); return; } \
        for (int64_t k = 0; k < count; k++, a += n) d[k] = rounded(sum_of_##t(a, n)); \
    }
#define ONAX_SUM_ROW(t) vector_row_##t
#define ONAX_SUM_ROWS(t) vector_rows_##t
#else
#define ONAX_VECTOR_SUMS(t, T, rounded)
#define ONAX_SUM_ROW(t) row_sum_##t
#define ONAX_SUM_ROWS(t) rows_sum_##t
#endif
#endif
