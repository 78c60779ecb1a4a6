/* Factorisations and solvers of stacks of matrices, written for small ones: cholesky, lu, triangular_solve, qr, geqrf,
   householder_product, tridiagonal_solve, permutation; and, by LAPACK alone, eigh, svd, eig, schur.

   Attributes: type, matrices, rows m, columns n, third size k, flags; of what LAPACK alone computes, the number of
   results before them.  Operands:

       cholesky             factor, matrices (n x n)
       lu                   factors (m x n), pivots, permutation (m), matrices
       triangular_solve     solution, matrices (n x n), right-hand sides (n x k, or k x n from the right)
       qr                   q (m x k), r (k x n), matrices (m x n)
       geqrf                factors (m x n), taus, matrices
       householder_product  the first n columns (m x n), matrices, k taus
       tridiagonal_solve    solution (n x k), three diagonals (n), right-hand sides
       permutation          orders of m rows, n pivots
       eigh                 vectors (n x n), values (n), matrices
       svd                  values, with VECTORS u (m x k or m x m) and v^H, matrices
       eig                  complex values, with LEFT_VECTORS and with VECTORS vectors, matrices
       schur                the form, with VECTORS vectors, matrices */
#include "vector_code.h"
#include "tape_linalg.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIZE ((int64_t)1 << 20)
#define LARGE 64                /* sizes above are left to LAPACK, if it is attached, ... */
#define LARGE_QR 128            /* ... and above this for QR, in which LAPACK has two threads wait for one another */
#define SMALL 32                /* LAPACK may have threads of its own for larger matrices */
#define PART_WORK 500000.0      /* nanoseconds below which a part is not worth another thread */
#define PARTS 8

#if !defined(__GNUC__)
#define restrict
#endif

typedef struct { float re, im; } complex64;
typedef struct { double re, im; } complex128;

#define T float
#define R float
#define NAME f32
#define COMPLEX 0
#define ABS(x) fabsf(x)
#define SQRT(x) sqrtf(x)
#define EPSILON FLT_EPSILON
#define SMALLEST FLT_MIN
#include "tape_linalg_type.h"
#define T double
#define R double
#define NAME f64
#define COMPLEX 0
#define ABS(x) fabs(x)
#define SQRT(x) sqrt(x)
#define EPSILON DBL_EPSILON
#define SMALLEST DBL_MIN
#include "tape_linalg_type.h"
#define T complex64
#define R float
#define NAME c64
#define COMPLEX 1
#define ABS(x) fabsf(x)
#define SQRT(x) sqrtf(x)
#define EPSILON FLT_EPSILON
#define SMALLEST FLT_MIN
#include "tape_linalg_type.h"
#define T complex128
#define R double
#define NAME c128
#define COMPLEX 1
#define ABS(x) fabs(x)
#define SQRT(x) sqrt(x)
#define EPSILON DBL_EPSILON
#define SMALLEST DBL_MIN
#include "tape_linalg_type.h"

static void make_permutation(const stack *s, char *const *at, char *scratch) {
    int32_t *order = (int32_t *)at[0];
    const int32_t *pivots = (const int32_t *)at[1];
    (void)scratch;
    for (int64_t i = 0; i < s->m; i++) order[i] = (int32_t)i;
    for (int64_t i = 0; i < s->n && i < s->m; i++) {
        const int64_t p = pivots[i], to = p < 0 ? 0 : p >= s->m ? s->m - 1 : p;
        const int32_t number = order[i];
        order[i] = order[to];
        order[to] = number;
    }
}

static matrix_function function_of(int64_t type, int which) {
    return type == ONAX_F32 ? functions_f32[which] : type == ONAX_F64 ? functions_f64[which]
         : type == ONAX_C64 ? functions_c64[which] : type == ONAX_C128 ? functions_c128[which] : NULL;
}

/* ---- reading */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Sets the elements (of `size` bytes) of one matrix in each operand, and of scratch memory. */
static void set_sizes(stack *s, int which, int64_t size) {
    const int64_t m = s->m, n = s->n, k = s->k, pivots = least(m, n);
    const int64_t sizes[][6] = {
        [CHOLESKY] = {n * n * size, n * n * size, 0, 0, 0, n * size},
        [LU] = {m * n * size, pivots * 4, m * 4, m * n * size, 0, n * size},
        [TRIANGULAR_SOLVE] = {n * k * size, n * n * size, n * k * size, 0, 0, 0},
        [QR] = {m * k * size, k * n * size, m * n * size, 0, 0, (m * n + 2 * pivots + n + k) * size},
        [GEQRF] = {m * n * size, pivots * size, m * n * size, 0, 0, n * size},
        [HOUSEHOLDER_PRODUCT] = {m * n * size, m * n * size, k * size, 0, 0, n * size},
        [TRIDIAGONAL_SOLVE] = {n * k * size, n * size, n * size, n * size, n * k * size, 3 * n * size},
    };
    static const int operands[] = {2, 4, 3, 3, 3, 3, 5};
    memcpy(s->bytes, sizes[which], sizeof s->bytes);
    s->own = (sizes[which][5] + 63) / 64 * 64;
    s->n_operands = operands[which];
}

