/* Factorisations and solvers of one large matrix of one type, in blocks: products of matrices do most of the work.

   Included by tape_linalg_type.h, with its macros.  The terms of an element are added in an order that depends on the
   sizes alone, so threads make no difference. */

/* Elements of a matrix: (i, p) lies i * down + p * right elements from `at`. */
typedef struct { const T *at; int64_t down, right; int conjugate; } F(view);

static inline F(view) F(part)(F(view) a, int64_t i, int64_t p) {
    a.at += i * a.down + p * a.right;
    return a;
}

/* ---- c -= a b.  Complex numbers are pairs of real ones: a b = re(a) b + im(a) (i b). */

typedef struct { const tools *t; T *c; int64_t step; F(view) a, b; int64_t m, n, k, parts; int by_columns; } F(product);

static void F(pack_left)(R *restrict to, F(view) a, int64_t m, int64_t k) {
    for (int64_t i = 0; i < m; i++) {
        const T *x = a.at + i * a.down;
#if COMPLEX
        for (int64_t p = 0; p < k; p++, to += 2) {
            to[0] = -x[p * a.right].re;
            to[1] = a.conjugate ? x[p * a.right].im : -x[p * a.right].im;
        }
#else
        if (a.right == 1) for (int64_t p = 0; p < k; p++) to[p] = -x[p];
        else for (int64_t p = 0; p < k; p++) to[p] = -x[p * a.right];
        to += k;
#endif
    }
}

/* Columns of b as real numbers, `width` of them for each term. */
static void F(pack_right)(R *restrict to, F(view) b, int64_t k, int64_t width) {
#if COMPLEX
    for (int64_t p = 0; p < k; p++, to += 2 * width)
        for (int64_t j = 0; j < width / 2; j++) {
            const T x = b.at[p * b.down + j * b.right];
            const R im = b.conjugate ? -x.im : x.im;
            to[2 * j] = x.re, to[2 * j + 1] = im;
            to[width + 2 * j] = -im, to[width + 2 * j + 1] = x.re;
        }
#else
    if (b.right == 1) for (int64_t p = 0; p < k; p++) memcpy(to + p * width, b.at + p * b.down, (size_t)width * sizeof(R));
    else for (int64_t j = 0; j < width; j++)
        for (int64_t p = 0; p < k; p++) to[p * width + j] = b.at[p * b.down + j * b.right];
#endif
}

/* Columns `first` to `past` - 1, counted as real numbers, of rows i0 to i1 - 1. */
static void F(subtract_range)(const F(product) *q, int64_t i0, int64_t i1, int64_t first, int64_t past, char *room) {
    const onax_gemm_kernels *g = q->t->g;
    const int64_t pair = COMPLEX ? 2 : 1;
    R *left = (R *)room, *right = left + pair * BLOCK_ROWS * BLOCK_INNER, *c = (R *)q->c;
    for (int64_t p = 0; p < q->k; p += BLOCK_INNER)
        for (int64_t i = i0; i < i1; i += BLOCK_ROWS) {
            const int64_t terms = least(BLOCK_INNER, q->k - p), rows = least(BLOCK_ROWS, i1 - i), inner = pair * terms;
            int64_t width = g->nr;
            F(pack_left)(left, F(part)(q->a, i, p), rows, terms);
            for (int64_t j = first; j < past; j += width) {
                while (width > past - j) width /= 2;
                F(pack_right)(right, F(part)(q->b, p, j / pair), terms, width);
                g->strip_of(width)(rows, inner, left, inner, 1, right, width, c + pair * i * q->step + j, pair * q->step, 1);
            }
        }
}

static void F(subtract_part)(void *user, size_t i) {
    const F(product) *q = user;
    const int64_t nr = q->t->g->nr, columns = (COMPLEX ? 2 : 1) * q->n, count = q->by_columns ? (columns + nr - 1) / nr : q->m;
    const int64_t from = count * (int64_t)i / q->parts, to = count * ((int64_t)i + 1) / q->parts;
    char *room = q->t->room + (int64_t)i * q->t->part_room;
    if (q->by_columns) F(subtract_range)(q, 0, q->m, from * nr, least(to * nr, columns), room);
    else F(subtract_range)(q, from, to, 0, columns, room);
}

