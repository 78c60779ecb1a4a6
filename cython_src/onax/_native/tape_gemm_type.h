/* The kernels of matrix products of one type at one CPU level.

   Included once for each, with

       T          the type of an element, TYPE what names call it, SIZE its bytes
       LEVEL      what names of the level end with
       BYTES      of the widest vector; 0: no vectors
       MR         rows of a packed block */

/* What the names of this type and level end with; the kernels for fewer columns. */
#define NAME AT(TYPE, LEVEL)
#if BYTES == 64
#define NARROWER &AT(AT(narrow, TYPE), v3)
#else
#define NARROWER NULL
#endif

/* Elements of the widest vector (1 where the compiler has no vectors), and of narrower ones or 0. */
#if BYTES == 16 * SIZE
#define FULL 16
#define HALF 8
#define QUARTER 4
#define TINY 2
#elif BYTES == 8 * SIZE
#define FULL 8
#define HALF 4
#define QUARTER 2
#define TINY 0
#elif BYTES == 4 * SIZE
#define FULL 4
#define HALF 2
#define QUARTER 0
#define TINY 0
#elif BYTES == 2 * SIZE
#define FULL 2
#define HALF 0
#define QUARTER 0
#define TINY 0
#else
#define FULL 1
#define HALF 0
#define QUARTER 0
#define TINY 0
#endif

#define JOIN_(x, y) x##_##y
#define JOIN(x, y) JOIN_(x, y)

/* ---- strips of every width */

#define STRIP JOIN(pair, NAME)
#define W FULL
#define NV 2
#include "tape_gemm_strip.h"
#define STRIP JOIN(full, NAME)
#define W FULL
#define NV 1
#include "tape_gemm_strip.h"
#if HALF
#define STRIP JOIN(half, NAME)
#define W HALF
#define NV 1
#include "tape_gemm_strip.h"
#endif
#if QUARTER
#define STRIP JOIN(quarter, NAME)
#define W QUARTER
#define NV 1
#include "tape_gemm_strip.h"
#endif
#if TINY
#define STRIP JOIN(tiny, NAME)
#define W TINY
#define NV 1
#include "tape_gemm_strip.h"
#endif
#define STRIP JOIN(single, NAME)
#define W 1
#define NV 1
#include "tape_gemm_strip.h"

#if BYTES >= 32
#define MASKED JOIN(masked, NAME)
#define W FULL
#include "tape_gemm_masked.h"
#if BYTES == 64
#define MASKED JOIN(half_masked, NAME)
#define W HALF
#include "tape_gemm_masked.h"
#endif

/* One product of at most FULL columns for each of some matrices. */
static void JOIN(stack, NAME)(int64_t count, const int64_t *ao, const int64_t *bo, const int64_t *co, int64_t m,
                              int64_t n, int64_t k, const void *a, int64_t ai, int64_t ap, const void *b, int64_t bp,
                              void *c, int64_t ci) {
#if BYTES == 64
    if (n <= HALF) { JOIN(half_masked, NAME)(count, ao, bo, co, m, n, k, a, ai, ap, b, bp, c, ci); return; }
#endif
    JOIN(masked, NAME)(count, ao, bo, co, m, n, k, a, ai, ap, b, bp, c, ci);
}
#define STACK JOIN(stack, NAME)
#else
#define STACK NULL
#endif

/* Columns that are left over, fewer than FULL. */
static void JOIN(rest, NAME)(int64_t m, int64_t n, int64_t k, const T *a, int64_t ai, int64_t ap, const T *b,
                             int64_t bp, T *c, int64_t ci) {
#if BYTES >= 32
    static const int64_t none = 0;
    JOIN(stack, NAME)(1, &none, &none, &none, m, n, k, a, ai, ap, b, bp, c, ci);
#else
#define REST(width, kernel) \
    if (width > 1 && n >= width) { \
        JOIN(kernel, NAME)(m, k, a, ai, ap, b, bp, c, ci, 0); \
        if (n > width) JOIN(kernel, NAME)(m, k, a, ai, ap, b + n - width, bp, c + n - width, ci, 0); \
        return; }
#if HALF
    REST(HALF, half)
#endif
#undef REST
    for (int64_t j = 0; j < n; j++) JOIN(single, NAME)(m, k, a, ai, ap, b + j, bp, c + j, ci, 0);
#endif
}

