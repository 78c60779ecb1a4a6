/* Transforms of one precision: R a real number, TYPE what names end with, LANES how many arrays go through together.

   One array, or LANES of them, are copied into the work memory as real and imaginary parts, transformed, and copied to
   where the result belongs. */

#define GLUE_(x, y) x##_##y
#define GLUE(x, y) GLUE_(x, y)
#define G(name) GLUE(name, TYPE)

#define SIN3 ((R)0.86602540378443864676)
#define COS5A ((R)0.30901699437494742410)
#define COS5B ((R)-0.80901699437494742410)
#define SIN5A ((R)0.95105651629515357212)
#define SIN5B ((R)0.58778525229247312917)

#define ROOT_HALF ((R)0.70710678118654752440)

#define E R
#define NAME GLUE(one, TYPE)
#define WIDE(x) (x)
#include "tape_fft_passes.h"
#if LANES > 1
typedef R G(lanes) __attribute__((vector_size(LANES * sizeof(R))));
#define E G(lanes)
#define NAME GLUE(many, TYPE)
#define WIDE(x) LANES_OF(G(lanes), x)
#include "tape_fft_passes.h"
#endif

/* Copies between arrays of complex numbers (`step` apart, the arrays `apart`) and parts; `turn` exchanges the parts, which
   makes a transform the inverse one. */
static void G(load)(R *re, R *im, const R *x, int64_t n, int64_t step, int64_t lanes, int64_t apart, int turn) {
    R *first = turn ? im : re, *second = turn ? re : im;
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < lanes; l++) {
            first[i * lanes + l] = x[2 * (i * step + l * apart)];
            second[i * lanes + l] = x[2 * (i * step + l * apart) + 1];
        }
}

static void G(store)(R *x, const R *re, const R *im, int64_t n, int64_t step, int64_t lanes, int64_t apart, int turn, R scale) {
    const R *first = turn ? im : re, *second = turn ? re : im;
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < lanes; l++) {
            x[2 * (i * step + l * apart)] = first[i * lanes + l] * scale;
            x[2 * (i * step + l * apart) + 1] = second[i * lanes + l] * scale;
        }
}

/* Real arrays: of even length as complex ones of half of it. */
static void G(load_real)(R *re, R *im, const R *x, int64_t n, int64_t lanes, int64_t apart) {
    const int64_t half = n / 2, is_odd = n & 1;
    for (int64_t i = 0; i < (is_odd ? n : half); i++)
        for (int64_t l = 0; l < lanes; l++) {
            re[i * lanes + l] = x[l * apart + (is_odd ? i : 2 * i)];
            im[i * lanes + l] = is_odd ? 0 : x[l * apart + 2 * i + 1];
        }
}

static void G(store_half)(R *x, const R *re, const R *im, const R *roots, int64_t n, int64_t lanes, int64_t apart) {
    const int64_t half = n / 2;
    for (int64_t l = 0; l < lanes; l++)
        for (int64_t k = 0; k <= half; k++) {
            R *to = x + 2 * (l * apart + k);
            if (n & 1) { to[0] = re[k * lanes + l], to[1] = im[k * lanes + l]; continue; }
            {
                const int64_t a = (k == half ? 0 : k) * lanes + l, b = (k == 0 ? 0 : half - k) * lanes + l;
                const R er = (re[a] + re[b]) / 2, ei = (im[a] - im[b]) / 2, dr = (re[a] - re[b]) / 2, di = (im[a] + im[b]) / 2;
                const R wr = roots[2 * k], wi = roots[2 * k + 1];       /* the conjugate root times -i (d) */
                to[0] = er + (di * wr - dr * wi);
                to[1] = ei - (dr * wr + di * wi);
            }
        }
}

/* Half a spectrum: imaginary parts of the first number, and of the middle one, are taken for 0.  The parts come out
   exchanged. */
