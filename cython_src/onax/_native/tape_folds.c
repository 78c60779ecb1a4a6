/* The folds of tape_reductions.h, type by type. */
#include "tape_reductions.h"
#include "tape_sums.h"

#include <math.h>

/* T: type of elements; A: of totals; P: in which four elements are joined first; `joined`: the total of the totals x and y. */
#define ONAX_JOIN(name, T, A, P, joined) \
    ONAX_INLINE A join_##name(A x, A y) { return (A)(joined); } \
    ONAX_INLINE P pair_##name(P x, P y) { return (P)(joined); } \
    ONAX_INLINE A four_##name(A t, T p, T q, T u, T v) { \
        return join_##name(t, (A)pair_##name(pair_##name(p, q), pair_##name(u, v))); \
    }

#define ONAX_SAME(x) (x)
#define ONAX_COLUMNS_OF(name, join, T, A, number) \
    ONAX_CLONES static void columns_##name(void *totals, const void *from, int64_t rows, int64_t stride, int64_t n) { \
        A *restrict t = totals; \
        const T *a = from; \
        int64_t r = 0; \
        for (; r + 4 <= rows; r += 4) { \
            const T *p = a + r * stride, *q = p + stride, *u = q + stride, *v = u + stride; \
            ONAX_OVER(j, n) t[j] = four_##join(t[j], number(p[j]), number(q[j]), number(u[j]), number(v[j])); \
        } \
        for (; r < rows; r++) ONAX_OVER(j, n) t[j] = join_##join(t[j], (A)number(a[r * stride + j])); \
    }

/* The total of a row of n >= count elements, of which each lane joins every count-th. */
#define ONAX_LANES_OF(name, T, A) \
    ONAX_INLINE A lanes_##name(const T *a, int64_t n, const int count) { \
        A lane[32]; \
        int64_t i = count; \
        for (int k = 0; k < count; k++) lane[k] = (A)a[k]; \
        for (; i + count <= n; i += count) \
            for (int k = 0; k < count; k++) lane[k] = join_##name(lane[k], (A)a[i + k]); \
        for (int k = 0; k < count && i < n; k++, i++) lane[k] = join_##name(lane[k], (A)a[i]); \
        for (int w = count / 2; w; w /= 2) \
            for (int k = 0; k < w; k++) lane[k] = join_##name(lane[k], lane[k + w]); \
        return lane[0]; \
    }

/* `first`: the total of nothing. */
#define ONAX_FOLDS_OF(name, T, A, first) \
    static void start_##name(void *totals, int64_t n) { \
        A *t = totals; \
        for (int64_t i = 0; i < n; i++) t[i] = first; \
    } \
    ONAX_CLONES static void row_##name(void *total, const void *from, int64_t n) { \
        const T *a = from; \
        A x = *(A *)total; \
        if (n >= 64) x = join_##name(x, lanes_##name(a, n, 32)); \
        else if (n >= 8) x = join_##name(x, lanes_##name(a, n, 8)); \
        else for (int64_t i = 0; i < n; i++) x = join_##name(x, (A)a[i]); \
        *(A *)total = x; \
    } \
    ONAX_CLONES static void rows_##name(void *to, const void *from, int64_t count, int64_t n) { \
        const T *a = from; \
        T *d = to; \
        for (int64_t k = 0; k < count; k++, a += n) { \
            A x = first; \
            if (n >= 64) x = lanes_##name(a, n, 32); \
            else if (n >= 8) x = lanes_##name(a, n, 8); \
            else for (int64_t i = 0; i < n; i++) x = join_##name(x, (A)a[i]); \
            d[k] = (T)x; \
        } \
    } \
    ONAX_COLUMNS_OF(name, name, T, A, ONAX_SAME)

#define ONAX_OWN_FOLD(name, T, first) \
    ONAX_FOLDS_OF(name, T, T, first) \
    static const onax_fold fold_##name = {start_##name, row_##name, rows_##name, columns_##name, columns_##name, NULL, NULL, \
                                           sizeof(T), sizeof(T)};
#define ONAX_PLAIN_FOLD(name, T, first, joined) \
    ONAX_JOIN(name, T, T, T, joined) ONAX_LANES_OF(name, T, T) ONAX_OWN_FOLD(name, T, first)