/* All terms of some rows. */
static void JOIN(band, NAME)(int64_t m, int64_t n, int64_t k, const T *a, int64_t ai, int64_t ap, const T *b, int64_t bp,
                             T *c, int64_t ci) {
    int64_t j = 0;
    for (; n - j >= 2 * FULL; j += 2 * FULL) JOIN(pair, NAME)(m, k, a, ai, ap, b + j, bp, c + j, ci, 0);
    if (n - j >= FULL) {
        JOIN(full, NAME)(m, k, a, ai, ap, b + j, bp, c + j, ci, 0);
        j += FULL;
    }
    if (n == j) return;
    if (n >= FULL) JOIN(full, NAME)(m, k, a, ai, ap, b + n - FULL, bp, c + n - FULL, ci, 0);
    else JOIN(rest, NAME)(m, n - j, k, a, ai, ap, b + j, bp, c + j, ci);
}

/* Rows that meet a matrix too large for the second cache: some of its rows at a time, in the order of memory. */
static void JOIN(passes, NAME)(int64_t m, int64_t n, int64_t k, const T *a, int64_t ai, int64_t ap, const T *b,
                               int64_t bp, T *c, int64_t ci) {
    for (int64_t p = 0; p < k; p += PASS) {
        const int64_t count = k - p < PASS ? k - p : PASS;
        const T *left = a + p * ap, *right = b + p * bp;
        int64_t j = 0;
        for (; n - j >= 2 * FULL; j += 2 * FULL)
            JOIN(pair, NAME)(m, count, left, ai, ap, right + j, bp, c + j, ci, p > 0);
        if (n - j >= FULL) {
            JOIN(full, NAME)(m, count, left, ai, ap, right + j, bp, c + j, ci, p > 0);
            j += FULL;
        }
        for (; j < n; j++) JOIN(single, NAME)(m, count, left, ai, ap, right + j, bp, c + j, ci, p > 0);
    }
}

/* A whole product.  Where the result is large and the right side small, the result is written in the order of memory. */
static void JOIN(strips, NAME)(int64_t m, int64_t n, int64_t k, const void *left, int64_t ai, int64_t ap,
                               const void *right, int64_t bp, void *out, int64_t ci) {
    const T *a = left, *b = right;
    T *c = out;
    if (k == 0) {
        for (int64_t i = 0; i < m; i++) memset(c + i * ci, 0, (size_t)n * sizeof(T));
        return;
    }
    if (n >= 4 * FULL && bp >= n && k > PASS && k * n * SIZE > PASS_BYTES) JOIN(passes, NAME)(m, n, k, a, ai, ap, b, bp, c, ci);
    else if (n <= 2 * FULL || m <= BAND || k * n * SIZE > BAND_BYTES) JOIN(band, NAME)(m, n, k, a, ai, ap, b, bp, c, ci);
    else
        for (int64_t i = 0; i < m; i += BAND)
            JOIN(band, NAME)(m - i < BAND ? m - i : BAND, n, k, a + i * ai, ai, ap, b, bp, c + i * ci, ci);
}

/* ---- sums along rows: y[i] = sum over p of a[i, p] * x[p], of four rows or one at a time, in the same order */

#if FULL > 1
typedef T JOIN(wide, NAME) __attribute__((vector_size(FULL * sizeof(T))));
typedef T JOIN(quad, NAME) __attribute__((vector_size(4 * sizeof(T))));
#define V JOIN(wide, NAME)
#define Q JOIN(quad, NAME)

static inline void JOIN(fold, NAME)(const V *x, Q *out) {
    Q part;
    memcpy(out, x, sizeof(V) < sizeof(Q) ? sizeof(V) : sizeof(Q));
    UNROLL for (int i = 4; i < FULL; i += 4) {
        memcpy(&part, (const char *)x + (size_t)i * sizeof(T), FULL > 4 ? sizeof(Q) : 0);
        *out += part;
    }
}

/* The last elements, fewer than four, in the first lanes of a vector; the other lanes are 0. */
static inline void JOIN(ending, NAME)(const T *x, int64_t count, Q *out) {
    *out = (Q){x[0], count > 1 ? x[1] : 0, count > 2 ? x[2] : 0, 0};
}