static void G(load_half)(R *re, R *im, const R *x, const R *roots, int64_t n, int64_t step, int64_t lanes, int64_t apart) {
    const int64_t half = n / 2;
    for (int64_t l = 0; l < lanes; l++) {
        const R *s = x + 2 * l * apart;
        for (int64_t k = 0; k < (n & 1 ? n : half); k++) {
            if (n & 1) {
                const int64_t from = k <= half ? k : n - k;
                im[k * lanes + l] = s[2 * from * step];
                re[k * lanes + l] = k == 0 ? 0 : k <= half ? s[2 * from * step + 1] : -s[2 * from * step + 1];
            } else {
                const R *a = s + 2 * k * step, *b = s + 2 * (half - k) * step;
                const R ai = k ? a[1] : 0, bi = k ? b[1] : 0, er = a[0] + b[0], ei = ai - bi, dr = a[0] - b[0], di = ai + bi;
                const R wr = roots[2 * k], wi = roots[2 * k + 1];       /* i times the root times d */
                im[k * lanes + l] = er - (dr * wi + di * wr);
                re[k * lanes + l] = ei + (dr * wr - di * wi);
            }
        }
    }
}

static void G(store_real)(R *x, const R *re, const R *im, int64_t n, int64_t lanes, int64_t apart, R scale) {
    const int64_t half = n / 2, is_odd = n & 1;
    for (int64_t i = 0; i < (is_odd ? n : half); i++)
        for (int64_t l = 0; l < lanes; l++) {
            if (is_odd) x[l * apart + i] = im[i * lanes + l] * scale;
            else {
                x[l * apart + 2 * i] = im[i * lanes + l] * scale;
                x[l * apart + 2 * i + 1] = re[i * lanes + l] * scale;
            }
        }
}

#if LANES > 1
/* The same for LANES arrays, a few rows at a time: a row holds one number of each array. */
#if defined(ONAX_HAS_SHUFFLES)
FFT_INLINE void G(split_row)(R *restrict first, R *restrict second, const R *restrict row) {
    G(lanes) low, high, parts;
    memcpy(&low, row, sizeof low);
    memcpy(&high, row + LANES, sizeof high);
    parts = __builtin_shufflevector(low, high, EVEN_LANES);
    memcpy(first, &parts, sizeof parts);
    parts = __builtin_shufflevector(low, high, ODD_LANES);
    memcpy(second, &parts, sizeof parts);
}
FFT_INLINE void G(join_row)(R *restrict row, const R *restrict first, const R *restrict second, R scale) {
    G(lanes) re, im, joined;
    memcpy(&re, first, sizeof re);
    memcpy(&im, second, sizeof im);
    re = re * LANES_OF(G(lanes), scale);
    im = im * LANES_OF(G(lanes), scale);
    joined = __builtin_shufflevector(re, im, LOW_PAIRS);
    memcpy(row, &joined, sizeof joined);
    joined = __builtin_shufflevector(re, im, HIGH_PAIRS);
    memcpy(row + LANES, &joined, sizeof joined);
}
#else
FFT_INLINE void G(split_row)(R *restrict first, R *restrict second, const R *restrict row) {
    for (int l = 0; l < LANES; l++) first[l] = row[2 * l], second[l] = row[2 * l + 1];
}
FFT_INLINE void G(join_row)(R *restrict row, const R *restrict first, const R *restrict second, R scale) {
    for (int l = 0; l < LANES; l++) row[2 * l] = first[l] * scale, row[2 * l + 1] = second[l] * scale;
}
#endif
FFT_INLINE void G(gather_rows)(R *restrict rows, const R *restrict x, int64_t count, int64_t step, int64_t apart) {
#if defined(HAS_SQUARES)
    if (step == 1 && count == ROWS) { turn_square(rows, 2 * LANES, x, 2 * apart); return; }
#endif
    for (int64_t l = 0; l < LANES; l++)
        for (int64_t i = 0; i < count; i++)
            memcpy(rows + 2 * (i * LANES + l), x + 2 * (i * step + l * apart), 2 * sizeof(R));
}
FFT_INLINE void G(scatter_rows)(R *restrict x, const R *restrict rows, int64_t count, int64_t step, int64_t apart) {
#if defined(HAS_SQUARES)
    if (step == 1 && count == ROWS) { turn_square(x, 2 * apart, rows, 2 * LANES); return; }
#endif
    for (int64_t l = 0; l < LANES; l++)
        for (int64_t i = 0; i < count; i++)
            memcpy(x + 2 * (i * step + l * apart), rows + 2 * (i * LANES + l), 2 * sizeof(R));
}

