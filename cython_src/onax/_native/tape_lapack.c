/* Large matrices, through LAPACK's routines, whose addresses Python hands over.

   LAPACK counts columns first: a row-major matrix is the transpose of what it sees. */
#include "vector_code.h"
#include "tape_linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { XPOTRF, XGETRF, XTRSM, XGEQRF, XORGQR, XSYEVD, XGESDD, XGEEV, XGEES, ROUTINES };

static const struct { const char *names[2], *arguments[2]; } routines[ROUTINES] = {
    [XPOTRF] = {{"potrf", "potrf"}, {"cifii", "cizii"}},
    [XGETRF] = {{"getrf", "getrf"}, {"iifiii", "iiziii"}},
    [XTRSM] = {{"trsm", "trsm"}, {"cccciiffifi", "cccciizzizi"}},
    [XGEQRF] = {{"geqrf", "geqrf"}, {"iififfii", "iizizzii"}},
    [XORGQR] = {{"orgqr", "ungqr"}, {"iiififfii", "iiizizzii"}},
    [XSYEVD] = {{"syevd", "heevd"}, {"ccififfiiii", "ccizifzifiiii"}},
    [XGESDD] = {{"gesdd", "gesdd"}, {"ciififfififiii", "ciizifzizizifii"}},
    [XGEEV] = {{"geev", "geev"}, {"ccififffififii", "ccizizzizizifi"}},
    [XGEES] = {{"gees", "gees"}, {"ccgifiifffifiii", "ccgiziizzizifii"}},
};

static void *addresses[ROUTINES][4];

int onax_lapack_count(void) { return ROUTINES; }
const char *onax_lapack_name(int routine, int is_complex) { return routines[routine].names[is_complex]; }
const char *onax_lapack_arguments(int routine, int is_complex) { return routines[routine].arguments[is_complex]; }
void onax_lapack_attach(int routine, int letter, void *address) {
    if (routine >= 0 && routine < ROUTINES && letter >= 0 && letter < 4) addresses[routine][letter] = address;
}

typedef void (*f5)(void *, void *, void *, void *, void *);
typedef void (*f6)(void *, void *, void *, void *, void *, void *);
typedef void (*f8)(void *, void *, void *, void *, void *, void *, void *, void *);
typedef void (*f9)(void *, void *, void *, void *, void *, void *, void *, void *, void *);
typedef void (*f11)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);
typedef void (*f13)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);
typedef void (*f14)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                    void *);
typedef void (*f15)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                    void *, void *);
#define CALL(routine, count) ((f##count)addresses[routine][letter_of(s)])