#define DOTS(R) \
    static inline void JOIN(sums##R, NAME)(int64_t k, const T *restrict a, int64_t ai, const T *restrict x, Q *sum) { \
        int64_t p = 0; \
        UNROLL for (int i = 0; i < R; i++) sum[i] = (Q){0}; \
        if (k >= FULL && FULL > 4) { \
            V wide[R], more[R]; \
            UNROLL for (int i = 0; i < R; i++) { wide[i] = (V){0}; more[i] = (V){0}; } \
            NO_UNROLL for (; p + 2 * FULL <= k; p += 2 * FULL) { \
                V left, right, row; \
                memcpy(&left, x + p, sizeof(V)); \
                memcpy(&right, x + p + FULL, sizeof(V)); \
                UNROLL for (int i = 0; i < R; i++) { \
                    memcpy(&row, a + i * ai + p, sizeof(V)); wide[i] += row * left; \
                    memcpy(&row, a + i * ai + p + FULL, sizeof(V)); more[i] += row * right; } } \
            if (p + FULL <= k) { \
                V left, row; \
                memcpy(&left, x + p, sizeof(V)); \
                UNROLL for (int i = 0; i < R; i++) { memcpy(&row, a + i * ai + p, sizeof(V)); wide[i] += row * left; } \
                p += FULL; } \
            UNROLL for (int i = 0; i < R; i++) { wide[i] += more[i]; JOIN(fold, NAME)(&wide[i], &sum[i]); } } \
        NO_UNROLL for (; p + 4 <= k; p += 4) { \
            Q part, row; \
            memcpy(&part, x + p, sizeof(Q)); \
            UNROLL for (int i = 0; i < R; i++) { memcpy(&row, a + i * ai + p, sizeof(Q)); sum[i] += row * part; } } \
        if (p < k) { \
            Q part, row; \
            JOIN(ending, NAME)(x + p, k - p, &part); \
            UNROLL for (int i = 0; i < R; i++) { JOIN(ending, NAME)(a + i * ai + p, k - p, &row); sum[i] += row * part; } } }
DOTS(4)
DOTS(1)
#undef DOTS
#undef V

static inline void JOIN(dots4, NAME)(int64_t k, const T *a, int64_t ai, const T *x, T *y, int64_t yi) {
    Q s[4], out;
    JOIN(sums4, NAME)(k, a, ai, x, s);
    {
        const Q low = SHUFFLE4(s[0], s[1], 0, 4, 1, 5) + SHUFFLE4(s[0], s[1], 2, 6, 3, 7);
        const Q high = SHUFFLE4(s[2], s[3], 0, 4, 1, 5) + SHUFFLE4(s[2], s[3], 2, 6, 3, 7);
        out = SHUFFLE4(low, high, 0, 1, 4, 5) + SHUFFLE4(low, high, 2, 3, 6, 7);
    }
    if (yi == 1) memcpy(y, &out, sizeof(Q));
    else for (int i = 0; i < 4; i++) y[i * yi] = out[i];
}

static inline T JOIN(dots1, NAME)(int64_t k, const T *a, const T *x) {
    Q s;
    JOIN(sums1, NAME)(k, a, 0, x, &s);
    return (s[0] + s[2]) + (s[1] + s[3]);
}
#undef Q