/* c -= a b: m rows, `step` elements apart, n columns, k terms. */
static void F(subtract)(const tools *t, T *c, int64_t step, F(view) a, F(view) b, int64_t m, int64_t n, int64_t k) {
    F(product) q = {t, c, step, a, b, m, n, k, 1, n > m};
    const double work = (COMPLEX ? 4 : 1) * (sizeof(R) == 4 ? 0.02 : 0.04) * (double)m * (double)n * (double)k;
    const int64_t range = n > m ? (n * (COMPLEX ? 2 : 1) + t->g->nr - 1) / t->g->nr : m;
    if (t->f && t->f->parallel && work > 2 * PRODUCT_WORK) {
        q.parts = least(least(t->parts, range), (int64_t)(work / PRODUCT_WORK));
        if (q.parts > 1) { t->f->parallel(t->f->where, F(subtract_part), (size_t)q.parts, &q); return; }
    }
    F(subtract_range)(&q, 0, m, 0, (COMPLEX ? 2 : 1) * n, t->room);
}

static inline int64_t F(first_half)(int64_t n) { return (n / 2 + BASE - 1) / BASE * BASE; }

/* ---- triangular systems */

ONAX_CLONES static void F(divide_row)(T *restrict x, T d, int64_t n) {
    for (int64_t i = 0; i < n; i++) x[i] = DIV(x[i], d);
}

/* a x = b for few unknowns: rows of x are `step` elements apart and have k elements. */
static void F(substitute)(F(view) a, T *x, int64_t step, int64_t n, int64_t k, int lower, int unit) {
    for (int64_t q = 0; q < n; q++) {
        const int64_t i = lower ? q : n - 1 - q, from = lower ? 0 : i + 1, to = lower ? i : n;
        for (int64_t p = from; p < to; p++) {
            const T e = a.at[i * a.down + p * a.right];
            F(reduce_row)(x + i * step, x + p * step, a.conjugate ? CONJ(e) : e, k);
        }
        if (!unit) {
            const T d = a.at[i * (a.down + a.right)];
            F(divide_row)(x + i * step, a.conjugate ? CONJ(d) : d, k);
        }
    }
}

static void F(solve_left)(const tools *t, F(view) a, T *x, int64_t step, int64_t n, int64_t k, int lower, int unit) {
    const int64_t half = F(first_half)(n);
    const F(view) below = {x + half * step, step, 1, 0}, above = {x, step, 1, 0};
    if (n <= BASE) { F(substitute)(a, x, step, n, k, lower, unit); return; }
    if (lower) {
        F(solve_left)(t, a, x, step, half, k, lower, unit);
        F(subtract)(t, x + half * step, step, F(part)(a, half, 0), above, n - half, k, half);
    }
    F(solve_left)(t, F(part)(a, half, half), x + half * step, step, n - half, k, lower, unit);
    if (!lower) {
        F(subtract)(t, x, step, F(part)(a, 0, half), below, half, k, n - half);
        F(solve_left)(t, a, x, step, half, k, lower, unit);
    }
}

