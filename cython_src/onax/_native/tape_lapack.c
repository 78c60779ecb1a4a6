/* What LAPACK alone computes, through its routines, whose addresses Python hands over.

   LAPACK counts columns first: a row-major matrix is the transpose of what it sees. */
#include "vector_code.h"
#include "tape_linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { XGEQP3, XORGQR, XSYEVD, XGESDD, XGESVD, XGEEV, XGEES, XGEHRD, XSYTRD, ROUTINES };

static const struct { const char *names[2], *arguments[2]; } routines[ROUTINES] = {
    [XGEQP3] = {{"geqp3", "geqp3"}, {"iifiiffii", "iiziizzifi"}},
    [XORGQR] = {{"orgqr", "ungqr"}, {"iiififfii", "iiizizzii"}},
    [XSYEVD] = {{"syevd", "heevd"}, {"ccififfiiii", "ccizifzifiiii"}},
    [XGESDD] = {{"gesdd", "gesdd"}, {"ciififfififiii", "ciizifzizizifii"}},
    [XGESVD] = {{"gesvd", "gesvd"}, {"cciififfififii", "cciizifzizizifi"}},
    [XGEEV] = {{"geev", "geev"}, {"ccififffififii", "ccizizzizizifi"}},
    [XGEES] = {{"gees", "gees"}, {"ccgifiifffifiii", "ccgiziizzizifii"}},
    [XGEHRD] = {{"gehrd", "gehrd"}, {"iiififfii", "iiizizzii"}},
    [XSYTRD] = {{"sytrd", "hetrd"}, {"cififfffii", "ciziffzzii"}},
};

static void *addresses[ROUTINES][4];

int onax_lapack_count(void) { return ROUTINES; }
const char *onax_lapack_name(int routine, int is_complex) { return routines[routine].names[is_complex]; }
const char *onax_lapack_arguments(int routine, int is_complex) { return routines[routine].arguments[is_complex]; }
void onax_lapack_attach(int routine, int letter, void *address) {
    if (routine >= 0 && routine < ROUTINES && letter >= 0 && letter < 4) addresses[routine][letter] = address;
}

/* ---- threads of the library

   It counts threads once for the whole process.  While instructions run in it, it has one, because its threads wait for
   one another busily: on a busy CPU that takes a hundred times as long. */

typedef struct { int (*get)(void); void (*set)(int); int lock, users, before; } threads;
static threads library;

#if defined(_MSC_VER)
#include <intrin.h>
static int exchange(int *where, int value) { return (int)_InterlockedExchange((volatile long *)where, value); }
#else
static int exchange(int *where, int value) { return __atomic_exchange_n(where, value, __ATOMIC_ACQ_REL); }
#endif

void onax_lapack_attach_threads(void *get, void *set) {
    library.get = (int (*)(void))get;
    library.set = (void (*)(int))set;
}

void onax_lapack_begin(void) {
    if (!library.get) return;
    while (exchange(&library.lock, 1)) {}
    if (library.users++ == 0 && (library.before = library.get()) > 1) library.set(1);
    exchange(&library.lock, 0);
}

/* What somebody else set meanwhile stays. */
void onax_lapack_end(void) {
    if (!library.get) return;
    while (exchange(&library.lock, 1)) {}
    if (--library.users == 0 && library.before > 1 && library.get() == 1) library.set(library.before);
    exchange(&library.lock, 0);
}

/* In a process that was forked, where no instruction runs.  The library is not called: a thread of the other process may
   have held a lock of it. */
void onax_lapack_forked(void) { library.users = library.lock = 0; }

typedef void (*f9)(void *, void *, void *, void *, void *, void *, void *, void *, void *);
typedef void (*f10)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);
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
#define ALL_FINITE(name, R) \
    ONAX_CLONES static int name(const R *x, int64_t n) { \
        R sum = 0; \
        for (int64_t i = 0; i < n; i += 16) { \
            R part = 0; \
            for (int64_t j = i; j < i + 16 && j < n; j++) part += x[j] - x[j]; \
            sum += part; } \
        return sum == 0; }