ONAX_CLONES static void G(load_lanes)(R *re, R *im, const R *x, int64_t n, int64_t step, int64_t apart, int turn) {
    R *first = turn ? im : re, *second = turn ? re : im, rows[ROWS * 2 * LANES];
    for (int64_t i0 = 0; i0 < n; i0 += ROWS) {
        const int64_t count = n - i0 < ROWS ? n - i0 : ROWS;
        if (apart != 1) G(gather_rows)(rows, x + 2 * i0 * step, count, step, apart);
        for (int64_t i = 0; i < count; i++)
            G(split_row)(first + (i0 + i) * LANES, second + (i0 + i) * LANES,
                         apart == 1 ? x + 2 * (i0 + i) * step : rows + 2 * i * LANES);
    }
}

ONAX_CLONES static void G(store_lanes)(R *x, const R *re, const R *im, int64_t n, int64_t step, int64_t apart, int turn,
                                       R scale) {
    const R *first = turn ? im : re, *second = turn ? re : im;
    R rows[ROWS * 2 * LANES];
    for (int64_t i0 = 0; i0 < n; i0 += ROWS) {
        const int64_t count = n - i0 < ROWS ? n - i0 : ROWS;
        for (int64_t i = 0; i < count; i++)
            G(join_row)(apart == 1 ? x + 2 * (i0 + i) * step : rows + 2 * i * LANES, first + (i0 + i) * LANES,
                        second + (i0 + i) * LANES, scale);
        if (apart != 1) G(scatter_rows)(x + 2 * i0 * step, rows, count, step, apart);
    }
}

/* Half the spectrum of real arrays of even length n. */
ONAX_CLONES static void G(store_half_lanes)(R *x, const G(lanes) *re, const G(lanes) *im, const R *roots, int64_t n, int64_t apart) {
    const int64_t half = n / 2;
    R rows[ROWS * 2 * LANES];
    for (int64_t k0 = 0; k0 <= half; k0 += ROWS) {
        const int64_t count = half + 1 - k0 < ROWS ? half + 1 - k0 : ROWS;
        for (int64_t i = 0; i < count; i++) {
            const int64_t k = k0 + i, a = k == half ? 0 : k, b = k == 0 ? 0 : half - k;
            const G(lanes) wr = LANES_OF(G(lanes), roots[2 * k]), wi = LANES_OF(G(lanes), roots[2 * k + 1]);
            const G(lanes) half_one = LANES_OF(G(lanes), (R)0.5);
            const G(lanes) er = (re[a] + re[b]) * half_one, ei = (im[a] - im[b]) * half_one;
            const G(lanes) dr = (re[a] - re[b]) * half_one, di = (im[a] + im[b]) * half_one;
            R first[LANES], second[LANES];
            const G(lanes) xr = er + (di * wr - dr * wi), xi = ei - (dr * wr + di * wi);
            memcpy(first, &xr, sizeof first);
            memcpy(second, &xi, sizeof second);
            G(join_row)(rows + 2 * i * LANES, first, second, (R)1);
        }
        G(scatter_rows)(x + 2 * k0, rows, count, 1, apart);
    }
}