/* Each of k rows of x solves a system with the matrix a. */
static void F(solve_right)(const tools *t, F(view) a, T *x, int64_t step, int64_t n, int64_t k, int lower, int unit) {
    const int64_t half = F(first_half)(n);
    const F(view) turned = {a.at, a.right, a.down, a.conjugate};
    const F(view) left = {x, step, 1, 0}, right = {x + half, step, 1, 0};
    if (n <= BASE) {
        T *columns = (T *)t->side;
        for (int64_t r = 0; r < k; r += SIDE_ROWS) {
            const int64_t count = least(SIDE_ROWS, k - r);
            T *rows = x + r * step;
            for (int64_t i = 0; i < count; i++) for (int64_t j = 0; j < n; j++) columns[j * SIDE_ROWS + i] = rows[i * step + j];
            F(substitute)(a, columns, SIDE_ROWS, n, count, lower, unit);
            for (int64_t i = 0; i < count; i++) for (int64_t j = 0; j < n; j++) rows[i * step + j] = columns[j * SIDE_ROWS + i];
        }
        return;
    }
    if (lower) {
        F(solve_right)(t, a, x, step, half, k, lower, unit);
        F(subtract)(t, x + half, step, left, F(part)(turned, 0, half), k, n - half, half);
    }
    F(solve_right)(t, F(part)(a, half, half), x + half, step, n - half, k, lower, unit);
    if (!lower) {
        F(subtract)(t, x, step, right, F(part)(turned, half, 0), k, half, n - half);
        F(solve_right)(t, a, x, step, half, k, lower, unit);
    }
}

static void F(block_triangular_solve)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    const tools t = tools_of(s, scratch, f);
    const int64_t n = s->n, k = s->k;
    const int unit = !!(s->flags & UNIT_DIAGONAL), transpose = !!(s->flags & TRANSPOSE), lower = !!(s->flags & LOWER);
    const int turned = s->flags & LEFT_SIDE ? transpose : !transpose;
    const F(view) a = {(const T *)at[1], turned ? 1 : n, turned ? n : 1, COMPLEX && (s->flags & CONJUGATE)};
    T *x = (T *)at[0];
    memcpy(x, at[2], (size_t)(n * k) * sizeof(T));
    if (s->flags & LEFT_SIDE) F(solve_left)(&t, a, x, k, n, k, lower != turned, unit);
    else F(solve_right)(&t, a, x, n, n, k, lower != turned, unit);
}

/* ---- Cholesky */

static int F(factor_block)(const tools *t, T *a, int64_t step, int64_t n) {
    const int64_t half = F(first_half)(n);
    T *below = a + half * step, *corner = below + half;
    if (n <= BASE) return F(factor_lower)(a, step, (T *)t->side, n);
    if (!F(factor_block)(t, a, step, half)) return 0;
    F(solve_right)(t, (F(view)){a, step, 1, COMPLEX}, below, step, half, n - half, 1, 0);
    for (int64_t i = 0; i < n - half; i += TRIANGLE_ROWS) {
        const int64_t rows = least(TRIANGLE_ROWS, n - half - i);
        const F(view) left = {below + i * step, step, 1, 0}, right = {below, 1, step, COMPLEX};
        F(subtract)(t, corner + i * step, step, left, right, rows, i + rows, half);
    }
    return F(factor_block)(t, corner, step, n - half);
}

static void F(block_cholesky)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    const tools t = tools_of(s, scratch, f);
    const int64_t n = s->n;
    const T *x = (const T *)at[1];
    T *a = (T *)at[0];
    int done;
    for (int64_t i = 0; i < n; i++) memcpy(a + i * n, x + i * n, (size_t)(i + 1) * sizeof(T));
    done = F(factor_block)(&t, a, n, n);
    for (int64_t i = 0; i < n; i++) {
        memset(a + i * n + i + 1, 0, (size_t)(n - i - 1) * sizeof(T));
        for (int64_t j = 0; j < n && !done; j++) a[i * n + j] = NANS;
    }
}

/* ---- LU */

ONAX_CLONES static int64_t F(largest_at)(const T *x, int64_t n) {
    R largest = -1;
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) { const R size = SIZE(x[i]); largest = size > largest ? size : largest; }
    while (at < n && !(SIZE(x[at]) == largest)) at++;
    return at < n ? at : 0;
}

/* Exchanges some of m rows as the pivots say, in order. */
static void F(exchange_rows)(T *a, int64_t step, int64_t m, int64_t columns, const int32_t *pivots, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t p = pivots[i];
        T *x = a + i * step, *y = a + p * step;
        for (int64_t j = 0; p != i && p >= 0 && p < m && j < columns; j++) { const T z = x[j]; x[j] = y[j]; y[j] = z; }
    }
}