ALL_FINITE(all_finite_f32, float)
ALL_FINITE(all_finite_f64, double)
static int all_finite(const stack *s, const void *x, int64_t from, int64_t reals) {
    return is_double(s) ? all_finite_f64((const double *)x + from, reals) : all_finite_f32((const float *)x + from, reals);
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

/* ---- eigenvalues and singular values; results are NaN for matrices that are not finite, or where LAPACK fails */

/* vectors (n x n), values (n) */
static void eigh(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    const int64_t size = element_size(s), parts = is_complex(s) ? 2 : 1;
    int n = (int)s->n, info = 0, lwork = (int)s->lwork, lrwork = 1 + 5 * n + 2 * n * n, liwork = 3 + 5 * n;
    char *work = scratch + aligned(s->n * s->n * size), *rwork = work + aligned(s->lwork * size);
    char *iwork = rwork + (is_complex(s) ? aligned(lrwork * real_size(s)) : 0);
    void *triangle = (void *)(s->flags & LOWER ? "L" : "U");
    (void)f;
    for (int64_t i = 0; i < n && !info; i++) {
        const int64_t from = s->flags & LOWER ? i * n : i * n + i, count = s->flags & LOWER ? i + 1 : n - i;
        info = !all_finite(s, at[2], parts * from, parts * count);
    }
    if (!info) {
        transposed(s, scratch, n, at[2], n, n, n, 0);
        if (is_complex(s))
            CALL(XSYEVD, 13)("V", triangle, &n, scratch, &n, at[1], work, &lwork, rwork, &lrwork, iwork, &liwork, &info);
        else CALL(XSYEVD, 11)("V", triangle, &n, scratch, &n, at[1], work, &lwork, iwork, &liwork, &info);
        transposed(s, at[0], n, scratch, n, n, n, 0);
    }
    if (info) fill_nan(s, at[0], s->n * s->n * parts), fill_nan(s, at[1], s->n);
}

/* The columns of u and the rows of v^H. */
static void svd_sizes(const stack *s, int64_t *left, int64_t *right) {
    const int64_t few = least(s->m, s->n);
    const int full = s->k > few || s->m == s->n;
    *left = full ? s->m : few;
    *right = full ? s->n : few;
}

/* values, and with VECTORS u and v^H */
static void svd(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    const int64_t size = element_size(s), parts = is_complex(s) ? 2 : 1, few = least(s->m, s->n);
    const int vectors = !!(s->flags & VECTORS);
    int64_t left, right;
    int m = (int)s->m, n = (int)s->n, info, lwork = (int)s->lwork, ldv;
    void *job;
    char *const x = at[vectors ? 3 : 1], *u = scratch + aligned(s->m * s->n * size), *v, *work, *rwork, *iwork;
    (void)f;
    svd_sizes(s, &left, &right);
    job = (void *)(!vectors ? "N" : left == m && right == n ? "A" : "S");
    ldv = (int)right;
    v = u + aligned(s->m * left * size), work = v + aligned(right * s->n * size);
    rwork = iwork = work + aligned(s->lwork * size);
    if (is_complex(s)) iwork += aligned((5 * few * few + 7 * few + 2 * largest(s->m, s->n) * few + 2 * few * few) * real_size(s));
    info = !all_finite(s, x, 0, s->m * s->n * parts);
    if (!info) {
        transposed(s, scratch, m, x, n, m, n, 0);
        if ((s->flags & QR_ITERATION) && is_complex(s))
            CALL(XGESVD, 15)(job, job, &m, &n, scratch, &m, at[0], u, &m, v, &ldv, work, &lwork, rwork, &info);
        else if (s->flags & QR_ITERATION)
            CALL(XGESVD, 14)(job, job, &m, &n, scratch, &m, at[0], u, &m, v, &ldv, work, &lwork, &info);
        else if (is_complex(s))
            CALL(XGESDD, 15)(job, &m, &n, scratch, &m, at[0], u, &m, v, &ldv, work, &lwork, rwork, iwork, &info);
        else CALL(XGESDD, 14)(job, &m, &n, scratch, &m, at[0], u, &m, v, &ldv, work, &lwork, iwork, &info);
        if (vectors) transposed(s, at[1], left, u, m, left, m, 0), transposed(s, at[2], n, v, right, n, right, 0);
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
static void eig(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    (void)f;
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
static void schur(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    (void)f;
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

/* ---- reductions to condensed forms, and QR with exchanges of columns */

static void hessenberg(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    const int64_t n = s->n;
    int order = (int)n, first = 1, info, lwork = (int)s->lwork;
    (void)f;
    transposed(s, scratch, n, at[2], n, n, n, 0);
    CALL(XGEHRD, 9)(&order, &first, &order, scratch, &order, at[1], scratch + aligned(n * n * element_size(s)), &lwork, &info);
    transposed(s, at[0], n, scratch, n, n, n, 0);
}

/* the form with reflections, its diagonals, taus */
static void tridiagonal(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    const int64_t n = s->n;
    int order = (int)n, info, lwork = (int)s->lwork;
    (void)f;
    transposed(s, scratch, n, at[4], n, n, n, 0);
    CALL(XSYTRD, 10)((void *)(s->flags & LOWER ? "L" : "U"), &order, scratch, &order, at[1], at[2], at[3],
                    scratch + aligned(n * n * element_size(s)), &lwork, &info);
    transposed(s, at[0], n, scratch, n, n, n, 0);
}

/* q (m x k), r (k x n), the permutation of the columns; scratch: the columns side by side, room for all of q; taus; work */
static void pivoted_qr(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    const int64_t size = element_size(s), wide = largest(s->n, s->k);
    int m = (int)s->m, n = (int)s->n, k = (int)s->k, count = (int)least(s->m, s->n), info, lwork = (int)s->lwork;
    char *taus = scratch + aligned(s->m * wide * size), *rwork = taus + aligned(count * size);
    char *work = rwork + aligned(2 * n * real_size(s));
    int32_t *order = (int32_t *)at[2];
    (void)f;
    memset(order, 0, (size_t)n * sizeof *order);
    transposed(s, scratch, m, at[3], n, m, n, 0);
    if (is_complex(s)) CALL(XGEQP3, 10)(&m, &n, scratch, &m, order, taus, work, &lwork, rwork, &info);
    else CALL(XGEQP3, 9)(&m, &n, scratch, &m, order, taus, work, &lwork, &info);
    for (int64_t j = 0; j < n; j++) order[j]--;
    transposed(s, at[1], n, scratch, m, n, k, 0);
    for (int64_t i = 1; i < k; i++) memset(at[1] + i * n * size, 0, (size_t)(least(i, n) * size));
    CALL(XORGQR, 9)(&m, &k, &count, scratch, &m, taus, work, &lwork, &info);
    transposed(s, at[0], k, scratch, m, k, m, 0);
}

/* ---- planning */

/* Stores in answer[] the elements of work memory that the routine of an operation asks for. */
static int ask_routine(const stack *s, int which, double *answer, double *second) {
    int m = (int)s->m, n = (int)s->n, k = (int)s->k, ask = -1, info = 0, count = (int)least(s->m, s->n), one = 1;
    int64_t left, right;
    int wanted[4], ldv;
    double x[4] = {0}, y[4] = {0}, z[4] = {0}, real[4] = {0};
    const int is_z = is_complex(s);
    void *job;
    svd_sizes(s, &left, &right);
    job = (void *)(!(s->flags & VECTORS) ? "N" : left == m && right == n ? "A" : "S");
    ldv = (int)right;
    if (which == EIGH && is_z)
        CALL(XSYEVD, 13)("V", "L", &n, x, &n, y, answer, &ask, real, &ask, wanted, &ask, &info);
    else if (which == EIGH) CALL(XSYEVD, 11)("V", "L", &n, x, &n, y, answer, &ask, wanted, &ask, &info);
    if (which == SVD && (s->flags & QR_ITERATION)) {
        if (is_z) CALL(XGESVD, 15)(job, job, &m, &n, x, &m, y, z, &m, z, &ldv, answer, &ask, real, &info);
        else CALL(XGESVD, 14)(job, job, &m, &n, x, &m, y, z, &m, z, &ldv, answer, &ask, &info);
    } else if (which == SVD && is_z) CALL(XGESDD, 15)(job, &m, &n, x, &m, y, z, &m, z, &ldv, answer, &ask, real, wanted, &info);
    else if (which == SVD) CALL(XGESDD, 14)(job, &m, &n, x, &m, y, z, &m, z, &ldv, answer, &ask, wanted, &info);
    if (which == EIG && is_z) CALL(XGEEV, 14)("V", "V", &n, x, &n, y, z, &n, z, &n, answer, &ask, real, &info);
    else if (which == EIG) CALL(XGEEV, 14)("V", "V", &n, x, &n, y, y, z, &n, z, &n, answer, &ask, &info);
    if (which == SCHUR && is_z)
        CALL(XGEES, 15)("V", "N", NULL, &n, x, &n, wanted, y, z, &n, answer, &ask, real, wanted, &info);
    else if (which == SCHUR) CALL(XGEES, 15)("V", "N", NULL, &n, x, &n, wanted, y, y, z, &n, answer, &ask, wanted, &info);
    if (which == HESSENBERG) CALL(XGEHRD, 9)(&n, &one, &n, x, &n, y, answer, &ask, &info);
    if (which == TRIDIAGONAL) CALL(XSYTRD, 10)("L", &n, x, &n, y, y, z, answer, &ask, &info);
    if (which == PIVOTED_QR) {
        if (is_z) CALL(XGEQP3, 10)(&m, &n, x, &m, wanted, y, answer, &ask, real, &info);
        else CALL(XGEQP3, 9)(&m, &n, x, &m, wanted, y, answer, &ask, &info);
        if (info == 0) CALL(XORGQR, 9)(&m, &k, &count, x, &m, y, second, &ask, &info);
    }
    return info;
}

/* Bytes of scratch memory besides the work memory. */
static int64_t room_of(const stack *s, int which) {
    const int64_t m = s->m, n = s->n, size = element_size(s), few = least(m, n), most = largest(m, n);
    const int64_t square = aligned(n * n * size);
    int64_t left, right;
    svd_sizes(s, &left, &right);
    if (which == EIGH) return square + aligned((1 + 5 * n + 2 * n * n) * real_size(s)) + (3 + 5 * n) * 4;
    if (which == SVD) return aligned(m * n * size) + aligned(m * left * size) + aligned(right * n * size) + aligned(8 * few * 4)
                             + aligned((5 * few * few + 7 * few + 2 * most * few + 2 * few * few) * real_size(s));
    if (which == EIG || which == SCHUR) return 3 * square + 5 * aligned(2 * n * 8) + n * 8;
    if (which == PIVOTED_QR) return aligned(m * largest(n, s->k) * size) + aligned(few * size) + aligned(2 * n * real_size(s));
    return square;
}

/* Whether LAPACK's 32-bit integers can count what it reads and writes: a matrix of each operand, and of `eigh` the
   numbers of its workspace. */
static int is_countable(const stack *s, int which) {
    const int64_t limit = INT32_MAX - 64;
    int64_t left = 0, right = 0;
    if (which == SVD && s->flags & VECTORS) svd_sizes(s, &left, &right);
    if (which == PIVOTED_QR) left = s->k;
    if (which == EIGH && 1 + 6 * s->n + 2 * s->n * s->n > limit) return 0;
    return s->m * largest(left, s->n) <= limit && s->n * right <= limit;
}

int onax_lapack_plan(stack *s, int which) {
    static const struct { matrix_function function; int routine, other; } functions[] = {
        [EIGH] = {eigh, XSYEVD, XSYEVD}, [SVD] = {svd, XGESDD, XGESVD}, [EIG] = {eig, XGEEV, XGEEV},
        [SCHUR] = {schur, XGEES, XGEES}, [HESSENBERG] = {hessenberg, XGEHRD, XGEHRD},
        [TRIDIAGONAL] = {tridiagonal, XSYTRD, XSYTRD}, [PIVOTED_QR] = {pivoted_qr, XGEQP3, XORGQR},
    };
    double answer[4] = {0}, second[4] = {0}, most;
    if (!addresses[functions[which].routine][letter_of(s)] || !addresses[functions[which].other][letter_of(s)]) return 0;
    if (s->n == 0 || s->m == 0 || !is_countable(s, which) || ask_routine(s, which, answer, second)) return 0;
    most = fmax(1, fmax(real_at(s, answer, 0), real_at(s, second, 0)));
    if (!(most < 0x1p31 - 64)) return 0;
    s->lwork = (int64_t)most + 64;
    s->function = functions[which].function;
    s->own = aligned(room_of(s, which)) + aligned(s->lwork * element_size(s));
    return 1;
}
