/* Factorisations and solvers of stacks of matrices: cholesky, lu, triangular_solve, qr, geqrf, householder_product,
   multiply_reflections, tridiagonal_solve, permutation; and, by LAPACK alone, eigh, svd, eig, schur, hessenberg,
   tridiagonal, pivoted_qr.

   Attributes: type, matrices, rows m, columns n, third size k, flags; of what LAPACK alone computes, the number of
   results before them.  Operands:

       cholesky             factor, matrices (n x n)
       lu                   factors (m x n), pivots, permutation (m), matrices
       triangular_solve     solution, matrices (n x n), right-hand sides (n x k, or k x n from the right)
       qr                   q (m x k; left as it is with SKIP_Q), r (k x n), matrices (m x n)
       geqrf                factors (m x n), taus, matrices
       multiply_reflections the product (m x n), reflections, k taus, matrices (m x n) to multiply from the left or right
       householder_product  the first n columns (m x n), matrices, k taus
       tridiagonal_solve    solution (n x k), three diagonals (n), right-hand sides
       permutation          orders of m rows, n pivots
       eigh                 vectors (n x n), values (n), matrices
       svd                  values, with VECTORS u (m x k or m x m) and v^H, matrices
       eig                  complex values, with LEFT_VECTORS and with VECTORS vectors, matrices
       schur                the form, with VECTORS vectors, matrices
       hessenberg           the form with reflections, taus, matrices
       tridiagonal          the form with reflections, diagonal, off-diagonal, taus, matrices
       pivoted_qr           q (m x k), r (k x n), the permutation of the columns, matrices (m x n) */
#include "vector_code.h"
#include "tape_gemm.h"
#include "tape_linalg.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIZE ((int64_t)1 << 20)
#define LARGE 32                /* matrices with more rows or columns are computed in blocks */
#define PART_WORK 250000.0      /* nanoseconds below which a part of a stack is not worth another thread, ... */
#define PRODUCT_WORK 60000.0    /* ... and of a product of blocks */
#define PARTS 8
#define SMALL 32                /* for larger matrices LAPACK has threads of its own, ... */
#define ALONE 1024              /* ... which it shall not use for these */
#define BASE 16                 /* of so many columns at a time rows are combined one by one */
#define QR_COLUMNS 32
#define TRIANGLE_ROWS 96        /* of a triangular product */
#define BLOCK_ROWS 96           /* packed blocks of products: 24 KB of float32 */
#define BLOCK_INNER 64
#define SIDE_ROWS 64

#if !defined(__GNUC__)
#define restrict
#endif

