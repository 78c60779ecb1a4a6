/* Factorisations and solvers of one matrix of one type, in row-major order.

   Included once for each type, with T (an element), R (a real number of its precision), NAME (what names end with) and
   COMPLEX (0 or 1).  Loops run along rows, so that they become vector code. */

#define JOIN_(x, y) x##_##y
#define JOIN(x, y) JOIN_(x, y)
#define F(name) JOIN(name, NAME)

#if COMPLEX
#define RE(x) ((x).re)
#define MUL(x, y) ((T){(x).re * (y).re - (x).im * (y).im, (x).re * (y).im + (x).im * (y).re})
#define SUB(x, y) ((T){(x).re - (y).re, (x).im - (y).im})
#define ADD(x, y) ((T){(x).re + (y).re, (x).im + (y).im})
#define CONJ(x) ((T){(x).re, -(x).im})
#define SCALED(x, r) ((T){(x).re * (r), (x).im * (r)})
#define OVER(x, r) ((T){(x).re / (r), (x).im / (r)})
#define REAL(r) ((T){(r), 0})
#define SIZE(x) (ABS((x).re) + ABS((x).im))
#define SQUARE(x) ((x).re * (x).re + (x).im * (x).im)
#define IS_ZERO(x) ((x).re == 0 && (x).im == 0)
/* Smith's division: no overflow where the quotient has none. */
static inline T F(divide)(T x, T y) {
    if (ABS(y.re) >= ABS(y.im)) {
        const R r = y.im / y.re, d = y.re + y.im * r;
        return (T){(x.re + x.im * r) / d, (x.im - x.re * r) / d};
    } else {
        const R r = y.re / y.im, d = y.re * r + y.im;
        return (T){(x.re * r + x.im) / d, (x.im * r - x.re) / d};
    }
}
#define DIV(x, y) F(divide)(x, y)
#define NANS ((T){(R)NAN, (R)NAN})
#else
#define RE(x) (x)
#define MUL(x, y) ((x) * (y))
#define SUB(x, y) ((x) - (y))
#define ADD(x, y) ((x) + (y))
#define CONJ(x) (x)
#define SCALED(x, r) ((x) * (r))
#define OVER(x, r) ((x) / (r))
#define REAL(r) (r)
#define SIZE(x) ABS(x)
#define SQUARE(x) ((x) * (x))
#define IS_ZERO(x) ((x) == 0)
#define DIV(x, y) ((x) / (y))
#define NANS ((R)NAN)
#endif

/* ---- rows */

/* x -= s y */
ONAX_CLONES static void F(reduce_row)(T *restrict x, const T *restrict y, T s, int64_t n) {
    ONAX_EACH { const T t = MUL(s, y[i]); x[i] = SUB(x[i], t); }
}

/* ---- Cholesky: the lower factor, zeros above; NaN if there is none */

/* Rows are `step` elements apart; `column` has room for n. */
static int F(factor_lower)(T *a, int64_t step, T *column, int64_t n) {
    for (int64_t j = 0; j < n; j++) {
        const R square = RE(a[j * step + j]), pivot = SQRT(square);
        if (!(square > 0)) return 0;
        a[j * step + j] = REAL(pivot);
        for (int64_t i = j + 1; i < n; i++) {
            const T x = OVER(a[i * step + j], pivot);
            a[i * step + j] = x;
            column[i] = CONJ(x);
        }
        for (int64_t i = j + 1; i < n; i++) {
            const T x = a[i * step + j];
            if (i - j < 8) for (int64_t k = j + 1; k <= i; k++) {
                const T t = MUL(x, column[k]);
                a[i * step + k] = SUB(a[i * step + k], t);
            } else F(reduce_row)(a + i * step + j + 1, column + j + 1, x, i - j);
        }
    }
    return 1;
}

static void F(cholesky)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    (void)f;
    const int64_t n = s->n;
    const T *x = (const T *)at[1];
    T *a = (T *)at[0];
    for (int64_t i = 0; i < n; i++) {
        memcpy(a + i * n, x + i * n, (size_t)(i + 1) * sizeof(T));
        memset(a + i * n + i + 1, 0, (size_t)(n - i - 1) * sizeof(T));
    }
    if (F(factor_lower)(a, n, (T *)scratch, n)) return;
    for (int64_t i = 0; i < n * n; i++) a[i] = NANS;
}

/* ---- LU with partial pivoting: both factors, pivots, the permutation of the rows */

static int64_t F(pivot_row)(const T *a, int64_t m, int64_t n, int64_t j) {
    int64_t row = j;
    R largest = SIZE(a[j * n + j]);
    for (int64_t i = j + 1; i < m; i++) {
        const R size = SIZE(a[i * n + j]);
        if (size > largest || (largest != largest && size == size)) largest = size, row = i;
    }
    return row;
}