/* LANES arrays; 0 if the plain functions have to do it. */
static int G(run_lanes)(const axis *a, const void *from, void *to, void *work) {
    const plan *p = a->plan;
    const int64_t n = p->n, is_odd = a->length & 1;
    const int64_t imaginary = LANES * array_apart(n, LANES * sizeof(R));
    R *re = work, *im = re + imaginary;
    if (a->kind == FROM_HALF || (a->kind == TO_HALF && is_odd)) return 0;
    if (a->kind == TO_HALF) G(load_lanes)(re, im, from, n, 1, a->from_apart / 2, 0);
    else G(load_lanes)(re, im, from, n, a->from_step, a->from_apart, a->is_inverse);
    re = (R *)GLUE(transform_many, TYPE)(p, work);
    im = re + imaginary;
    if (a->kind == TO_HALF)
        G(store_half_lanes)(to, (const G(lanes) *)re, (const G(lanes) *)im, p->halves, a->length, a->to_apart);
    else G(store_lanes)(to, re, im, n, a->to_step, a->to_apart, a->is_inverse,
                        a->is_inverse ? (R)1 / (R)a->length : (R)1);
    return 1;
}
#endif

#if LANES > 1 && defined(ONAX_HAS_SHUFFLES)
#define HAS_SPLIT
/* Columns of an n1 by n2 array, LANES at a time: transformed ones (re, im) times the conjugate roots, turned so that LANES
   rows lie together, as arrays that go through the second transform together. */
ONAX_CLONES static void G(turn_columns)(R *to_re, R *to_im, const R *re, const R *im, const R *roots, int64_t n1, int64_t n2) {
    const int64_t row = LANES * sizeof(R);
    R parts[2][LANES * LANES];
    for (int64_t k = 0; k < n1; k += LANES, re += LANES * LANES, im += LANES * LANES) {
        for (int64_t i = 0; i < LANES; i++, roots += 2 * LANES) {
            G(lanes) xr, xi, wr, wi, yr, yi;
            memcpy(&xr, re + i * LANES, sizeof xr);
            memcpy(&xi, im + i * LANES, sizeof xi);
            memcpy(&wr, roots, sizeof wr);
            memcpy(&wi, roots + LANES, sizeof wi);
            yr = xr * wr + xi * wi;
            yi = xi * wr - xr * wi;
            memcpy(parts[0] + i * LANES, &yr, sizeof yr);
            memcpy(parts[1] + i * LANES, &yi, sizeof yi);
        }
        G(turn_lanes)((char *)(to_re + k * n2), row, (const char *)parts[0], row);
        G(turn_lanes)((char *)(to_im + k * n2), row, (const char *)parts[1], row);
    }
}

/* One array of n = n1 n2 numbers as n2 columns of n1 and then n1 rows of n2, which fit the first caches and go through the
   passes LANES at a time.  It lies in x, or if that is NULL in re and im, and so does its transform, in `to` or there. */
static void G(run_split)(const plan *p, const R *x, R *to, R *work, int turn, R scale) {
    const int64_t n1 = p->columns.n, n2 = p->rows.n, apart = array_apart(p->n, sizeof(R));
    R *const re = work, *const im = re + apart, *const turned_re = im + apart, *const turned_im = turned_re + apart;
    R *const room = turned_im + apart, *const beside = room + LANES * array_apart(n1, LANES * sizeof(R));
    const R *roots = p->split_roots;
    const int64_t second = LANES * array_apart(n2, LANES * sizeof(R));
    for (int64_t j = 0; j < n2; j += LANES, roots += 2 * n1 * LANES) {
        const R *part;
        if (x) G(load_lanes)(room, beside, x + 2 * j, n1, n2, 1, turn);
        else for (int64_t i = 0; i < n1; i++) {
            memcpy(room + i * LANES, re + i * n2 + j, LANES * sizeof(R));
            memcpy(beside + i * LANES, im + i * n2 + j, LANES * sizeof(R));
        }
        part = (const R *)GLUE(transform_passes_many, TYPE)(&p->columns, (G(lanes) *)room);
        G(turn_columns)(turned_re + j * LANES, turned_im + j * LANES, part, part + (beside - room), roots, n1, n2);
    }
    for (int64_t k = 0; k < n1; k += LANES) {
        R *yr = turned_re + k * n2, *yi = turned_im + k * n2;
        if (GLUE(passes_many, TYPE)(&p->rows, (G(lanes) *)yr, (G(lanes) *)yi, (G(lanes) *)room, (G(lanes) *)(room + second)))
            yr = room, yi = room + second;
        if (to) G(store_lanes)(to + 2 * k, yr, yi, n2, n1, 1, turn, scale);
        else for (int64_t i = 0; i < n2; i++) {
            memcpy(re + i * n1 + k, yr + i * LANES, LANES * sizeof(R));
            memcpy(im + i * n1 + k, yi + i * LANES, LANES * sizeof(R));
        }
    }
}
#endif