/* The same for what LAPACK alone computes. */
static void set_spectral_sizes(stack *s, int which, int64_t size, int64_t real) {
    const int64_t m = s->m, n = s->n, few = least(m, n), full = s->k > few || m == n;
    const int64_t square = n * n * size, pair = 2 * real;
    int64_t *b = s->bytes;
    const int vectors = !!(s->flags & VECTORS), left = !!(s->flags & LEFT_VECTORS);
    int o = 0;
    b[o++] = which == EIGH || which == SCHUR ? square : which == SVD ? few * real : n * pair;
    if (which == EIGH) b[o++] = n * real;
    if (which == SVD && vectors) b[o++] = m * (full ? m : few) * size, b[o++] = (full ? n : few) * n * size;
    if (which == EIG) for (int i = 0; i < vectors + left; i++) b[o++] = n * n * pair;
    if (which == SCHUR && vectors) b[o++] = square;
    b[o++] = m * n * size;
    s->n_operands = o;
}

/* The six numbers of a stack, which follow `before` others. */
static const char *read_stack(onax_instruction *q, int before, stack **out) {
    const int64_t *at = q->attributes + before;
    stack *s;
    if (q->n_attributes != before + 6) return "linear algebra: attributes";
    if (at[1] < 0 || at[1] > (int64_t)1 << 40) return "linear algebra: matrices";
    for (int i = 2; i < 5; i++) if (at[i] < 0 || at[i] > MOST_SIZE) return "linear algebra: sizes";
    if (!(s = q->state = calloc(1, sizeof *s))) return "no memory";
    s->type = at[0], s->count = at[1], s->m = at[2], s->n = at[3], s->k = at[4], s->flags = at[5];
    *out = s;
    return NULL;
}

static const char *finish_stack(onax_instruction *q, stack *s, const int64_t *bytes, double work) {
    if (q->n_operands != s->n_operands) return "linear algebra: operands";
    for (int i = 0; i < s->n_operands; i++)
        if (s->bytes[i] ? s->count > bytes[i] / s->bytes[i] || s->count * s->bytes[i] != bytes[i] : bytes[i] != 0)
            return "linear algebra: the size of an operand";
    q->work = 10 + (double)s->count * (20 + work);
    s->parts = q->work > 2 * PART_WORK && !(s->lwork && s->n > SMALL) ? (int)least(PARTS, s->count) : 1;
    if (s->parts < 1) s->parts = 1;
    q->scratch = s->own * s->parts;
    return NULL;
}

/* Whether LAPACK is quicker: never for one right-hand side, which is a pass over the matrix. */
static int is_for_lapack(const stack *s, int which) {
    const int64_t most = s->m > s->n ? s->m : s->n;
    if (which == TRIANGULAR_SOLVE && s->k == 1) return 0;
    return s->count && most > (which == QR || which == GEQRF ? LARGE_QR : LARGE);
}

static const char *verify(onax_instruction *q, const int64_t *bytes, int which) {
    stack *s;
    const char *fault = read_stack(q, 0, &s);
    int64_t type;
    double work;
    if (fault) return fault;
    type = s->type;
    if (!(s->function = function_of(type, which))) return "linear algebra: no such type";
    if (which == QR && s->k != s->m && s->k != least(s->m, s->n)) return "qr: columns of q";
    if (which == HOUSEHOLDER_PRODUCT && (s->n > s->m || s->k > s->n)) return "householder_product: sizes";
    set_sizes(s, which, onax_size_of(type));
    work = 0.3 * (double)(which == TRIANGULAR_SOLVE ? s->n : s->m > s->n ? s->m : s->n) * (double)s->n * (double)(s->n + s->k);
    if (which == TRIDIAGONAL_SOLVE) work = 10 * (double)s->n * (double)(s->k + 1);
    if (is_for_lapack(s, which)) onax_lapack_plan(s, which);
    return finish_stack(q, s, bytes, work);
}

static const char *verify_spectral(onax_instruction *q, const int64_t *bytes, int which) {
    stack *s;
    const char *fault = read_stack(q, 1, &s);
    int64_t type;
    if (fault) return fault;
    type = s->type;
    if (!function_of(type, LU)) return "linear algebra: no such type";
    if (which != SVD && s->m != s->n) return "linear algebra: square matrices";
    if (which == SVD && s->k != least(s->m, s->n) && s->k != (s->m > s->n ? s->m : s->n)) return "svd: sizes";
    if (which == SVD && s->k != least(s->m, s->n) && !(s->flags & VECTORS)) return "svd: sizes";
    set_spectral_sizes(s, which, onax_size_of(type), onax_size_of(type) / (type >= ONAX_C64 ? 2 : 1));
    if (q->attributes[0] != s->n_operands - 1) return "linear algebra: results";
    if (s->count && !onax_lapack_plan(s, which)) return "linear algebra: LAPACK is not attached";
    return finish_stack(q, s, bytes, 10.0 * (double)s->m * (double)s->n * (double)s->n + 1000);
}