static int letter_of(const stack *s) {
    return s->type == ONAX_F32 ? 0 : s->type == ONAX_F64 ? 1 : s->type == ONAX_C64 ? 2 : 3;
}
static int is_complex(const stack *s) { return s->type >= ONAX_C64; }
static int is_double(const stack *s) { return s->type == ONAX_F64 || s->type == ONAX_C128; }
static int64_t real_size(const stack *s) { return is_double(s) ? 8 : 4; }
static int64_t element_size(const stack *s) { return real_size(s) * (is_complex(s) ? 2 : 1); }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t largest(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static double real_at(const stack *s, const void *x, int64_t i) {
    return is_double(s) ? ((const double *)x)[i] : (double)((const float *)x)[i];
}
static void put_real(const stack *s, void *x, int64_t i, double value) {
    if (is_double(s)) ((double *)x)[i] = value;
    else ((float *)x)[i] = (float)value;
}
static void fill_nan(const stack *s, void *x, int64_t reals) {
    for (int64_t i = 0; i < reals; i++) put_real(s, x, i, NAN);
}
static int all_finite(const stack *s, const void *x, int64_t from, int64_t reals) {
    for (int64_t i = from; i < from + reals; i++) if (!isfinite(real_at(s, x, i))) return 0;
    return 1;
}

/* to (n x m, rows `to_step` elements apart) = the transpose of from (m x n); with `conjugate`, its adjoint. */
#define TRANSPOSE_TO(name, R, parts) \
    static void name(char *to_, int64_t to_step, const char *from_, int64_t from_step, int64_t m, int64_t n, int conjugate) { \
        R *to = (R *)to_; const R *from = (const R *)from_; \
        for (int64_t i0 = 0; i0 < m; i0 += 16) for (int64_t j0 = 0; j0 < n; j0 += 16) \
            for (int64_t i = i0; i < i0 + 16 && i < m; i++) for (int64_t j = j0; j < j0 + 16 && j < n; j++) { \
                const R *x = from + parts * (i * from_step + j); \
                R *y = to + parts * (j * to_step + i); \
                y[0] = x[0]; \
                if (parts == 2) y[parts - 1] = conjugate ? -x[parts - 1] : x[parts - 1]; } }
TRANSPOSE_TO(transpose_f32, float, 1)
TRANSPOSE_TO(transpose_f64, double, 1)
TRANSPOSE_TO(transpose_c64, float, 2)
TRANSPOSE_TO(transpose_c128, double, 2)

static void transposed(const stack *s, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t m, int64_t n,
                       int conjugate) {
    if (s->type == ONAX_F32) transpose_f32(to, to_step, from, from_step, m, n, conjugate);
    else if (s->type == ONAX_F64) transpose_f64(to, to_step, from, from_step, m, n, conjugate);
    else if (s->type == ONAX_C64) transpose_c64(to, to_step, from, from_step, m, n, conjugate);
    else transpose_c128(to, to_step, from, from_step, m, n, conjugate);
}

/* ---- factorisations */

static void cholesky(const stack *s, char *const *at, char *scratch) {
    const int64_t n = s->n, size = element_size(s), parts = is_complex(s) ? 2 : 1;
    int order = (int)n, info = 0;
    (void)scratch;
    for (int64_t i = 0; i < n; i++) {
        memcpy(at[0] + i * n * size, at[1] + i * n * size, (size_t)((i + 1) * size));
        memset(at[0] + (i * n + i + 1) * size, 0, (size_t)((n - i - 1) * size));
    }
    CALL(XPOTRF, 5)("U", &order, at[0], &order, &info);
    for (int64_t i = 0; i < n && !info; i++) info |= !isfinite(real_at(s, at[0], parts * (i * n + i)));
    if (info) fill_nan(s, at[0], n * n * parts);
}

static void lu(const stack *s, char *const *at, char *scratch) {
    const int64_t pivots = least(s->m, s->n);
    int m = (int)s->m, n = (int)s->n, info = 0;
    int32_t *exchanged = (int32_t *)at[1], *order = (int32_t *)at[2];
    transposed(s, scratch, m, at[3], n, m, n, 0);
    CALL(XGETRF, 6)(&m, &n, scratch, &m, exchanged, &info);
    transposed(s, at[0], n, scratch, m, n, m, 0);
    for (int64_t i = 0; i < m; i++) order[i] = (int32_t)i;
    for (int64_t i = 0; i < pivots; i++) {
        const int32_t p = --exchanged[i], row = order[i];
        if (p < 0 || p >= m) continue;
        order[i] = order[p];
        order[p] = row;
    }
}

static void triangular_solve(const stack *s, char *const *at, char *scratch) {
    const int64_t parts = is_complex(s) ? 2 : 1;
    int n = (int)s->n, rows, columns, step;
    const char *how = s->flags & TRANSPOSE ? s->flags & CONJUGATE ? "C" : "T" : "N";
    double one[2] = {0, 0};
    char *a = at[1];
    put_real(s, one, 0, 1.0);
    if ((s->flags & CONJUGATE) && !(s->flags & TRANSPOSE) && is_complex(s)) {
        for (int64_t i = 0; i < 2 * s->n * s->n; i++) put_real(s, scratch, i, real_at(s, a, i) * (i & 1 ? -1 : 1));
        a = scratch;
    }
    memcpy(at[0], at[2], (size_t)(s->n * s->k * parts * real_size(s)));
    rows = s->flags & LEFT_SIDE ? (int)s->k : n;
    columns = s->flags & LEFT_SIDE ? n : (int)s->k;
    step = rows ? rows : 1;
    CALL(XTRSM, 11)((void *)(s->flags & LEFT_SIDE ? "R" : "L"), (void *)(s->flags & LOWER ? "U" : "L"), (void *)how,
                   (void *)(s->flags & UNIT_DIAGONAL ? "U" : "N"), &rows, &columns, one, a, &n, at[0], &step);
}

/* scratch: the matrix with its columns side by side, room for all of q; taus; work */
static void qr(const stack *s, char *const *at, char *scratch) {
    const int64_t size = element_size(s), wide = largest(s->n, s->k);
    int m = (int)s->m, n = (int)s->n, k = (int)s->k, count = (int)least(s->m, s->n), info, lwork = (int)s->lwork;
    char *taus = scratch + aligned(s->m * wide * size), *work = taus + aligned(count * size);
    transposed(s, scratch, m, at[2], n, m, n, 0);
    CALL(XGEQRF, 8)(&m, &n, scratch, &m, taus, work, &lwork, &info);
    transposed(s, at[1], n, scratch, m, n, k, 0);
    for (int64_t i = 1; i < k; i++) memset(at[1] + i * n * size, 0, (size_t)(least(i, n) * size));
    CALL(XORGQR, 9)(&m, &k, &count, scratch, &m, taus, work, &lwork, &info);
    transposed(s, at[0], k, scratch, m, k, m, 0);
}

static void geqrf(const stack *s, char *const *at, char *scratch) {
    int m = (int)s->m, n = (int)s->n, info, lwork = (int)s->lwork;
    transposed(s, scratch, m, at[2], n, m, n, 0);
    CALL(XGEQRF, 8)(&m, &n, scratch, &m, at[1], scratch + aligned(s->m * s->n * element_size(s)), &lwork, &info);
    transposed(s, at[0], n, scratch, m, n, m, 0);
}

static void householder_product(const stack *s, char *const *at, char *scratch) {
    int m = (int)s->m, n = (int)s->n, k = (int)s->k, info, lwork = (int)s->lwork;
    transposed(s, scratch, m, at[1], n, m, n, 0);
    CALL(XORGQR, 9)(&m, &n, &k, scratch, &m, at[2], scratch + aligned(s->m * s->n * element_size(s)), &lwork, &info);
    transposed(s, at[0], n, scratch, m, n, m, 0);
}

/* ---- eigenvalues and singular values; results are NaN for matrices that are not finite, or where LAPACK fails */

/* vectors (n x n), values (n); what LAPACK sees is the conjugate matrix. */
static void eigh(const stack *s, char *const *at, char *scratch) {
    const int64_t size = element_size(s), parts = is_complex(s) ? 2 : 1;
    int n = (int)s->n, info = 0, lwork = (int)s->lwork, lrwork = 1 + 5 * n + 2 * n * n, liwork = 3 + 5 * n;
    char *work = scratch + aligned(s->n * s->n * size), *rwork = work + aligned(s->lwork * size);
    char *iwork = rwork + (is_complex(s) ? aligned(lrwork * real_size(s)) : 0);
    void *triangle = (void *)(s->flags & LOWER ? "U" : "L");
    for (int64_t i = 0; i < n && !info; i++) {
        const int64_t from = s->flags & LOWER ? i * n : i * n + i, count = s->flags & LOWER ? i + 1 : n - i;
        info = !all_finite(s, at[2], parts * from, parts * count);
    }
    if (!info) {
        memcpy(scratch, at[2], (size_t)(s->n * s->n * size));
        if (is_complex(s))
            CALL(XSYEVD, 13)("V", triangle, &n, scratch, &n, at[1], work, &lwork, rwork, &lrwork, iwork, &liwork, &info);
        else CALL(XSYEVD, 11)("V", triangle, &n, scratch, &n, at[1], work, &lwork, iwork, &liwork, &info);
        transposed(s, at[0], n, scratch, n, n, n, 1);
    }
    if (info) fill_nan(s, at[0], s->n * s->n * parts), fill_nan(s, at[1], s->n);
}

/* values, and with VECTORS u (m x k) and v^H (k x n); k and both sizes full with k = m or n */
static void svd(const stack *s, char *const *at, char *scratch) {
    const int64_t size = element_size(s), parts = is_complex(s) ? 2 : 1, few = least(s->m, s->n);
    const int vectors = !!(s->flags & VECTORS), full = s->k > few || s->m == s->n;
    int m = (int)s->m, n = (int)s->n, info = 0, lwork = (int)s->lwork, left = full ? m : (int)few, none = 1;
    int right = full ? n : (int)few;
    char *const x = at[vectors ? 3 : 1], *work = scratch + aligned(s->m * s->n * size);
    char *rwork = work + aligned(s->lwork * size), *iwork = rwork, room[16];
    void *job = (void *)(!vectors ? "N" : full ? "A" : "S");
    if (is_complex(s)) iwork += aligned((5 * few * few + 7 * few + 2 * largest(s->m, s->n) * few + 2 * few * few) * real_size(s));
    info = !all_finite(s, x, 0, s->m * s->n * parts);
    if (!info) {
        char *u = vectors ? at[1] : room, *v = vectors ? at[2] : room;
        int *ldu = vectors ? &left : &none, *ldv = vectors ? &n : &none;
        memcpy(scratch, x, (size_t)(s->m * s->n * size));
        if (is_complex(s))
            CALL(XGESDD, 15)(job, &n, &m, scratch, &n, at[0], v, ldv, u, ldu, work, &lwork, rwork, iwork, &info);
        else CALL(XGESDD, 14)(job, &n, &m, scratch, &n, at[0], v, ldv, u, ldu, work, &lwork, iwork, &info);
    }
    if (!info) return;
    fill_nan(s, at[0], few);
    if (vectors) fill_nan(s, at[1], s->m * left * parts), fill_nan(s, at[2], right * s->n * parts);
}

/* The power of two that brings the largest part of a matrix between bounds within which LAPACK does not scale. */
static int exponent_of(const stack *s, const char *x, int64_t reals) {
    const double eps = is_double(s) ? 0x1p-52 : 0x1p-23, tiny = is_double(s) ? 0x1p-1022 : 0x1p-126;
    const double smallest = sqrt(tiny) / eps;
    double size = 0;
    int exponent = 0;
    for (int64_t i = 0; i < reals; i++) size = fmax(size, fabs(real_at(s, x, i)));
    if (size == 0 || (size >= smallest && size <= 1 / smallest)) return 0;
    frexp(size, &exponent);
    return exponent - 1;
}

/* Eigenvectors as LAPACK gives them, columns side by side: of real matrices pairs of real and imaginary parts. */
static void put_vectors(const stack *s, char *to, const char *from, const double *imaginary) {
    const int64_t n = s->n;
    if (is_complex(s)) { transposed(s, to, n, from, n, n, n, 0); return; }
    for (int64_t j = 0; j < n; j++) {
        const int paired = imaginary[j] > 0 && j + 1 < n;
        for (int64_t i = 0; i < n; i++) {
            const double re = real_at(s, from, j * n + i), im = paired ? real_at(s, from, (j + 1) * n + i) : 0;
            put_real(s, to, 2 * (i * n + j), re), put_real(s, to, 2 * (i * n + j) + 1, im);
            if (paired) put_real(s, to, 2 * (i * n + j + 1), re), put_real(s, to, 2 * (i * n + j + 1) + 1, -im);
        }
        j += paired;
    }
}

/* values, and left and right vectors where asked for; all complex */
static void eig(const stack *s, char *const *at, char *scratch) {
    const int64_t n = s->n, size = element_size(s), parts = is_complex(s) ? 2 : 1, square = aligned(n * n * size);
    const int left = !!(s->flags & LEFT_VECTORS), right = !!(s->flags & VECTORS);
    int order = (int)n, info = 0, lwork = (int)s->lwork;
    char *const x = at[1 + left + right];
    char *vl = scratch + square, *vr = vl + square, *wr = vr + square, *wi = wr + aligned(2 * n * 8), *rwork = wi + aligned(n * 8);
    char *work = rwork + aligned(2 * n * 8);
    double *imaginary = (double *)(work + aligned(s->lwork * size));
    const int exponent = exponent_of(s, x, n * n * parts), half = exponent / 2;
    info = !all_finite(s, x, 0, n * n * parts);
    if (!info) {
        transposed(s, scratch, n, x, n, n, n, 0);
        for (int64_t i = 0; exponent && i < n * n * parts; i++)
            put_real(s, scratch, i, ldexp(ldexp(real_at(s, scratch, i), -half), half - exponent));
        if (is_complex(s))
            CALL(XGEEV, 14)((void *)(left ? "V" : "N"), (void *)(right ? "V" : "N"), &order, scratch, &order, wr, vl, &order, vr,
                           &order, work, &lwork, rwork, &info);
        else CALL(XGEEV, 14)((void *)(left ? "V" : "N"), (void *)(right ? "V" : "N"), &order, scratch, &order, wr, wi, vl,
                            &order, vr, &order, work, &lwork, &info);
    }
    for (int64_t i = 0; i < n; i++) {
        const double re = info ? NAN : real_at(s, wr, parts * i);
        imaginary[i] = info ? NAN : is_complex(s) ? real_at(s, wr, 2 * i + 1) : real_at(s, wi, i);
        put_real(s, at[0], 2 * i, ldexp(re, exponent)), put_real(s, at[0], 2 * i + 1, ldexp(imaginary[i], exponent));
    }
    for (int o = 1; o <= left + right; o++) {
        if (info) fill_nan(s, at[o], 2 * n * n);
        else put_vectors(s, at[o], o == 1 && left ? vl : vr, imaginary);
    }
}

/* The form, and the vectors where asked for. */
static void schur(const stack *s, char *const *at, char *scratch) {
    const int64_t n = s->n, size = element_size(s), parts = is_complex(s) ? 2 : 1, square = aligned(n * n * size);
    const int vectors = !!(s->flags & VECTORS);
    int order = (int)n, info = 0, lwork = (int)s->lwork, sorted = 0, flags[1];
    char *const x = at[1 + vectors];
    char *v = scratch + square, *wr = v + square, *wi = wr + aligned(2 * n * 8), *rwork = wi + aligned(n * 8);
    char *work = rwork + aligned(2 * n * 8);
    info = !all_finite(s, x, 0, n * n * parts);
    if (!info) {
        transposed(s, scratch, n, x, n, n, n, 0);
        CALL(XGEES, 15)((void *)(vectors ? "V" : "N"), "N", NULL, &order, scratch, &order, &sorted, wr,
                       is_complex(s) ? v : wi, is_complex(s) ? (void *)&order : v, is_complex(s) ? work : (void *)&order,
                       is_complex(s) ? (void *)&lwork : work, is_complex(s) ? rwork : (void *)&lwork, flags, &info);
        transposed(s, at[0], n, scratch, n, n, n, 0);
        if (vectors) transposed(s, at[1], n, v, n, n, n, 0);
    }
    if (!info) return;
    fill_nan(s, at[0], n * n * parts);
    if (vectors) fill_nan(s, at[1], n * n * parts);
}

/* ---- planning */

/* The elements of work memory that a routine asks for. */
static int64_t ask(stack *s, int which) {
    int m = (int)s->m, n = (int)s->n, k = (int)s->k, ask = -1, info = 0, count = (int)least(s->m, s->n), one = 1;
    int left = s->k > count ? m : count, wanted[4];
    double x[4] = {0}, y[4] = {0}, z[4] = {0}, answer[4] = {0}, real[4] = {0};
    double most = 1;
    if (which == QR || which == GEQRF) {
        CALL(XGEQRF, 8)(&m, &n, x, &m, y, answer, &ask, &info);
        most = fmax(most, real_at(s, answer, 0));
    }
    if (which == QR || which == HOUSEHOLDER_PRODUCT) {
        CALL(XORGQR, 9)(&m, which == QR ? &k : &n, which == QR ? &count : &k, x, &m, y, answer, &ask, &info);
        most = fmax(most, real_at(s, answer, 0));
    }
    if (which == EIGH && is_complex(s))
        CALL(XSYEVD, 13)("V", "L", &n, x, &n, y, answer, &ask, real, &ask, wanted, &ask, &info);
    else if (which == EIGH) CALL(XSYEVD, 11)("V", "L", &n, x, &n, y, answer, &ask, wanted, &ask, &info);
    if (which == SVD) {
        void *job = (void *)(!(s->flags & VECTORS) ? "N" : s->k > count || m == n ? "A" : "S");
        int *ld = s->flags & VECTORS ? &left : &one;
        if (m == n) left = m;
        if (is_complex(s)) CALL(XGESDD, 15)(job, &n, &m, x, &n, y, z, &n, z, ld, answer, &ask, real, wanted, &info);
        else CALL(XGESDD, 14)(job, &n, &m, x, &n, y, z, &n, z, ld, answer, &ask, wanted, &info);
    }
    if (which == EIG) CALL(XGEEV, 14)("V", "V", &n, x, &n, y, is_complex(s) ? z : y, is_complex(s) ? (void *)&n : z,
                                     is_complex(s) ? z : (void *)&n, is_complex(s) ? (void *)&n : z,
                                     is_complex(s) ? answer : (void *)&n, is_complex(s) ? (void *)&ask : answer,
                                     is_complex(s) ? real : (void *)&ask, &info);
    if (which == SCHUR) CALL(XGEES, 15)("V", "N", NULL, &n, x, &n, wanted, y, is_complex(s) ? z : y,
                                       is_complex(s) ? (void *)&n : z, is_complex(s) ? answer : (void *)&n,
                                       is_complex(s) ? (void *)&ask : answer, is_complex(s) ? real : (void *)&ask, wanted, &info);
    most = fmax(most, real_at(s, answer, 0));
    return info == 0 && most < 0x1p31 ? (int64_t)most + 64 : -1;
}

int onax_lapack_plan(stack *s, int which) {
    static const struct { matrix_function function; int routine, other; } functions[] = {
        [CHOLESKY] = {cholesky, XPOTRF, XPOTRF}, [LU] = {lu, XGETRF, XGETRF},
        [TRIANGULAR_SOLVE] = {triangular_solve, XTRSM, XTRSM}, [QR] = {qr, XGEQRF, XORGQR}, [GEQRF] = {geqrf, XGEQRF, XGEQRF},
        [HOUSEHOLDER_PRODUCT] = {householder_product, XORGQR, XORGQR}, [EIGH] = {eigh, XSYEVD, XSYEVD},
        [SVD] = {svd, XGESDD, XGESDD}, [EIG] = {eig, XGEEV, XGEEV}, [SCHUR] = {schur, XGEES, XGEES},
    };
    const int64_t m = s->m, n = s->n, size = element_size(s), few = least(m, n), most = largest(m, n);
    const int64_t square = aligned(n * n * size);
    if (which == TRIDIAGONAL_SOLVE || !addresses[functions[which].routine][letter_of(s)]
        || !addresses[functions[which].other][letter_of(s)]) return 0;
    if (most > 1 << 14 || n == 0 || (m == 0 && which != CHOLESKY && which != TRIANGULAR_SOLVE)) return 0;
    if ((s->lwork = ask(s, which)) < 0) return 0;
    s->function = functions[which].function;
    s->own = aligned(largest(m, n) * largest(n, s->k) * size) + aligned(few * size) + aligned(s->lwork * size);
    if (which == EIGH) s->own = square + aligned(s->lwork * size) + aligned((1 + 5 * n + 2 * n * n) * real_size(s)) + (3 + 5 * n) * 4;
    if (which == SVD) s->own = aligned(m * n * size) + aligned(s->lwork * size) + 8 * few * 4
                               + aligned((5 * few * few + 7 * few + 2 * most * few + 2 * few * few) * real_size(s));
    if (which == EIG || which == SCHUR) s->own = 3 * square + 5 * aligned(2 * n * 8) + aligned(s->lwork * size) + n * 8;
    s->own = aligned(s->own);
    return 1;
}