/* Float32 in float64. */
#define ONAX_WIDE_FOLD(name, wide, row, rows, squares) \
    static const onax_fold fold_##name = {start_##name, row, rows, columns_##name, columns_##wide, round_totals, squares, 4, 8};

ONAX_CLONES static void round_totals(void *to, const void *totals, int64_t n) {
    float *d = to;
    const double *t = totals;
    ONAX_OVER(i, n) d[i] = (float)t[i];
}

ONAX_JOIN(sum_f64, double, double, double, x + y) ONAX_LANES_OF(sum_f64, double, double)
    ONAX_FOLDS_OF(sum_f64, double, double, 0)
ONAX_JOIN(sum_f32, float, double, float, x + y) ONAX_LANES_OF(sum_f32, float, double)
    ONAX_FOLDS_OF(sum_f32, float, double, 0)
ONAX_JOIN(prod_f32, float, double, double, x * y) ONAX_LANES_OF(prod_f32, float, double)
    ONAX_FOLDS_OF(prod_f32, float, double, 1)
ONAX_VECTOR_SUMS(f64, double, ONAX_SAME) ONAX_VECTOR_SUMS(f32, float, (float))
#define ONAX_SQUARE(x) ((x) * (x))
ONAX_COLUMNS_OF(squares_f64, sum_f64, double, double, ONAX_SQUARE) ONAX_COLUMNS_OF(squares_f32, sum_f32, float, double, ONAX_SQUARE)
static const onax_fold fold_sum_f64 = {start_sum_f64, ONAX_SUM_ROW(f64), ONAX_SUM_ROWS(f64), columns_sum_f64, columns_sum_f64,
                                       NULL, columns_squares_f64, 8, 8};
ONAX_PLAIN_FOLD(prod_f64, double, 1, x * y)
ONAX_WIDE_FOLD(sum_f32, sum_f64, ONAX_SUM_ROW(f32), ONAX_SUM_ROWS(f32), columns_squares_f32)
ONAX_WIDE_FOLD(prod_f32, prod_f64, row_prod_f32, rows_prod_f32, NULL)

/* The largest of five numbers is found without a look at NaN, and is NaN if one of them is. */
#define ONAX_BETTER(x, is, y) ((x) is (y) ? (x) : (y))
#define ONAX_FLOAT_EXTREME(name, T, first, is) \
    ONAX_INLINE T join_##name(T x, T y) { return x != x ? x : ONAX_BETTER(x, is, y); } \
    ONAX_INLINE T four_##name(T t, T p, T q, T u, T v) { \
        const int is_odd = (t != t) | (p != p) | (q != q) | (u != u) | (v != v); \
        const T a = ONAX_BETTER(p, is, q), b = ONAX_BETTER(u, is, v), c = ONAX_BETTER(a, is, b), d = ONAX_BETTER(c, is, t); \
        return is_odd ? (T)NAN : d; \
    } \
    ONAX_INLINE T lanes_##name(const T *a, int64_t n, const int count) { \
        T lane[32]; \
        int odd[32] = {0}; \
        int64_t i = 0; \
        for (int k = 0; k < count; k++) lane[k] = first; \
        for (; i + count <= n; i += count) \
            for (int k = 0; k < count; k++) { \
                const T y = a[i + k]; \
                odd[k] |= y != y; \
                lane[k] = ONAX_BETTER(lane[k], is, y); \
            } \
        for (int k = 0; k < count && i < n; k++, i++) { \
            odd[k] |= a[i] != a[i]; \
            lane[k] = ONAX_BETTER(lane[k], is, a[i]); \
        } \
        for (int w = count / 2; w; w /= 2) \
            for (int k = 0; k < w; k++) { odd[k] |= odd[k + w]; lane[k] = ONAX_BETTER(lane[k], is, lane[k + w]); } \
        return odd[0] ? (T)NAN : lane[0]; \
    } \
    ONAX_OWN_FOLD(name, T, first)