typedef struct { float re, im; } complex64;
typedef struct { double re, im; } complex128;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t largest(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* ---- what matrices in blocks need */

/* Kernels, threads and scratch memory: of products, of which each part has `part_room` bytes; of few unknowns; of some
   columns side by side; of a triangle of QR, of rows that it multiplies, and of one vector. */
typedef struct {
    const onax_gemm_kernels *g;
    onax_frame *f;
    int64_t parts, part_room;
    char *room, *side, *panel, *triangle, *wide, *turned, *own;
} tools;

static int64_t part_room(const stack *s, const onax_gemm_kernels *g) {
    return aligned(s->size * (BLOCK_ROWS * BLOCK_INNER + BLOCK_INNER * g->nr));
}

/* The tools, and in *bytes how much scratch memory they take. */
static tools tools_in(const stack *s, char *scratch, onax_frame *f, int64_t *bytes) {
    const onax_gemm_kernels *g = onax_gemm(s->type == ONAX_F32 || s->type == ONAX_C64 ? ONAX_WORK_F32 : ONAX_WORK_F64);
    tools t = {g, f, s->product_parts, part_room(s, g), scratch, NULL, NULL, NULL, NULL, NULL, NULL};
    const int64_t size = s->size, m = largest(s->m, s->n), k = largest(m, s->k);
    t.side = t.room + t.parts * t.part_room;
    t.panel = t.side + BASE * SIDE_ROWS * size;
    t.triangle = t.panel + aligned(m * QR_COLUMNS * size);
    t.wide = t.triangle + QR_COLUMNS * QR_COLUMNS * size;
    t.turned = t.wide + aligned(2 * QR_COLUMNS * k * size);
    t.own = t.turned + aligned(m * size);
    *bytes = t.own - scratch;
    return t;
}

static tools tools_of(const stack *s, char *scratch, onax_frame *f) {
    int64_t bytes;
    return tools_in(s, scratch, f, &bytes);
}

/* The order of m rows after exchanges. */
static void permute(int32_t *order, const int32_t *pivots, int64_t m, int64_t count) {
    for (int64_t i = 0; i < m; i++) order[i] = (int32_t)i;
    for (int64_t i = 0; i < count && i < m; i++) {
        const int64_t p = pivots[i], to = p < 0 ? 0 : p >= m ? m - 1 : p;
        const int32_t number = order[i];
        order[i] = order[to];
        order[to] = number;
    }
}

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

static void make_permutation(const stack *s, char *const *at, char *scratch, onax_frame *f) {
    (void)scratch, (void)f;
    permute((int32_t *)at[0], (const int32_t *)at[1], s->m, s->n);
}

static void leave_empty(const stack *s, char *const *at, char *scratch, onax_frame *f) { (void)s, (void)at, (void)scratch, (void)f; }

static matrix_function function_of(int64_t type, int which) {
    return type == ONAX_F32 ? functions_f32[which] : type == ONAX_F64 ? functions_f64[which]
         : type == ONAX_C64 ? functions_c64[which] : type == ONAX_C128 ? functions_c128[which] : NULL;
}

static matrix_function block_function_of(int64_t type, int which) {
    return type == ONAX_F32 ? block_functions_f32[which] : type == ONAX_F64 ? block_functions_f64[which]
         : type == ONAX_C64 ? block_functions_c64[which] : block_functions_c128[which];
}

static matrix_function multiply_function_of(int64_t type) {
    return type == ONAX_F32 ? multiply_reflections_f32 : type == ONAX_F64 ? multiply_reflections_f64
         : type == ONAX_C64 ? multiply_reflections_c64 : multiply_reflections_c128;
}

/* ---- reading */

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
    s->own = aligned(sizes[which][5]);
    s->n_operands = operands[which];
}

/* The same for what LAPACK alone computes. */
static void set_spectral_sizes(stack *s, int which, int64_t size, int64_t real) {
    const int64_t m = s->m, n = s->n, few = least(m, n), full = s->k > few || m == n;
    const int64_t square = n * n * size, pair = 2 * real;
    int64_t *b = s->bytes;
    const int vectors = !!(s->flags & VECTORS), left = !!(s->flags & LEFT_VECTORS);
    int o = 0;
    if (which == PIVOTED_QR) b[o++] = m * s->k * size, b[o++] = s->k * n * size, b[o++] = n * 4;
    else b[o++] = which == EIG ? n * pair : which == SVD ? few * real : square;
    if (which == TRIDIAGONAL) b[o++] = n * real, b[o++] = (n - 1) * real;
    if (which == TRIDIAGONAL || which == HESSENBERG) b[o++] = (n - 1) * size;
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
    s->alone = s->lwork && largest(s->m, s->n) > SMALL && largest(s->m, s->n) <= ALONE;
    s->parts = q->work > 2 * PART_WORK && !(s->lwork && largest(s->m, s->n) > ALONE) ? (int)least(PARTS, s->count) : 1;
    if (s->parts < 1) s->parts = 1;
    q->scratch = s->count ? s->own * s->parts : 0;
    return NULL;
}

/* Whether blocks are quicker: never for one right-hand side, which is a pass over the matrix. */
static int is_for_blocks(const stack *s, int which) {
    if (which == TRIDIAGONAL_SOLVE || (which == TRIANGULAR_SOLVE && s->k <= 2)) return 0;
    return which == TRIANGULAR_SOLVE || which == CHOLESKY ? s->n > LARGE : least(s->m, s->n) > LARGE;
}