static const char *verify_eigh(onax_instruction *q, const int64_t *b) { return verify_spectral(q, b, EIGH); }
static const char *verify_svd(onax_instruction *q, const int64_t *b) { return verify_spectral(q, b, SVD); }
static const char *verify_eig(onax_instruction *q, const int64_t *b) { return verify_spectral(q, b, EIG); }
static const char *verify_schur(onax_instruction *q, const int64_t *b) { return verify_spectral(q, b, SCHUR); }
static const char *verify_cholesky(onax_instruction *q, const int64_t *b) { return verify(q, b, CHOLESKY); }
static const char *verify_lu(onax_instruction *q, const int64_t *b) { return verify(q, b, LU); }
static const char *verify_triangular(onax_instruction *q, const int64_t *b) { return verify(q, b, TRIANGULAR_SOLVE); }
static const char *verify_qr(onax_instruction *q, const int64_t *b) { return verify(q, b, QR); }
static const char *verify_geqrf(onax_instruction *q, const int64_t *b) { return verify(q, b, GEQRF); }
static const char *verify_householder(onax_instruction *q, const int64_t *b) { return verify(q, b, HOUSEHOLDER_PRODUCT); }
static const char *verify_tridiagonal(onax_instruction *q, const int64_t *b) { return verify(q, b, TRIDIAGONAL_SOLVE); }

static const char *verify_permutation(onax_instruction *q, const int64_t *bytes) {
    stack *s;
    const char *fault = read_stack(q, 0, &s);
    if (fault) return fault;
    s->function = make_permutation;
    s->n_operands = 2;
    s->bytes[0] = s->m * 4;
    s->bytes[1] = s->n * 4;
    return finish_stack(q, s, bytes, (double)s->m + (double)s->n);
}

/* ---- running */

typedef struct { const stack *s; char *const *operands; char *scratch; onax_frame *f; } job;

static int run_range(const job *t, int64_t first, int64_t past, char *scratch, onax_frame *f) {
    const stack *s = t->s;
    for (int64_t i = first; i < past; i++) {
        char *at[ONAX_MOST_OPERANDS];
        for (int o = 0; o < s->n_operands; o++) at[o] = t->operands[o] + i * s->bytes[o];
        s->function(s, at, scratch);
        if (f && past - first > 1 && onax_poll(f)) return ONAX_RAISED;
    }
    return ONAX_DONE;
}

static void run_part(void *user, size_t i) {
    const job *t = user;
    const int64_t parts = t->s->parts, count = t->s->count;
    run_range(t, count * (int64_t)i / parts, count * ((int64_t)i + 1) / parts, t->scratch + (int64_t)i * t->s->own, NULL);
}

static int run_stack(const onax_instruction *q, onax_frame *f) {
    const stack *s = q->state;
    char *operands[ONAX_MOST_OPERANDS];
    job t = {s, operands, f->scratch, f};
    for (int o = 0; o < s->n_operands; o++) operands[o] = ONAX_BUFFER(q, f, o);
    if (s->count == 1) {
        s->function(s, operands, f->scratch);
        return ONAX_DONE;
    }
    if (s->parts == 1 || !f->parallel) return run_range(&t, 0, s->count, f->scratch, f);
    f->parallel(f->where, run_part, (size_t)s->parts, &t);
    return ONAX_DONE;
}

static void release_stack(onax_instruction *q) { free(q->state); }

const onax_tape_operation onax_tape_linalg[] = {
    {"cholesky", 1, verify_cholesky, run_stack, release_stack},
    {"lu", 3, verify_lu, run_stack, release_stack},
    {"triangular_solve", 1, verify_triangular, run_stack, release_stack},
    {"qr", 2, verify_qr, run_stack, release_stack},
    {"geqrf", 2, verify_geqrf, run_stack, release_stack},
    {"householder_product", 1, verify_householder, run_stack, release_stack},
    {"tridiagonal_solve", 1, verify_tridiagonal, run_stack, release_stack},
    {"eigh", -1, verify_eigh, run_stack, release_stack},
    {"svd", -1, verify_svd, run_stack, release_stack},
    {"eig", -1, verify_eig, run_stack, release_stack},
    {"schur", -1, verify_schur, run_stack, release_stack},
    {"permutation", 1, verify_permutation, run_stack, release_stack},
    {0},
};