#define ONAX_FLOAT_EXTREMES(t, T) \
    ONAX_FLOAT_EXTREME(max_##t, T, -HUGE_VAL, >) ONAX_FLOAT_EXTREME(min_##t, T, HUGE_VAL, <)
ONAX_FLOAT_EXTREMES(f32, float) ONAX_FLOAT_EXTREMES(f64, double)

#define ONAX_INTEGER_FOLDS(w, U) \
    ONAX_PLAIN_FOLD(sum_##w, U, 0, x + y) \
    ONAX_PLAIN_FOLD(prod_##w, U, 1, (U)((U)1 * x * y)) \
    ONAX_PLAIN_FOLD(and_##w, U, (U)~(U)0, x & y) \
    ONAX_PLAIN_FOLD(or_##w, U, 0, x | y) \
    ONAX_PLAIN_FOLD(xor_##w, U, 0, x ^ y)
ONAX_INTEGER_FOLDS(8, uint8_t) ONAX_INTEGER_FOLDS(16, uint16_t) ONAX_INTEGER_FOLDS(32, uint32_t)
ONAX_INTEGER_FOLDS(64, uint64_t)

#define ONAX_INTEGER_EXTREMES(t, T, lowest, highest) \
    ONAX_PLAIN_FOLD(max_##t, T, lowest, x > y ? x : y) \
    ONAX_PLAIN_FOLD(min_##t, T, highest, x < y ? x : y)
ONAX_INTEGER_EXTREMES(i8, int8_t, INT8_MIN, INT8_MAX) ONAX_INTEGER_EXTREMES(u8, uint8_t, 0, UINT8_MAX)
ONAX_INTEGER_EXTREMES(i16, int16_t, INT16_MIN, INT16_MAX) ONAX_INTEGER_EXTREMES(u16, uint16_t, 0, UINT16_MAX)
ONAX_INTEGER_EXTREMES(i32, int32_t, INT32_MIN, INT32_MAX) ONAX_INTEGER_EXTREMES(u32, uint32_t, 0, UINT32_MAX)
ONAX_INTEGER_EXTREMES(i64, int64_t, INT64_MIN, INT64_MAX) ONAX_INTEGER_EXTREMES(u64, uint64_t, 0, UINT64_MAX)
ONAX_PLAIN_FOLD(and_bool, uint8_t, 1, x & y)

/* ---- complex numbers */

static void round_pairs(void *to, const void *totals, int64_t n) { round_totals(to, totals, 2 * n); }

/* C: elements; A: totals; `joined` gives the total z of x and y. */
#define ONAX_PAIR_FOLD(name, C, A, first, joined, merge, round) \
    static void start_##name(void *totals, int64_t n) { \
        A *t = totals; \
        for (int64_t i = 0; i < n; i++) { t[i].re = first; t[i].im = 0; } \
    } \
    static void columns_##name(void *totals, const void *from, int64_t rows, int64_t stride, int64_t n) { \
        A *t = totals; \
        const C *a = from; \
        for (int64_t r = 0; r < rows; r++, a += stride) \
            for (int64_t j = 0; j < n; j++) { \
                const A x = t[j], y = {a[j].re, a[j].im}; \
                joined; \
                t[j] = z; \
            } \
    } \
    static void row_##name(void *total, const void *from, int64_t n) { columns_##name(total, from, n, 1, 1); } \
    static const onax_fold fold_##name = {start_##name, row_##name, NULL, columns_##name, merge, round, NULL, sizeof(C), sizeof(A)};

/* The real and imaginary parts of eight numbers side by side. */
#define ONAX_PAIR_SUM(name, C, wide, parts, round) \
    static void start_##name(void *totals, int64_t n) { start_sum_f64(totals, 2 * n); } \
    static void columns_##name(void *totals, const void *from, int64_t rows, int64_t stride, int64_t n) { \
        columns_##parts(totals, from, rows, 2 * stride, 2 * n); \
    } \
    static void row_##name(void *total, const void *from, int64_t n) { \
        const C *a = from; \
        double lane[16] = {0}; \
        if (n >= 8) columns_##parts(lane, from, n / 8, 16, 16); \
        columns_##parts(lane, a + n / 8 * 8, 1, 16, 2 * (n % 8)); \
        columns_sum_f64(total, lane, 8, 2, 2); \
    } \
    static const onax_fold fold_##name = {start_##name, row_##name, NULL, columns_##name, wide, round, NULL, sizeof(C), 16};

ONAX_PAIR_SUM(sum_c128, onax_c128, columns_sum_c128, sum_f64, NULL)
ONAX_PAIR_SUM(sum_c64, onax_c64, columns_sum_c128, sum_f32, round_pairs)

#define ONAX_PAIR_PRODUCT const onax_c128 z = {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}
ONAX_PAIR_FOLD(prod_c128, onax_c128, onax_c128, 1, ONAX_PAIR_PRODUCT, columns_prod_c128, NULL)
ONAX_PAIR_FOLD(prod_c64, onax_c64, onax_c128, 1, ONAX_PAIR_PRODUCT, columns_prod_c128, round_pairs)

/* The order is that of real parts, then of imaginary parts; a NaN in a part wins, the first one above all. */
#define ONAX_PAIR_EXTREME(C, is) \
    const int is_odd = x.re != x.re || x.im != x.im, is_odder = y.re != y.re || y.im != y.im; \
    const C z = is_odd || (!is_odder && (x.re is y.re || (x.re == y.re && !(y.im is x.im)))) ? x : y
ONAX_PAIR_FOLD(max_c64, onax_c64, onax_c64, -HUGE_VALF, ONAX_PAIR_EXTREME(onax_c64, >), columns_max_c64, NULL)
ONAX_PAIR_FOLD(min_c64, onax_c64, onax_c64, HUGE_VALF, ONAX_PAIR_EXTREME(onax_c64, <), columns_min_c64, NULL)
ONAX_PAIR_FOLD(max_c128, onax_c128, onax_c128, -HUGE_VAL, ONAX_PAIR_EXTREME(onax_c128, >), columns_max_c128, NULL)
ONAX_PAIR_FOLD(min_c128, onax_c128, onax_c128, HUGE_VAL, ONAX_PAIR_EXTREME(onax_c128, <), columns_min_c128, NULL)

/* ---- float16 and bfloat16, a piece at a time as float32 */

#define PIECE 1024
#define PART (PIECE / 4)

#define ONAX_HALF_COLUMNS(name, type, wide)  /* parts of four rows at a time */ \
    static void columns_##name(void *totals, const void *from, int64_t rows, int64_t stride, int64_t n) { \
        const uint16_t *a = from; \
        float piece[PIECE]; \
        for (int64_t j = 0, m; j < n; j += m) { \
            m = n - j < PART ? n - j : PART; \
            for (int64_t r = 0, few; r < rows; r += few) { \
                few = rows - r < 4 ? rows - r : 4; \
                for (int64_t k = 0; k < few; k++) onax_widen(type, a + (r + k) * stride + j, piece + k * m, m); \
                columns_##wide((char *)totals + j * fold_##wide.total, piece, few, m, m); \
            } \
        } \
    }
#define ONAX_HALF_FOLD(name, type, wide) \
    static void row_##name(void *total, const void *from, int64_t n) { \
        const uint16_t *a = from; \
        float piece[PIECE]; \
        for (int64_t m; n > 0; n -= m, a += m) { \
            m = n < PIECE ? n : PIECE; \
            onax_widen(type, a, piece, m); \
            fold_##wide.row(total, piece, m); \
        } \
    } \
    static void finish_##name(void *to, const void *totals, int64_t n) { \
        float piece[PIECE]; \
        for (int64_t j = 0, m; j < n; j += m) { \
            m = n - j < PIECE ? n - j : PIECE; \
            if (fold_##wide.finish) fold_##wide.finish(piece, (const char *)totals + j * fold_##wide.total, m); \
            else memcpy(piece, (const float *)totals + j, (size_t)m * sizeof(float)); \
            onax_narrow(type, piece, (uint16_t *)to + j, m); \
        } \
    } \
    static void rows_##name(void *to, const void *from, int64_t count, int64_t n) {  /* short ones several at a time */ \
        const uint16_t *a = from; \
        uint16_t *d = to; \
        float piece[PIECE], few[PIECE]; \
        double total; \
        for (int64_t k = 0, m; k < count; k += m, a += m * n, d += m) { \
            m = n > PIECE ? 1 : PIECE / n < count - k ? PIECE / n : count - k; \
            if (n <= PIECE) { \
                onax_widen(type, a, piece, m * n); \
                fold_##wide.rows(few, piece, m, n); \
                onax_narrow(type, few, d, m); \
                continue; \
            } \
            fold_##wide.start(&total, 1); \
            row_##name(&total, a, n); \
            finish_##name(d, &total, 1); \
        } \
    }
#define ONAX_HALF_FOLDS(o, t, row, rows, wide, size) \
    static const onax_fold fold_##o##_##t = {start_##o##_f32, row, rows, columns_##o##_##t, columns_##o##_##wide, \
                                             finish_##o##_##t, NULL, 2, size};
#define ONAX_F16_FOLD(o, wide, size) \
    ONAX_HALF_FOLD(o##_f16, ONAX_F16, o##_f32) \
    ONAX_HALF_COLUMNS(o##_f16, ONAX_F16, o##_f32) \
    ONAX_HALF_FOLDS(o, f16, row_##o##_f16, rows_##o##_f16, wide, size)
ONAX_F16_FOLD(sum, f64, 8) ONAX_F16_FOLD(prod, f64, 8) ONAX_F16_FOLD(max, f32, 4) ONAX_F16_FOLD(min, f32, 4)

#define ONAX_BF16_FOLD(o, A) \
    ONAX_HALF_FOLD(o##_bf16, ONAX_BF16, o##_f32) ONAX_COLUMNS_OF(o##_bf16, o##_f32, uint16_t, A, onax_from_bf16)
ONAX_BF16_FOLD(sum, double) ONAX_BF16_FOLD(prod, double) ONAX_BF16_FOLD(max, float) ONAX_BF16_FOLD(min, float)
#define ONAX_BF16_OF(x) onax_to_bf16((float)(x))
ONAX_VECTOR_SUMS(bf16, uint16_t, ONAX_BF16_OF)
ONAX_HALF_FOLDS(sum, bf16, ONAX_SUM_ROW(bf16), ONAX_SUM_ROWS(bf16), f64, 8)
ONAX_HALF_FOLDS(prod, bf16, row_prod_bf16, rows_prod_bf16, f64, 8)
ONAX_HALF_FOLDS(max, bf16, row_max_bf16, rows_max_bf16, f32, 4)
ONAX_HALF_FOLDS(min, bf16, row_min_bf16, rows_min_bf16, f32, 4)

/* ---- the table, by type: f32 f64 i32 u32 i64 u64 bool i8 u8 i16 u16 f16 bf16 c64 c128 */

#define FOLD(name) &fold_##name
#define ONAX_ARITHMETIC(o) {FOLD(o##_f32), FOLD(o##_f64), FOLD(o##_32), FOLD(o##_32), FOLD(o##_64), FOLD(o##_64), NULL, \
                            FOLD(o##_8), FOLD(o##_8), FOLD(o##_16), FOLD(o##_16), FOLD(o##_f16), FOLD(o##_bf16), \
                            FOLD(o##_c64), FOLD(o##_c128)}
#define ONAX_ORDERED(o, of_bool) {FOLD(o##_f32), FOLD(o##_f64), FOLD(o##_i32), FOLD(o##_u32), FOLD(o##_i64), FOLD(o##_u64), \
                                  FOLD(of_bool), FOLD(o##_i8), FOLD(o##_u8), FOLD(o##_i16), FOLD(o##_u16), FOLD(o##_f16), \
                                  FOLD(o##_bf16), FOLD(o##_c64), FOLD(o##_c128)}
#define ONAX_BITWISE(o, of_bool) {NULL, NULL, FOLD(o##_32), FOLD(o##_32), FOLD(o##_64), FOLD(o##_64), FOLD(of_bool), \
                                  FOLD(o##_8), FOLD(o##_8), FOLD(o##_16), FOLD(o##_16), NULL, NULL, NULL, NULL}

static const onax_fold *const folds[ONAX_REDUCTIONS][ONAX_TYPES] = {
    ONAX_ARITHMETIC(sum), ONAX_ARITHMETIC(prod), ONAX_ORDERED(max, or_8), ONAX_ORDERED(min, and_bool),
    ONAX_BITWISE(and, and_bool), ONAX_BITWISE(or, or_8), ONAX_BITWISE(xor, xor_8),
};

const onax_fold *onax_fold_of(int64_t reduction, int64_t type) {
    if (reduction < 0 || reduction >= ONAX_REDUCTIONS || type < 0 || type >= ONAX_TYPES) return NULL;
    return folds[reduction][type];
}