/* Sets the function for matrices in blocks, and its scratch memory; gives the guessed nanoseconds of one. */
static double plan_blocks(stack *s, int which) {
    const double m = (double)(which == TRIANGULAR_SOLVE || which == CHOLESKY ? s->n : s->m), n = (double)s->n;
    const double rate = (s->type == ONAX_F32 ? 0.02 : s->type == ONAX_F64 ? 0.04 : s->type == ONAX_C64 ? 0.08 : 0.16);
    const double products = which == TRIANGULAR_SOLVE ? n * n * (double)s->k / 2 : which == CHOLESKY ? n * n * n / 6
                          : which == MULTIPLY_REFLECTIONS ? 2 * m * n * (double)s->k : m * n * (n + (double)s->k);
    int64_t bytes;
    s->function = which == MULTIPLY_REFLECTIONS ? multiply_function_of(s->type) : block_function_of(s->type, which);
    s->product_parts = s->count == 1 && products * rate > 4 * PRODUCT_WORK ? PARTS : 1;
    tools_in(s, NULL, NULL, &bytes);
    s->own = bytes + (which == QR ? aligned((s->m * s->n + s->n) * s->size) : 0);
    return 2000 + 1.5 * rate * products + 10 * m * n;
}

static const char *verify(onax_instruction *q, const int64_t *bytes, int which) {
    stack *s;
    const char *fault = read_stack(q, 0, &s);
    int64_t type;
    double work;
    if (fault) return fault;
    type = s->type;
    s->size = onax_size_of(type);
    if (!(s->function = function_of(type, which))) return "linear algebra: no such type";
    if (which == QR && s->k != s->m && s->k != least(s->m, s->n)) return "qr: columns of q";
    if (which == HOUSEHOLDER_PRODUCT && (s->n > s->m || s->k > s->n)) return "householder_product: sizes";
    set_sizes(s, which, onax_size_of(type));
    work = 0.3 * (double)(which == TRIANGULAR_SOLVE ? s->n : s->m > s->n ? s->m : s->n) * (double)s->n * (double)(s->n + s->k);
    if (which == TRIDIAGONAL_SOLVE) work = 10 * (double)s->n * (double)(s->k + 1);
    if (s->count && is_for_blocks(s, which)) work = plan_blocks(s, which);
    return finish_stack(q, s, bytes, work);
}

/* The columns of the matrix that holds the reflections stand before the other attributes. */
static const char *verify_multiply_reflections(onax_instruction *q, const int64_t *bytes) {
    stack *s;
    const char *fault = read_stack(q, 1, &s);
    int64_t rows, room;
    double work;
    if (fault) return fault;
    if (!(s->size = onax_size_of(s->type)) || !function_of(s->type, LU)) return "linear algebra: no such type";
    rows = s->flags & LEFT_SIDE ? s->m : s->n;
    s->columns = q->attributes[0];
    if (s->columns < 0 || s->columns > MOST_SIZE || s->k > s->columns || s->k > rows) return "multiply_reflections: sizes";
    s->n_operands = 4;
    s->bytes[0] = s->bytes[3] = s->m * s->n * s->size;
    s->bytes[1] = rows * s->columns * s->size;
    s->bytes[2] = s->k * s->size;
    work = plan_blocks(s, MULTIPLY_REFLECTIONS);
    room = s->flags & LEFT_SIDE ? 0 : aligned(s->bytes[0]);
    s->own += room;
    if (s->bytes[0] == 0) s->function = leave_empty, s->own = 0;
    return finish_stack(q, s, bytes, work);
}

static const char *verify_spectral(onax_instruction *q, const int64_t *bytes, int which) {
    stack *s;
    const char *fault = read_stack(q, 1, &s);
    int64_t type;
    if (fault) return fault;
    type = s->type;
    s->size = onax_size_of(type);
    if (!function_of(type, LU)) return "linear algebra: no such type";
    if (which != SVD && which != PIVOTED_QR && s->m != s->n) return "linear algebra: square matrices";
    if ((which == HESSENBERG || which == TRIDIAGONAL) && s->n == 0) return "linear algebra: empty matrices";
    if (which == PIVOTED_QR && s->k != s->m && s->k != least(s->m, s->n)) return "qr: columns of q";
    if (which == SVD && s->k != least(s->m, s->n) && s->k != (s->m > s->n ? s->m : s->n)) return "svd: sizes";
    if (which == SVD && s->k != least(s->m, s->n) && !(s->flags & VECTORS)) return "svd: sizes";
    set_spectral_sizes(s, which, onax_size_of(type), onax_size_of(type) / (type >= ONAX_C64 ? 2 : 1));
    if (q->attributes[0] != s->n_operands - 1) return "linear algebra: results";
    if (s->count && !onax_lapack_plan(s, which)) return "linear algebra: LAPACK is not attached, or cannot count so many elements";
    return finish_stack(q, s, bytes, 10.0 * (double)s->m * (double)s->n * (double)s->n + 1000);
}