static void F(lu)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    (void)f;
    const int64_t m = s->m, n = s->n, least = m < n ? m : n;
    T *a = (T *)at[0];
    int32_t *pivots = (int32_t *)at[1], *order = (int32_t *)at[2];
    memcpy(a, at[3], (size_t)(m * n) * sizeof(T));
    for (int64_t i = 0; i < m; i++) order[i] = (int32_t)i;
    for (int64_t j = 0; j < least; j++) {
        const int64_t p = F(pivot_row)(a, m, n, j);
        T pivot;
        pivots[j] = (int32_t)p;
        if (p != j) {
            const int32_t number = order[p];
            order[p] = order[j];
            order[j] = number;
            memcpy(scratch, a + p * n, (size_t)n * sizeof(T));
            memcpy(a + p * n, a + j * n, (size_t)n * sizeof(T));
            memcpy(a + j * n, scratch, (size_t)n * sizeof(T));
        }
        pivot = a[j * n + j];
        if (IS_ZERO(pivot)) continue;
        for (int64_t i = j + 1; i < m; i++) {
            const T x = DIV(a[i * n + j], pivot);
            a[i * n + j] = x;
            if (n - j <= 8) for (int64_t k = j + 1; k < n; k++) {
                const T t = MUL(x, a[j * n + k]);
                a[i * n + k] = SUB(a[i * n + k], t);
            } else F(reduce_row)(a + i * n + j + 1, a + j * n + j + 1, x, n - j - 1);
        }
    }
}

/* ---- triangular systems: op(a) x = b, op transposing, conjugating, or both */

#define ENTRY(i, p) (transpose ? a[(p) * n + (i)] : a[(i) * n + (p)])
#define OP(x) (conjugate ? CONJ(x) : (x))

/* The sum of op(a[p]) x[p], in sixteen parts where there are so many terms. */
ONAX_CLONES static T F(sum_of_products)(const T *a, const T *x, int64_t n, int conjugate) {
    T sum[16];
    int64_t p = 0;
    memset(sum, 0, sizeof sum);
    for (; p + 16 <= n; p += 16)
        for (int j = 0; j < 16; j++) { const T e = OP(a[p + j]), t = MUL(e, x[p + j]); sum[j] = ADD(sum[j], t); }
    for (int j = 0; p < n; j++, p++) { const T e = OP(a[p]), t = MUL(e, x[p]); sum[j] = ADD(sum[j], t); }
    for (int half = 8; half; half /= 2) for (int j = 0; j < half; j++) sum[j] = ADD(sum[j], sum[j + half]);
    return sum[0];
}

/* One vector.  Its matrix is read along rows: by sums of products, or, transposed, by what each solved element takes
   from the others. */
static void F(solve_vector)(const T *a, T *x, int64_t n, int lower, int transpose, int conjugate, int unit) {
    for (int64_t q = 0; q < n; q++) {
        const int64_t i = lower ? q : n - 1 - q, first = lower ? i + 1 : 0, past = lower ? n : i;
        T known = x[i];
        if (!transpose) {
            const int64_t from = lower ? 0 : i + 1, to = lower ? i : n;
            if (to - from >= 16) {
                const T sum = F(sum_of_products)(a + i * n + from, x + from, to - from, conjugate);
                known = SUB(known, sum);
            } else for (int64_t p = from; p < to; p++) { const T e = OP(a[i * n + p]), t = MUL(e, x[p]); known = SUB(known, t); }
        }
        if (!unit) { const T d = OP(a[i * n + i]); known = DIV(known, d); }
        x[i] = known;
        for (int64_t p = first; transpose && p < past; p++) {
            const T e = OP(a[i * n + p]), t = MUL(e, known);
            x[p] = SUB(x[p], t);
        }
    }
}

/* Many columns side by side. */
static void F(solve_columns)(const T *a, T *x, int64_t n, int64_t k, int lower, int transpose, int conjugate, int unit) {
    for (int64_t q = 0; q < n; q++) {
        const int64_t i = lower ? q : n - 1 - q, from = lower ? 0 : i + 1, to = lower ? i : n;
        for (int64_t p = from; p < to; p++) {
            const T e = OP(ENTRY(i, p));
            if (k <= 8) for (int64_t c = 0; c < k; c++) {
                const T t = MUL(e, x[p * k + c]);
                x[i * k + c] = SUB(x[i * k + c], t);
            } else F(reduce_row)(x + i * k, x + p * k, e, k);
        }
        if (!unit) {
            const T d = OP(a[i * n + i]);
            for (int64_t c = 0; c < k; c++) x[i * k + c] = DIV(x[i * k + c], d);
        }
    }
}