static void JOIN(dots, NAME)(int64_t m, int64_t k, const void *left, int64_t ai, const void *right, void *out,
                             int64_t yi) {
    const T *a = left, *x = right;
    T *y = out;
    if (m < 4) {
        for (int64_t i = 0; i < m; i++) y[i * yi] = JOIN(dots1, NAME)(k, a + i * ai, x);
        return;
    }
    for (int64_t i = 0; i + 4 <= m; i += 4) JOIN(dots4, NAME)(k, a + i * ai, ai, x, y + i * yi, yi);
    if (m % 4) JOIN(dots4, NAME)(k, a + (m - 4) * ai, ai, x, y + (m - 4) * yi, yi);
}
#else
static void JOIN(dots, NAME)(int64_t m, int64_t k, const void *left, int64_t ai, const void *right, void *out,
                             int64_t yi) {
    const T *a = left, *x = right;
    T *y = out;
    for (int64_t i = 0; i < m; i++) {
        T sum[4] = {0, 0, 0, 0};
        for (int64_t p = 0; p < k; p++) sum[p & 3] += a[i * ai + p] * x[p];
        y[i * yi] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
}
#endif

/* ---- a packed block: MR rows of a, 2 * FULL columns of b, both written out in the order of use */

#if FULL > 1
typedef T JOIN(packed, NAME) __attribute__((vector_size(FULL * sizeof(T))));
#else
typedef T JOIN(packed, NAME);
#endif
#define V JOIN(packed, NAME)
#define MICRO(name, height, rows, NV) \
    static void JOIN(name, NAME)(int64_t k, const void *left, const void *right, void *out, int64_t ci, int more) { \
        const T *restrict a = left, *restrict b = right; \
        T *restrict c = out; \
        V sum[rows][NV]; \
        UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < NV; v++) sum[i][v] = (V){0}; \
        UNROLL for (int i = 0; i < rows; i++) \
            UNROLL for (int v = 0; v < NV; v++) PREFETCH(c + i * ci + v * FULL); \
        NO_UNROLL for (int64_t p = 0; p < k; p++, a += height, b += NV * FULL) { \
            V row[NV]; \
            UNROLL for (int v = 0; v < NV; v++) memcpy(&row[v], b + v * FULL, sizeof(V)); \
            UNROLL for (int i = 0; i < rows; i++) { \
                const T one = a[i]; \
                const V x = JOIN(SPLAT, FULL)(V, one); \
                UNROLL for (int v = 0; v < NV; v++) sum[i][v] += x * row[v]; } } \
        UNROLL for (int i = 0; i < rows; i++) \
            UNROLL for (int v = 0; v < NV; v++) { \
                V old; \
                if (more) { memcpy(&old, c + i * ci + v * FULL, sizeof(V)); sum[i][v] += old; } \
                memcpy(c + i * ci + v * FULL, &sum[i][v], sizeof(V)); } }
MICRO(micro, MR, MR, 2)
#if MR == 12
MICRO(micro_8, MR, 8, 2)
MICRO(micro_4, MR, 4, 2)
#define MICROS {JOIN(micro_4, NAME), JOIN(micro_8, NAME), JOIN(micro, NAME)}
#else
MICRO(micro_4, MR, 4, 2)
#define MICROS {JOIN(micro_4, NAME), JOIN(micro, NAME)}
#endif
MICRO(narrow_micro, 12, 12, 1)
MICRO(narrow_micro_8, 12, 8, 1)
MICRO(narrow_micro_4, 12, 4, 1)
#define NARROW_MICROS {JOIN(narrow_micro_4, NAME), JOIN(narrow_micro_8, NAME), JOIN(narrow_micro, NAME)}
#undef MICRO
#undef V

/* The strip of n columns alone; NULL if no vector is as wide. */
static onax_strip JOIN(strip_of, NAME)(int64_t n) {
    if (n == 2 * FULL) return JOIN(pair, NAME);
    if (n == FULL) return JOIN(full, NAME);
#if HALF
    if (n == HALF) return JOIN(half, NAME);
#endif
#if QUARTER
    if (n == QUARTER) return JOIN(quarter, NAME);
#endif
#if TINY
    if (n == TINY) return JOIN(tiny, NAME);
#endif
    return n == 1 ? JOIN(single, NAME) : NULL;
}

static const onax_gemm_kernels JOIN(narrow, NAME) = {12, FULL, JOIN(strips, NAME), STACK, JOIN(dots, NAME),
                                                     NARROW_MICROS, JOIN(strip_of, NAME), NARROWER};
static const onax_gemm_kernels JOIN(kernels, NAME) = {MR, 2 * FULL, JOIN(strips, NAME), STACK, JOIN(dots, NAME),
                                                      MICROS, JOIN(strip_of, NAME), &JOIN(narrow, NAME)};

#undef JOIN
#undef JOIN_
#undef T
#undef TYPE
#undef SIZE
#undef NAME
#undef FULL
#undef HALF
#undef QUARTER
#undef TINY
#undef NARROWER
#undef STACK
#undef MICROS
#undef NARROW_MICROS