static const char *verify_eigh(onax_instruction *q, const int64_t *b) { return verify_spectral(q, b, EIGH); }
static const char *verify_svd(onax_instruction *q, const int64_t *b) { return verify_spectral(q, b, SVD); }
static const char *verify_eig(onax_instruction *q, const int64_t *b) { return verify_spectral(q, b, EIG); }
static const char *verify_schur(onax_instruction *q, const int64_t *b) { return verify_spectral(q, b, SCHUR); }
static const char *verify_hessenberg(onax_instruction *q, const int64_t *b) { return verify_spectral(q, b, HESSENBERG); }
static const char *verify_tridiagonal_form(onax_instruction *q, const int64_t *b) { return verify_spectral(q, b, TRIDIAGONAL); }
static const char *verify_pivoted_qr(onax_instruction *q, const int64_t *b) { return verify_spectral(q, b, PIVOTED_QR); }
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
        s->function(s, at, scratch, NULL);
        if (f && past - first > 1 && onax_poll(f)) return ONAX_RAISED;
    }
    return ONAX_DONE;
}

static void run_part(void *user, size_t i) {
    const job *t = user;
    const int64_t parts = t->s->parts, count = t->s->count;
    run_range(t, count * (int64_t)i / parts, count * ((int64_t)i + 1) / parts, t->scratch + (int64_t)i * t->s->own, NULL);
}

static int run_matrices(const stack *s, const job *t, onax_frame *f) {
    if (s->count == 1) {
        s->function(s, t->operands, t->scratch, f);
        return ONAX_DONE;
    }
    if (s->parts == 1 || !f->parallel) return run_range(t, 0, s->count, t->scratch, f);
    f->parallel(f->where, run_part, (size_t)s->parts, (void *)t);
    return ONAX_DONE;
}

static int run_stack(const onax_instruction *q, onax_frame *f) {
    const stack *s = q->state;
    char *operands[ONAX_MOST_OPERANDS];
    const job t = {s, operands, f->scratch, f};
    int status;
    for (int o = 0; o < s->n_operands; o++) operands[o] = ONAX_BUFFER(q, f, o);
    if (s->alone) onax_lapack_begin();
    status = run_matrices(s, &t, f);
    if (s->alone) onax_lapack_end();
    return status;
}

static void release_stack(onax_instruction *q) { free(q->state); }

const onax_tape_operation onax_tape_linalg[] = {
    {"cholesky", 1, verify_cholesky, run_stack, release_stack},
    {"lu", 3, verify_lu, run_stack, release_stack},
    {"triangular_solve", 1, verify_triangular, run_stack, release_stack},
    {"qr", 2, verify_qr, run_stack, release_stack},
    {"geqrf", 2, verify_geqrf, run_stack, release_stack},
    {"householder_product", 1, verify_householder, run_stack, release_stack},
    {"multiply_reflections", 1, verify_multiply_reflections, run_stack, release_stack},
    {"tridiagonal_solve", 1, verify_tridiagonal, run_stack, release_stack},
    {"eigh", -1, verify_eigh, run_stack, release_stack},
    {"svd", -1, verify_svd, run_stack, release_stack},
    {"eig", -1, verify_eig, run_stack, release_stack},
    {"schur", -1, verify_schur, run_stack, release_stack},
    {"hessenberg", -1, verify_hessenberg, run_stack, release_stack},
    {"tridiagonal", -1, verify_tridiagonal_form, run_stack, release_stack},
    {"pivoted_qr", -1, verify_pivoted_qr, run_stack, release_stack},
    {"permutation", 1, verify_permutation, run_stack, release_stack},
    {0},
};