static void F(triangular_solve)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    (void)f;
    const int64_t n = s->n, k = s->k;
    const int unit = !!(s->flags & UNIT_DIAGONAL), conjugate = !!(s->flags & CONJUGATE);
    const int transpose = !!(s->flags & TRANSPOSE), lower = !!(s->flags & LOWER);
    const T *a = (const T *)at[1];
    T *x = (T *)at[0];
    (void)scratch;
    memcpy(x, at[2], (size_t)(n * k) * sizeof(T));
    if (!(s->flags & LEFT_SIDE))      /* each row of x solves the transposed system */
        for (int64_t r = 0; r < k; r++) F(solve_vector)(a, x + r * n, n, lower == transpose, !transpose, conjugate, unit);
    else if (k == 1) F(solve_vector)(a, x, n, lower != transpose, transpose, conjugate, unit);
    else F(solve_columns)(a, x, n, k, lower != transpose, transpose, conjugate, unit);
}

/* ---- reflections */

/* Makes column j of a, from row j on, a multiple of a unit vector; leaves the reflection below and gives its factor. */
static T F(reflect_column)(T *a, int64_t m, int64_t n, int64_t j) {
    const T alpha = a[j * n + j];
    R rest = 0, largest = 0, beta;
    T tau, scale;
    for (int64_t i = j + 1; i < m; i++) { const R size = SIZE(a[i * n + j]); largest = size > largest ? size : largest; }
#if COMPLEX
    if (largest == 0 && alpha.im == 0) return REAL(0);
#else
    if (largest == 0) return REAL(0);
#endif
    if (SIZE(alpha) > largest) largest = SIZE(alpha);
    for (int64_t i = j; i < m; i++) { const T x = OVER(a[i * n + j], largest); rest += SQUARE(x); }
    beta = SQRT(rest) * largest;
    if (RE(alpha) >= 0) beta = -beta;
#if COMPLEX
    tau = (T){(beta - alpha.re) / beta, -alpha.im / beta};
#else
    tau = (beta - alpha) / beta;
#endif
    scale = SUB(alpha, REAL(beta));
    for (int64_t i = j + 1; i < m; i++) a[i * n + j] = DIV(a[i * n + j], scale);
    a[j * n + j] = REAL(beta);
    return tau;
}

/* Rows j to m - 1 of c, from column `first` on, become (1 - tau v v^H) c; v is 1 and what stands below (j, j) in a. */
static void F(apply_reflection)(const T *a, int64_t an, T *c, int64_t m, int64_t n, int64_t j, int64_t first, T tau, T *w) {
    const int64_t count = n - first;
    const T minus = REAL((R)-1);
    for (int64_t k = 0; k < count; k++) w[k] = c[j * n + first + k];
    for (int64_t i = j + 1; i < m; i++) {
        const T v = CONJ(a[i * an + j]), t = MUL(minus, v);
        F(reduce_row)(w, c + i * n + first, t, count);
    }
    F(reduce_row)(c + j * n + first, w, tau, count);
    for (int64_t i = j + 1; i < m; i++) {
        const T v = a[i * an + j], t = MUL(tau, v);
        F(reduce_row)(c + i * n + first, w, t, count);
    }
}

static void F(reflect)(T *a, T *taus, int64_t m, int64_t n, T *w) {
    const int64_t least = m < n ? m : n;
    for (int64_t j = 0; j < least; j++) {
        taus[j] = F(reflect_column)(a, m, n, j);
        if (j + 1 < n) F(apply_reflection)(a, n, a, m, n, j, j + 1, CONJ(taus[j]), w);
    }
}

/* The first k columns of the product of `count` reflections. */
static void F(multiply_out)(const T *a, int64_t an, const T *taus, int64_t count, T *q, int64_t m, int64_t k, T *w) {
    memset(q, 0, (size_t)(m * k) * sizeof(T));
    for (int64_t i = 0; i < k && i < m; i++) q[i * k + i] = REAL(1);
    for (int64_t j = count - 1; j >= 0; j--) if (j < k) F(apply_reflection)(a, an, q, m, k, j, j, taus[j], w);
}

static void F(geqrf)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    (void)f;
    memcpy(at[0], at[2], (size_t)(s->m * s->n) * sizeof(T));
    F(reflect)((T *)at[0], (T *)at[1], s->m, s->n, (T *)scratch);
}