/* `lanes` arrays (1 or LANES) along one axis. */
static void G(run_lines)(const axis *a, const void *from, void *to, void *work, int64_t lanes) {
    const plan *p = a->plan;
    const int64_t n = p->n;
    const R scale = a->is_inverse ? (R)1 / (R)a->length : (R)1;
    const int64_t imaginary = lanes * array_apart(n, (size_t)lanes * sizeof(R));
    R *re = work, *im = re + imaginary;
#if LANES > 1
    if (lanes > 1 && G(run_lanes)(a, from, to, work)) return;
#endif
#if defined(HAS_SPLIT)
    if (p->split_roots && lanes == 1 && a->kind == COMPLEX && a->from_step == 1 && a->to_step == 1) {
        G(run_split)(p, from, to, work, a->is_inverse, scale);
        return;
    }
#endif
    if (a->kind == TO_HALF) G(load_real)(re, im, from, a->length, lanes, a->from_apart);
    else if (a->kind == FROM_HALF) G(load_half)(re, im, from, p->halves, a->length, a->from_step, lanes, a->from_apart);
    else G(load)(re, im, from, n, a->from_step, lanes, a->from_apart, a->is_inverse);
#if LANES > 1
    if (lanes > 1) re = (R *)GLUE(transform_many, TYPE)(p, work);
    else
#endif
#if defined(HAS_SPLIT)
    if (p->split_roots) G(run_split)(p, NULL, NULL, work, 0, (R)1);
    else
#endif
    re = GLUE(transform_one, TYPE)(p, work);
    im = re + imaginary;
    if (a->kind == TO_HALF) G(store_half)(to, re, im, p->halves, a->length, lanes, a->to_apart);
    else if (a->kind == FROM_HALF) G(store_real)(to, re, im, a->length, lanes, a->to_apart, scale);
    else G(store)(to, re, im, n, a->to_step, lanes, a->to_apart, a->is_inverse, scale);
}

/* e^(2 pi i k / n), rounded once. */
static void G(root)(R *to, int64_t k, int64_t n) {
    double re, im;
    unit_root(k, n, &re, &im);
    to[0] = (R)re;
    to[1] = (R)im;
}

static R *G(make_roots)(const passes *p) {
    R *roots = malloc((size_t)(2 * p->n * 2 + 2) * sizeof(R)), *at = roots;
    int64_t l1 = 1;
    for (int f = 0; roots && f < p->n_factors; f++) {
        const int64_t radix = p->factors[f], ido = p->n / l1 / radix;
        for (int64_t b = 1; b < radix; b++) for (int64_t i = 0; i < ido; i++, at += 2) G(root)(at, b * i, ido * radix);
        l1 *= radix;
    }
    return roots;
}

static R *G(make_units)(const passes *p) {
    R *units = malloc((size_t)(2 * MOST_UNITS + 2) * sizeof(R));
    for (int f = 0; units && f < p->n_factors; f++)
        for (int64_t k = 0; p->factors[f] > 5 && k < p->factors[f]; k++)
            G(root)(units + 2 * (p->unit_at[f] + k), k, p->factors[f]);
    return units;
}