/* A few columns, which are copied to lie side by side. */
static void F(lu_columns)(const tools *t, T *a, int64_t step, int64_t m, int64_t n, int32_t *pivots) {
    T *x = (T *)t->panel;
    for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) x[j * m + i] = a[i * step + j];
    for (int64_t j = 0; j < n; j++) {
        const int64_t p = j + F(largest_at)(x + j * m + j, m - j);
        pivots[j] = (int32_t)p;
        for (int64_t c = 0; p != j && c < n; c++) { const T y = x[c * m + j]; x[c * m + j] = x[c * m + p]; x[c * m + p] = y; }
        if (IS_ZERO(x[j * m + j])) continue;
        F(divide_row)(x + j * m + j + 1, x[j * m + j], m - j - 1);
        for (int64_t c = j + 1; c < n; c++) F(reduce_row)(x + c * m + j + 1, x + j * m + j + 1, x[c * m + j], m - j - 1);
    }
    for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) a[i * step + j] = x[j * m + i];
}

/* No more columns than rows; the left half first. */
static void F(lu_block)(const tools *t, T *a, int64_t step, int64_t m, int64_t n, int32_t *pivots) {
    const int64_t half = F(first_half)(n);
    const F(view) left = {a, step, 1, 0}, right = {a + half, step, 1, 0};
    if (n <= BASE) { F(lu_columns)(t, a, step, m, n, pivots); return; }
    F(lu_block)(t, a, step, m, half, pivots);
    F(exchange_rows)(a + half, step, m, n - half, pivots, half);
    F(solve_left)(t, left, a + half, step, half, n - half, 1, 1);
    F(subtract)(t, a + half * (step + 1), step, F(part)(left, half, 0), right, m - half, n - half, half);
    F(lu_block)(t, a + half * (step + 1), step, m - half, n - half, pivots + half);
    F(exchange_rows)(a + half * step, step, m - half, half, pivots + half, n - half);
    for (int64_t i = half; i < n; i++) pivots[i] += (int32_t)half;
}

static void F(block_lu)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    const tools t = tools_of(s, scratch, f);
    const int64_t m = s->m, n = s->n, few = least(m, n);
    T *a = (T *)at[0];
    int32_t *pivots = (int32_t *)at[1];
    memcpy(a, at[3], (size_t)(m * n) * sizeof(T));
    F(lu_block)(&t, a, n, m, few, pivots);
    if (n > few) {
        F(exchange_rows)(a + few, n, m, n - few, pivots, few);
        F(solve_left)(&t, (F(view)){a, n, 1, 0}, a + few, n, few, n - few, 1, 1);
    }
    permute((int32_t *)at[2], pivots, m, few);
}

/* ---- QR: the product of some reflections is 1 - v t v^H, t being upper triangular */

/* y[i] = sum over p of conj(x[p]) a[i, p] */
static void F(project)(const tools *t, const T *a, int64_t step, const T *x, T *y, int64_t m, int64_t k) {
#if COMPLEX
    T *turned = (T *)t->turned;
    for (int64_t p = 0; p < k; p++) turned[p] = (T){-x[p].im, x[p].re};
    t->g->dots(m, 2 * k, a, 2 * step, x, y, 2);
    t->g->dots(m, 2 * k, a, 2 * step, turned, (R *)y + 1, 2);
#else
    t->g->dots(m, k, a, step, x, y, 1);
#endif
}

/* As reflect_column, of adjacent elements. */
static T F(reflect_vector)(const tools *t, T *x, int64_t n) {
    const T alpha = x[0];
    T sum, tau;
    R beta;
    F(project)(t, x + 1, 0, x + 1, &sum, 1, n - 1);
    if (!(RE(sum) > SMALLEST / EPSILON && RE(sum) + SQUARE(alpha) < EPSILON / SMALLEST)) return F(reflect_column)(x, n, 1, 0);
    beta = SQRT(RE(sum) + SQUARE(alpha));
    if (RE(alpha) >= 0) beta = -beta;
#if COMPLEX
    tau = (T){(beta - alpha.re) / beta, -alpha.im / beta};
#else
    tau = (beta - alpha) / beta;
#endif
    { const T scale = SUB(alpha, REAL(beta)); F(divide_row)(x + 1, scale, n - 1); }
    x[0] = REAL(beta);
    return tau;
}

