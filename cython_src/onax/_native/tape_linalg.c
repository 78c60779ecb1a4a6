/* Factorisations and solvers of stacks of matrices, written for small ones: cholesky, lu, triangular_solve, qr, geqrf,
   householder_product, tridiagonal_solve, permutation.

   Attributes: type, matrices, rows m, columns n, third size k, flags.  Operands:

       cholesky             factor, matrices (n x n)
       lu                   factors (m x n), pivots, permutation (m), matrices
       triangular_solve     solution, matrices (n x n), right-hand sides (n x k, or k x n from the right)
       qr                   q (m x k), r (k x n), matrices (m x n)
       geqrf                factors (m x n), taus, matrices
       householder_product  the first n columns (m x n), matrices, k taus
       tridiagonal_solve    solution (n x k), three diagonals (n), right-hand sides
       permutation          orders of m rows, n pivots */
#include "vector_code.h"
#include "tape_machine.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIZE ((int64_t)1 << 20)
#define PART_WORK 500000.0      /* nanoseconds below which a part is not worth another thread */
#define PARTS 8

#if !defined(__GNUC__)
#define restrict
#endif

enum { LOWER = 1, TRANSPOSE = 2, CONJUGATE = 4, UNIT_DIAGONAL = 8, LEFT_SIDE = 16, PERTURB = 32 };
enum { CHOLESKY, LU, TRIANGULAR_SOLVE, QR, GEQRF, HOUSEHOLDER_PRODUCT, TRIDIAGONAL_SOLVE };

typedef struct stack stack;
/* One matrix: the operands' parts of it, and memory of its own. */
typedef void (*matrix_function)(const stack *s, char *const *at, char *scratch);
struct stack {
    int64_t count, m, n, k, flags;
    int64_t bytes[5], own;      /* of one matrix in each operand; of its scratch memory */
    int n_operands, parts;
    matrix_function function;
};

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

static const char *read_stack(onax_instruction *q, stack **out) {
    const int64_t *at = q->attributes;
    stack *s;
    if (q->n_attributes != 6) return "linear algebra: attributes";
    if (at[1] < 0 || at[1] > (int64_t)1 << 40) return "linear algebra: matrices";
    for (int i = 2; i < 5; i++) if (at[i] < 0 || at[i] > MOST_SIZE) return "linear algebra: sizes";
    if (!(s = q->state = calloc(1, sizeof *s))) return "no memory";
    s->count = at[1], s->m = at[2], s->n = at[3], s->k = at[4], s->flags = at[5];
    *out = s;
    return NULL;
}

static const char *finish_stack(onax_instruction *q, stack *s, const int64_t *bytes, double work) {
    if (q->n_operands != s->n_operands) return "linear algebra: operands";
    for (int i = 0; i < s->n_operands; i++)
        if (s->bytes[i] ? s->count > bytes[i] / s->bytes[i] || s->count * s->bytes[i] != bytes[i] : bytes[i] != 0)
            return "linear algebra: the size of an operand";
    q->work = 10 + (double)s->count * (20 + work);
    s->parts = q->work > 2 * PART_WORK ? (int)least(PARTS, s->count) : 1;
    if (s->parts < 1) s->parts = 1;
    q->scratch = s->own * s->parts;
    return NULL;
}

static const char *verify(onax_instruction *q, const int64_t *bytes, int which) {
    stack *s;
    const char *fault = read_stack(q, &s);
    const int64_t type = q->attributes && q->n_attributes ? q->attributes[0] : -1;
    double work;
    if (fault) return fault;
    if (!(s->function = function_of(type, which))) return "linear algebra: no such type";
    if (which == QR && s->k != s->m && s->k != least(s->m, s->n)) return "qr: columns of q";
    if (which == HOUSEHOLDER_PRODUCT && (s->n > s->m || s->k > s->n)) return "householder_product: sizes";
    set_sizes(s, which, onax_size_of(type));
    work = 0.3 * (double)(which == TRIANGULAR_SOLVE ? s->n : s->m > s->n ? s->m : s->n) * (double)s->n * (double)(s->n + s->k);
    if (which == TRIDIAGONAL_SOLVE) work = 10 * (double)s->n * (double)(s->k + 1);
    return finish_stack(q, s, bytes, work);
}

static const char *verify_cholesky(onax_instruction *q, const int64_t *b) { return verify(q, b, CHOLESKY); }
static const char *verify_lu(onax_instruction *q, const int64_t *b) { return verify(q, b, LU); }
static const char *verify_triangular(onax_instruction *q, const int64_t *b) { return verify(q, b, TRIANGULAR_SOLVE); }
static const char *verify_qr(onax_instruction *q, const int64_t *b) { return verify(q, b, QR); }
static const char *verify_geqrf(onax_instruction *q, const int64_t *b) { return verify(q, b, GEQRF); }
static const char *verify_householder(onax_instruction *q, const int64_t *b) { return verify(q, b, HOUSEHOLDER_PRODUCT); }
static const char *verify_tridiagonal(onax_instruction *q, const int64_t *b) { return verify(q, b, TRIDIAGONAL_SOLVE); }

static const char *verify_permutation(onax_instruction *q, const int64_t *bytes) {
    stack *s;
    const char *fault = read_stack(q, &s);
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
        char *at[5];
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
    char *operands[5];
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
    {"permutation", 1, verify_permutation, run_stack, release_stack},
    {0},
};