static void F(householder_product)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    (void)f;
    F(multiply_out)((const T *)at[1], s->n, (const T *)at[2], s->k, (T *)at[0], s->m, s->n, (T *)scratch);
}

/* q (m x k) and r (k x n) */
static void F(qr)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    (void)f;
    const int64_t m = s->m, n = s->n, k = s->k, least = m < n ? m : n;
    T *r = (T *)at[1], *a = (T *)scratch, *taus = a + m * n, *w = taus + least;
    memcpy(a, at[2], (size_t)(m * n) * sizeof(T));
    F(reflect)(a, taus, m, n, w);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < n; j++) r[i * n + j] = j >= i ? a[i * n + j] : REAL(0);
    if (!(s->flags & SKIP_Q)) F(multiply_out)(a, n, taus, least < k ? least : k, (T *)at[0], m, k, w);
}

/* ---- tridiagonal systems, with exchanges of neighbouring rows */

static void F(tridiagonal_solve)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    (void)f;
    const int64_t n = s->n, k = s->k;
    const T *dl = (const T *)at[1];
    T *x = (T *)at[0], *d = (T *)scratch, *du = d + n, *further = du + n;
    R largest = 0, tiny;
    int singular = 0;
    if (n == 1) {
        for (int64_t c = 0; c < k; c++) { const T b = ((const T *)at[4])[c], one = *(const T *)at[2]; x[c] = DIV(b, one); }
        return;
    }
    memcpy(d, at[2], (size_t)n * sizeof(T));
    memcpy(du, at[3], (size_t)n * sizeof(T));
    memcpy(x, at[4], (size_t)(n * k) * sizeof(T));
    memset(further, 0, (size_t)n * sizeof(T));
    for (int64_t i = 0; i < n; i++) {
        const R size = SIZE(d[i]), below = i ? SIZE(dl[i]) : 0, above = i + 1 < n ? SIZE(du[i]) : 0;
        largest = size > largest ? size : largest;
        largest = below > largest ? below : largest;
        largest = above > largest ? above : largest;
    }
    tiny = largest * EPSILON > SMALLEST ? largest * EPSILON : SMALLEST;
    for (int64_t i = 0; i + 1 < n; i++) {
        if (SIZE(d[i]) >= SIZE(dl[i + 1])) {
            T factor, t;
            if (IS_ZERO(d[i])) d[i] = REAL(tiny), singular = 1;
            factor = DIV(dl[i + 1], d[i]);
            t = MUL(factor, du[i]);
            d[i + 1] = SUB(d[i + 1], t);
            F(reduce_row)(x + (i + 1) * k, x + i * k, factor, k);
        } else {
            const T factor = DIV(d[i], dl[i + 1]), next = d[i + 1], t = MUL(factor, next);
            d[i] = dl[i + 1];
            d[i + 1] = SUB(du[i], t);
            du[i] = next;
            further[i] = i + 2 < n ? du[i + 1] : REAL(0);
            if (i + 2 < n) { const T u = MUL(factor, du[i + 1]); du[i + 1] = SUB(REAL(0), u); }
            for (int64_t c = 0; c < k; c++) {
                const T upper = x[i * k + c], lower = x[(i + 1) * k + c], u = MUL(factor, lower);
                x[i * k + c] = lower;
                x[(i + 1) * k + c] = SUB(upper, u);
            }
        }
    }
    if (n && IS_ZERO(d[n - 1])) d[n - 1] = REAL(tiny), singular = 1;
    for (int64_t i = n - 1; i >= 0; i--) {
        if (i + 1 < n) F(reduce_row)(x + i * k, x + (i + 1) * k, du[i], k);
        if (i + 2 < n) F(reduce_row)(x + i * k, x + (i + 2) * k, further[i], k);
        for (int64_t c = 0; c < k; c++) x[i * k + c] = DIV(x[i * k + c], d[i]);
    }
    for (int64_t i = 0; singular && !(s->flags & PERTURB) && i < n * k; i++) x[i] = NANS;
}

#include "tape_linalg_blocks_type.h"

static const matrix_function F(functions)[] = {F(cholesky), F(lu), F(triangular_solve), F(qr), F(geqrf),
                                               F(householder_product), F(tridiagonal_solve)};

#undef RE
#undef MUL
#undef SUB
#undef ADD
#undef CONJ
#undef SCALED
#undef OVER
#undef REAL
#undef SIZE
#undef SQUARE
#undef IS_ZERO
#undef DIV
#undef NANS
#undef ENTRY
#undef OP
#undef F
#undef JOIN
#undef JOIN_
#undef T
#undef R
#undef NAME
#undef COMPLEX
#undef ABS
#undef SQRT
#undef EPSILON
#undef SMALLEST