/* Rows of v (count x m), the vectors of reflections, from where a row has its 1: clears what stands before it. */
static void F(fill_triangle)(const tools *t, T *v, int64_t m, const T *taus, int64_t count) {
    T *triangle = (T *)t->triangle, y[QR_COLUMNS];
    for (int64_t j = 0; j < count; j++) {
        memset(v + j * m, 0, (size_t)j * sizeof(T));
        v[j * m + j] = REAL(1);
        for (int64_t i = j; i < count; i++) triangle[i * count + j] = REAL(0);
        triangle[j * count + j] = taus[j];
        F(project)(t, v + j, m, v + j * m + j, y, j, m - j);
        for (int64_t i = 0; i < j; i++) { const T z = CONJ(y[i]), x = MUL(z, taus[j]); y[i] = SUB(REAL(0), x); }
        for (int64_t i = 0; i < j; i++) {
            T sum = REAL(0);
            for (int64_t p = i; p < j; p++) { const T x = MUL(triangle[i * count + p], y[p]); sum = ADD(sum, x); }
            triangle[i * count + j] = sum;
        }
    }
}

/* c (m x n) becomes (1 - v t v^H) c, or with `adjoint` (1 - v t^H v^H) c. */
static void F(apply_block)(const tools *t, const T *v, int64_t count, T *c, int64_t step, int64_t m, int64_t n, int adjoint) {
    T *w = (T *)t->wide, *x = w + count * n;
    const T *triangle = (const T *)t->triangle;
    memset(w, 0, (size_t)(2 * count * n) * sizeof(T));
    F(subtract)(t, w, n, (F(view)){v, m, 1, COMPLEX}, (F(view)){c, step, 1, 0}, count, n, m);
    F(subtract)(t, x, n, (F(view)){triangle, adjoint ? 1 : count, adjoint ? count : 1, COMPLEX && adjoint},
                (F(view)){w, n, 1, 0}, count, n, count);
    F(subtract)(t, c, step, (F(view)){v, 1, m, 0}, (F(view)){x, n, 1, 0}, m, n, count);
}

/* The vectors of `count` reflections from column j of a on, side by side. */
static void F(copy_vectors)(const T *a, int64_t step, T *v, int64_t m, int64_t count) {
    for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < count; j++) v[j * m + i] = a[i * step + j];
}

/* Some columns: reflections and taus, and in v and t->triangle what apply_block takes. */
static void F(reflect_columns)(const tools *t, T *a, int64_t step, T *taus, int64_t m, int64_t count) {
    T *v = (T *)t->panel, y[QR_COLUMNS];
    F(copy_vectors)(a, step, v, m, count);
    for (int64_t j = 0; j < count; j++) {
        T *x = v + j * m + j, beta;
        taus[j] = F(reflect_vector)(t, x, m - j);
        beta = x[0], x[0] = REAL(1);
        F(project)(t, x + m, m, x, y, count - 1 - j, m - j);
        for (int64_t c = j + 1; c < count; c++) {
            const T tau = CONJ(taus[j]), factor = MUL(tau, y[c - j - 1]);
            F(reduce_row)(v + c * m + j, x, factor, m - j);
        }
        x[0] = beta;
    }
    for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < count; j++) a[i * step + j] = v[j * m + i];
    F(fill_triangle)(t, v, m, taus, count);
}

static void F(reflect_block)(const tools *t, T *a, T *taus, int64_t m, int64_t n) {
    const int64_t few = least(m, n);
    for (int64_t j = 0; j < few; j += QR_COLUMNS) {
        const int64_t count = least(QR_COLUMNS, few - j), rest = n - j - count;
        T *x = a + j * (n + 1);
        F(reflect_columns)(t, x, n, taus + j, m - j, count);
        if (rest) F(apply_block)(t, (const T *)t->panel, count, x + count, n, m - j, rest, 1);
    }
}