static int G(make_passes)(passes *p, int64_t n) {
    return factorise(p, n) && (p->roots = G(make_roots)(p)) && (p->units = G(make_units)(p));
}

/* The spectrum of the chirp, divided by the length. */
static int G(make_chirp)(plan *p) {
    const int64_t n = p->n, m = p->inner.n;
    R *work = calloc((size_t)(4 * m), sizeof(R)), *chirp = malloc((size_t)(2 * n) * sizeof(R)), *re = work, *im = work + m;
    p->chirp = chirp;
    p->spectrum = malloc((size_t)(2 * m) * sizeof(R));
    if (!work || !chirp || !p->spectrum) { free(work); return 0; }
    for (int64_t i = 0; i < n; i++) {
        G(root)(chirp + 2 * i, (int64_t)((uint64_t)i * (uint64_t)i % (uint64_t)(2 * n)), 2 * n);
        re[i] = chirp[2 * i], im[i] = chirp[2 * i + 1];
        if (i) re[m - i] = re[i], im[m - i] = im[i];
    }
    if (GLUE(passes_one, TYPE)(&p->inner, re, im, work + 2 * m, work + 3 * m)) re = work + 2 * m, im = work + 3 * m;
    for (int64_t i = 0; i < m; i++) {
        ((R *)p->spectrum)[2 * i] = re[i] / (R)m;
        ((R *)p->spectrum)[2 * i + 1] = im[i] / (R)m;
    }
    free(work);
    return 1;
}

#if defined(HAS_SPLIT)
/* The roots in the order in which `turn_columns` reads them. */
static R *G(make_split_roots)(int64_t n1, int64_t n2) {
    R *roots = malloc((size_t)(2 * n1 * n2) * sizeof(R)), *at = roots;
    for (int64_t j = 0; roots && j < n2; j += LANES)
        for (int64_t k = 0; k < n1; k++, at += 2 * LANES)
            for (int64_t l = 0; l < LANES; l++) {
                R root[2];
                G(root)(root, k * (j + l), n1 * n2);
                at[l] = root[0], at[LANES + l] = root[1];
            }
    return roots;
}

/* Rows and columns of about the same length, whole vectors each, if the array is long enough that this pays. */
static int G(make_split)(plan *p) {
    int64_t n1 = (int64_t)sqrt((double)p->n);
    if (p->n < LEAST_SPLIT || p->n % (LANES * LANES)) return 1;
    while (n1 > 1 && (p->n % n1 || n1 % LANES || p->n / n1 % LANES)) n1--;
    if (n1 * 8 < p->n / n1) return 1;
    return G(make_passes)(&p->columns, n1) && G(make_passes)(&p->rows, p->n / n1)
           && (p->split_roots = G(make_split_roots)(n1, p->n / n1));
}
#endif

/* What transforms of n numbers need; with `halves` also those of 2 n real ones. */
static int G(make_plan)(plan *p, int64_t n, int halves) {
    p->n = n;
    if (halves) {
        R *roots = p->halves = malloc((size_t)(2 * n + 2) * sizeof(R));
        if (!roots) return 0;
        for (int64_t k = 0; k <= n; k++) G(root)(roots + 2 * k, k, 2 * n);
    }
#if defined(HAS_SPLIT)
    if (is_smooth(n)) return G(make_passes)(&p->direct, n) && G(make_split)(p);
#else
    if (is_smooth(n)) return G(make_passes)(&p->direct, n);
#endif
    return G(make_passes)(&p->inner, smooth_length(2 * n - 1)) && G(make_chirp)(p);
}

#undef GLUE
#undef GLUE_
#undef G
#undef R
#undef TYPE
#undef LANES
#undef ROOT_HALF
#undef SIN3
#undef COS5A
#undef COS5B
#undef SIN5A
#undef SIN5B