/* c (m x k) becomes the product of `count` reflections, or its adjoint, times c.  With `first_columns` c is the identity,
   of which each block changes what lies below and to the right of its first element. */
static void F(apply_reflections)(const tools *t, const T *a, int64_t step, const T *taus, int64_t count, T *c, int64_t m,
                                 int64_t k, int adjoint, int first_columns) {
    const int64_t blocks = (count + QR_COLUMNS - 1) / QR_COLUMNS;
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t j = QR_COLUMNS * (adjoint ? b : blocks - 1 - b), few = least(QR_COLUMNS, count - j);
        const int64_t from = first_columns ? j : 0;
        T *v = (T *)t->panel;
        F(copy_vectors)(a + j * (step + 1), step, v, m - j, few);
        F(fill_triangle)(t, v, m - j, taus + j, few);
        F(apply_block)(t, v, few, c + j * k + from, k, m - j, k - from, adjoint);
    }
}

static void F(first_columns)(const tools *t, const T *a, int64_t step, const T *taus, int64_t count, T *q, int64_t m, int64_t k) {
    memset(q, 0, (size_t)(m * k) * sizeof(T));
    for (int64_t i = 0; i < k && i < m; i++) q[i * k + i] = REAL(1);
    F(apply_reflections)(t, a, step, taus, least(count, k), q, m, k, 0, 1);
}

static void F(block_geqrf)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    const tools t = tools_of(s, scratch, f);
    memcpy(at[0], at[2], (size_t)(s->m * s->n) * sizeof(T));
    F(reflect_block)(&t, (T *)at[0], (T *)at[1], s->m, s->n);
}

static void F(block_householder_product)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    const tools t = tools_of(s, scratch, f);
    F(first_columns)(&t, (const T *)at[1], s->n, (const T *)at[2], s->k, (T *)at[0], s->m, s->n);
}

static void F(block_qr)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    const tools t = tools_of(s, scratch, f);
    const int64_t m = s->m, n = s->n, k = s->k, few = least(m, n);
    T *r = (T *)at[1], *a = (T *)t.own, *taus = a + m * n;
    memcpy(a, at[2], (size_t)(m * n) * sizeof(T));
    F(reflect_block)(&t, a, taus, m, n);
    for (int64_t i = 0; i < k; i++) {
        const int64_t zeros = least(i, n);
        memset(r + i * n, 0, (size_t)zeros * sizeof(T));
        if (i < few) memcpy(r + i * n + zeros, a + i * n + zeros, (size_t)(n - zeros) * sizeof(T));
        else memset(r + i * n + zeros, 0, (size_t)(n - zeros) * sizeof(T));
    }
    if (!(s->flags & SKIP_Q)) F(first_columns)(&t, a, n, taus, few, (T *)at[0], m, k);
}

/* to (n x m) = the adjoint of from (m x n) */
static void F(copy_adjoint)(T *to, const T *from, int64_t m, int64_t n) {
    for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) to[j * m + i] = CONJ(from[i * n + j]);
}

/* c q is the adjoint of q^H c^H. */
static void F(multiply_reflections)(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    const tools t = tools_of(s, scratch, f);
    const int64_t m = s->m, n = s->n;
    const int left = !!(s->flags & LEFT_SIDE), adjoint = !!(s->flags & TRANSPOSE) == left;
    T *c = left ? (T *)at[0] : (T *)t.own;
    if (left) memcpy(c, at[3], (size_t)(m * n) * sizeof(T));
    else F(copy_adjoint)(c, (const T *)at[3], m, n);
    F(apply_reflections)(&t, (const T *)at[1], s->columns, (const T *)at[2], s->k, c, left ? m : n, left ? n : m, adjoint, 0);
    if (!left) F(copy_adjoint)((T *)at[0], c, n, m);
}

static const matrix_function F(block_functions)[] = {F(block_cholesky), F(block_lu), F(block_triangular_solve), F(block_qr),
                                                     F(block_geqrf), F(block_householder_product)};
